/**
 * Repair: what a recovery could not read is moved aside, and its whole part takes its place.
 *
 *   tail of the last segment cut off, what is left made durable
 *   copy of the damaged segment as *.damaged ─▶ later segments aside, the last one first ─▶ its whole part under its name
 *                                                                                    ─▶ damaged snapshots aside
 *
 *   M1  Nothing happens before all was read and settled: an opening that fails has changed no file.
 *   M2  Nothing is removed that could not be read: it stands under a name of its own, beside those of earlier times.
 *
 * Crash: at every step the next recovery finds the same whole part, and the same end of it: no segment is ever read behind a hole.
 */
import { copyFile } from "../files.ts";
import { type Place, segmentPath, snapshotPath } from "../directory/frontier-directory.ts";

export interface DamageFound {
  /** Snapshots that do not count. */
  readonly snapshots: number[];
  /** The segment that the journal ends with, before its end. */
  segment: DamagedSegment | undefined;
}

interface DamagedSegment {
  readonly serial: number;
  /** Those behind it, ascending. */
  readonly later: readonly number[];
  /** Bytes of its head and its whole frames; 0: not even the head, or no such file. */
  readonly size: number;
  /** The last one: behind its whole frames is nothing but what a crash tore, if anything. No damage. */
  readonly isTorn: boolean;
}

export function repairDirectory(place: Place, { segment, snapshots }: DamageFound): void {
  if (segment !== undefined) repairSegment(place, segment);
  for (const serial of snapshots) setAside(place, snapshotPath(place, serial));
}

function repairSegment(place: Place, { serial, later, size, isTorn }: DamagedSegment): void {
  const { files } = place;
  const path = segmentPath(place, serial);
  if (isTorn) {
    cutTail(place, path, size);
    return;
  }
  if (size > 0) copyFile(files, path, asideOf(place, path));
  for (const each of [...later].reverse()) setAside(place, segmentPath(place, each));
  files.syncDirectory(place.directory); // nothing stands behind the hole before it is one
  if (size > 0) copyFile(files, path, path, size);
  else setAside(place, path);
}

function setAside(place: Place, path: string): void {
  if (place.files.exists(path)) place.files.rename(path, asideOf(place, path));
}

/** The first name that is free (M2). */
function asideOf({ files }: Place, path: string): string {
  let name = `${path}.damaged`;
  for (let number = 2; files.exists(name); number++) name = `${path}.${number}.damaged`;
  return name;
}

/** A process that was killed may have left frames that the medium does not have: a segment to come needs them there. */
function cutTail({ files }: Place, path: string, size: number): void {
  const file = files.open(path, "r+");
  try {
    if (files.size(file) > size) files.truncate(file, size);
    files.sync(file);
  } finally {
    files.close(file);
  }
}
