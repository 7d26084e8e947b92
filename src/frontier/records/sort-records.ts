/**
 * Sorts handles by their keys: whole numbers, mostly dense and unique. Dense keys are placed directly; others are sorted in
 * radix passes of 16 bits over the range of the keys, at most four. What is divided comes part by part, each sorted by its keys.
 */
import type { Core } from "../core.ts";
import type { RecordList } from "./record-list.ts";
import { PART_COUNT } from "../../structures/records/kernel-scratch.ts";
import { setRecordKey } from "../../structures/records/record.ts";

const DIGITS = 65_536;
/** With up to this many places for each handle, handles are placed directly; where parts take as much memory again, with up to so many. */
const DENSE = 4;
const DENSE_DIVIDED = 3;
/** Below this many handles the counting alone would cost more. */
const SMALL = 4_096;

type Columns = Omit<RecordList, "count">;

/**
 * Sorts records: those of a part by their keys, where the list is divided. One whose place another one has, as a forged journal may have it,
 * gets a new place after all others.
 */
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
 * Returns the handles in ascending order of their keys, part by part where the list is divided and no two keys are the same. Notes in `same`
 * those whose key is that of another one. May overwrite the input's arrays.
 */
export function sortByKey(list: RecordList, same: number[]): Uint32Array {
  const { handles, keys, count } = list;
  if (count < SMALL) return sortFew(list, same);
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const key = keys[i] as number;
    if (key < low) low = key;
    if (key > high) high = key;
  }
  const dense = list.parts === undefined ? DENSE : DENSE_DIVIDED;
  if (high - low < dense * count && Number.isInteger(high - low)) {
    const sorted = sortDense(list, low, high - low + 1);
    if (sorted !== undefined) return sorted;
  }
  let from: Columns = {
    handles: handles.subarray(0, count),
    keys: keys.subarray(0, count),
    parts: list.parts,
  };
  let to: Columns = {
    handles: new Uint32Array(count),
    keys: new Float64Array(count),
    parts: list.parts === undefined ? undefined : new Uint16Array(count),
  };
  const starts = new Uint32Array(DIGITS);
  for (let unit = 1; (high - low) / unit >= 1; unit *= DIGITS) {
    starts.fill(0);
    for (let i = 0; i < count; i++) bump(starts, digit(from.keys, i, low, unit));
    addUp(starts);
    for (let i = 0; i < count; i++) {
      const place = bump(starts, digit(from.keys, i, low, unit));
      to.handles[place] = from.handles[i] as number;
      to.keys[place] = from.keys[i] as number;
      if (to.parts !== undefined) to.parts[place] = (from.parts as Uint16Array)[i] as number;
    }
    [from, to] = [to, from];
  }
  for (let i = 1; i < count; i++) {
    if (from.keys[i] === from.keys[i - 1]) same.push(from.handles[i] as number);
  }
  if (same.length > 0 || from.parts === undefined) return from.handles;
  return divide(from.handles, from.parts, to.handles);
}

/** One write for each handle; returns undefined when two have the same key, or one is not a whole number. */
function sortDense(
  { handles, keys, parts, count }: RecordList,
  low: number,
  places: number,
): Uint32Array | undefined {
  const sparse = new Uint32Array(places);
  for (let i = 0; i < count; i++) sparse[(keys[i] as number) - low] = handles[i] as number;
  let found = 0;
  for (let place = 0; place < places; place++) if (sparse[place] !== 0) found++;
  if (found !== count) return undefined;
  if (parts !== undefined) {
    const sparseParts = new Uint16Array(places);
    for (let i = 0; i < count; i++) sparseParts[(keys[i] as number) - low] = parts[i] as number;
    return divide(sparse, sparseParts, handles.subarray(0, count));
  }
  let at = 0;
  for (let place = 0; place < places; place++) {
    const handle = sparse[place] as number;
    if (handle !== 0) sparse[at++] = handle;
  }
  return sparse.subarray(0, at);
}

/** Writes handles part by part to `to`; within a part they keep their order. A handle of 0 is none. */
function divide(handles: Uint32Array, parts: Uint16Array, to: Uint32Array): Uint32Array {
  const starts = new Uint32Array(PART_COUNT);
  for (let i = 0; i < handles.length; i++) if (handles[i] !== 0) bump(starts, parts[i] as number);
  addUp(starts);
  for (let i = 0; i < handles.length; i++) {
    const handle = handles[i] as number;
    if (handle !== 0) to[bump(starts, parts[i] as number)] = handle;
  }
  return to;
}

/** Turns counts into where each begins. */
function addUp(counts: Uint32Array): void {
  let sum = 0;
  for (let at = 0; at < counts.length; at++) {
    const here = counts[at] as number;
    counts[at] = sum;
    sum += here;
  }
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
