/**
 * How mode tiered divides memoryBytes: half for the hot table at its peak, a fifth each for the bloom and for the cold
 * tier's filters, the rest for buffers and fences.
 */
import { REGION_PAGE_BYTES } from "../layout/region.ts";

/** Part of memoryBytes that the hot table may take; the rest is for bloom, cold filters and buffers. */
const HOT_PART = 1 / 2;
/** Parts of memoryBytes for the bloom and for the cold tier's filters. */
const BLOOM_PART = 1 / 5;
export const FILTERS_PART = 1 / 5;
/** A bloom of less than two pages has no room behind its header. */
const BLOOM_BYTES_MIN = 2 * REGION_PAGE_BYTES;
/** Hot table bytes per entry: 12.8 at a load of 1, about 15 between two growth steps, and removed slots. */
const HOT_ENTRY_BYTES = 17;
/** Most entries during a pass, as a multiple of those at its beginning; two eighths are paid by PAY_PER_ROW. */
const HOT_PEAK = 1.4;
/** Entries in the hot table at which a pass begins. */
export function hotMax(memoryBytes: number): number {
  return Math.floor((memoryBytes * HOT_PART) / HOT_ENTRY_BYTES / HOT_PEAK);
}

/** Bytes that the bloom may take. */
export function bloomBytesMax(memoryBytes: number): number {
  return Math.max(BLOOM_BYTES_MIN, memoryBytes * BLOOM_PART);
}
