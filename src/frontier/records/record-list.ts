/**
 * RecordList: records to come back to, handle and key, 12 bytes each, outside the objects of the heap.
 *
 *   handles  h0 h1 h2 …      keys  k0 k1 k2 …      count of both      parts, where they are to be divided  p0 p1 p2 …
 */
import { orderKeyOf } from "../../structures/hosts/lone-host.ts";
import { partOf, type Unplaced } from "../../structures/records/kernel-scratch.ts";
import type { Store } from "../../structures/store.ts";

export interface RecordList {
  handles: Uint32Array;
  keys: Float64Array;
  /** The part of each one (layout/calls/place-records.ts); undefined: they are sorted by their keys alone. */
  parts: Uint16Array | undefined;
  count: number;
}

const CAPACITY_FIRST = 64;

/** `capacity`: about how many are to come. */
export function createRecordList(capacity = CAPACITY_FIRST, isDivided = false): RecordList {
  const size = Math.max(capacity, CAPACITY_FIRST);
  const parts = isDivided ? new Uint16Array(size) : undefined;
  return { handles: new Uint32Array(size), keys: new Float64Array(size), parts, count: 0 };
}

/** Notes one more, with the key that it has now. */
export function appendRecord(store: Store, noted: RecordList, record: number): void {
  appendKey(noted, record, orderKeyOf(store, record));
  if (noted.parts !== undefined) noted.parts[noted.count - 1] = partOf(store, record);
}

/** Notes one more handle, with a key. */
export function appendKey(noted: RecordList, handle: number, key: number): void {
  makeRoom(noted, 1);
  noted.handles[noted.count] = handle;
  noted.keys[noted.count] = key;
  noted.count++;
}

/** Notes all pending records of a list. */
export function appendUnplaced(noted: RecordList, { handles, keys, parts }: Unplaced): void {
  makeRoom(noted, handles.length);
  noted.handles.set(handles, noted.count);
  noted.keys.set(keys, noted.count);
  noted.parts?.set(parts, noted.count);
  noted.count += handles.length;
}

function makeRoom(noted: RecordList, more: number): void {
  const before = noted.handles.length;
  if (noted.count + more <= before) return;
  const size = Math.max(before * 2, noted.count + more);
  const { handles, keys, parts } = noted;
  noted.handles = new Uint32Array(size);
  noted.handles.set(handles);
  noted.keys = new Float64Array(size);
  noted.keys.set(keys);
  if (parts === undefined) return;
  noted.parts = new Uint16Array(size);
  noted.parts.set(parts);
}
