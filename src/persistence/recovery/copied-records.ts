/**
 * Copied records: whether a record that an entry admits came from the snapshot already, and lies on disk, unread.
 *
 *   snapshot begins ── sequence ──┬─ admitted meanwhile, then copied ─▶ identity noted here ─┐
 *                                 └─ its entry in the journal ────────▶ noted? on disk? ─────┴▶ left as it is
 *
 *   I1  An identity stands here until its record ends. So a record whose identity is noted here, and is not in the hot table, lies on disk.
 *   I2  The table takes a part of the bound on memory and no more. For identities that have no place in it the cold tier is asked.
 *
 * Without it each entry would ask the cold tier for its identity: a read of 4 KiB for each copy.
 */
import type { Core } from "../../frontier/core.ts";
import { sequenceOfKey } from "../../frontier/records/transitions.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { TABLE_RESERVED_MIN } from "../../layout/seen/table.ts";
import { RECORD_FLAG_NO_IDENTITY } from "../../structures/records/record.ts";
import { seenFind, seenSlot } from "../../structures/seen/seen-set.ts";
import { isSpilledValue } from "../../structures/spill/spilled-identity.ts";
import {
  createTable,
  type FingerprintTable,
  tableDrop,
  tableFind,
  tableInsert,
  tableRemove,
} from "../../structures/table/fingerprint-table.ts";

const IDENTITIES = { valued: false } as const;
/** Of the bound on memory, what the table may take. */
const PART = 1 / 8;

export interface CopiedRecords {
  /** The highest sequence when the snapshot began; Infinity: there is none. */
  began: number;
  /** Identities of copies of later ones; undefined: none. */
  table: FingerprintTable | undefined;
  /** Whether it has all of them. */
  isWhole: boolean;
}

/** What is known of a restoration here. */
interface Copying {
  readonly copied: CopiedRecords;
  readonly core: Core;
}

/** What an entry that admits a record has. */
interface Admitted {
  readonly flags: number;
  readonly lo: number;
  readonly hi: number;
  readonly isMoved: boolean;
  readonly hostAdmitted: number;
}

export function createCopied(): CopiedRecords {
  return { began: Number.POSITIVE_INFINITY, table: undefined, isWhole: true };
}

/** Notes a record of the snapshot that was admitted after the snapshot began. A row whose host is not known made no record. @hot */
export function noteCopied(restoration: Copying, key: number, lo: number, hi: number): void {
  const { copied, core } = restoration;
  if (Math.abs(sequenceOfKey(key)) <= copied.began || core.spilling === undefined) return;
  const slot = seenSlot(core.seen, lo, hi);
  if (slot === 0 || !isLive(core.store.region.views.u32[slot >>> 2] as number)) return;
  copied.table ??= createTable(core.store.kernel, IDENTITIES);
  const hasRoom = copiedBytes(restoration) < core.spilling.budgetBytes * PART;
  if (!hasRoom || tableInsert(copied.table, lo, hi) === 0) copied.isWhole = false;
}

export function copiedBytes({ copied }: Copying): number {
  return (copied.table?.pageCount ?? 0) * REGION_PAGE_BYTES;
}

/** The record of an identity ends, or leaves its identity. */
export function dropCopied({ copied }: Copying, lo: number, hi: number): void {
  if (copied.table !== undefined) tableRemove(copied.table, lo, hi);
}

/** Nothing is noted any more. */
export function clearCopied({ copied }: Copying): void {
  if (copied.table !== undefined) tableDrop(copied.table);
  copied.table = undefined;
  copied.isWhole = true;
}

/**
 * Whether a record that an entry admits is a copy of one on disk, as later entries leave it: it stays there. What the entry counts for its
 * host's budget is another matter. @hot
 */
export function isCopied({ copied, core }: Copying, from: Admitted): boolean {
  if (copied.table === undefined || from.isMoved || from.hostAdmitted >= 0) return false;
  if ((from.flags & RECORD_FLAG_NO_IDENTITY) !== 0) return false;
  if (tableFind(copied.table, from.lo, from.hi) === 0) {
    return !copied.isWhole && isSpilledValue(seenFind(core.seen, from.lo, from.hi));
  }
  const slot = seenSlot(core.seen, from.lo, from.hi);
  if (slot === 0) return core.seen.tiered !== undefined; // the cold tier alone has it
  return isSpilledValue(core.store.region.views.u32[slot >>> 2] as number);
}

/** Whether a record is behind a value, in memory or on disk. */
function isLive(value: number): boolean {
  return value !== 0 && value < TABLE_RESERVED_MIN;
}
