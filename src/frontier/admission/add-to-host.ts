/**
 * Admission to hosts on disk: the record is kept with the block that its host lies in, which is not read (structures/spill/added-records.ts).
 *
 *   rows of a batch ─▶ hosts on disk that cannot take theirs come back, before anything is marked
 *                  └─▶ the others: record of a guest, counted and logged ─▶ added to the block of its host
 *   a row by itself ─▶ the same, once it is let in (admit-rows.ts)
 *
 *   I1  A host that may go stands by its best priority and its turn, one that waits by its clock: what is added changes neither.
 *   I2  While a record is counted, logged and reported, it stands under the guest: a host with the name and the hash of its own.
 */
import { isMemoryFull } from "../../base/errors.ts";
import { hostFind, hostLook, isSpilledHost } from "../../structures/hosts/host-table.ts";
import {
  parentRetain,
  recordCreate,
  recordDepth,
  recordParent,
  recordTextOffset,
  recordUnmake,
} from "../../structures/records/record.ts";
import { scratchCopy, scratchCopyAll } from "../../structures/records/kernel-scratch.ts";
import { TABLE_SKIP, tableFindBatch } from "../../structures/table/fingerprint-table.ts";
import { setWordAt, wordAt } from "../../structures/store.ts";
import {
  BATCH_OK,
  hostHashesOffset,
  type Rows,
  rowHost,
  rowStatus,
} from "../../url/batch/row-fields.ts";
import { type Core, effectivePriority, type RuleState } from "../core.ts";
import { joinEpoch, logJoined } from "../epochs/row-epochs.ts";
import { bookSeen } from "../records/ledger.ts";
import { hasRoom } from "../records/memory-reserve.ts";
import { admitAdded, logAdmitted } from "../records/transitions.ts";
import { addToSpilled, guestQueueOf, noteFailure, takesRecord } from "../scheduling/spill-hosts.ts";
import { type BatchAdmission, ruleOfRow } from "./admission-input.ts";

/**
 * Brings back the hosts of a batch that are on disk and cannot take their rows there. False: the disk or memory refused; then the rows are
 * admitted one by one, and each has its own answer.
 */
export function readyHosts(core: Core, intake: BatchAdmission): boolean {
  const { hosts, scratch, store } = core;
  if (hosts.spilled === 0) return true;
  const { rows, count } = intake;
  const values = scratch.spilled >> 2;
  for (let row = 0; row < count; row++) {
    setWordAt(store, values + row, rowStatus(rows, row) === BATCH_OK ? 0 : TABLE_SKIP);
  }
  tableFindBatch(hosts.index, hostHashesOffset(rows), count, scratch.spilled);
  for (let row = 0; row < count; row++) {
    if (!isSpilledHost(wordAt(store, values + row))) continue;
    const { lo, hi } = hostHash(core, rows, row);
    const value = hostLook(hosts, lo, hi); // an earlier row may have brought it back
    if (!isSpilledHost(value) || mayStay(core, intake, row, value)) continue;
    try {
      hostFind(hosts, lo, hi);
    } catch (error) {
      if (!isMemoryFull(error)) noteFailure(core, error);
      return false;
    }
  }
  return true;
}

/** Longest name that a guest takes. */
const SHORT_NAME_BYTES = 512;

/** Whether the host of a row, on disk, takes its record where it is. */
function mayStay(core: Core, intake: BatchAdmission, row: number, value: number): boolean {
  const rule = ruleOfRow(core, intake.rowRules, row);
  const priority = effectivePriority(rule.policy, undefined, intake.depth);
  return takesRow(core, { rows: intake.rows, row, rule }, value, priority);
}

/** A row and the rule that takes it. */
interface RuledRow {
  readonly rows: Rows;
  readonly row: number;
  readonly rule: RuleState;
}

function takesRow(
  core: Core,
  { rows, row, rule }: RuledRow,
  value: number,
  priority: number,
): boolean {
  const { handle: ruleQueue, policy } = rule;
  if (!policy.isPolite || policy.groups.length > 0) return false;
  if (rowHost(rows, row).length > SHORT_NAME_BYTES) return false;
  return takesRecord(core, { value, ruleQueue, priority });
}

/**
 * The index value of a row's host, if that host is on disk and its block accepts a pending record of this priority; otherwise 0.
 */
export function awayHostOf(core: Core, ruled: RuledRow, priority: number): number {
  const { hosts } = core;
  if (hosts.spilled === 0 || ruled.rule.policy.by !== "host") return 0;
  const { lo, hi } = hostHash(core, ruled.rows, ruled.row);
  const value = hostLook(hosts, lo, hi);
  return isSpilledHost(value) && takesRow(core, ruled, value, priority) ? value : 0;
}

/** The queue of a guest with the name of a row's host, under its rule. */
export function guestOfRow(core: Core, { rows, row, rule }: RuledRow): number {
  const name = rowHost(rows, row);
  return guestQueueOf(core, { name, ...hostHash(core, rows, row) }, rule.handle);
}

/** Counts and logs a guest's record and adds it to the block of its host. Returns the record's new value for the seen-set. */
export function enterAway(core: Core, value: number, record: number, known: number): number {
  const parent = recordParent(core.store, record);
  if (parent !== 0) parentRetain(core.store, parent);
  admitAdded(core, record);
  logAdmitted(core, record, known);
  return addToSpilled(core, value, record, recordDepth(core.store, record));
}

/** A new row, whose identity the table has claimed at `slot` and whose draft is filled but for its queue. */
interface AddedRow extends RuledRow {
  readonly epoch: string;
  readonly slot: number;
  /** What the index has of its host. */
  readonly value: number;
}

/** Adds the record of a new row to its host on disk, which takes it (`readyHosts`); false, with nothing changed: memory is exhausted. */
export function addRow(core: Core, added: AddedRow): boolean {
  const { draft, scratch, store } = core;
  const { epoch, slot, value } = added;
  draft.queue = guestOfRow(core, added);
  const record = draft.queue === 0 ? 0 : recordCreate(store, draft);
  const isReady = record !== 0 && hasRoom(core);
  const joined = isReady ? joinEpoch(core, epoch, draft.lo, draft.hi) : undefined;
  if (joined === undefined) {
    if (record !== 0) recordUnmake(store, record);
    return false;
  }
  logJoined(core, joined, draft.lo, draft.hi);
  bookSeen(core, 1);
  scratchCopy(scratch, recordTextOffset(store, record), draft.textOffset, draft.textLength);
  scratchCopyAll(scratch); // the log and a listener read the URL, under the guest
  setWordAt(store, slot >> 2, enterAway(core, value, record, 0));
  return true;
}

function hostHash({ store }: Core, rows: Rows, row: number): { lo: number; hi: number } {
  const hash = (hostHashesOffset(rows) >> 2) + row * 2;
  return { lo: wordAt(store, hash), hi: wordAt(store, hash + 1) };
}
