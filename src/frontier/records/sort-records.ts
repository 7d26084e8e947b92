/**
 * Sorts handles by their keys: whole numbers, mostly dense and unique. Dense keys are placed directly; others are sorted in
 * radix passes of 16 bits over the range of the keys, at most four.
 */
import type { Core } from "../core.ts";
import type { RecordList } from "./record-list.ts";
import { setRecordKey } from "../../structures/records/record.ts";

const DIGITS = 65_536;
/** With up to this many places for each handle, handles are placed directly. */
const DENSE = 4;
/** Below this many handles the counting alone would cost more. */
const SMALL = 4_096;

/** Sorts records. One whose place another one has, as a forged journal may have it, gets a new place after all others. */
export function sortApart(
  core: Core,
  list: RecordList,
): { handles: Uint32Array; areApart: boolean } {
  const same: number[] = [];
  const handles = sortByKey(list, same);
  if (same.length === 0) return { handles, areApart: true };
  const moved = new Set(same);
  const sorted = [...handles.filter((record) => !moved.has(record)), ...same];
  for (const record of same) setRecordKey(core.store, record, ++core.sequence);
  return { handles: Uint32Array.from(sorted), areApart: false };
}

/**
 * Returns the handles in ascending order of their keys, and notes in `same` those whose key is that of another one. May overwrite the
 * input's arrays.
 */
export function sortByKey({ handles, keys, count }: RecordList, same: number[]): Uint32Array {
  if (count < SMALL) return sortFew({ handles, keys, count }, same);
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const key = keys[i] as number;
    if (key < low) low = key;
    if (key > high) high = key;
  }
  if (high - low < DENSE * count && Number.isInteger(high - low)) {
    const sorted = sortDense(handles, keys, { count, low, places: high - low + 1 });
    if (sorted !== undefined) return sorted;
  }
  let fromHandles = handles.subarray(0, count);
  let fromKeys = keys.subarray(0, count);
  let toHandles: Uint32Array = new Uint32Array(count);
  let toKeys: Float64Array = new Float64Array(count);
  const starts = new Uint32Array(DIGITS);
  for (let unit = 1; (high - low) / unit >= 1; unit *= DIGITS) {
    starts.fill(0);
    for (let i = 0; i < count; i++) bump(starts, digit(fromKeys, i, low, unit));
    let sum = 0;
    for (let d = 0; d < DIGITS; d++) {
      const here = starts[d] as number;
      starts[d] = sum;
      sum += here;
    }
    for (let i = 0; i < count; i++) {
      const to = bump(starts, digit(fromKeys, i, low, unit));
      toHandles[to] = fromHandles[i] as number;
      toKeys[to] = fromKeys[i] as number;
    }
    [fromHandles, toHandles] = [toHandles, fromHandles];
    [fromKeys, toKeys] = [toKeys, fromKeys];
  }
  for (let i = 1; i < count; i++) {
    if (fromKeys[i] === fromKeys[i - 1]) same.push(fromHandles[i] as number);
  }
  return fromHandles;
}

/** One write for each handle; returns undefined when two have the same key, or one is not a whole number. */
function sortDense(
  handles: Uint32Array,
  keys: Float64Array,
  { count, low, places }: { count: number; low: number; places: number },
): Uint32Array | undefined {
  const sparse = new Uint32Array(places);
  for (let i = 0; i < count; i++) sparse[(keys[i] as number) - low] = handles[i] as number;
  const sorted = new Uint32Array(count);
  let at = 0;
  for (let place = 0; place < places; place++) {
    const handle = sparse[place] as number;
    if (handle !== 0) sorted[at++] = handle;
  }
  return at === count ? sorted : undefined;
}

function digit(keys: Float64Array, index: number, low: number, unit: number): number {
  return Math.floor(((keys[index] as number) - low) / unit) % DIGITS;
}

function sortFew({ handles, keys, count }: RecordList, same: number[]): Uint32Array {
  const order = Array.from({ length: count }, (_, index) => index);
  order.sort((a, b) => (keys[a] as number) - (keys[b] as number));
  for (let i = 1; i < count; i++) {
    const index = order[i] as number;
    if (keys[index] === keys[order[i - 1] as number]) same.push(handles[index] as number);
  }
  return Uint32Array.from(order, (index) => handles[index] as number);
}

/** Returns the count before it is raised. */
function bump(counts: Uint32Array, at: number): number {
  const before = counts[at] as number;
  counts[at] = before + 1;
  return before;
}
