/**
 * Directory notes: reads the notes of a directory before anything of it is opened: those of the newest snapshot, and those at the
 * beginning of each segment since then.
 *
 * Reads only the beginnings of files, changes nothing and takes no lock. Ignores damage: an opening reports it.
 */
import { FrontierError } from "../../base/errors.ts";
import { JOURNAL_NOTE, JOURNAL_NOTE_WORDS } from "../../layout/files/journal.ts";
import { listDirectory, type Place } from "../directory/frontier-directory.ts";
import { SegmentReader } from "../journal/segment-reader.ts";
import { readSnapshotHead } from "../recovery/load-snapshot.ts";

/** Notes by name, packed; undefined when there is no frontier. */
export function readNotes(place: Place): Map<string, Uint8Array> | undefined {
  const { segments, snapshots } = listDirectory(place);
  if (segments.length === 0 && snapshots.length === 0) return undefined;
  const notes = new Map<string, Uint8Array>();
  let first = 0;
  for (const serial of [...snapshots].reverse()) {
    const head = orUndefined(() => readSnapshotHead(place, serial));
    if (head === undefined) continue;
    for (const [name, value] of Object.entries(head.notes)) notes.set(name, value);
    first = serial;
    break;
  }
  for (const serial of segments) {
    if (serial >= first) orUndefined(() => readBeginning(place, serial, notes));
  }
  return notes;
}

function readBeginning(place: Place, serial: number, notes: Map<string, Uint8Array>): void {
  const reader = SegmentReader.open(place, serial);
  try {
    if (reader?.head() === undefined || !reader.next()) return;
    const { bytes, words, lastWord } = reader;
    let at = reader.firstWord;
    while (at < lastWord && ((words[at] as number) & 255) === JOURNAL_NOTE) {
      const name = words[at + 1] as number;
      const value = words[at + 2] as number;
      const from = (at + JOURNAL_NOTE_WORDS) * 4;
      const behind = from + ((name + 3) & ~3);
      const title = Buffer.from(bytes.subarray(from, from + name)).toString("utf8");
      notes.set(title, bytes.slice(behind, behind + value));
      at = (behind + ((value + 3) & ~3)) >> 2;
    }
  } finally {
    reader?.close();
  }
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof FrontierError) return undefined;
    throw error;
  }
}
