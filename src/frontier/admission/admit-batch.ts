/**
 * Room `src/frontier/admission`: the verdict of every pushed row: crawlable, depth, seen, hook, budget, capacity.
 * Decides; makes records and marks identities through structures. May touch epochs, rules, records and scheduling; no
 * clock, no file.
 */

/**
 * Admission: what becomes of a batch of parsed, keyed and hashed rows.
 *
 *   row ─▶ crawlable? ─▶ scope ──▶ seen? ──▶ hook ─▶ budget ─▶ capacity ─▶ record
 *          invalid-url   too-deep  duplicate hook    budget    full
 *
 * Only an admitted row marks its identity seen. A batch has one mode (admission-mode.ts). Where nothing but the seen-set decides, the
 * kernel marks and surveys the batch in the crossing that parsed it, and makes its records in another; any other batch is decided row by
 * row (decide.ts).
 *
 *   I1  Every row gets exactly one verdict and one counter step.
 *   I2  Identities marked = records made with an identity.
 *   I3  A shallower sighting lowers the depth of a record that still has its visit before it.
 */
import { TABLE_NEW, TABLE_SKIP } from "../../structures/table/fingerprint-table.ts";
import { isClaimed, makeRowHost } from "../../structures/records/host-batch.ts";
import { isHandle, isLoneHost, recordOfLone } from "../../structures/hosts/lone-host.ts";
import {
  hostLook,
  hostUnmake,
  isSpilledHost,
  openLone,
  RULE_QUEUE_INDEX_WORD,
} from "../../structures/hosts/host-table.ts";
import {
  laneOpened,
  lanesOpened,
  lastSequence,
  leaveLanes,
  leaveRecord,
  type MadeJob,
  makeRecords,
  type MarkedJob,
  notedCount,
  notedRow,
  type OpenJob,
  openJob,
  type StockedJob,
  surveyedDuplicates,
  surveyJob,
  takeRecords,
  takeSurveyed,
} from "../../structures/records/record-batch.ts";
import { nameAdmitted } from "../../structures/records/entry-batch.ts";
import { queueFree, queueOf } from "../../structures/hosts/host-queue.ts";
import {
  blobFree,
  RECORD_FLAG_HTTPS,
  recordCreate,
  recordTextOffset,
  recordUnmake,
} from "../../structures/records/record.ts";
import { scratchCopy, scratchCopyAll } from "../../structures/records/kernel-scratch.ts";
import { seenAdmitBatch, seenRemove } from "../../structures/seen/seen-set.ts";
import { setWordAt, word, wordAt } from "../../structures/store.ts";
import {
  BATCH_OK,
  hashesOffset,
  hostHashesOffset,
  type Rows,
  rowHost,
  rowIsHttps,
  rowStatus,
  slotsOffset,
  valuesOffset,
} from "../../url/batch/row-fields.ts";
import {
  type BatchAdmission,
  type NamedRows,
  parentOfRow,
  refusalOf,
  ruleOfRow,
  setRowText,
} from "./admission-input.ts";
import { addRow, readyHosts } from "./add-to-host.ts";
import { MODE_ACCEPTED, MODE_EACH, MODE_ROWS } from "./admission-mode.ts";
import { admitEach, namedBlob } from "./admit-rows.ts";
import { type Core, effectivePriority, type RuleState } from "../core.ts";
import { FOREVER } from "../epochs/epoch-policy.ts";
import {
  enterEpochs,
  type JoinedEpoch,
  joinEpoch,
  leaveEpoch,
  logJoined,
  type RowEpochs,
} from "../epochs/row-epochs.ts";
import { evictHosts } from "../politeness/host-eviction.ts";
import { hasRoom } from "../records/memory-reserve.ts";
import { sharesJoin } from "../scheduling/rule-shares.ts";
import { logNamed, preparedBlob, prepareNamed, unprepare } from "./named-rows.ts";
import { lowerDepth } from "./sighting.ts";
import { spillOverBudget } from "../scheduling/spill-control.ts";
import type { TransitionLog } from "../records/transition-log.ts";
import { admitMade, admitRecord, keepRecord } from "../records/transitions.ts";
import { VERDICT_ACCEPTED, VERDICT_DUPLICATE, VERDICT_FULL_MEMORY } from "./verdicts.ts";
import { bookPushed, bookSeen, bookVerdict } from "../records/ledger.ts";

/** What the rows of a job have in common beside their rule. */
interface CommonOfRows {
  readonly depth: number | undefined;
  readonly parent: number;
  readonly hasParents?: boolean;
  readonly named?: NamedRows | undefined;
}

/** Opens the job of a batch of plain rows: the crossing that marks them surveys them too. */
export function openAdmission(
  core: Core,
  rows: Rows,
  rowRules: number,
  { depth = 0, hasParents = false, named, parent }: CommonOfRows,
): OpenJob {
  const rule = rowRules === 0 ? (core.plain as RuleState).handle : 0;
  return openJob(core.scratch, core.hosts, {
    batch: rows.offset,
    rule,
    rules: rowRules,
    depth,
    parent,
    hasParents,
    hasBlobs: named !== undefined,
    duplicate: VERDICT_DUPLICATE,
  });
}

/**
 * Sets the verdict of every row and makes the records of those admitted. `job`: that of rows which the crossing that parsed them has
 * marked.
 */
export function admitRows(core: Core, intake: BatchAdmission, job: MarkedJob | undefined): void {
  bookPushed(core, intake.count);
  const epochs = enterEpochs(core, intake);
  const marked = job ?? markRows(core, intake);
  if (marked === undefined) admitEach(core, intake, epochs);
  else admitMarked(core, intake, marked, epochs);
  evictHosts(core, intake.nowMs);
  if (core.spilling !== undefined) spillOverBudget(core, intake.nowMs);
}

/** Marks and surveys the rows of a batch that the kernel did not; undefined, with nothing marked: they are decided one by one. */
function markRows(core: Core, intake: BatchAdmission): MarkedJob | undefined {
  if ((intake.mode & MODE_ROWS) !== 0 || !readyHosts(core, intake)) return undefined;
  const { rows, count } = intake;
  const values = valuesOffset(rows) >> 2;
  for (let row = 0; row < count; row++) {
    setWordAt(core.store, values + row, rowStatus(rows, row) === BATCH_OK ? 0 : TABLE_SKIP);
  }
  const hashes = hashesOffset(rows);
  if (seenAdmitBatch(core.seen, hashes, count, values << 2, slotsOffset(rows)) < 0)
    return undefined;
  return surveyJob(core.scratch, openAdmission(core, rows, intake.rowRules, intake));
}

/** The hot path: one more kernel call for the whole batch, then one round over the rows that it leaves. @hot */
function admitMarked(
  core: Core,
  intake: BatchAdmission,
  marked: MarkedJob,
  epochs: RowEpochs,
): void {
  const { rows, count, codes, codesStart, depth, mode, named } = intake;
  const { draft, hosts, scratch } = core;
  const values = valuesOffset(rows) >> 2;
  const { joined } = hosts;
  let isShort = false;
  draft.depth = depth;
  draft.blob = 0;
  const decided = takeSurveyed(scratch, hosts, marked, intake);
  bookVerdict(core, VERDICT_DUPLICATE, surveyedDuplicates(scratch, decided));
  // The kernel makes records that nothing listens to, and their hosts.
  const isBulk = (mode & (named === undefined ? MODE_EACH : MODE_ACCEPTED)) === 0;
  const isNamed = isBulk && named !== undefined;
  if (isNamed) prepareNamed(core, intake, epochs);
  const job = isBulk ? takeRecords(scratch, hosts, decided, count) : undefined;
  for (let row = job === undefined ? 0 : makeBulk(core, job, 0); row < count; ) {
    if (wordAt(core.store, values + row) === TABLE_NEW) {
      if (job !== undefined) leaveRecord(scratch, job, row);
      const epoch = epochs === undefined ? FOREVER : (epochs[row] as string);
      const code = makePlain(core, intake, row, epoch, isNamed ? preparedBlob(core, row) : 0);
      codes[codesStart + row] = code;
      bookVerdict(core, code);
      isShort ||= code === VERDICT_FULL_MEMORY;
    }
    row = job === undefined ? row + 1 : makeBulk(core, job, row + 1);
  }
  if (job !== undefined) joinOpened(core, leaveLanes(scratch, job));
  scratchCopyAll(scratch);
  if (isShort) unmakeHosts(core, intake, joined);
  const noted = notedCount(scratch, decided);
  for (let index = 0; index < noted; index++) sightRow(core, intake, notedRow(scratch, index));
  if (isNamed) logNamed(core, intake, epochs);
  if (core.log !== undefined) logRows(core, core.log, intake);
}

/** Forgets the hosts that joined behind the first `joined` ones, and that no row has found room on. */
function unmakeHosts(core: Core, { rows, count }: BatchAdmission, joined: number): void {
  const { hosts, store } = core;
  const values = valuesOffset(rows) >> 2;
  for (let row = 0; row < count; row++) {
    if (wordAt(store, values + row) !== TABLE_NEW) continue;
    const hash = (hostHashesOffset(rows) >> 2) + row * 2;
    const host = hostLook(hosts, wordAt(store, hash), wordAt(store, hash + 1));
    if (host !== 0 && isHandle(host)) hostUnmake(hosts, host, joined);
  }
}

/** A row that is refused, or sighted where what is known of it may be deeper. */
function sightRow(core: Core, intake: BatchAdmission, row: number): void {
  const { codes, codesStart, rows } = intake;
  const value = wordAt(core.store, (valuesOffset(rows) >> 2) + row);
  if (value !== TABLE_SKIP) {
    if (lowerDepth(core, intake, row, value)) return;
    bookVerdict(core, VERDICT_DUPLICATE, -1);
    codes[codesStart + row] = VERDICT_FULL_MEMORY;
    bookVerdict(core, VERDICT_FULL_MEMORY);
    return;
  }
  const code = refusalOf(rowStatus(rows, row));
  codes[codesStart + row] = code;
  bookVerdict(core, code);
}

/** Logs the rows admitted, now that their records hold their text. @hot */
function logRows(core: Core, log: TransitionLog, intake: BatchAdmission): void {
  const { rows, count, codes, codesStart, loggedRows } = intake;
  const slots = slotsOffset(rows) >> 2;
  let logged = 0;
  for (let row = 0; row < count; row++) {
    if (codes[codesStart + row] !== VERDICT_ACCEPTED) continue;
    if (loggedRows?.has(row) === true) continue; // a later row may have brought its host back
    nameAdmitted(core.scratch, logged++, wordAt(core.store, slots + row));
  }
  log.admitted(logged);
}

/** Lets the kernel make the records of plain rows from `from` on; the row that is left to makePlain, or the count. @hot */
function makeBulk(core: Core, job: StockedJob, from: number): number {
  const { draft, hosts, scratch, sequence } = core;
  const row = makeRecords(scratch, hosts, job, from, sequence);
  admitMade(core, lastSequence(scratch, job), draft.depth);
  return row;
}

/** Rules for which the kernel opened a lane have something to hand out from now on. @hot */
function joinOpened(core: Core, job: MadeJob): void {
  const { scratch, shares, store } = core;
  if (core.sole !== undefined) return;
  const opened = lanesOpened(scratch, job);
  for (let index = 0; index < opened; index++) {
    sharesJoin(shares, word(store, laneOpened(scratch, index), RULE_QUEUE_INDEX_WORD));
  }
}

/** Makes the record of a new row whose identity the table has claimed. `prepared`: its blob, where it is a member already. @hot */
function makePlain(
  core: Core,
  intake: BatchAdmission,
  row: number,
  epoch: string,
  prepared: number,
): number {
  const { draft, store } = core;
  const { named, rows, nowMs } = intake;
  const rule = ruleOfRow(core, intake.rowRules, row);
  draft.priority = effectivePriority(rule.policy, undefined, intake.depth);
  draft.parent = parentOfRow(core, intake, row);
  const hash = (hashesOffset(rows) >> 2) + row * 2;
  const slot = wordAt(store, (slotsOffset(rows) >> 2) + row);
  draft.lo = wordAt(store, hash);
  draft.hi = wordAt(store, hash + 1);
  draft.flags = rowIsHttps(rows, row) ? RECORD_FLAG_HTTPS : 0;
  draft.blob = prepared;
  if (named !== undefined && prepared === 0) {
    draft.blob = namedBlob(core, named.blobs[intake.codesStart + row] as Uint8Array, 0);
  }
  const host = hostOfRow(core, rows, row);
  if (isSpilledHost(host)) {
    if (prepared !== 0) unprepare(core, row, epoch as JoinedEpoch);
    return addPlain(core, intake, row, epoch);
  }
  const { queuesMade } = core.hosts;
  draft.queue = host === 0 ? 0 : queueOf(core.hosts, host, rule.handle);
  setRowText(core, rule.policy, rows, row);
  const record = draft.queue === 0 || draft.blob < 0 ? 0 : recordCreate(store, draft);
  const isReady = record !== 0 && hasRoom(core);
  let joined = prepared === 0 ? undefined : (epoch as JoinedEpoch);
  if (isReady) joined ??= joinEpoch(core, epoch, draft.lo, draft.hi);
  if (!isReady || joined === undefined) {
    if (joined !== undefined) leaveEpoch(core, joined, draft.lo, draft.hi);
    if (record !== 0) recordUnmake(store, record);
    if (draft.blob > 0) blobFree(store, draft.blob);
    if (core.hosts.queuesMade > queuesMade) queueFree(store, draft.queue);
    seenRemove(core.seen, draft.lo, draft.hi);
    return VERDICT_FULL_MEMORY;
  }
  if (prepared === 0) logJoined(core, joined, draft.lo, draft.hi);
  setWordAt(store, slot >> 2, record);
  bookSeen(core, 1);
  scratchCopy(core.scratch, recordTextOffset(store, record), draft.textOffset, draft.textLength);
  keepRecord(core, record, host);
  if (core.sink.wants.accepted) scratchCopyAll(core.scratch); // the listener reads the URL
  admitRecord(core, record, 0, nowMs);
  return VERDICT_ACCEPTED;
}

/** The same where the host is on disk; the draft is filled but for queue and text. */
function addPlain(core: Core, intake: BatchAdmission, row: number, epoch: string): number {
  const { draft, seen, store } = core;
  const { rows, rowRules } = intake;
  const rule = ruleOfRow(core, rowRules, row);
  setRowText(core, rule.policy, rows, row);
  const slot = wordAt(store, (slotsOffset(rows) >> 2) + row);
  const value = hostOfRow(core, rows, row);
  if (draft.blob >= 0 && addRow(core, { rows, row, rule, epoch, slot, value })) {
    intake.loggedRows ??= new Set();
    intake.loggedRows.add(row);
    return VERDICT_ACCEPTED;
  }
  if (draft.blob > 0) blobFree(store, draft.blob);
  seenRemove(seen, draft.lo, draft.hi);
  return VERDICT_FULL_MEMORY;
}

/** The host that the survey found for a new row, made now if it could not be; 0 when memory is exhausted. */
function hostOfRow(core: Core, rows: Rows, row: number): number {
  const { hosts, scratch, store } = core;
  const value = wordAt(store, (scratch.hostValues >> 2) + row);
  if (isHandle(value)) return value;
  const hash = (hostHashesOffset(rows) >> 2) + row * 2;
  const lo = wordAt(store, hash);
  const hi = wordAt(store, hash + 1);
  if (isClaimed(value)) {
    return makeRowHost(hosts, scratch, { row, name: rowHost(rows, row), lo, hi });
  }
  // An earlier row made it, or could not; or there is no memory for the new hosts of this batch.
  const now = hostLook(hosts, lo, hi);
  if (!isLoneHost(now)) return now;
  return hasRoom(core) ? openLone(hosts, recordOfLone(now)) : 0;
}
