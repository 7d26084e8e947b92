/**
 * Room `src/structures/seen`: whether an identity was admitted before: hot table, bloom, cold tier, and what moves
 * between them. Decides nothing about verdicts. May touch structures/bloom, structures/table and the tiers handed in.
 */

/**
 * Seen-set: was this identity admitted before? One interface over three ways to remember.
 *
 *   mode     recent and live            the rest                          answer of the rest
 *   exact    hot table                  hot table                         exact
 *   tiered   hot table to memoryBytes   bloom "surely new" ▶ cold tier    exact
 *   bloom    hot table (live alone)     bloom                             "maybe" counts as seen
 *
 *   admit ─▶ hot table ── there ─▶ its value
 *               └─ new ─▶ bloom ── surely new ─▶ new
 *                            └─ maybe ─▶ cold tier ── there ─▶ its value, kept hot from now on
 *                                             └─ not there ─▶ new, maybeButNew + 1
 *
 * Values (ARCHITECTURE.md): 0 absent; high bit clear: handle of a live record, which never leaves the hot table, or the place of
 * a spilled one (layout/records/spill-block.ts), which may; high bit set: finished. SEEN_REMOVED and the three words above it are reserved (layout/seen/table.ts). The owner thread calls everything.
 *
 * Approximation: `exact` and `tiered` have none beyond equal 64-bit hashes. In `bloom` a foreign hash counts as seen with falsePositiveRate; `seenStats.expectedLost` counts the pages never crawled for it. No mode has false negatives.
 *
 *   I1  What was admitted and not removed is found: in the hot table, or in the bloom and (tiered) in the cold tier.
 *   I2  Entries that name memory are in the hot table.
 *   I3  exact, tiered: what was never admitted is new, whatever the bloom answers.
 *   I4  A failed call leaves the set as it was.
 *
 * Crash: memory is gone; the cold tier keeps what `add` acknowledged. The owner replays the rest with `seenSet`, which wins over
 * the cold tier. `beforeMove` must make durable what the entries stand for before they can come back from disk.
 */
import { FrontierError } from "../../base/errors.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { TABLE_CLAIMED, TABLE_COUNT_WORD } from "../../layout/seen/table.ts";
import { type Bloom, bloomAdd, bloomClear, bloomHas, createBloom } from "../bloom/bloom.ts";
import { type BloomLayer, bloomRemake } from "../bloom/bloom-copy.ts";
import { bloomStats } from "../bloom/bloom-stats.ts";
import {
  type FingerprintTable,
  createTable,
  tableClear,
  tableFind,
  tableInsert,
  tableInsertBatch,
  tableRemove,
  tableStats,
} from "../table/fingerprint-table.ts";
import { growAhead } from "../table/table-growth.ts";
import { BLOOM_SEEN, type SeenRows, bloomAdmitBatch } from "./seen-bloom.ts";
import {
  type Tiered,
  createTiered,
  excessBytes,
  tieredAdmit,
  tieredBytes,
  tieredClear,
  tieredFailed,
  tieredFind,
  tieredIsBusy,
  tieredMakeRoom,
  tieredMayHold,
  tieredRecover,
  tieredRecovered,
  tieredStep,
  tieredTidy,
} from "./seen-tiered.ts";
import { type BeforeMove, COLD_REMOVED, type ColdTier } from "../storage-tiers.ts";

/** The hot table's word for an entry removed while the cold tier still holds it; as a row's answer it means absent. */
const SEEN_REMOVED = COLD_REMOVED;

/** Mode bloom: seen, and nothing more is known: reads as finished, depth 0, no attempts. */
export const SEEN_UNKNOWN = BLOOM_SEEN;

type SeenMode = "exact" | "tiered" | "bloom";

export interface SeenSetOptions {
  readonly kernel: Kernel;
  readonly mode: SeenMode;
  /** Members that the bloom's first layer is sized for; default: what memoryBytes suggests. */
  readonly capacity?: number;
  /** Default 0.01. */
  readonly falsePositiveRate?: number;
  /**
   * tiered: hot table, bloom and the cold tier's memory together; bloom: seven eighths are the
   * bloom's. Live entries are never dropped for it. Default 512 MiB.
   */
  readonly memoryBytes?: number;
  /** Mode tiered needs one, not loaded yet. */
  readonly cold?: ColdTier;
  /** Tests force a rate by it: the bloom is one layer that reaches the whole rate at `capacity` hashes. */
  readonly isBloomFixed?: boolean;
  /** Called before finished entries go to the cold tier: flush the journal here. */
  readonly beforeMove?: BeforeMove;
}

export interface SeenSet {
  readonly mode: SeenMode;
  readonly kernel: Kernel;
  readonly table: FingerprintTable;
  /** Mode bloom: everything ever seen. Mode tiered: see `tiered.bloom`. */
  bloom: Bloom | undefined;
  readonly tiered: Tiered | undefined;
  /** The batch under way. */
  readonly rows: SeenRows;
  /** Identities admitted and not removed. */
  count: number;
}

/** Makes an empty set, or over a cold tier one that has what the tier holds. Then `count` is the caller's to set. */
export function createSeenSet(options: SeenSetOptions): SeenSet {
  const { kernel, mode, memoryBytes = 512 * 2 ** 20, falsePositiveRate = 0.01 } = options;
  const table = createTable(kernel, { valued: true });
  let bloom: Bloom | undefined;
  let tiered: Tiered | undefined;
  if (mode === "bloom") {
    const hotBytes = Math.max(table.pageCount * REGION_PAGE_BYTES, memoryBytes / 8);
    const bytesMax = Math.max(2 * REGION_PAGE_BYTES, memoryBytes - hotBytes);
    // Twelve bits an entry are about what the default rate takes.
    const capacity = options.capacity ?? Math.max(1024, Math.floor((bytesMax * 8) / 12));
    bloom = createBloom(kernel, { capacity, falsePositiveRate, bytesMax });
  }
  if (mode === "tiered") {
    const { cold, capacity, beforeMove = () => true, isBloomFixed = false } = options;
    if (cold === undefined)
      throw new FrontierError("OPTION_INVALID", "cold: undefined (expected: a cold tier)");
    const sizes = { capacity, memoryBytes, falsePositiveRate, isBloomFixed };
    tiered = createTiered({ kernel, table, cold, beforeMove, ...sizes });
  }
  const rows: SeenRows = { hashesOffset: 0, count: 0, valuesOffset: 0, slotsOffset: 0, listed: [] };
  return { mode, kernel, table, bloom, tiered, rows, count: 0 };
}

/**
 * Admits `count` hashes; rows whose value is TABLE_SKIP are passed over. A row's value becomes TABLE_NEW (its entry holds
 * TABLE_CLAIMED until the caller writes the handle at its slot), TABLE_CLAIMED (the same hash came earlier in the batch),
 * or the value known of it. Its slot is the byte offset of the value word, valid until the next insert; in mode bloom
 * 0 for what is not live. Returns how many are new, or −1 when memory is exhausted or the cold tier failed: nothing was admitted
 * then. @hot
 */
export function seenAdmitBatch(
  seen: SeenSet,
  hashesOffset: number,
  count: number,
  valuesOffset: number,
  slotsOffset: number,
): number {
  const { rows } = seen;
  rows.hashesOffset = hashesOffset;
  rows.count = count;
  rows.valuesOffset = valuesOffset;
  rows.slotsOffset = slotsOffset;
  let fresh: number;
  if (seen.bloom !== undefined) fresh = bloomAdmitBatch(seen.table, seen.bloom, rows);
  else if (seen.tiered !== undefined) fresh = tieredAdmit(seen.tiered, rows);
  else fresh = tableInsertBatch(seen.table, hashesOffset, count, valuesOffset, slotsOffset);
  if (fresh > 0) seen.count += fresh;
  return fresh;
}

/**
 * Offset of the one table that alone answers and takes admissions (mode exact), or 0: a kernel call may then insert
 * into it directly, and `seenCount` counts how many were new.
 */
export function seenTable(seen: SeenSet): number {
  return seen.mode === "exact" ? seen.table.offset : 0;
}

/** So many identities were admitted straight into `seenTable`. */
export function seenCount(seen: SeenSet, fresh: number): void {
  seen.count += fresh;
}

/** The value known of a hash, or 0. */
export function seenFind(seen: SeenSet, lo: number, hi: number): number {
  const slot = tableFind(seen.table, lo, hi);
  if (slot !== 0) {
    const value = seen.kernel.region.views.u32[slot >>> 2] as number;
    return value === SEEN_REMOVED ? 0 : value;
  }
  if (seen.bloom !== undefined) return bloomHas(seen.bloom, lo, hi) ? SEEN_UNKNOWN : 0;
  return seen.tiered === undefined ? 0 : tieredFind(seen.tiered, lo, hi);
}

/** Byte offset of the value word that the hot table holds for a hash, or 0; all live records have one (I2). @hot */
export function seenSlot(seen: SeenSet, lo: number, hi: number): number {
  return tableFind(seen.table, lo, hi);
}

/**
 * Admits one hash: the byte offset of its value word, which holds TABLE_CLAIMED when it is new and its value when not.
 * 0: memory is exhausted, or (mode bloom) seen and not live; `seenFind` decides which. @hot
 */
export function seenInsert(seen: SeenSet, lo: number, hi: number): number {
  const { bloom, table, tiered, kernel } = seen;
  if (bloom !== undefined && bloomHas(bloom, lo, hi)) return tableFind(table, lo, hi);
  if (tiered !== undefined) tieredMakeRoom(tiered, 1);
  const slot = tableInsert(table, lo, hi);
  if (slot === 0) return 0;
  const { u32 } = kernel.region.views;
  const value = u32[slot >>> 2] as number;
  if (value === SEEN_REMOVED) u32[slot >>> 2] = TABLE_CLAIMED;
  else if (value !== TABLE_CLAIMED) return slot;
  else if (bloom !== undefined) bloomAdd(bloom, lo, hi);
  else if (tiered !== undefined) {
    const known = foundOrUndone(seen, tiered, lo, hi);
    if (known !== 0) {
      u32[slot >>> 2] = known;
      return slot;
    }
  }
  seen.count += 1;
  return slot;
}

/**
 * Writes the value of a hash, admitted before or not: a record that was made, moved or finished, or one replayed after a restart.
 * False when memory is exhausted. Mode bloom forgets finished values and remembers the hash. @hot
 */
export function seenSet(seen: SeenSet, lo: number, hi: number, value: number): boolean {
  const { bloom, table, kernel, tiered } = seen;
  const isFinished = value >= SEEN_UNKNOWN;
  if (bloom !== undefined && !bloomAdd(bloom, lo, hi)) seen.count += 1;
  if (bloom !== undefined && isFinished) {
    tableRemove(table, lo, hi);
    return true;
  }
  const slot = tableInsert(table, lo, hi);
  if (slot === 0) return false;
  const before = kernel.region.views.u32[slot >>> 2] as number;
  if (bloom === undefined && before === TABLE_CLAIMED) {
    const isCold = tiered !== undefined && foundOrUndone(seen, tiered, lo, hi) !== 0;
    if (!isCold) seen.count += 1;
  } else if (before === SEEN_REMOVED) seen.count += 1;
  kernel.region.views.u32[slot >>> 2] = value;
  return true;
}

/**
 * Writes the value of a live record's hash if it still holds `before`; false, with nothing changed, if not. One probe: what
 * is live stands in the hot table (I2). @hot
 */
export function seenReplace(
  seen: SeenSet,
  lo: number,
  hi: number,
  before: number,
  value: number,
): boolean {
  const slot = tableFind(seen.table, lo, hi);
  const { u32 } = seen.kernel.region.views;
  if (slot === 0 || u32[slot >>> 2] !== before) return false;
  if (seen.bloom !== undefined) return seenSet(seen, lo, hi, value);
  u32[slot >>> 2] = value;
  return true;
}

/** Before `entries` hashes come back into the hot table by `seenWarm`: pays for what has to leave it. Never throws. */
export function seenMakeRoom({ tiered }: SeenSet, entries: number): void {
  if (tiered !== undefined) tieredMakeRoom(tiered, entries);
}

/**
 * Writes what the cold tier alone holds of a hash into the hot table, without a look-up there: the caller has made it. Where the hot
 * table has an entry that one stays. False when memory is exhausted. @hot
 */
export function seenWarm(seen: SeenSet, lo: number, hi: number, value: number): boolean {
  const slot = tableInsert(seen.table, lo, hi);
  if (slot === 0) return false;
  const { u32 } = seen.kernel.region.views;
  if (u32[slot >>> 2] === TABLE_CLAIMED) u32[slot >>> 2] = value;
  return true;
}

/**
 * Takes one hash out: new again when it comes next. False: it was not there, or memory is exhausted.
 * Mode bloom can forget live records' entries alone, their hashes stay seen.
 */
export function seenRemove(seen: SeenSet, lo: number, hi: number): boolean {
  const { table, tiered, kernel } = seen;
  const isThere = seenFind(seen, lo, hi) !== 0;
  if (tiered === undefined || !tieredMayHold(tiered, lo, hi)) {
    if (!tableRemove(table, lo, hi) || !isThere) return false;
  } else {
    // What the cold tier holds can only be outlived by a newer entry.
    const slot = isThere || tiered.isRecovering ? tableInsert(table, lo, hi) : 0;
    if (slot === 0) return false;
    kernel.region.views.u32[slot >>> 2] = SEEN_REMOVED;
    tiered.hasRemoved = true;
  }
  if (seen.bloom === undefined) seen.count -= 1;
  return true;
}

/** From here on files are replayed, until `seenRecovered`: what earlier processes left in the cold tier is not asked. */
export function seenRecover({ tiered }: SeenSet): void {
  if (tiered !== undefined) tieredRecover(tiered);
}

export function seenRecovered({ tiered }: SeenSet): void {
  if (tiered !== undefined) tieredRecovered(tiered);
}

/** Whether the cold tier threw it, asked for a hash: nothing is known of that hash. */
export function seenFailed({ tiered }: SeenSet, error: unknown): boolean {
  return tiered !== undefined && tieredFailed(tiered, error);
}

/** A new generation: everything is new again, cold files included. */
export function seenForget(seen: SeenSet): void {
  if (seen.tiered !== undefined) tieredClear(seen.tiered);
  tableClear(seen.table);
  if (seen.bloom !== undefined) bloomClear(seen.bloom);
  seen.count = 0;
}

/**
 * Background work for about `budget` entries: moves, merges. Returns the entries handled, 0 when there is nothing to do but to wait. Throws what
 * a move inside an admission met and put aside (DISK_FULL): nothing was lost, the hot table holds it.
 */
export function seenStep(seen: SeenSet, budget: number): number {
  return seen.tiered === undefined ? 0 : tieredStep(seen.tiered, budget);
}

/**
 * Continues work that admissions have begun or made due, for about `budget` entries; what fails is put aside until the next `seenStep`.
 */
export function seenTidy({ tiered }: SeenSet, budget: number): void {
  if (tiered !== undefined) tieredTidy(tiered, budget);
}

/** Whether `seenStep` has something to do: a pass or merges under way, or an error to report. */
export function seenIsBusy(seen: SeenSet): boolean {
  return seen.tiered !== undefined && tieredIsBusy(seen.tiered);
}

/** Makes room in the hot table of an empty set for so many entries, as far as there are pages. */
export function seenExpect(seen: SeenSet, entries: number): void {
  growAhead(seen.table, entries);
}

/** Entries in the hot table: the argument of `seenExpect` for a set like this one. */
export function seenHot({ table, kernel }: SeenSet): number {
  return kernel.region.views.u32[table.offset / 4 + TABLE_COUNT_WORD] as number;
}

/** What it takes of memory beyond its bound, since live records in memory have their entries in the hot table. @hot */
export function seenExcessBytes({ tiered }: SeenSet): number {
  return tiered === undefined ? 0 : excessBytes(tiered);
}

/** What the set holds and costs. Not for the hot path. */
export function seenStats(seen: SeenSet) {
  const { mode, count, bloom, tiered } = seen;
  const hot = tableStats(seen.table);
  const filter = bloom ?? tiered?.bloom;
  const facts = filter === undefined ? undefined : bloomStats(filter);
  const bytes = hot.bytes + (bloom?.bytes ?? 0) + (tiered === undefined ? 0 : tieredBytes(tiered));
  return {
    ...{ mode, bytes, count },
    load: bloom === undefined ? hot.load : (facts?.load ?? 0),
    bitsPerUrl: count === 0 ? 0 : (bytes * 8) / count,
    falsePositiveRate: facts?.falsePositiveRate ?? 0,
    expectedLost: bloom === undefined ? 0 : (facts?.expectedLost ?? 0),
    maybeButNew: tiered?.maybeButNew ?? 0,
    coldReads: tiered?.cold.stats().reads ?? 0,
  };
}

/** Mode bloom: the filter becomes one of these layers, to be filled from a file. */
export function seenRemake(seen: SeenSet, layers: readonly BloomLayer[]): void {
  if (seen.bloom !== undefined) seen.bloom = bloomRemake(seen.bloom, layers);
}

/** The cold tier's value of a hash just claimed in the hot table; takes the claim back when the tier fails (I4). */
function foundOrUndone(seen: SeenSet, tiered: Tiered, lo: number, hi: number): number {
  try {
    return tieredFind(tiered, lo, hi);
  } catch (error) {
    tableRemove(seen.table, lo, hi);
    throw error;
  }
}
