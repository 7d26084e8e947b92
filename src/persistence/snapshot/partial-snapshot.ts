/**
 * A partial snapshot: what a snapshot writes where little has changed since the last whole one. It has no rows:
 * the journal after the whole one, its base, holds every change. It names the base, and the totals that base and journal add up to.
 *
 *   base (whole) ─▶ segments base, base + 1, …, serial − 1 ─▶ totals as noted here ─▶ segments from serial on
 *                                                       └ others: something between was lost, and is reported
 *
 *   P1  It gets its name only after the journal before `serial` is durable.
 *   P2  An opening needs the base and the journal alone. A partial snapshot that is damaged or missing costs nothing but the comparison.
 *
 * Why it has no rows: docs/decisions/0021-partial-snapshots.md.
 */
import type { Core } from "../../frontier/core.ts";
import { damaged, partialPath, type Place } from "../directory/frontier-directory.ts";
import { SnapshotReader } from "./section-reader.ts";
import type { SnapshotBuffers } from "./snapshot-buffers.ts";
import { discardSnapshot, nameSnapshot, SnapshotFile } from "./snapshot-file.ts";
import type { PartialSection } from "./snapshot-format.ts";

/** Counters that only entries of the journal raise. */
const TOTALS = ["accepted", "deferred", "leases", "released", "retried", "removed"] as const;

export function totalsOf({ counters }: Core): Record<string, number> {
  return Object.fromEntries(TOTALS.map((name) => [name, counters[name]]));
}

interface PartialParts {
  readonly place: Place;
  readonly section: PartialSection;
  readonly room: SnapshotBuffers;
  /** Resolves when the journal is durable up to now. */
  readonly flush: () => Promise<void>;
}

/** Writes the file. Throws the disk's error, and leaves no file then. */
export async function writePartial({
  place,
  section,
  room,
  flush,
}: PartialParts): Promise<{ readonly path: string; readonly bytes: number }> {
  const { files } = place;
  const { serial } = section;
  const path = partialPath(place, serial);
  const file = new SnapshotFile({ files, path: `${path}.tmp`, serial, free: room.free });
  try {
    file.add(section);
    await file.written();
    await flush(); // P1
    await file.synced();
    await file.close();
  } catch (error) {
    await discardSnapshot(files, file, `${path}.tmp`);
    throw error;
  }
  await nameSnapshot(place, path);
  return { path, bytes: file.offset };
}

/** Throws SNAPSHOT_CORRUPT, which names the file. */
export function readPartial(place: Place, serial: number): PartialSection {
  const path = partialPath(place, serial);
  const reader = new SnapshotReader(place.files, path, serial);
  try {
    const section = reader.next();
    if (section?.t !== "partial" || section.serial !== serial) {
      throw damaged(path, 0, "not a partial snapshot");
    }
    if (reader.next() !== undefined) throw damaged(path, 0, "bytes after its end");
    return section;
  } finally {
    reader.close();
  }
}

/** The first total that differs from what a partial snapshot noted; undefined: none. */
export function totalsFault({ totals }: PartialSection, core: Core): string | undefined {
  const found = totalsOf(core);
  const name = TOTALS.find((each) => totals[each] !== found[each]);
  if (name === undefined) return undefined;
  return `${name}: ${totals[name]} counted before it, ${found[name]} in the journal`;
}
