/**
 * The registrable domain of a row, as a range of its href: the answer of the Public Suffix List for a host is cached
 * beside the host's keyed hash, so that a URL on a known host costs no string and no lookup in the list.
 *
 *   host hash of the row ─▶ place ─┬─ the same hash: its range
 *                                  └─ another: registrableDomain(host), which replaces it
 *
 *   I1  The range holds the bytes of registrableDomain(host): it depends only on the host, so a range never
 *       becomes stale; equal hashes count as equal hosts, as everywhere.
 *   I2  A row costs the list nothing while its host keeps its place.
 */
import { assert } from "../../base/assert.ts";
import {
  ROW_DOMAIN_LENGTH_WORD,
  ROW_DOMAIN_START_WORD,
  ROW_HOST_START_WORD,
  ROW_HREF_OFFSET_WORD,
} from "../../layout/calls/url-batch.ts";
import { registrableDomain } from "../parsing/registrable-domain.ts";
import { hostHashesOffset, type Rows, rowHostText, rowWordAt } from "../batch/row-fields.ts";

/** A power of two; hosts that share a place take turns. */
const PLACES = 8192;
/** Ranges are kept as start × 65,536 + length. */
const RANGE_MAX = 0xffff;

export interface DomainMemo {
  /** Low and high word of the host's hash, by place. */
  readonly hashes: Uint32Array;
  /** 0: the place is empty. */
  readonly ranges: Uint32Array;
  /** How often the list was asked. */
  asked: number;
}

export function createDomainMemo(): DomainMemo {
  return { hashes: new Uint32Array(2 * PLACES), ranges: new Uint32Array(PLACES), asked: 0 };
}

/** Fills the row's domain range; its host must be hashed. @hot */
export function findDomain(memo: DomainMemo, rows: Rows, row: number): void {
  const { u32 } = rows.kernel.region.views;
  const hash = (hostHashesOffset(rows) >>> 2) + row * 2;
  const lo = u32[hash] as number;
  const hi = u32[hash + 1] as number;
  const place = lo & (PLACES - 1);
  const isKnown = memo.hashes[2 * place] === lo && memo.hashes[2 * place + 1] === hi;
  let range = isKnown ? (memo.ranges[place] as number) : 0;
  if (range === 0) {
    range = rangeOf(rowHostText(rows, row));
    memo.asked++;
    memo.hashes[2 * place] = lo;
    memo.hashes[2 * place + 1] = hi;
    memo.ranges[place] = range;
  }
  const start = u32[rowWordAt(rows, row, ROW_HOST_START_WORD)] as number;
  u32[rowWordAt(rows, row, ROW_DOMAIN_START_WORD)] = start + (range >>> 16);
  u32[rowWordAt(rows, row, ROW_DOMAIN_LENGTH_WORD)] = range & RANGE_MAX;
}

/** Range of a host's domain in it. A host of more than 64 KiB is its own domain: no name is so long. */
function rangeOf(host: string): number {
  const domain = registrableDomain(host);
  const start = host.lastIndexOf(domain);
  assert(start >= 0 && domain !== "", "I1: a domain is a part of its host");
  return start > RANGE_MAX || domain.length > RANGE_MAX
    ? Math.min(host.length, RANGE_MAX)
    : start * (RANGE_MAX + 1) + domain.length;
}

/** A view of the domain that findDomain found, valid until the region grows. */
export function rowDomain(rows: Rows, row: number): Uint8Array {
  const { u32, u8 } = rows.kernel.region.views;
  const href = u32[rowWordAt(rows, row, ROW_HREF_OFFSET_WORD)] as number;
  const start = href + (u32[rowWordAt(rows, row, ROW_DOMAIN_START_WORD)] as number);
  return u8.subarray(start, start + (u32[rowWordAt(rows, row, ROW_DOMAIN_LENGTH_WORD)] as number));
}
