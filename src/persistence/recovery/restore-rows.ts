/**
 * Rows: records that a recovery makes in batches, from either kind of file. A record that is not plain is made by itself, in its
 * turn (restore-records.ts), so that both ways end in the same core.
 *
 *   section of a snapshot ─▶ restoreChunk ──────────────────────┐
 *   entries ─▶ collectEntries … ─▶ another entry comes first ──┴▶ makeRows ─▶ records without a place
 *
 *   I1  Collected rows are made before anything reads what they make.
 *   I2  A parent lives until the rows that name it are made.
 */
import { memoryFull } from "../../base/errors.ts";
import { LOG_ADMITTED } from "../../frontier/records/transition-log.ts";
import { TABLE_CLAIMED } from "../../layout/seen/table.ts";
import {
  parentRelease,
  RECORD_FLAG_NO_IDENTITY,
  RECORD_WAITING,
} from "../../structures/records/record.ts";
import {
  admitRestored,
  findRestored,
  leaveRestored,
  makeRestored,
  openRestoreBatch,
  closeRestoreBatch,
  readColumns,
  readEntries,
  type RestoreBatch,
  RESTORE_DEPTH_WORD,
  RESTORE_DUE_WORD,
  RESTORE_HEAD_WORD,
  RESTORE_HOST_WORD,
  RESTORE_KEY_WORD,
  RESTORE_LENGTH_WORD,
  RESTORE_OWNER,
  RESTORE_OWN_WORD,
  RESTORE_PRIORITY_WORD,
  RESTORE_TEXT_WORD,
  RESTORE_TRIES_WORD,
  restoreCount,
  restoreInput,
  rowWords,
  setRestoreCount,
  setRestoreSole,
  setRowOwn,
  setRowRule,
} from "../../structures/records/restore-batch.ts";
import { seenSlot } from "../../structures/seen/seen-set.ts";
import { checkDue, checkFlags, checkKey, checkPriority, checkStateAfter } from "./check-fields.ts";
import { flagsIn, ruleIn } from "../journal/entry-fields.ts";
import { isCopied } from "./copied-records.ts";
import {
  checkRuleOf,
  createRestoredRecord,
  noteKey,
  type Restoration,
  restoreRecord,
  type Rows,
  ruleOfIndex,
} from "./restore-records.ts";
import { bookAdmitted, bookSeen } from "../../frontier/records/ledger.ts";

/** Largest input that is copied into the region: a frame, or the columns of a section. */
const INPUT_BYTES_MAX = 64 * 1024 * 1024;
const STATE_MASK = 127;
const AGAIN = 128;

/** Columns of up to RESTORE_ROWS_MAX records. */
interface RowColumns {
  readonly count: number;
  readonly hashes: Uint32Array;
  readonly doubles: Float64Array;
  readonly words: Uint32Array;
  /** Texts, beginning with the first row's. */
  readonly text: Uint32Array;
  /** Handle of the parent of a row, or 0. */
  readonly parentOf: ((row: number) => number) | undefined;
  /** maxAttempts and bytes of a row's blob. */
  readonly blobOf: ((row: number) => readonly [number, Uint8Array] | undefined) | undefined;
}

/** The rows of a restoration, for its current core. */
function rowsOf(restoration: Restoration): Rows {
  if (restoration.rows?.batch.store !== restoration.core.store) {
    restoration.rows = {
      batch: openRestoreBatch(restoration.core.store),
      record: createRestoredRecord(),
      ...{ words: new Uint32Array(0), offset: 0, parents: [] },
    };
  }
  return restoration.rows as Rows;
}

/** Returns the room after everything was read. */
export function closeRows(restoration: Restoration): void {
  const { rows, core } = restoration;
  if (rows?.batch.store === core.store) closeRestoreBatch(rows.batch);
  restoration.rows = undefined;
}

/** Makes records from columns. */
export function restoreColumns(restoration: Restoration, columns: RowColumns): void {
  const rows = rowsOf(restoration);
  const { batch } = rows;
  const { count, hashes, doubles, words, text, parentOf, blobOf } = columns;
  const textBytes = text.length * 4;
  const input = restoreInput(batch, count * 56 + textBytes);
  if (input === 0) throw memoryFull();
  const { u32, f64 } = batch.store.region.views;
  // The doubles come first: they need an alignment of eight bytes.
  const at = { doubles: input, hashes: input + count * 24, words: input + count * 40, text: 0 };
  at.text = input + count * 56;
  f64.set(doubles, at.doubles >> 3);
  u32.set(hashes, at.hashes >> 2);
  u32.set(words, at.words >> 2);
  u32.set(text, at.text >> 2);
  rows.words = text;
  rows.offset = at.text;
  setRestoreCount(batch, count);
  readColumns(batch, at);
  for (let row = 0; row < count && (parentOf ?? blobOf) !== undefined; row++) {
    const parent = parentOf?.(row) ?? 0;
    if (blobOf?.(row) !== undefined) setRowOwn(batch, row, RESTORE_OWNER);
    else if (parent !== 0 && !isOwners(batch, row)) setRowOwn(batch, row, parent);
  }
  makeRows(restoration, columns);
}

/** Copies the entries of a frame to where rows are read; returns false when entries must be read one by one. */
export function openEntries(
  restoration: Restoration,
  words: Uint32Array,
  at: number,
  end: number,
): boolean {
  const bytes = (end - at) * 4;
  if (bytes > INPUT_BYTES_MAX) return false;
  const rows = rowsOf(restoration);
  const input = restoreInput(rows.batch, bytes);
  if (input === 0) return false;
  rows.batch.store.region.views.u32.set(words.subarray(at, end), input >> 2);
  rows.words = words;
  rows.offset = input - at * 4;
  return true;
}

/** Collects plain admissions from word `at` on; returns the word of the first entry that is none, or for which there is no room. */
export function collectEntries(restoration: Restoration, at: number, end: number): number {
  const { batch, offset } = restoration.rows as Rows;
  const span = { at: offset + at * 4, end: offset + end * 4, parent: restoration.parent };
  return (readEntries(batch, span) - offset) / 4;
}

/** Rows that are collected and not made. */
export function collected({ rows, core }: Restoration): number {
  return rows === undefined || rows.batch.store !== core.store ? 0 : restoreCount(rows.batch);
}

/** Makes the collected rows and counts them as admitted; returns how many named a host that is not there. */
export function makeEntries(restoration: Restoration): number {
  const { core } = restoration;
  const count = collected(restoration);
  if (count === 0) return 0;
  const rows = restoration.rows as Rows;
  for (let row = 0; row < count; row++) {
    const { u32, f64 } = core.store.region.views; // making a gone rule may move the views
    const at = rowWords(rows.batch, row);
    const head = u32[at + RESTORE_HEAD_WORD] as number;
    const state = checkStateAfter(LOG_ADMITTED, head & STATE_MASK);
    checkFlags(flagsIn(head));
    checkRuleOf(core, ruleOfIndex(restoration, ruleIn(head)));
    const at64 = at >> 1;
    checkDue(f64[at64 + (RESTORE_DUE_WORD >> 1)] as number);
    checkPriority(f64[at64 + (RESTORE_PRIORITY_WORD >> 1)] as number);
    noteKey(restoration, checkKey(f64[(at + RESTORE_KEY_WORD) >> 1] as number));
    bookAdmitted(core, state === RECORD_WAITING, u32[at + RESTORE_DEPTH_WORD] as number);
  }
  bookSeen(core, count);
  const astray = makeRows(restoration, undefined);
  for (const parent of rows.parents) parentRelease(core.store, parent);
  rows.parents.length = 0;
  return astray;
}

/** Makes all rows; returns how many have no host. @hot */
function makeRows(restoration: Restoration, columns: RowColumns | undefined): number {
  const { core } = restoration;
  const { batch } = restoration.rows as Rows;
  const count = restoreCount(batch);
  for (let row = 0; row < count; row++) {
    const { u32 } = core.store.region.views; // making a gone rule may move the views
    const rule = ruleIn(u32[rowWords(batch, row) + RESTORE_HEAD_WORD] as number);
    setRowRule(batch, row, ruleOfIndex(restoration, rule).handle);
  }
  setRestoreSole(batch, core.sole?.handle ?? 0); // what makes a gone rule comes before
  admitRestored(batch, core.hosts.index, core.seen);
  const { table } = core.seen;
  let { sweeps } = table;
  let astray = 0;
  for (let row = makeRestored(batch, 0); row < count; row = makeRestored(batch, row + 1)) {
    if (!leaveRestored(batch, row)) throw memoryFull();
    if (!makeOne(restoration, row, columns)) astray++;
    if (table.sweeps === sweeps) continue;
    sweeps = table.sweeps; // the insert moved a segment, and with it the claims of later rows
    findRestored(batch, core.seen, row + 1);
  }
  setRestoreCount(batch, 0);
  return astray;
}

/** Makes a row on the owner's path; returns false when its host is not there. */
function makeOne(restoration: Restoration, row: number, columns: RowColumns | undefined): boolean {
  const { batch, record, words, offset } = restoration.rows as Rows;
  const { u32, f64 } = batch.store.region.views;
  const at = rowWords(batch, row);
  const head = u32[at + RESTORE_HEAD_WORD] as number;
  const tries = u32[at + RESTORE_TRIES_WORD] as number;
  const own = u32[at + RESTORE_OWN_WORD] as number;
  record.lo = u32[at] as number;
  record.hi = u32[at + 1] as number;
  record.hostLo = u32[at + RESTORE_HOST_WORD] as number;
  record.hostHi = u32[at + RESTORE_HOST_WORD + 1] as number;
  record.key = f64[(at + RESTORE_KEY_WORD) >> 1] as number;
  record.priority = f64[(at + RESTORE_PRIORITY_WORD) >> 1] as number;
  record.due = f64[(at + RESTORE_DUE_WORD) >> 1] as number;
  record.state = head & STATE_MASK;
  record.isAgain = (head & AGAIN) !== 0;
  record.flags = flagsIn(head);
  record.rule = ruleIn(head);
  record.attempt = tries & 65_535;
  record.deliveries = tries >>> 16;
  record.depth = u32[at + RESTORE_DEPTH_WORD] as number;
  record.textLength = u32[at + RESTORE_LENGTH_WORD] as number;
  record.text = words;
  record.textAt = ((u32[at + RESTORE_TEXT_WORD] as number) - offset) >> 2;
  const blob = columns?.blobOf?.(row);
  record.blob = blob?.[1];
  record.maxAttempts = blob?.[0] ?? 0;
  const before = restoration.parent;
  // A later row of the same identity has claimed the slot, and was counted for it.
  const slot = seenSlot(restoration.core.seen, record.lo, record.hi);
  const isNameless = (record.flags & RECORD_FLAG_NO_IDENTITY) !== 0;
  if (!isNameless && slot !== 0 && u32[slot >>> 2] === TABLE_CLAIMED) restoration.core.seen.count--;
  if (columns === undefined && isCopied(restoration, record)) return false;
  restoration.parent = columns === undefined ? own : (columns.parentOf?.(row) ?? 0);
  const isMade = restoreRecord(restoration, record);
  restoration.parent = before;
  return isMade;
}

function isOwners(batch: RestoreBatch, row: number): boolean {
  return batch.store.region.views.u32[rowWords(batch, row) + RESTORE_OWN_WORD] === RESTORE_OWNER;
}
