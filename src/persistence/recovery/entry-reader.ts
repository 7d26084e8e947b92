/**
 * The position of a replay in a frame, and how an entry's fields are read there.
 *
 *   I1  Nothing beyond the frame is read: a length that points outside is damage, whatever the checksum.
 *
 * The values of fields are checked by check-fields.ts.
 */
import { wordsOf } from "../journal/entry-fields.ts";
import { wrong } from "./check-fields.ts";
import { JOURNAL_NAMELESS } from "../../layout/files/journal.ts";
import {
  createRestoredRecord,
  type FramePlace,
  type Restoration,
  restoredRecord,
} from "./restore-records.ts";

/** A frame's words, and the position of the replay in them. */
export interface Replay {
  readonly restoration: Restoration;
  words: Uint32Array;
  bytes: Uint8Array;
  at: number;
  end: number;
  /** Entries replayed. */
  entries: number;
  /** Entries that named something that is not there. */
  astray: number;
  /** The frame that is replayed; undefined in a snapshot. */
  place: FramePlace | undefined;
  readonly record: ReturnType<typeof createRestoredRecord>;
  readonly double: Float64Array;
  readonly halves: Uint32Array;
}

export function createReplay(restoration: Restoration): Replay {
  const double = new Float64Array(1);
  const halves = new Uint32Array(double.buffer);
  const nothing = { words: halves, bytes: new Uint8Array(0), at: 0, end: 0, place: undefined };
  const record = createRestoredRecord();
  return { restoration, ...nothing, entries: 0, astray: 0, record, double, halves };
}

/** The live record that an entry names; 0: there is none, and the entry is skipped. */
export function named(replay: Replay, at: number): number {
  const { restoration, words } = replay;
  const isNameless = ((words[at] as number) & JOURNAL_NAMELESS) !== 0;
  const lo = words[at + 1] as number;
  const record = restoredRecord(restoration, isNameless, lo, words[at + 2] as number);
  if (record === 0) replay.astray++;
  return record;
}

/** Takes the next `words` words of the frame and returns where they begin (I1). */
export function take(replay: Replay, words: number): number {
  const { at } = replay;
  if (at + words > replay.end) throw wrong("an entry that ends after its frame");
  replay.at = at + words;
  return at;
}

/** Takes so many bytes, padded to words, and returns the word where they begin (I1). A length near 2³² would wrap to no words. */
export function takeBytes(replay: Replay, bytes: number): number {
  if (bytes > (replay.end - replay.at) * 4) throw wrong("bytes that end after their frame");
  return take(replay, wordsOf(bytes));
}

/** Copies the next bytes. */
export function bytesOf(replay: Replay, length: number): Uint8Array {
  return viewOf(replay, length).slice();
}

/** A view of the next bytes, valid until the next frame. */
export function viewOf(replay: Replay, length: number): Uint8Array {
  const at = takeBytes(replay, length) * 4;
  return replay.bytes.subarray(at, at + length);
}

export function double({ words, double: value, halves }: Replay, at: number): number {
  halves[0] = words[at] as number;
  halves[1] = words[at + 1] as number;
  const number = value[0] as number;
  if (Number.isNaN(number)) throw wrong("not a number");
  return number;
}
