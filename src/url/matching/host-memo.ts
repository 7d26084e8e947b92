/**
 * HostMemo: caches a number per host, found by the bytes of a row, so that a URL on a known host costs neither a string nor a search
 * (layout/calls/host-memo.ts; the lookup is assembly/records/match-hosts.ts). Owner: the thread that owns the batch.
 *
 *   I1  A hit has the same bytes as the host asked for.
 *   I2  A memo takes its pages with its first number, so a frontier whose only rule takes everything has none.
 */
import { type Kernel, kernelTryTake } from "../../kernel/kernel.ts";
import {
  MEMO_BYTES,
  MEMO_ENTRIES_OFFSET,
  MEMO_HEADER_BYTES,
  MEMO_NEXT_WORD,
  MEMO_USED_WORD,
} from "../../layout/calls/host-memo.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import type { Rows } from "../batch/row-fields.ts";

export { MATCH_PLAN, MATCH_UNKNOWN } from "../../layout/calls/host-memo.ts";

export interface HostMemo {
  readonly kernel: Kernel;
  /** 0: nothing is stored yet. */
  offset: number;
  /** True: there was too little memory for it. */
  isRefused: boolean;
}

export function createHostMemo(kernel: Kernel): HostMemo {
  return { kernel, offset: 0, isRefused: false };
}

/** Forgets everything. */
export function clearHostMemo(memo: HostMemo): void {
  const { kernel, offset } = memo;
  if (offset === 0) return;
  const { u8, u32 } = kernel.region.views;
  u32[(offset >>> 2) + MEMO_USED_WORD] = 0;
  u8.fill(0, offset + MEMO_HEADER_BYTES, offset + MEMO_ENTRIES_OFFSET);
}

/**
 * Writes the number of each crawlable row's host to the words at `numbers`. Rejects the rows that no rule takes, or none at this depth.
 * Returns how many rows are left to the caller; their number is MATCH_PLAN or above. @hot
 */
export function matchHosts(memo: HostMemo, rows: Rows, numbers: number, depth: number): number {
  const bounded = Math.min(depth, 0xffff_ffff);
  return memo.kernel.exports.matchBatch(rows.offset, memo.offset, numbers, bounded);
}

/** Stores a number for the host of a row, replacing another if its set is full. */
export function keepHostMemo(memo: HostMemo, rows: Rows, row: number, number: number): void {
  if (memo.offset === 0 && !open(memo)) return;
  memo.kernel.exports.keepMatch(rows.offset, row, memo.offset, number);
}

function open(memo: HostMemo): boolean {
  if (memo.isRefused) return false;
  const { kernel } = memo;
  const pages = Math.ceil(MEMO_BYTES / REGION_PAGE_BYTES);
  const { pageCountMax, pagesUsed } = kernel.region;
  // Records need the memory more than this cache does.
  memo.isRefused = pageCountMax - pagesUsed < pages * 8;
  if (memo.isRefused) return false;
  memo.offset = kernelTryTake(kernel, pages);
  if (memo.offset === 0) return false;
  kernel.region.views.u32[(memo.offset >>> 2) + MEMO_NEXT_WORD] = 0;
  clearHostMemo(memo);
  return true;
}
