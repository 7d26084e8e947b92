/**
 * Room `src/layout/memory`: how one WebAssembly memory is divided into pages and objects. Decides offsets only; imports
 * nothing.
 */

/**
 * One region = one WebAssembly memory: constants of the kernel first, then pages handed out by `memory/region.ts`.
 *
 *   offset       content
 *        0       never used, so that offset 0 can mean "none"
 *     4096       static data of the kernel (asc memoryBase)
 *    65536 …     pages of 64 KiB: batch areas, table segments, bloom layers, record pages
 */
export const REGION_PAGE_BYTES = 65536;
export const REGION_FIRST_PAGE_OFFSET = 65536;
/** 65,535 pages: one short of 4 GiB, so that every end offset fits an unsigned word. */
export const REGION_PAGE_COUNT_MAX = 65535;
