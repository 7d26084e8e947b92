/**
 * RecordList: records to come back to, handle and key, 12 bytes each, outside the objects of the heap.
 *
 *   handles  h0 h1 h2 …      keys  k0 k1 k2 …      count of both
 */
import { orderKeyOf } from "../../structures/hosts/lone-host.ts";
import type { Store } from "../../structures/store.ts";

export interface RecordList {
  handles: Uint32Array;
  keys: Float64Array;
  count: number;
}

const CAPACITY_FIRST = 64;

/** `capacity`: about how many are to come. */
export function createRecordList(capacity = CAPACITY_FIRST): RecordList {
  const size = Math.max(capacity, CAPACITY_FIRST);
  return { handles: new Uint32Array(size), keys: new Float64Array(size), count: 0 };
}

/** Notes one more, with the key that it has now. */
export function appendRecord(store: Store, noted: RecordList, record: number): void {
  appendKey(noted, record, orderKeyOf(store, record));
}

/** Notes one more handle, with a key. */
export function appendKey(noted: RecordList, handle: number, key: number): void {
  if (noted.count === noted.handles.length) {
    const handles = new Uint32Array(noted.count * 2);
    const keys = new Float64Array(noted.count * 2);
    handles.set(noted.handles);
    keys.set(noted.keys);
    noted.handles = handles;
    noted.keys = keys;
  }
  noted.handles[noted.count] = handle;
  noted.keys[noted.count] = key;
  noted.count++;
}
