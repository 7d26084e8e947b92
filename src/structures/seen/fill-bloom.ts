/**
 * Filling: after an opening the bloom does not contain the runs that earlier processes left. It learns them by ranges of hashes, in the
 * background, while the frontier runs.
 *
 *   hash below `filledTo` ─▶ the bloom answers      from there on ─▶ always maybe: each run's own filter answers
 *
 * Batches enter the bloom as they are written, wherever their hashes lie, so what is written meanwhile is in it.
 *
 *   I1  The bloom holds every finished hash below `filledTo` that the cold tier has.
 *   I2  A block that cannot be read ends the filling: above it the runs go on answering, each that can.
 */
import { isMemoryFull } from "../../base/errors.ts";
import { TABLE_NEW } from "../../layout/seen/table.ts";
import { type Bloom, bloomHas, bloomInsertWords } from "../bloom/bloom.ts";
import { bloomOf, type Mover } from "./move-to-cold-tier.ts";
import type { SeenRows } from "./seen-bloom.ts";

/** `filledTo` when nothing is left. */
export const FILLED = 2 ** 32;
/** Entries of a slice: some fifty blocks, a few tenths of a millisecond. */
const FILL_SLICE = 16_384;
/** Entries that an admitted row pays for. */
const FILL_PER_ROW = 64;

export interface Filling extends Mover {
  /** High half of a hash: the bloom answers for what is below it. */
  filledTo: number;
  /** There is something to fill. */
  isFilling: boolean;
  /** Entries paid for and not yet filled. */
  fillCredit: number;
}

/** Makes the bloom. Where memory has no room for one, the filters of the runs go on answering. */
function makeBloom(filling: Filling): Bloom | undefined {
  try {
    return bloomOf(filling);
  } catch (error) {
    if (!isMemoryFull(error)) throw error;
    return undefined;
  }
}

/** What `rows` admissions pay for. @hot */
export function fillFor(filling: Filling, rows: number): void {
  filling.fillCredit += rows * FILL_PER_ROW;
  if (filling.fillCredit < FILL_SLICE) return;
  fillStep(filling, filling.fillCredit);
  filling.fillCredit = 0;
}

/** Fills for about `entries` of the tier's; returns how many, 0 when there is nothing to do. Throws what the tier meets. */
export function fillStep(filling: Filling, entries: number): number {
  if (!filling.isFilling) return 0;
  filling.isFilling = false; // I2
  const bloom = makeBloom(filling);
  if (bloom === undefined) return 0;
  const { filledTo, cold } = filling;
  filling.filledTo = cold.scan(filledTo, Math.max(entries, FILL_SLICE), (hashes, count) =>
    bloomInsertWords(bloom, hashes, count),
  );
  filling.isFilling = filling.filledTo < FILLED;
  return entries;
}

/** False: the cold tier surely has no hash like it. @hot */
export function mayBeCold({ bloom, filledTo }: Filling, lo: number, hi: number): boolean {
  if (hi >= filledTo) return true;
  return bloom !== undefined && bloomHas(bloom, lo, hi);
}

/** Lists the new rows whose hash the cold tier may have, while the bloom does not answer for all. */
export function listMaybesWhileFilling(filling: Filling, rows: SeenRows): void {
  const { hashesOffset, count, valuesOffset, listed } = rows;
  const { u32 } = filling.kernel.region.views;
  listed.length = 0;
  for (let row = 0; row < count; row++) {
    if (u32[valuesOffset / 4 + row] !== TABLE_NEW) continue;
    const at = hashesOffset / 4 + row * 2;
    if (mayBeCold(filling, u32[at] as number, u32[at + 1] as number)) listed.push(row);
  }
}
