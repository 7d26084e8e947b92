/**
 * The position of a replay in a frame, and how an entry's fields are read there.
 *
 *   I1  Nothing beyond the frame is read: a length that points outside is damage, whatever the checksum.
 *   I2  The values of an entry are checked: a number, a place, a state, flags.
 */
import { wordsOf } from "../journal/entry-fields.ts";
import { InvariantError } from "../../base/errors.ts";
import { JOURNAL_NAMELESS } from "../../layout/files/journal.ts";
import {
  RECORD_FLAG_VOLATILE,
  RECORD_PENDING,
  RECORD_RESTING,
} from "../../layout/records/record.ts";
import { createRestoredRecord, type Restoration, restoredRecord } from "./restore-records.ts";

/** No sequence is greater; sequences counted from the other end begin at −2⁵². */
const KEY_MAX = 2 ** 53;

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
  readonly record: ReturnType<typeof createRestoredRecord>;
  readonly double: Float64Array;
  readonly halves: Uint32Array;
}

export function createReplay(restoration: Restoration): Replay {
  const double = new Float64Array(1);
  const halves = new Uint32Array(double.buffer);
  const nothing = { words: halves, bytes: new Uint8Array(0), at: 0, end: 0 };
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

/** Copies the next bytes. */
export function bytesOf(replay: Replay, length: number): Uint8Array {
  const at = take(replay, wordsOf(length)) * 4;
  return replay.bytes.slice(at, at + length);
}

export function double({ words, double: value, halves }: Replay, at: number): number {
  halves[0] = words[at] as number;
  halves[1] = words[at + 1] as number;
  const number = value[0] as number;
  if (Number.isNaN(number)) throw wrong("not a number");
  return number;
}

/** Checks the place of a record: a sequence, or a sequence less 2⁵². */
export function checkKey(key: number): number {
  if (!(Math.abs(key) <= KEY_MAX)) throw wrong(`a place ${key}`);
  return key;
}

/** Checks the state in the head of an entry or of a row. */
export function checkState(state: number): number {
  if (state < RECORD_PENDING || state > RECORD_RESTING) throw wrong(`a record in state ${state}`);
  return state;
}

/** Checks the flags that belong to a record itself. */
export function checkFlags(flags: number): number {
  if (flags >= RECORD_FLAG_VOLATILE) throw wrong(`flags ${flags}`);
  return flags;
}

export function wrong(what: string): InvariantError {
  return new InvariantError(`journal: ${what}`);
}
