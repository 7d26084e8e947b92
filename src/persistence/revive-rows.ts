/**
 * Rows: records that a recovery makes in batches, whatever file they come from. What is not plain is made one by one, in its
 * turn (revive.ts), so that both ways end in the same core.
 *
 *   section of a snapshot ─▶ reviveChunk ──────────────────────┐
 *   entries ─▶ collectEntries … ─▶ another entry comes first ──┴▶ makeRows ─▶ records that stand nowhere
 *
 *   I1  Rows that were collected are made before anything looks at what they make.
 *   I2  A parent lives until the rows that name it are made.
 */
import { memoryFull } from "../base/errors.ts";
import { TABLE_CLAIMED } from "../layout/table.ts";
import { parentRelease, RECORD_FLAG_NO_IDENTITY, RECORD_WAITING } from "../structures/record.ts";
import {
  admitRevived,
  findRevived,
  leaveRevived,
  makeRevived,
  openReviveBatch,
  closeReviveBatch,
  readColumns,
  readEntries,
  type ReviveBatch,
  REVIVE_DEPTH_WORD,
  REVIVE_DUE_WORD,
  REVIVE_HEAD_WORD,
  REVIVE_HOST_WORD,
  REVIVE_KEY_WORD,
  REVIVE_LENGTH_WORD,
  REVIVE_OWNER,
  REVIVE_OWN_WORD,
  REVIVE_PRIORITY_WORD,
  REVIVE_TEXT_WORD,
  REVIVE_TRIES_WORD,
  reviveCount,
  reviveInput,
  rowWords,
  setReviveCount,
  setRowOwn,
  setRowRule,
} from "../structures/revive-batch.ts";
import { seenSlot } from "../structures/seen-set.ts";
import { checkFlags, checkKey, checkState, wrong } from "./replay-cursor.ts";
import {
  countAdmission,
  createRevivedRecord,
  noteKey,
  type Revival,
  reviveRecord,
  type Rows,
  ruleOfIndex,
} from "./revive.ts";

/** Input that is worth a copy into the region: a frame, or the columns of a section. */
const INPUT_BYTES_MAX = 64 * 1024 * 1024;
const STATE_MASK = 127;
const AGAIN = 128;

/** Columns of up to REVIVE_ROWS_MAX records. */
interface RowColumns {
  readonly count: number;
  readonly hashes: Uint32Array;
  readonly doubles: Float64Array;
  readonly words: Uint32Array;
  /** Texts, from the first one's on. */
  readonly text: Uint32Array;
  /** Handle of the parent of a row, or 0. */
  readonly parentOf: ((row: number) => number) | undefined;
  /** maxAttempts and bytes of a row's blob. */
  readonly blobOf: ((row: number) => readonly [number, Uint8Array] | undefined) | undefined;
}

/** The rows of a revival, for the core that it has now. */
function rowsOf(revival: Revival): Rows {
  if (revival.rows?.batch.store !== revival.core.store) {
    revival.rows = {
      batch: openReviveBatch(revival.core.store),
      record: createRevivedRecord(),
      ...{ words: new Uint32Array(0), offset: 0, parents: [] },
    };
  }
  return revival.rows as Rows;
}

/** All was read: the room goes back. */
export function closeRows(revival: Revival): void {
  const { rows, core } = revival;
  if (rows?.batch.store === core.store) closeReviveBatch(rows.batch);
  revival.rows = undefined;
}

/** Makes the records of columns. */
export function reviveColumns(revival: Revival, columns: RowColumns): void {
  const rows = rowsOf(revival);
  const { batch } = rows;
  const { count, hashes, doubles, words, text, parentOf, blobOf } = columns;
  const textBytes = text.length * 4;
  const input = reviveInput(batch, count * 56 + textBytes);
  if (input === 0) throw memoryFull();
  const { u32, f64 } = batch.store.region.views;
  // The doubles come first: they stand on eight bytes.
  const at = { doubles: input, hashes: input + count * 24, words: input + count * 40, text: 0 };
  at.text = input + count * 56;
  f64.set(doubles, at.doubles >> 3);
  u32.set(hashes, at.hashes >> 2);
  u32.set(words, at.words >> 2);
  u32.set(text, at.text >> 2);
  rows.words = text;
  rows.offset = at.text;
  setReviveCount(batch, count);
  readColumns(batch, at);
  for (let row = 0; row < count && (parentOf ?? blobOf) !== undefined; row++) {
    const parent = parentOf?.(row) ?? 0;
    if (blobOf?.(row) !== undefined) setRowOwn(batch, row, REVIVE_OWNER);
    else if (parent !== 0 && !isOwners(batch, row)) setRowOwn(batch, row, parent);
  }
  makeRows(revival, columns);
}

/** Brings the entries of a frame to where rows are read from; false: they are read one by one. */
export function openEntries(
  revival: Revival,
  words: Uint32Array,
  at: number,
  end: number,
): boolean {
  const bytes = (end - at) * 4;
  if (bytes > INPUT_BYTES_MAX) return false;
  const rows = rowsOf(revival);
  const input = reviveInput(rows.batch, bytes);
  if (input === 0) return false;
  rows.batch.store.region.views.u32.set(words.subarray(at, end), input >> 2);
  rows.words = words;
  rows.offset = input - at * 4;
  return true;
}

/** Collects plain admissions from word `at` on; the word of the first entry that is none, or that finds no room. */
export function collectEntries(revival: Revival, at: number, end: number): number {
  const { batch, offset } = revival.rows as Rows;
  const span = { at: offset + at * 4, end: offset + end * 4, parent: revival.parent };
  return (readEntries(batch, span) - offset) / 4;
}

/** Rows that are collected and not made. */
export function collected({ rows, core }: Revival): number {
  return rows === undefined || rows.batch.store !== core.store ? 0 : reviveCount(rows.batch);
}

/** Makes what was collected, and counts it as admitted; how many named what is not there. */
export function makeEntries(revival: Revival): number {
  const { core } = revival;
  const count = collected(revival);
  if (count === 0) return 0;
  const rows = revival.rows as Rows;
  const { u32, f64 } = core.store.region.views;
  for (let row = 0; row < count; row++) {
    const at = rowWords(rows.batch, row);
    const head = u32[at + REVIVE_HEAD_WORD] as number;
    const state = checkState(head & STATE_MASK);
    checkFlags((head >>> 8) & 255);
    const at64 = at >> 1;
    const due = f64[at64 + (REVIVE_DUE_WORD >> 1)] as number;
    if (Number.isNaN(due + (f64[at64 + (REVIVE_PRIORITY_WORD >> 1)] as number)))
      throw wrong("a number that is none");
    noteKey(revival, checkKey(f64[(at + REVIVE_KEY_WORD) >> 1] as number));
    countAdmission(core, state === RECORD_WAITING, u32[at + REVIVE_DEPTH_WORD] as number);
  }
  core.counters.seen += count;
  const astray = makeRows(revival, undefined);
  for (const parent of rows.parents) parentRelease(core.store, parent);
  rows.parents.length = 0;
  return astray;
}

/** Makes all rows; how many have no host. @hot */
function makeRows(revival: Revival, columns: RowColumns | undefined): number {
  const { core } = revival;
  const { batch } = revival.rows as Rows;
  const count = reviveCount(batch);
  for (let row = 0; row < count; row++) {
    const { u32 } = core.store.region.views; // making a gone rule may move them
    const rule = (u32[rowWords(batch, row) + REVIVE_HEAD_WORD] as number) >>> 16;
    setRowRule(batch, row, ruleOfIndex(revival, rule).handle);
  }
  admitRevived(batch, core.hosts.index, core.seen);
  const { table } = core.seen;
  let { sweeps } = table;
  let astray = 0;
  for (let row = makeRevived(batch, 0); row < count; row = makeRevived(batch, row + 1)) {
    if (!leaveRevived(batch, row)) throw memoryFull();
    if (!makeOne(revival, row, columns)) astray++;
    if (table.sweeps === sweeps) continue;
    sweeps = table.sweeps; // its insert moved a segment, and the claims of later rows
    findRevived(batch, core.seen, row + 1);
  }
  setReviveCount(batch, 0);
  return astray;
}

/** The owner's way; false: its host is not there. */
function makeOne(revival: Revival, row: number, columns: RowColumns | undefined): boolean {
  const { batch, record, words, offset } = revival.rows as Rows;
  const { u32, f64 } = batch.store.region.views;
  const at = rowWords(batch, row);
  const head = u32[at + REVIVE_HEAD_WORD] as number;
  const tries = u32[at + REVIVE_TRIES_WORD] as number;
  const own = u32[at + REVIVE_OWN_WORD] as number;
  record.lo = u32[at] as number;
  record.hi = u32[at + 1] as number;
  record.hostLo = u32[at + REVIVE_HOST_WORD] as number;
  record.hostHi = u32[at + REVIVE_HOST_WORD + 1] as number;
  record.key = f64[(at + REVIVE_KEY_WORD) >> 1] as number;
  record.priority = f64[(at + REVIVE_PRIORITY_WORD) >> 1] as number;
  record.due = f64[(at + REVIVE_DUE_WORD) >> 1] as number;
  record.state = head & STATE_MASK;
  record.isAgain = (head & AGAIN) !== 0;
  record.flags = (head >>> 8) & 255;
  record.rule = head >>> 16;
  record.attempt = tries & 65_535;
  record.deliveries = tries >>> 16;
  record.depth = u32[at + REVIVE_DEPTH_WORD] as number;
  record.textLength = u32[at + REVIVE_LENGTH_WORD] as number;
  record.text = words;
  record.textAt = ((u32[at + REVIVE_TEXT_WORD] as number) - offset) >> 2;
  const blob = columns?.blobOf?.(row);
  record.blob = blob?.[1];
  record.maxAttempts = blob?.[0] ?? 0;
  const before = revival.parent;
  // A later row of the same identity has claimed it, and was counted for that.
  const slot = seenSlot(revival.core.seen, record.lo, record.hi);
  const isNameless = (record.flags & RECORD_FLAG_NO_IDENTITY) !== 0;
  if (!isNameless && slot !== 0 && u32[slot >>> 2] === TABLE_CLAIMED) revival.core.seen.count--;
  revival.parent = columns === undefined ? own : (columns.parentOf?.(row) ?? 0);
  const isMade = reviveRecord(revival, record);
  revival.parent = before;
  return isMade;
}

function isOwners(batch: ReviveBatch, row: number): boolean {
  return batch.store.region.views.u32[rowWords(batch, row) + REVIVE_OWN_WORD] === REVIVE_OWNER;
}
