/**
 * Repair: moves aside what a recovery could not read, and puts the whole part in its place.
 *
 *   tail of the last segment cut off, what is left made durable
 *   copy of the damaged segment as *.damaged ─▶ later segments aside, the last one first ─▶ its whole part under its name
 *                                                                                    ─▶ damaged snapshots aside
 *
 *   M1  Nothing happens before everything was read and settled: a failed opening has changed no file.
 *   M2  Nothing that could not be read is removed: it gets a name of its own, beside those of earlier repairs.
 *
 * Crash: at every step the next recovery finds the same whole part and the same end of it: no segment after a gap is ever read.
 */
import { copyFile } from "../files.ts";
import { type Place, segmentPath } from "../directory/frontier-directory.ts";

export interface DamageFound {
  /** Files of snapshots that do not count. */
  readonly snapshots: string[];
  /** The segment in which the journal ends. */
  segment: DamagedSegment | undefined;
}

interface DamagedSegment {
  readonly serial: number;
  /** The segments after it, ascending. */
  readonly later: readonly number[];
  /** Bytes of its head and its whole frames; 0: not even the head, or no such file. */
  readonly size: number;
  /** The last segment, in order: only a torn tail, if anything, follows its whole frames. No damage. */
  readonly isTorn: boolean;
}

export function repairDirectory(place: Place, { segment, snapshots }: DamageFound): void {
  if (segment !== undefined) repairSegment(place, segment);
  for (const path of snapshots) setAside(place, path);
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
  files.syncDirectory(place.directory); // a later segment must be aside before the gap appears
  if (size > 0) copyFile(files, path, path, size);
  else setAside(place, path);
}

function setAside(place: Place, path: string): void {
  if (place.files.exists(path)) place.files.rename(path, asideOf(place, path));
}

/** The first free name (M2). */
function asideOf({ files }: Place, path: string): string {
  let name = `${path}.damaged`;
  for (let number = 2; files.exists(name); number++) name = `${path}.${number}.damaged`;
  return name;
}

/** A killed process may have left frames that are not on the medium: they must be there before a next segment. */
function cutTail({ files }: Place, path: string, size: number): void {
  const file = files.open(path, "r+");
  try {
    if (files.size(file) > size) files.truncate(file, size);
    files.sync(file);
  } finally {
    files.close(file);
  }
}
