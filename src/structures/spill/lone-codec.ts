import { ITEM_KEY_WORD } from "../../layout/ordering/item.ts";
import {
  RECORD_FLAG_PARENT,
  RECORD_FLAG_QUEUED,
  RECORD_HEAD_BYTES,
  RECORD_LONE,
  RECORD_NAMED,
  RECORD_STATE_WORD,
} from "../../layout/records/record.ts";
import {
  SPILL_ENTRY_HEAD_WORDS,
  SPILL_ENTRY_WORD,
  SPILL_HOST_HEAD_WORDS,
  SPILL_HOST_NAME_WORD,
  SPILL_HOST_PLAIN,
  SPILL_PARENT_WORDS,
  SPILL_RECORD_WORDS_WORD,
  SPILL_HOST_NAME_BYTES_MAX,
} from "../../layout/records/spill-block.ts";
import { loneHash, loneName, loneSequence } from "../hosts/lone-host.ts";
import {
  recordFlags,
  recordKey,
  recordParent,
  recordTextLength,
  recordTextOffset,
} from "../records/record.ts";
import type { Store } from "../store.ts";
import { wordsOf } from "./record-codec.ts";

/** Turn and clock of a plain host, and its hash. */
const OWN_WORDS = 6;
const HEAD_WORDS = RECORD_HEAD_BYTES >> 2;

/** Whether the name of a lone record's host fits its entry. */
export function hasShortLoneName(store: Store, record: number): boolean {
  return loneName(store, record).bytes <= SPILL_HOST_NAME_BYTES_MAX;
}

/** Words that the host of a lone record takes in a block, and its record. */
export function loneWords(store: Store, record: number): number {
  const hasParent = (recordFlags(store, record) & RECORD_FLAG_PARENT) !== 0;
  const own = SPILL_HOST_HEAD_WORDS + OWN_WORDS + wordsOf(loneName(store, record).bytes);
  return (
    own + SPILL_ENTRY_HEAD_WORDS + recordWords(store, record) + (hasParent ? SPILL_PARENT_WORDS : 0)
  );
}

/** Writes the host of a lone record behind the head of the entry at word `at`, which the caller completes, flags included; returns the word after it. */
export function packLoneHost(
  store: Store,
  record: number,
  target: Uint32Array,
  at: number,
): number {
  const { offset, bytes } = loneName(store, record);
  const { lo, hi } = loneHash(store, record);
  target[at + SPILL_HOST_NAME_WORD] = bytes + SPILL_HOST_PLAIN;
  const next = at + SPILL_HOST_HEAD_WORDS;
  writeDouble(target, next, recordKey(store, record));
  writeDouble(target, next + 2, 0);
  target[next + 4] = lo;
  target[next + 5] = hi;
  const name = next + OWN_WORDS;
  const words = wordsOf(bytes);
  if (words > 0) target[name + words - 1] = 0;
  const view = new Uint8Array(target.buffer, target.byteOffset + name * 4, bytes);
  view.set(store.region.views.u8.subarray(offset, offset + bytes));
  return name + words;
}

/** Writes a lone record as one of its host's at word `at`, and returns the word after it. */
export function packLoneRecord(
  store: Store,
  record: number,
  target: Uint32Array,
  at: number,
): number {
  const { u32 } = store.region.views;
  const parent = recordParent(store, record);
  let next = at + SPILL_ENTRY_HEAD_WORDS;
  const first = next;
  for (let word = 0; word < HEAD_WORDS; word++) target[next++] = u32[record * 2 + word] as number;
  const state = (u32[record * 2 + RECORD_STATE_WORD] as number) & ~(RECORD_LONE | RECORD_NAMED);
  target[first + RECORD_STATE_WORD] = (state | (RECORD_FLAG_QUEUED << 8)) >>> 0;
  writeDouble(target, first + ITEM_KEY_WORD, loneSequence(store, record));
  if (parent !== 0) target[next++] = parent;
  const text = recordTextOffset(store, record) >> 2;
  const words = wordsOf(recordTextLength(store, record));
  for (let word = 0; word < words; word++) target[next++] = u32[text + word] as number;
  target[at + SPILL_RECORD_WORDS_WORD] = next - first;
  for (let word = 0; parent !== 0 && word < SPILL_PARENT_WORDS; word++) {
    target[next++] = u32[parent * 2 + 2 + word] as number;
  }
  target[at + SPILL_ENTRY_WORD] = next - at;
  return next;
}

/** Words of the record without the name of its host. */
function recordWords(store: Store, record: number): number {
  const parent = (recordFlags(store, record) & RECORD_FLAG_PARENT) === 0 ? 0 : 1;
  return HEAD_WORDS + parent + wordsOf(recordTextLength(store, record));
}

const whole = new Float64Array(1);
const halves = new Uint32Array(whole.buffer);

function writeDouble(target: Uint32Array, at: number, value: number): void {
  whole[0] = value;
  target[at] = halves[0] as number;
  target[at + 1] = halves[1] as number;
}
