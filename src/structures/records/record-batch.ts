/**
 * Records of a whole batch, made by the kernel (assembly/records/make-records.ts) as far as rows are plain ones.
 *
 *   openRecords ─▶ sizes ─▶ sightRecords ─▶ verdicts of known rows ─▶ hosts asked, new ones made ─▶ takeRecords ─▶ makeRecords(0) ─▶ row that is the
 *       caller's ─▶ makeRecords(row + 1) … ─▶ leaveLanes
 *
 *   I1  An object taken for a row becomes its record, or goes back by `leaveRecord`; one taken for a lane becomes that, or goes
 *       back by `leaveLanes`.
 */
import { LANE_BYTES } from "../../layout/ordering/lane.ts";
import {
  MAKE_BATCH_WORD,
  MAKE_CODES_WORD,
  MAKE_DEPTH_WORD,
  MAKE_DUPLICATES_WORD,
  MAKE_DUPLICATE_WORD,
  MAKE_HANDLES_WORD,
  MAKE_HOST_SLOTS_WORD,
  MAKE_LANES_OPENED_WORD,
  MAKE_LANES_TAKEN_WORD,
  MAKE_LANES_WORD,
  MAKE_HOSTS_WORD,
  MAKE_NOTES_WORD,
  MAKE_PARENT_WORD,
  MAKE_PARENTS_WORD,
  MAKE_RULE_WORD,
  MAKE_RULES_WORD,
  MAKE_SEQUENCE_WORD,
  MAKE_SIZES_WORD,
} from "../../layout/calls/make-records.ts";
import { arenaGive, arenaTake, arenaTakeEach } from "../../memory/arena.ts";
import { hostsLend, hostsReturn } from "./host-batch.ts";
import type { HostTable } from "../hosts/host-table.ts";
import type { RecordDraft } from "./record.ts";
import type { Scratch } from "./kernel-scratch.ts";

/**
 * Opens the job for the batch whose header is at `batch`: depth and parent are the draft's; `hasParents`: each row
 * has its own parent, as the scratch names it. @hot
 */
export function openRecords(
  scratch: Scratch,
  batch: number,
  draft: RecordDraft,
  hasParents: boolean,
): void {
  const { kernel, region } = scratch.store;
  const { u32 } = region.views;
  const job = scratch.make >> 2;
  u32[job + MAKE_BATCH_WORD] = batch;
  u32[job + MAKE_HOSTS_WORD] = scratch.hostValues;
  u32[job + MAKE_HOST_SLOTS_WORD] = scratch.hostSlots;
  u32[job + MAKE_SIZES_WORD] = scratch.sizes;
  u32[job + MAKE_HANDLES_WORD] = scratch.objects;
  u32[job + MAKE_PARENT_WORD] = draft.parent;
  u32[job + MAKE_PARENTS_WORD] = hasParents ? scratch.parents : 0;
  u32[job + MAKE_DEPTH_WORD] = Math.min(draft.depth, 65_535);
  kernel.exports.sizeRecords(scratch.make);
}

/**
 * The verdicts of an opened job's rows, to codes[start] and on: `duplicate` for what is known, 0 for all others; how many rows
 * are noted besides. @hot
 */
export function sightRecords(
  scratch: Scratch,
  duplicate: number,
  count: number,
  codes: Uint8Array,
  start: number,
): number {
  const { kernel, region } = scratch.store;
  const { u8, u32 } = region.views;
  const job = scratch.make >> 2;
  u32[job + MAKE_CODES_WORD] = scratch.codes;
  u32[job + MAKE_NOTES_WORD] = scratch.notes;
  u32[job + MAKE_DUPLICATE_WORD] = duplicate;
  const noted = kernel.exports.sightRows(scratch.make);
  codes.set(u8.subarray(scratch.codes, scratch.codes + count), start);
  return noted;
}

/** How many duplicates sightRecords has found. @hot */
export function sightedDuplicates({ make, store }: Scratch): number {
  return store.region.views.u32[(make >> 2) + MAKE_DUPLICATES_WORD] as number;
}

/** The row that stands at `index` of those that sightRecords has noted. @hot */
export function sightedAt({ notes, store }: Scratch, index: number): number {
  return store.region.views.u16[(notes >> 1) + index] as number;
}

/**
 * Takes the memory of all records that the kernel may make under the rule queue `rule`, or those noted at `rules`, and of the
 * lanes that it may open for them. @hot
 */
export function takeRecords(scratch: Scratch, count: number, rule: number, rules: number): void {
  const { arena, kernel, region } = scratch.store;
  const job = scratch.make >> 2;
  arenaTakeEach(arena, scratch.sizes >> 2, scratch.objects >> 2, count);
  region.views.u32[job + MAKE_RULE_WORD] = rule;
  region.views.u32[job + MAKE_RULES_WORD] = rules;
  const wanted = kernel.exports.planRecords(scratch.make);
  let taken = 0;
  for (; taken < wanted; taken++) {
    const lane = arenaTake(arena, LANE_BYTES);
    if (lane === 0) break;
    region.views.u32[(scratch.lanes >> 2) + taken] = lane;
  }
  const { u32 } = region.views;
  u32[job + MAKE_LANES_WORD] = scratch.lanes;
  u32[job + MAKE_LANES_TAKEN_WORD] = taken;
  u32[job + MAKE_LANES_OPENED_WORD] = 0;
}

/** Gives back the lanes that the kernel did not open; how many it did: `laneOpened` names their rules. @hot */
export function leaveLanes(scratch: Scratch): number {
  const { arena, region } = scratch.store;
  const { u32 } = region.views;
  const job = scratch.make >> 2;
  const taken = u32[job + MAKE_LANES_TAKEN_WORD] as number;
  const opened = u32[job + MAKE_LANES_OPENED_WORD] as number;
  for (let index = opened; index < taken; index++) {
    arenaGive(arena, u32[(scratch.lanes >> 2) + index] as number, LANE_BYTES);
  }
  return opened;
}

/** The rule queue that the lane number `index` was opened for. */
export function laneOpened({ lanes, store }: Scratch, index: number): number {
  return store.region.views.u32[(lanes >> 2) + index] as number;
}

/** Gives back what was taken for a row that the caller makes. */
export function leaveRecord(scratch: Scratch, row: number): void {
  const { region, arena } = scratch.store;
  const { u32 } = region.views;
  const object = u32[(scratch.objects >> 2) + row] as number;
  if (object !== 0) arenaGive(arena, object, u32[(scratch.sizes >> 2) + row] as number);
  u32[(scratch.objects >> 2) + row] = 0;
}

/**
 * Makes records from row `from` on, under the rule queue `rule`, or those noted at `rules`; the first takes the place behind
 * `sequence`. Returns the row that is the caller's to make, or the count of rows. @hot
 */
export function makeRecords(
  scratch: Scratch,
  hosts: HostTable,
  from: number,
  rule: number,
  rules: number,
  sequence: number,
): number {
  const { kernel, region } = scratch.store;
  const { u32, f64 } = region.views;
  const job = scratch.make >> 2;
  u32[job + MAKE_RULE_WORD] = rule;
  u32[job + MAKE_RULES_WORD] = rules;
  f64[(job + MAKE_SEQUENCE_WORD) >> 1] = sequence;
  hostsLend(hosts, scratch);
  const row = kernel.exports.makeRecords(scratch.make, from);
  hostsReturn(hosts, scratch);
  return row;
}

/** The place of the last record made. @hot */
export function lastSequence(scratch: Scratch): number {
  return scratch.store.region.views.f64[((scratch.make >> 2) + MAKE_SEQUENCE_WORD) >> 1] as number;
}
