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
 * Only an admitted row marks its identity seen. The common batch (plain URLs, no hook, no budget, room for all)
 * asks and marks in one kernel call; any other is asked and marked row by row.
 *
 *   I1  Every row gets exactly one verdict and one counter step.
 *   I2  Identities marked = records made with an identity.
 *   I3  A shallower sighting lowers the depth of a record that still has its visit before it.
 */
import {
  TABLE_NEW,
  TABLE_SKIP,
  tableInsertBatch,
  tableRemove,
} from "../../structures/table/fingerprint-table.ts";
import { hostMakeEach } from "../../structures/records/host-batch.ts";
import {
  hostFind,
  hostMake,
  hostUnmake,
  RULE_QUEUE_INDEX_WORD,
} from "../../structures/hosts/host-table.ts";
import {
  laneOpened,
  lastSequence,
  leaveLanes,
  leaveRecord,
  makeRecords,
  openRecords,
  sightedAt,
  sightedDuplicates,
  sightRecords,
  takeRecords,
} from "../../structures/records/record-batch.ts";
import { queueFree, queueOf } from "../../structures/hosts/host-queue.ts";
import {
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
  hasReserve,
  type BatchAdmission,
  parentOfRow,
  refusalOf,
  ruleOfRow,
  setRowText,
} from "./admission-input.ts";
import { admitEach } from "./admit-rows.ts";
import { type Core, effectivePriority, type RuleState } from "../core.ts";
import { FOREVER } from "../epochs/epoch-policy.ts";
import { enterEpochs, joinEpoch, type RowEpochs, sayJoined } from "../epochs/row-epochs.ts";
import { evictHosts } from "../politeness/host-eviction.ts";
import { hasRoom } from "../records/memory-reserve.ts";
import { sharesJoin } from "../scheduling/rule-shares.ts";
import { lowerDepth } from "./sighting.ts";
import { isDiskFull, spillOverBudget } from "../scheduling/spill-control.ts";
import { admitMade, admitRecord, keepRecord, logAdmitted } from "../records/transitions.ts";
import { VERDICT_ACCEPTED, VERDICT_DUPLICATE, VERDICT_FULL_MEMORY } from "./verdicts.ts";
import { bookPushed, bookSeen, bookVerdict } from "../records/ledger.ts";

/** Gives every row its verdict and makes the records of those admitted. */
export function admitRows(core: Core, intake: BatchAdmission): void {
  bookPushed(core, intake.count);
  const epochs = intake.isMarked ? undefined : enterEpochs(core, intake);
  if (intake.isMarked || isPlain(core, intake)) admitPlain(core, intake, epochs);
  else admitEvery(core, intake, epochs);
  evictHosts(core, intake.nowMs);
  if (core.spilling !== undefined) spillOverBudget(core, intake.nowMs);
}

/** Row by row. */
function admitEvery(core: Core, intake: BatchAdmission, epochs: RowEpochs): void {
  admitEach(core, intake, epochs);
  for (let row = 0; row < intake.count; row++) {
    bookVerdict(core, intake.codes[intake.codesStart + row] as number);
  }
}

/** What is known of a batch before its rows are. */
type Outline = Pick<BatchAdmission, "admissions" | "hook" | "depth" | "isOutside" | "count">;

/** Whether all rows share one fate but for their being crawlable and new. */
export function isPlain(core: Core, intake: Outline): boolean {
  if (intake.admissions !== undefined || intake.hook !== undefined) return false;
  if (!hasReserve(core)) return false;
  if (core.isEach) return false;
  // Where rules are matched, a row that is too deep for its own has been told so already.
  if (core.plain !== undefined && intake.depth > core.plain.policy.maxDepth) return false;
  if (core.spilling !== undefined && isDiskFull(core)) return false;
  const { pending, waiting } = core.counters;
  return !intake.isOutside || pending + waiting + intake.count <= core.limits.capacity;
}

/** The hot path: a few kernel calls for the whole batch, then one round over the rows that they leave. @hot */
function admitPlain(core: Core, intake: BatchAdmission, epochs: RowEpochs): void {
  const { rows, count, codes, codesStart, depth } = intake;
  const values = valuesOffset(rows) >> 2;
  if (!intake.isMarked && !markRows(core, rows, count)) {
    admitEvery(core, intake, epochs);
    return;
  }
  const { draft } = core;
  const { joined } = core.hosts;
  let isShort = false;
  draft.depth = depth;
  draft.parent = intake.parent;
  draft.blob = 0;
  openRecords(core.scratch, rows.offset, draft, intake.hasParents === true);
  const noted = sightRecords(core.scratch, VERDICT_DUPLICATE, count, codes, codesStart);
  bookVerdict(core, VERDICT_DUPLICATE, sightedDuplicates(core.scratch));
  // The kernel makes records that nobody hears of one by one, and their hosts.
  const isBulk = epochs === undefined && !core.sink.wants.accepted;
  findHosts(core, intake, isBulk);
  if (isBulk) takeRecords(core.scratch, count, ruleOfAll(core, intake.rowRules), intake.rowRules);
  for (let row = isBulk ? makeBulk(core, intake.rowRules, 0) : 0; row < count; ) {
    if (wordAt(core.store, values + row) === TABLE_NEW) {
      if (isBulk) leaveRecord(core.scratch, row);
      const epoch = epochs === undefined ? FOREVER : (epochs[row] as string);
      const code = makePlain(core, intake, row, epoch);
      codes[codesStart + row] = code;
      bookVerdict(core, code);
      isShort ||= code === VERDICT_FULL_MEMORY;
    }
    row = isBulk ? makeBulk(core, intake.rowRules, row + 1) : row + 1;
  }
  if (isBulk) joinOpened(core);
  scratchCopyAll(core.scratch);
  if (isShort) unmakeHosts(core, intake, joined);
  for (let index = 0; index < noted; index++) {
    sightRow(core, intake, sightedAt(core.scratch, index));
  }
  if (core.log !== undefined) logRows(core, intake);
}

/** Forgets the hosts that joined behind the first `joined` ones, and that no row has found room on. */
function unmakeHosts(core: Core, { rows, count }: BatchAdmission, joined: number): void {
  const { hosts, store } = core;
  const values = valuesOffset(rows) >> 2;
  for (let row = 0; row < count; row++) {
    if (wordAt(store, values + row) !== TABLE_NEW) continue;
    const hash = (hostHashesOffset(rows) >> 2) + row * 2;
    const host = hostFind(hosts, wordAt(store, hash), wordAt(store, hash + 1));
    if (host !== 0) hostUnmake(hosts, host, joined);
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

/** Tells the log of the rows admitted, now that their records hold their text. */
function logRows(core: Core, { rows, count, codes, codesStart }: BatchAdmission): void {
  const slots = slotsOffset(rows) >> 2;
  for (let row = 0; row < count; row++) {
    if (codes[codesStart + row] !== VERDICT_ACCEPTED) continue;
    logAdmitted(core, wordAt(core.store, wordAt(core.store, slots + row) >> 2));
  }
}

/** Lets the kernel make the records of plain rows from `from` on; the row that is left to makePlain, or the count. @hot */
function makeBulk(core: Core, rowRules: number, from: number): number {
  const { draft, hosts, scratch, sequence } = core;
  const rule = ruleOfAll(core, rowRules);
  const row = makeRecords(scratch, hosts, from, rule, rowRules, sequence);
  admitMade(core, lastSequence(scratch), draft.depth);
  return row;
}

/** The queue of the one rule that takes all rows, or 0 where each has its own. @hot */
function ruleOfAll({ plain }: Core, rowRules: number): number {
  return rowRules === 0 ? (plain as RuleState).handle : 0;
}

/** Rules for which the kernel opened a lane have something to hand out from now on. @hot */
function joinOpened(core: Core): void {
  const { scratch, shares, store } = core;
  const opened = leaveLanes(scratch);
  if (core.sole !== undefined) return;
  for (let index = 0; index < opened; index++) {
    sharesJoin(shares, word(store, laneOpened(scratch, index), RULE_QUEUE_INDEX_WORD));
  }
}

/** Asks and marks the seen-set for a whole batch; false: memory is exhausted, nothing was marked. */
function markRows(core: Core, rows: Rows, count: number): boolean {
  const values = valuesOffset(rows) >> 2;
  for (let row = 0; row < count; row++) {
    setWordAt(core.store, values + row, rowStatus(rows, row) === BATCH_OK ? 0 : TABLE_SKIP);
  }
  const hashes = hashesOffset(rows);
  return seenAdmitBatch(core.seen, hashes, count, values << 2, slotsOffset(rows)) >= 0;
}

/** Makes the record of a new row whose identity the table has claimed. @hot */
function makePlain(core: Core, intake: BatchAdmission, row: number, epoch: string): number {
  const { draft, store } = core;
  const { rows, nowMs } = intake;
  const rule = ruleOfRow(core, intake.rowRules, row);
  draft.priority = effectivePriority(rule.policy, undefined, intake.depth);
  draft.parent = parentOfRow(core, intake, row);
  const hash = (hashesOffset(rows) >> 2) + row * 2;
  const slot = wordAt(store, (slotsOffset(rows) >> 2) + row);
  draft.lo = wordAt(store, hash);
  draft.hi = wordAt(store, hash + 1);
  draft.flags = rowIsHttps(rows, row) ? RECORD_FLAG_HTTPS : 0;
  const host = hostOfRow(core, rows, row);
  const { queuesMade } = core.hosts;
  draft.queue = host === 0 ? 0 : queueOf(core.hosts, host, rule.handle);
  setRowText(core, rule.policy, rows, row);
  const record = draft.queue === 0 ? 0 : recordCreate(store, draft);
  if (record === 0 || !hasRoom(core) || !joinEpoch(core, epoch, draft.lo, draft.hi)) {
    if (record !== 0) recordUnmake(store, record);
    if (core.hosts.queuesMade > queuesMade) queueFree(store, draft.queue);
    seenRemove(core.seen, draft.lo, draft.hi);
    return VERDICT_FULL_MEMORY;
  }
  sayJoined(core, epoch, draft.lo, draft.hi);
  setWordAt(store, slot >> 2, record);
  bookSeen(core, 1);
  scratchCopy(core.scratch, recordTextOffset(store, record), draft.textOffset, draft.textLength);
  keepRecord(core, record, host);
  if (core.sink.wants.accepted) scratchCopyAll(core.scratch); // the listener reads the URL
  admitRecord(core, record, 0, nowMs);
  return VERDICT_ACCEPTED;
}

/** Looks up, and claims where new, the hosts of all rows that are new, in bulk made too; results go to the scratch. */
function findHosts(core: Core, { rows, count, rowRules }: BatchAdmission, isBulk: boolean): void {
  const { hosts, scratch, store } = core;
  const hostValues = scratch.hostValues >> 2;
  const hashes = hostHashesOffset(rows);
  const { hostSlots } = scratch;
  const fresh = tableInsertBatch(hosts.index, hashes, count, scratch.hostValues, hostSlots);
  if (fresh < 0) {
    for (let row = 0; row < count; row++) setWordAt(store, hostValues + row, TABLE_SKIP);
  } else if (isBulk && fresh > 0) {
    hostMakeEach(hosts, scratch, ruleOfAll(core, rowRules), rowRules);
  }
}

/** The host that findHosts found for a new row, made now if it could not be; 0 when memory is exhausted. */
function hostOfRow(core: Core, rows: Rows, row: number): number {
  const { hosts, scratch, store } = core;
  const value = wordAt(store, (scratch.hostValues >> 2) + row);
  if (value < TABLE_SKIP) return value;
  const hash = (hostHashesOffset(rows) >> 2) + row * 2;
  const lo = wordAt(store, hash);
  const hi = wordAt(store, hash + 1);
  // An earlier row made it, or could not; or there is no memory for the new hosts of this batch.
  if (value !== TABLE_NEW) return hostFind(hosts, lo, hi);
  const slot = wordAt(store, (scratch.hostSlots >> 2) + row);
  const host = hostMake(hosts, rowHost(rows, row), lo, hi);
  setWordAt(store, slot >> 2, host);
  if (host === 0) tableRemove(hosts.index, lo, hi); // takes the claim back
  return host;
}
