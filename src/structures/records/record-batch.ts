/**
 * Records of a whole batch, made by the kernel (assembly/records/make-records.ts) as far as rows are plain ones.
 *
 *   phase       returned by                                        taken by
 *   OpenJob     openJob                                            the crossing that parses and marks the rows, or surveyJob
 *   MarkedJob   markedJob (after that crossing), surveyJob         takeSurveyed: verdicts of known rows, hosts known
 *   DecidedJob  takeSurveyed                                       takeRecords, and what is read of the survey
 *   StockedJob  takeRecords: memory for records, hosts and lanes   makeRecords(0), (row + 1) …, leaveRecord, leaveLanes
 *   MadeJob     leaveLanes                                         lanesOpened, laneOpened
 *
 * A phase is the offset of the job under another type: a step cannot be called before the one whose result it needs.
 *
 *   I1  An object taken for a row becomes its record, or is given back by `leaveRecord`; one taken for a lane becomes that lane, or is
 *       given back by `leaveLanes`.
 */
import { BATCH_HOST_HASHES_OFFSET_WORD } from "../../layout/calls/url-batch.ts";
import { RECORD_FLAG_BLOB, RECORD_FLAG_PARENT } from "../../layout/records/record.ts";
import { LANE_BYTES } from "../../layout/ordering/lane.ts";
import {
  MAKE_BATCH_WORD,
  MAKE_DEPTH_WORD,
  MAKE_EXTRA_WORD,
  MAKE_DUPLICATES_WORD,
  MAKE_DUPLICATE_WORD,
  MAKE_FRESH_UNKNOWN,
  MAKE_FRESH_WORD,
  MAKE_INDEX_WORD,
  MAKE_LANES_OPENED_WORD,
  MAKE_LANES_TAKEN_WORD,
  MAKE_LANES_WANTED_WORD,
  MAKE_NOTED_WORD,
  MAKE_PARENT_WORD,
  MAKE_PARENTS_WORD,
  MAKE_RULE_WORD,
  MAKE_RULES_WORD,
  MAKE_SEQUENCE_WORD,
  MAKE_KNOWN_WORD,
  MAKE_LONE_FLAGS_WORD,
} from "../../layout/calls/make-records.ts";
import { arenaGive, arenaTake, arenaTakeEach } from "../../memory/arena.ts";
import { TABLE_SKIP, tableInsertBatch } from "../table/fingerprint-table.ts";
import {
  hostsLend,
  hostsReturn,
  openTurns,
  takeHosts,
  giveUnused,
  takeObjects,
} from "./host-batch.ts";
import type { HostTable } from "../hosts/host-table.ts";
import type { Scratch } from "./kernel-scratch.ts";

/** What all rows of a batch have in common. */
export interface Job {
  /** Offset of the batch's header. */
  readonly batch: number;
  /** Handle of the rule queue that takes all rows, or 0: those of the rows stand at `rules`. */
  readonly rule: number;
  readonly rules: number;
  readonly depth: number;
  /** Handle of the parent of all rows; with `hasParents` that of one of them: the scratch names each row's. */
  readonly parent: number;
  readonly hasParents: boolean;
  /** The scratch names blobs where it would name parents. */
  readonly hasBlobs?: boolean;
  /** The code of a duplicate. */
  readonly duplicate: number;
}

declare const PHASE: unique symbol;
type Phase<Name> = number & { readonly [PHASE]: Name };

/** What all rows have in common is written; no row is marked. */
export type OpenJob = Phase<"open">;
/** Identities are marked, and rows surveyed. */
export type MarkedJob = Phase<"marked">;
/** Known rows have their verdicts; the hosts of the others are known, or claimed. */
export type DecidedJob = Phase<"decided">;
/** There is memory for what may be made, as far as memory was left. */
export type StockedJob = Phase<"stocked">;
/** Nothing more will be made, and no memory is left over. */
export type MadeJob = Phase<"made">;

/** Opens the job, for the call that marks the rows. @hot */
export function openJob(scratch: Scratch, hosts: HostTable, given: Job): OpenJob {
  const { u32 } = scratch.store.region.views;
  const job = scratch.make >> 2;
  u32[job + MAKE_BATCH_WORD] = given.batch;
  u32[job + MAKE_RULE_WORD] = given.rule;
  u32[job + MAKE_RULES_WORD] = given.rules;
  u32[job + MAKE_DEPTH_WORD] = Math.min(given.depth, 65_535);
  const { hasBlobs = false, hasParents } = given;
  u32[job + MAKE_PARENT_WORD] = hasBlobs ? 1 : given.parent;
  u32[job + MAKE_PARENTS_WORD] = hasParents || hasBlobs ? scratch.parents : 0;
  u32[job + MAKE_EXTRA_WORD] = hasBlobs ? RECORD_FLAG_BLOB : RECORD_FLAG_PARENT;
  u32[job + MAKE_DUPLICATE_WORD] = given.duplicate;
  u32[job + MAKE_INDEX_WORD] = hosts.index.offset;
  u32[job + MAKE_LONE_FLAGS_WORD] = hosts.loneFlags;
  return scratch.make as OpenJob;
}

/** Up to so many codes are copied one by one: a view of the memory for them takes longer. */
const FEW_ROWS = 32;

/** The job after the crossing that parsed the rows: it surveys them where it marks them, and then returns how many are new, else −1. @hot */
export function markedJob(job: OpenJob, fresh: number): MarkedJob | undefined {
  return fresh < 0 ? undefined : (job as number as MarkedJob);
}

/** Surveys rows that were marked by other means than the call that parsed them. */
export function surveyJob({ store }: Scratch, job: OpenJob): MarkedJob {
  store.kernel.exports.surveyRows(job);
  return job as number as MarkedJob;
}

/** The rows that were surveyed, and where their verdicts go. */
interface Surveyed {
  readonly rows: { readonly offset: number };
  readonly count: number;
  readonly codes: Uint8Array;
  readonly codesStart: number;
}

/**
 * Takes the survey: verdicts go to codes[codesStart] and on, `duplicate` for what is known, 0 for all others, and the hosts of all new rows are
 * known, or claimed in the index. @hot
 */
export function takeSurveyed(
  scratch: Scratch,
  hosts: HostTable,
  job: MarkedJob,
  { rows, count, codes, codesStart }: Surveyed,
): DecidedJob {
  const { codes: from, hostSlots, hostValues, store } = scratch;
  const { region } = store;
  const { u8, u32 } = region.views;
  const fresh = (job >> 2) + MAKE_FRESH_WORD;
  openTurns(scratch);
  if (count > FEW_ROWS) codes.set(u8.subarray(from, from + count), codesStart);
  else for (let row = 0; row < count; row++) codes[codesStart + row] = u8[from + row] as number;
  if (u32[fresh] === MAKE_FRESH_UNKNOWN) {
    const hashes = u32[(rows.offset >> 2) + BATCH_HOST_HASHES_OFFSET_WORD] as number;
    if (tableInsertBatch(hosts.index, hashes, count, hostValues, hostSlots) < 0) {
      const { u32: words } = region.views; // a table that grew may have replaced them
      words.fill(TABLE_SKIP, hostValues >> 2, (hostValues >> 2) + count);
    }
    store.kernel.exports.listHosts(job);
  }
  return job as number as DecidedJob;
}

/** How many duplicates the survey has found. @hot */
export function surveyedDuplicates({ store }: Scratch, job: DecidedJob): number {
  return store.region.views.u32[(job >> 2) + MAKE_DUPLICATES_WORD] as number;
}

/** How many rows the survey has noted that are neither new nor plain duplicates; `notedRow` names them. @hot */
export function notedCount({ store }: Scratch, job: DecidedJob): number {
  return store.region.views.u32[(job >> 2) + MAKE_NOTED_WORD] as number;
}

/** The row that stands at `index`, below `notedCount`, of those that the survey has noted. @hot */
export function notedRow({ notes, store }: Scratch, index: number): number {
  return store.region.views.u16[(notes >> 1) + index] as number;
}

/** Takes the memory of all hosts and records that the kernel may make, and of the lanes that it may open for them. @hot */
export function takeRecords(
  scratch: Scratch,
  hosts: HostTable,
  decided: DecidedJob,
  count: number,
): StockedJob {
  const { arena, region } = scratch.store;
  const job = decided >> 2;
  takeHosts(hosts, scratch);
  arenaTakeEach(arena, scratch.sizes >> 2, scratch.objects >> 2, count);
  const known = region.views.u32[job + MAKE_KNOWN_WORD] as number;
  const wanted = (region.views.u32[job + MAKE_LANES_WANTED_WORD] as number) + known;
  takeLanes(scratch, wanted);
  return decided as number as StockedJob;
}

/** Whether the kernel has opened all lanes of which the memory was taken. */
export function areLanesOpened({ make, store }: Scratch): boolean {
  const { u32 } = store.region.views;
  return u32[(make >> 2) + MAKE_LANES_TAKEN_WORD] === u32[(make >> 2) + MAKE_LANES_OPENED_WORD];
}

/** Takes the memory of lanes that the kernel may open. @hot */
export function takeLanes(scratch: Scratch, wanted: number): void {
  const { arena, region } = scratch.store;
  let taken = 0;
  for (; taken < wanted; taken++) {
    const lane = arenaTake(arena, LANE_BYTES);
    if (lane === 0) break;
    region.views.u32[(scratch.lanes >> 2) + taken] = lane;
  }
  const { u32 } = region.views;
  u32[(scratch.make >> 2) + MAKE_LANES_TAKEN_WORD] = taken;
  u32[(scratch.make >> 2) + MAKE_LANES_OPENED_WORD] = 0;
}

/** Makes the hosts of the lone records among the next `most` items of a rule queue, as far as there is memory. @hot */
export function openNextLones(
  scratch: Scratch,
  hosts: HostTable,
  ruleQueue: number,
  most: number,
): void {
  const { store } = scratch;
  const { exports } = store.kernel;
  const { u32 } = store.region.views;
  const job = scratch.make >> 2;
  u32[job + MAKE_INDEX_WORD] = hosts.index.offset;
  u32[job + MAKE_LONE_FLAGS_WORD] = hosts.loneFlags;
  const found = exports.listNextLones(scratch.make, ruleQueue, most);
  if (found === 0 || !takeObjects(scratch, found)) return;
  takeLanes(scratch, found);
  hostsLend(hosts, scratch);
  exports.makeHosts(scratch.make, found);
  hostsReturn(hosts, scratch);
  giveUnused(scratch);
  giveLanes(scratch);
}

/** Frees the lanes that the kernel did not open. @hot */
export function leaveLanes(scratch: Scratch, job: StockedJob): MadeJob {
  giveLanes(scratch);
  return job as number as MadeJob;
}

/** The same, where no records are made. @hot */
export function giveLanes({ lanes, make, store }: Scratch): void {
  const { arena, region } = store;
  const { u32 } = region.views;
  const taken = u32[(make >> 2) + MAKE_LANES_TAKEN_WORD] as number;
  const opened = u32[(make >> 2) + MAKE_LANES_OPENED_WORD] as number;
  for (let index = opened; index < taken; index++) {
    arenaGive(arena, u32[(lanes >> 2) + index] as number, LANE_BYTES);
  }
}

/** How many lanes the kernel has opened; `laneOpened` names their rules. @hot */
export function lanesOpened({ store }: Scratch, job: MadeJob): number {
  return store.region.views.u32[(job >> 2) + MAKE_LANES_OPENED_WORD] as number;
}

/** The rule queue that the lane number `index`, below `lanesOpened`, was opened for. */
export function laneOpened({ lanes, store }: Scratch, index: number): number {
  return store.region.views.u32[(lanes >> 2) + index] as number;
}

/** Frees what was taken for a row that the caller makes. */
export function leaveRecord(scratch: Scratch, _job: StockedJob, row: number): void {
  const { region, arena } = scratch.store;
  const { u32 } = region.views;
  const object = u32[(scratch.objects >> 2) + row] as number;
  if (object !== 0) arenaGive(arena, object, u32[(scratch.sizes >> 2) + row] as number);
  u32[(scratch.objects >> 2) + row] = 0;
}

/**
 * Makes records from row `from` on, and before row 0 the new hosts; the first takes the place behind `sequence`. Returns the row that is
 * the caller's to make, or the count of rows. @hot
 */
export function makeRecords(
  scratch: Scratch,
  hosts: HostTable,
  job: StockedJob,
  from: number,
  sequence: number,
): number {
  const { store } = scratch;
  const { exports } = store.kernel;
  store.region.views.f64[((job >> 2) + MAKE_SEQUENCE_WORD) >> 1] = sequence;
  hostsLend(hosts, scratch);
  const row = from === 0 ? exports.makeBatch(job) : exports.makeRecords(job, from);
  hostsReturn(hosts, scratch);
  if (from === 0) giveUnused(scratch);
  return row;
}

/** The place of the last record made. @hot */
export function lastSequence({ store }: Scratch, job: StockedJob): number {
  return store.region.views.f64[((job >> 2) + MAKE_SEQUENCE_WORD) >> 1] as number;
}
