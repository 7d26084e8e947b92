/**
 * How mode tiered divides memoryBytes: two fifths for the hot table at its peak, three tenths for the bloom, a fifth for the
 * cold tier's filters, the rest for buffers and fences.
 *
 * The bloom answers for what is new, so it gets more than the filters: at 10⁸ entries and 512 MiB it has 12.9 bits for each and
 * errs once in two hundred times. It is made at its whole size when the first entry goes to the tier: layers that grew into
 * the bound would leave the last of them to overflow.
 */
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";

/** Part of memoryBytes that the hot table may take; the rest is for bloom, cold filters and buffers. */
const HOT_PART = 2 / 5;
/** Parts of memoryBytes for the bloom and for the cold tier's filters. */
const BLOOM_PART = 3 / 10;
export const FILTERS_PART = 1 / 5;
/** A bloom of less than two pages has no room behind its header; one of half a gigabyte does for 4·10⁸ entries. */
const BLOOM_BYTES_MIN = 2 * REGION_PAGE_BYTES;
const BLOOM_BYTES_MAX = 2 ** 29;
/** Hot table bytes per entry: 12.8 at a load of 1, about 15 between two growth steps, and removed slots. */
const HOT_ENTRY_BYTES = 17;
/** Most entries during a pass, as a multiple of those at its beginning; two eighths are paid by PAY_PER_ROW. */
const HOT_PEAK = 1.4;
/** Entries in the hot table at which a pass begins. */
export function hotEntriesMax(memoryBytes: number): number {
  return Math.floor((memoryBytes * HOT_PART) / HOT_ENTRY_BYTES / HOT_PEAK);
}

/** What a hot table of so many bytes takes beyond its part: its entries name records in memory, which cannot leave it. */
export function hotExcessBytes(memoryBytes: number, tableBytes: number): number {
  return Math.max(0, tableBytes - memoryBytes * HOT_PART);
}

/** Bytes that the bloom may take. */
export function bloomBytesMax(memoryBytes: number): number {
  const part = Math.floor(memoryBytes * BLOOM_PART);
  return Math.min(Math.max(BLOOM_BYTES_MIN, part), BLOOM_BYTES_MAX);
}
