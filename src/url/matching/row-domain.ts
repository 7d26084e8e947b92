/**
 * The registrable domain of a row, as a range of its href. The Public Suffix List's result for a host is cached by the host's keyed hash,
 * so that a URL on a known host costs neither a string nor a lookup in the list.
 *
 *   host hash of the row ─▶ place ─┬─ the same hash: its range
 *                                  └─ another hash: registrableDomain(host), which replaces it
 *
 *   I1  The range holds the bytes of registrableDomain(host). It depends only on the host, so it never becomes stale. Equal hashes count as
 *       equal hosts, as everywhere.
 *   I2  A row needs no lookup in the list while its host keeps its place.
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

/** A power of two; hosts that share a place replace each other. */
const PLACES = 8192;
/** Ranges are kept as start × 65,536 + length. */
const RANGE_MAX = 0xffff;

export interface DomainMemo {
  /** Low and high word of the host's hash, by place. */
  readonly hashes: Uint32Array;
  /** 0: the place is empty. */
  readonly ranges: Uint32Array;
  /** Number of lookups in the list. */
  asked: number;
}

export function createDomainMemo(): DomainMemo {
  return { hashes: new Uint32Array(2 * PLACES), ranges: new Uint32Array(PLACES), asked: 0 };
}

/** The bytes of the row's domain, whose range it fills in; its host must be hashed. A view, valid until the region grows. @hot */
export function rowDomain(memo: DomainMemo, rows: Rows, row: number): Uint8Array {
  const { u32, u8 } = rows.kernel.region.views;
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
  const start = (u32[rowWordAt(rows, row, ROW_HOST_START_WORD)] as number) + (range >>> 16);
  const length = range & RANGE_MAX;
  u32[rowWordAt(rows, row, ROW_DOMAIN_START_WORD)] = start;
  u32[rowWordAt(rows, row, ROW_DOMAIN_LENGTH_WORD)] = length;
  const at = (u32[rowWordAt(rows, row, ROW_HREF_OFFSET_WORD)] as number) + start;
  return u8.subarray(at, at + length);
}

/** The range of a host's domain within it. A host of more than 64 KiB, longer than any name, is its own domain. */
function rangeOf(host: string): number {
  const domain = registrableDomain(host);
  const start = host.lastIndexOf(domain);
  assert(start >= 0 && domain !== "", "I1: a domain is a part of its host");
  return start > RANGE_MAX || domain.length > RANGE_MAX
    ? Math.min(host.length, RANGE_MAX)
    : start * (RANGE_MAX + 1) + domain.length;
}
