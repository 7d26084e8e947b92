/**
 * Scratch: room in the region for one batch of calls into the kernel. Owner: the frontier's thread.
 *
 *   hostValues u32 × rows   what the host index holds of each row's host
 *   hostSlots  u32 × rows   where the index keeps it
 *   jobs       3 × u32      copies to make: to, from, bytes
 *   gathered   u32 × rows   records whose URLs are gathered
 *   ends       u32 × rows   end of each gathered URL, relative to text
 *   text       bytes        gathered URLs, or entries; read before anything else is called
 *   sizes      u32 × rows   bytes of the records to be made (layout/calls/make-records.ts)
 *   objects    u32 × rows   the memory taken for them
 *   make       MAKE_BYTES   the job that makes them; its fields of arrays name those below from the start
 *   codes      u8 × rows    its verdict of each row, in the same array
 *   notes      u16 × rows   rows that it leaves to the owner, in the same array
 *   rules      u32 × rows   the rule queue of each row of the batch in hand, where rules are matched
 *   parents    u32 × rows   parent of each row to be admitted, where they come of several pages
 *   lease      LEASE_BYTES  the job that hands records out, or ends leases (layout/calls/lease-records.ts)
 *   newRows    u32 × rows   rows of hosts to be made (structures/records/host-batch.ts)
 *   nameSizes  u32 × rows   bytes of their names; names, newHosts, newQueues: the memory taken for them
 *   lanes      u32 × rows   lanes to be opened, then the rules whose lanes were (layout/calls/make-records.ts)
 *   turns      u32 × rows   rule queues whose turns come (structures/records/lease-batch.ts)
 *   idles      u32 × rows   hosts that lost their last record; orphans: parents that did
 *   one        2 × u32      a record whose URL is read by itself, and its end
 *   leased     u32 × rows   records that were handed out
 *   ended      u32 × rows   records whose leases end; endSizes: their bytes
 *   touched    u32 × rows   records or rule queues that are read ahead
 *   placed     u32 × rows   records that a recovery lists, or places; their keys and parts are in text
 *   firsts     u32 × rows   the place of each row's host among those that a batch meets
 *   spilled    u32 × rows   what the host index holds of each row's host, where some are on disk
 *   admitted   u32 × rows   records whose admission is logged (structures/records/entry-batch.ts)
 *   entries    9 × u32      the job that writes their entries, to text (layout/calls/admitted-entries.ts)
 *
 *   I1  Nothing here outlives the call that filled it.
 *   I2  No two uses share an array: one may begin before another has ended.
 */
import { assert } from "../../base/assert.ts";
import {
  MAKE_CODES_WORD,
  MAKE_HANDLES_WORD,
  MAKE_HOSTS_WORD,
  MAKE_HOST_SLOTS_WORD,
  MAKE_LANES_WORD,
  MAKE_NAMES_WORD,
  MAKE_NAME_SIZES_WORD,
  MAKE_NEW_HOSTS_WORD,
  MAKE_NEW_QUEUES_WORD,
  MAKE_NEW_ROWS_WORD,
  MAKE_NOTES_WORD,
  MAKE_SIZES_WORD,
  MAKE_TURNS_WORD,
} from "../../layout/calls/make-records.ts";
import { PART_FACTOR, PART_SHIFT } from "../../layout/calls/place-records.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { regionGive, regionTake } from "../../memory/region.ts";
import { recordQueue, recordTextLength } from "./record.ts";
import type { Store } from "../store.ts";

export { PART_COUNT } from "../../layout/calls/place-records.ts";

export interface Scratch {
  readonly store: Store;
  readonly hostValues: number;
  readonly hostSlots: number;
  readonly jobs: number;
  readonly gathered: number;
  readonly ends: number;
  readonly sizes: number;
  readonly objects: number;
  readonly make: number;
  readonly codes: number;
  readonly notes: number;
  readonly rules: number;
  readonly parents: number;
  readonly lease: number;
  readonly newRows: number;
  readonly nameSizes: number;
  readonly names: number;
  readonly newHosts: number;
  readonly newQueues: number;
  readonly lanes: number;
  readonly turns: number;
  readonly idles: number;
  readonly orphans: number;
  readonly one: number;
  readonly leased: number;
  readonly ended: number;
  readonly endSizes: number;
  readonly touched: number;
  readonly placed: number;
  readonly firsts: number;
  readonly spilled: number;
  readonly admitted: number;
  readonly entries: number;
  readonly text: number;
  readonly textBytes: number;
  jobCount: number;
}

/** Rows of one batch; URL batches are no larger. */
export const SCRATCH_ROWS = 1024;
/** Text of one gather: a URL longer than this is read by itself. */
const TEXT_PAGES = 8;

export function createScratch(store: Store): Scratch {
  const arrays = regionTake(store.region, 2);
  const text = regionTake(store.region, TEXT_PAGES);
  assert(arrays !== 0 && text !== 0, "a new region has room for its scratch");
  const step = SCRATCH_ROWS * 4;
  const scratch: Scratch = {
    store,
    hostValues: arrays,
    hostSlots: arrays + step,
    gathered: arrays + step * 2,
    ends: arrays + step * 3,
    jobs: arrays + step * 4,
    sizes: arrays + step * 7,
    objects: arrays + step * 8,
    make: arrays + step * 9,
    codes: arrays + step * 9 + SCRATCH_ROWS,
    notes: arrays + step * 9 + SCRATCH_ROWS * 2,
    rules: arrays + step * 10,
    parents: arrays + step * 11,
    lease: arrays + step * 12,
    newRows: arrays + step * 13,
    nameSizes: arrays + step * 14,
    one: arrays + step * 15,
    names: arrays + step * 16,
    newHosts: arrays + step * 17,
    newQueues: arrays + step * 18,
    lanes: arrays + step * 19,
    turns: arrays + step * 20,
    idles: arrays + step * 21,
    orphans: arrays + step * 22,
    leased: arrays + step * 23,
    ended: arrays + step * 24,
    endSizes: arrays + step * 25,
    touched: arrays + step * 26,
    placed: arrays + step * 27,
    spilled: arrays + step * 28,
    firsts: arrays + step * 29,
    admitted: arrays + step * 30,
    entries: arrays + step * 31,
    text,
    textBytes: TEXT_PAGES * REGION_PAGE_BYTES,
    jobCount: 0,
  };
  nameArrays(scratch);
  return scratch;
}

/** Writes to the job that makes records where its arrays are. */
function nameArrays({ store, make, ...arrays }: Scratch): void {
  const fields: Array<[number, number]> = [
    [MAKE_HOSTS_WORD, arrays.hostValues],
    [MAKE_HOST_SLOTS_WORD, arrays.hostSlots],
    [MAKE_SIZES_WORD, arrays.sizes],
    [MAKE_HANDLES_WORD, arrays.objects],
    [MAKE_NEW_ROWS_WORD, arrays.newRows],
    [MAKE_NAME_SIZES_WORD, arrays.nameSizes],
    [MAKE_NAMES_WORD, arrays.names],
    [MAKE_NEW_HOSTS_WORD, arrays.newHosts],
    [MAKE_NEW_QUEUES_WORD, arrays.newQueues],
    [MAKE_LANES_WORD, arrays.lanes],
    [MAKE_TURNS_WORD, arrays.firsts],
    [MAKE_CODES_WORD, arrays.codes],
    [MAKE_NOTES_WORD, arrays.notes],
  ];
  for (const [at, offset] of fields) store.region.views.u32[(make >> 2) + at] = offset;
}

/** Notes a copy within the region; it is made by the next `scratchCopyAll`. @hot */
export function scratchCopy(scratch: Scratch, to: number, from: number, bytes: number): void {
  assert(scratch.jobCount < SCRATCH_ROWS, "the copies fit their array");
  const { u32 } = scratch.store.region.views;
  const job = (scratch.jobs >> 2) + scratch.jobCount * 3;
  u32[job] = to;
  u32[job + 1] = from;
  u32[job + 2] = bytes;
  scratch.jobCount++;
}

/** Makes all noted copies in one kernel call. @hot */
export function scratchCopyAll(scratch: Scratch): void {
  if (scratch.jobCount > 0) scratch.store.kernel.exports.copyBatch(scratch.jobs, scratch.jobCount);
  scratch.jobCount = 0;
}

/** Something that holds a record, such as a lease. */
export interface HoldsRecord {
  readonly record: number;
}

/**
 * The URLs of the records that `holders` hold from `from` on, as strings, from one gather in the kernel and one slice; at most
 * SCRATCH_ROWS. Where the next URL does not fit the text, they end before it: the caller reads it by itself.
 */
export function scratchUrls(
  scratch: Scratch,
  holders: readonly HoldsRecord[],
  from: number,
): string[] {
  const { region, kernel } = scratch.store;
  const { ends: endsAt, gathered, text, textBytes } = scratch;
  const count = Math.min(SCRATCH_ROWS, holders.length - from);
  writeRecords(scratch, gathered, holders, from, count);
  const made = kernel.exports.gatherUrls(gathered, count, text, textBytes, endsAt);
  const { u32, buffer } = region.views;
  const ends = endsAt >> 2;
  const urls = new Array<string>(made);
  if (made === 0) return urls;
  const all = buffer.latin1Slice(text, text + (u32[ends + made - 1] as number));
  let start = 0;
  for (let index = 0; index < made; index++) {
    const end = u32[ends + index] as number;
    urls[index] = all.substring(start, end);
    start = end;
  }
  return urls;
}

/** The URL of one record. */
export function recordUrl(scratch: Scratch, record: number): string {
  const { region, kernel } = scratch.store;
  const { one, text, textBytes } = scratch;
  const end = one + 4;
  region.views.u32[one >> 2] = record;
  if (kernel.exports.gatherUrls(one, 1, text, textBytes, end) === 1) {
    const { u32, buffer } = region.views;
    return buffer.latin1Slice(text, text + (u32[end >> 2] as number));
  }
  const pages = Math.ceil(recordTextLength(scratch.store, record) / REGION_PAGE_BYTES) + 1;
  const room = regionTake(region, pages);
  assert(room !== 0, "room for one URL");
  kernel.exports.gatherUrls(one, 1, room, pages * REGION_PAGE_BYTES, end);
  const { u32, buffer } = region.views;
  const url = buffer.latin1Slice(room, room + (u32[end >> 2] as number));
  regionGive(region, room, pages);
  return url;
}

/** Writes the records of `count` holders from `from` on, at most SCRATCH_ROWS, into an array of the scratch. @hot */
export function writeRecords(
  { store }: Scratch,
  array: number,
  holders: readonly HoldsRecord[],
  from: number,
  count: number,
): void {
  assert(count <= SCRATCH_ROWS, "the records fit their array");
  const { u32 } = store.region.views;
  const first = array >> 2;
  for (let at = 0; at < count; at++) u32[first + at] = (holders[from + at] as HoldsRecord).record;
}

declare const PLACING: unique symbol;
/** How many records `scratchPlacing` has named. */
export type Placing = number & { readonly [PLACING]: true };

/** Names records to be placed, at most SCRATCH_ROWS. */
export function scratchPlacing({ placed, store }: Scratch, records: Uint32Array): Placing {
  assert(records.length <= SCRATCH_ROWS, "the records fit their array");
  store.region.views.u32.set(records, placed >> 2);
  return records.length as Placing;
}

/**
 * Appends named records to their lanes, from index `from` on, and opens lanes of which `takeLanes` took the memory; the index of one that the
 * caller has to plant, or their number. @hot
 */
export function scratchPlace(
  { make, placed, store }: Scratch,
  placing: Placing,
  from: number,
): number {
  return store.kernel.exports.placeRecords(make, placed, from, placing);
}

/** The part of a record (layout/calls/place-records.ts), as `scratchUnplaced` lists it. */
export function partOf(store: Store, record: number): number {
  return Math.imul(recordQueue(store, record), PART_FACTOR) >>> PART_SHIFT;
}

/** Records that stand nowhere, as the scratch lists them. */
export interface Unplaced {
  /** Pending ones. */
  readonly handles: Uint32Array;
  readonly keys: Float64Array;
  /** Where the part of each of them is (layout/calls/place-records.ts). */
  readonly parts: Uint16Array;
  /** Any others. */
  readonly others: Uint32Array;
}

/**
 * Lists the records that stand nowhere among `count` values of a walk from word `at` on, at most SCRATCH_ROWS; the values are overwritten, the
 * lists are valid until anything else is called.
 */
export function scratchUnplaced(
  { placed, store, text }: Scratch,
  at: number,
  count: number,
): Unplaced {
  assert(count <= SCRATCH_ROWS, "the values fit their lists");
  const parts = text + SCRATCH_ROWS * 8;
  const found = store.kernel.exports.listUnplaced(at * 4, count, placed, text, parts);
  const { f64, u16, u32 } = store.region.views;
  const pending = found & 0xffff;
  return {
    handles: u32.subarray(placed >> 2, (placed >> 2) + pending),
    keys: f64.subarray(text >> 3, (text >> 3) + pending),
    parts: u16.subarray(parts >> 1, (parts >> 1) + pending),
    others: u32.slice(at, at + (found >>> 16)),
  };
}

/** Warms the caches for the next hand-outs of rules. */
export function scratchTouchRules({ store, touched }: Scratch, ruleQueues: Uint32Array): void {
  assert(ruleQueues.length <= SCRATCH_ROWS, "the rules fit their array");
  store.region.views.u32.set(ruleQueues, touched >> 2);
  store.kernel.exports.touchRules(touched, ruleQueues.length);
}

/** Warms the caches for the ends of the leases of `count` records from `from` on, whose identities stand in the table at `table`. @hot */
export function scratchTouch(
  scratch: Scratch,
  table: number,
  holders: readonly HoldsRecord[],
  from: number,
  count: number,
): void {
  writeRecords(scratch, scratch.touched, holders, from, count);
  scratch.store.kernel.exports.touchRecords(table, scratch.touched, count);
}
