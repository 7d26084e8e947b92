/**
 * Checks a block of hosts before anything of it is trusted (check-section.ts): its bytes become words of memory as they are.
 *
 *   host entry: head │ turn, clock … │ hash │ … │ name │ record entry: head │ record │ parent? │ blob? │ record entry …
 *
 *   I1  After a check every entry ends where the next one begins, and each record is as long as its own fields ask.
 *   I2  Every record is pending and has an identity; no number is NaN.
 */
import {
  BLOB_HEAD_BYTES,
  LONE_BITS,
  NAMED_BYTES,
  NAMED_NAME_BYTES_WORD,
  RECORD_FLAG_BLOB,
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_PARENT,
  RECORD_FLAG_VOLATILE,
  RECORD_HEAD_BYTES,
  RECORD_NAMED,
  RECORD_PENDING,
  RECORD_PRIORITY_WORD,
  RECORD_STATE_MASK,
  RECORD_STATE_WORD,
  RECORD_TEXT_BYTES_WORD,
} from "../../layout/records/record.ts";
import { ITEM_KEY_WORD } from "../../layout/ordering/item.ts";
import {
  ADDED_HOST_HI_WORD,
  ADDED_HOST_LO_WORD,
  SPILL_ENTRY_HEAD_WORDS,
  SPILL_ENTRY_WORD,
  SPILL_HOST_FLAGS_WORD,
  SPILL_HOST_HEAD_WORDS,
  SPILL_HOST_NAME_WORD,
  SPILL_HOST_PLAIN,
  SPILL_HOST_RECORDS_WORD,
  SPILL_HOST_WORDS_WORD,
  SPILL_PARENT_WORDS,
  SPILL_RECORD_WORDS_WORD,
} from "../../layout/records/spill-block.ts";
import {
  HOST_KEPT,
  HOST_MARKED,
  HOST_PASSED,
  HOST_STEERED,
  HOST_TURN_DECIDED,
} from "../../layout/records/host.ts";
import { firstRecordAt, hostHashAt } from "../../structures/spill/host-codec.ts";
import { type BlockChunk, doublesOf, wordsOf } from "./snapshot-format.ts";

/** No place is higher; no turn (recovery/restore-hosts.ts); no text and no blob longer than a record can have. */
const KEY_MAX = 2 ** 53;
const TURN_MAX = 2 ** 51;
const BYTES_MAX = 2 ** 28;
const HOST_FLAGS = HOST_STEERED | HOST_KEPT | HOST_MARKED | HOST_PASSED | HOST_TURN_DECIDED;

/** Names the first field with an impossible value; undefined when there is none. */
export function blockFault(chunk: BlockChunk): string | undefined {
  const { n, records, clocked, rule, more, bounds, words, added } = chunk;
  if (![n, records, clocked, rule, more].every(isCount) || clocked > 1 || n === 0) return "counts";
  const columns: readonly unknown[] = [bounds, words, added];
  if (!columns.every((column) => column instanceof Uint8Array)) return "columns";
  if (bounds.length !== 24 || words.length % 4 !== 0 || added.length % 4 !== 0) return "columns";
  const [first = Number.NaN, last = Number.NaN, priority = Number.NaN] = doublesOf(bounds);
  if (!(first <= last) || Number.isNaN(priority)) return "bounds";
  const entries = wordsOf(words);
  const fault = hostsFault(entries, n, records) ?? recordsFault(wordsOf(added), 0, more).fault;
  return fault ?? (more > 0 ? addedFault(wordsOf(added), entries) : undefined);
}

/** An added record names a host of the block. */
function addedFault(added: Uint32Array, entries: Uint32Array): string | undefined {
  const his = new Map<number, number>();
  const alike: number[] = []; // hashes whose lower word another host has
  for (let at = 0; at < entries.length; at += entries[at + SPILL_HOST_WORDS_WORD] as number) {
    const hash = hostHashAt(entries, at);
    const lo = entries[hash] as number;
    if (his.has(lo)) alike.push(hash);
    else his.set(lo, entries[hash + 1] as number);
  }
  for (let at = 0; at < added.length; at += added[at + SPILL_ENTRY_WORD] as number) {
    const start = at + SPILL_ENTRY_HEAD_WORDS;
    const lo = added[start + ADDED_HOST_LO_WORD] as number;
    const hi = added[start + ADDED_HOST_HI_WORD] as number;
    if (his.get(lo) === hi) continue;
    if (!alike.some((hash) => entries[hash] === lo && entries[hash + 1] === hi)) {
      return "the host of an added record";
    }
  }
  return undefined;
}

function hostsFault(words: Uint32Array, hosts: number, records: number): string | undefined {
  let at = 0;
  let sum = 0;
  for (let host = 0; host < hosts; host++) {
    if (at + SPILL_HOST_HEAD_WORDS > words.length) return "hosts";
    const end = at + (words[at + SPILL_HOST_WORDS_WORD] as number);
    const start = firstRecordAt(words, at);
    if (end > words.length || start > end) return "a host";
    if ((words[at + SPILL_HOST_NAME_WORD] as number) >= 2 * SPILL_HOST_PLAIN) return "a name";
    if (((words[at + SPILL_HOST_FLAGS_WORD] as number) & ~HOST_FLAGS) !== 0) return "flags";
    if (!areClocks(words, at)) return "a clock";
    const held = words[at + SPILL_HOST_RECORDS_WORD] as number;
    const { fault, next } = recordsFault(words.subarray(0, end), start, held);
    if (fault !== undefined) return fault;
    if (held === 0) return "a host";
    sum += held;
    at = next;
  }
  return at === words.length && sum === records ? undefined : "records";
}

/** Turn and clock, and of a host that is not plain its block, its delays and its bytes. */
function areClocks(words: Uint32Array, at: number): boolean {
  const isPlain = (words[at + SPILL_HOST_NAME_WORD] as number) >= SPILL_HOST_PLAIN;
  const first = at + SPILL_HOST_HEAD_WORDS;
  for (let i = 0; i < (isPlain ? 2 : 6); i++) {
    if (Number.isNaN(doubleAt(words, first + i * 2))) return false;
  }
  return Math.abs(doubleAt(words, first)) <= 2 * TURN_MAX && doubleAt(words, first) <= TURN_MAX;
}

/** Checks so many entries of records from a word on, up to the end of the words. */
function recordsFault(
  words: Uint32Array,
  start: number,
  count: number,
): { fault: string | undefined; next: number } {
  let next = start;
  for (let left = count; left > 0; left--) {
    const fault = recordFault(words, next);
    if (fault !== undefined) return { fault, next };
    next += words[next + SPILL_ENTRY_WORD] as number;
  }
  return { fault: next === words.length ? undefined : "records", next };
}

function recordFault(words: Uint32Array, at: number): string | undefined {
  const start = at + SPILL_ENTRY_HEAD_WORDS;
  const head = RECORD_HEAD_BYTES >> 2;
  if (start + head > words.length) return "a record";
  const end = at + (words[at + SPILL_ENTRY_WORD] as number);
  const size = words[at + SPILL_RECORD_WORDS_WORD] as number;
  if (end > words.length || start + size > end) return "a record";
  const stateWord = words[start + RECORD_STATE_WORD] as number;
  if ((stateWord & RECORD_STATE_MASK) !== RECORD_PENDING) return "a state";
  if ((stateWord & LONE_BITS) !== 0) return "a state";
  const flags = (stateWord >>> 8) & 255;
  if ((flags & (RECORD_FLAG_NO_IDENTITY | RECORD_FLAG_VOLATILE)) !== 0) return "flags";
  const text = words[start + RECORD_TEXT_BYTES_WORD] as number;
  if (text > BYTES_MAX) return "text";
  const hasParent = (flags & RECORD_FLAG_PARENT) !== 0;
  const hasBlob = (flags & RECORD_FLAG_BLOB) !== 0;
  let bytes = RECORD_HEAD_BYTES + text + (hasParent ? 4 : 0) + (hasBlob ? 4 : 0);
  if ((stateWord & RECORD_NAMED) !== 0) {
    const nameAt = start + head + (hasParent ? 1 : 0) + (hasBlob ? 1 : 0) + NAMED_NAME_BYTES_WORD;
    const name = nameAt < end ? (words[nameAt] as number) : BYTES_MAX + 1;
    if (name > BYTES_MAX) return "a name";
    bytes += NAMED_BYTES + ((name + 3) & ~3);
  }
  if (wordsIn(bytes) !== size) return "a record";
  let rest = start + size + (hasParent ? SPILL_PARENT_WORDS : 0);
  if (hasBlob) {
    const blob = rest < end ? (words[rest] as number) : BYTES_MAX + 1;
    if (blob > BYTES_MAX) return "a blob";
    rest += wordsIn(BLOB_HEAD_BYTES + blob);
  }
  if (rest !== end) return "a record";
  if (!(Math.abs(doubleAt(words, start + ITEM_KEY_WORD)) <= KEY_MAX)) return "a place";
  return Number.isNaN(doubleAt(words, start + RECORD_PRIORITY_WORD)) ? "a priority" : undefined;
}

const whole = new Float64Array(1);
const halves = new Uint32Array(whole.buffer);

/** The double at a word, wherever that is. */
export function doubleAt(words: Uint32Array, at: number): number {
  halves[0] = words[at] as number;
  halves[1] = words[at + 1] as number;
  return whole[0] as number;
}

function wordsIn(bytes: number): number {
  return (bytes + 3) >>> 2;
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
