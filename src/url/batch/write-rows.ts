/**
 * Writes rows from JavaScript in the kernel's form, and the packed key policy. Their text goes into the text area first, then into overflow
 * pages, which the next load frees.
 */
import { type Kernel, kernelGive, kernelTake } from "../../kernel/kernel.ts";
import {
  BATCH_FLAG_ADDRESS,
  BATCH_FLAG_AMPERSAND,
  BATCH_FLAG_HREF_WRITTEN,
  BATCH_FLAG_HTTPS,
  BATCH_FLAG_KEY_UTF8,
  BATCH_FLAG_KEY_WRITTEN,
  BATCH_FLAG_PERCENT,
  BATCH_FLAG_USERINFO,
  BATCH_OK,
  BATCH_ROW_WORDS,
  BATCH_SCRATCH_BYTES,
  BATCH_SLACK_BYTES,
  BATCH_TEXT_USED_WORD,
  ROW_FLAGS_WORD,
  ROW_FRAGMENT_START_WORD,
  ROW_HOST_LENGTH_WORD,
  ROW_HOST_START_WORD,
  ROW_HREF_LENGTH_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_KEY_LENGTH_WORD,
  ROW_KEY_OFFSET_WORD,
  ROW_PATH_START_WORD,
  ROW_PORT_START_WORD,
  ROW_QUERY_START_WORD,
  ROW_STATUS_WORD,
  ROW_VISIT_LENGTH_WORD,
} from "../../layout/calls/url-batch.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import type { BatchArea, Overflow, PolicyPlace } from "./batch-memory.ts";
import type { ParsedUrl } from "../parsing/canonical-parser.ts";
import type { NormalPolicy } from "../keys/key-policy.ts";
import { packPolicy } from "../keys/packed-key-policy.ts";

/** Fills a row (absolute word index) from a parsed URL and writes its href into text. */
export function writeParsedRow(
  area: BatchArea,
  overflow: Overflow,
  row: number,
  parsed: ParsedUrl,
): void {
  const offset = writeText(area, overflow, parsed.href, parsed.href.length);
  fillRow(area.kernel.region.views.u32, row, parsed, offset);
}

/** Fills a row (absolute word index) from a parsed URL whose href lies at `offset`. */
export function fillRow(u32: Uint32Array, row: number, parsed: ParsedUrl, offset: number): void {
  u32.fill(0, row, row + BATCH_ROW_WORDS);
  u32[row + ROW_STATUS_WORD] = BATCH_OK;
  u32[row + ROW_HREF_OFFSET_WORD] = offset;
  u32[row + ROW_HREF_LENGTH_WORD] = parsed.href.length;
  u32[row + ROW_HOST_START_WORD] = parsed.hostStart;
  u32[row + ROW_HOST_LENGTH_WORD] = parsed.hostLength;
  u32[row + ROW_PATH_START_WORD] = parsed.pathStart;
  u32[row + ROW_QUERY_START_WORD] = parsed.queryStart;
  u32[row + ROW_FRAGMENT_START_WORD] = parsed.fragmentStart;
  u32[row + ROW_VISIT_LENGTH_WORD] = parsed.fragmentStart;
  u32[row + ROW_PORT_START_WORD] = parsed.portStart;
  u32[row + ROW_FLAGS_WORD] =
    BATCH_FLAG_HREF_WRITTEN |
    BATCH_FLAG_PERCENT |
    BATCH_FLAG_AMPERSAND |
    (parsed.https ? BATCH_FLAG_HTTPS : 0) |
    (parsed.userinfo ? BATCH_FLAG_USERINFO : 0) |
    (parsed.address ? BATCH_FLAG_ADDRESS : 0);
}

/** Fills in the key and the visit length of a row (absolute word index) and makes it BATCH_OK. */
export function writeKeyRow(
  area: BatchArea,
  overflow: Overflow,
  row: number,
  made: { readonly key: string; readonly visitLength: number },
): void {
  const size = Buffer.byteLength(made.key);
  const offset = writeText(area, overflow, made.key, size);
  const { u32 } = area.kernel.region.views;
  const isUtf8 = size !== made.key.length;
  const kept = (u32[row + ROW_FLAGS_WORD] as number) & ~BATCH_FLAG_KEY_UTF8;
  u32[row + ROW_STATUS_WORD] = BATCH_OK;
  u32[row + ROW_KEY_OFFSET_WORD] = offset;
  u32[row + ROW_KEY_LENGTH_WORD] = size;
  u32[row + ROW_VISIT_LENGTH_WORD] = made.visitLength;
  u32[row + ROW_FLAGS_WORD] = kept | BATCH_FLAG_KEY_WRITTEN | (isUtf8 ? BATCH_FLAG_KEY_UTF8 : 0);
}

/** Frees the overflow pages; offsets into them become invalid. */
export function freeOverflow(kernel: Kernel, overflow: Overflow): void {
  for (const { offset, pages } of overflow.runs) kernelGive(kernel, offset, pages);
  overflow.runs.length = 0;
}

/** Writes the policy to memory for the kernel and returns its offset; 0 for the default policy. */
export function placePolicy(kernel: Kernel, place: PolicyPlace, policy: NormalPolicy): number {
  let packed = place.packed.get(policy);
  if (packed === undefined) {
    packed = packPolicy(policy);
    place.packed.set(policy, packed);
  }
  if (packed.length === 0) return 0;
  if (place.policy === policy) return place.offset;
  const pages = Math.ceil((packed.length + BATCH_SLACK_BYTES) / REGION_PAGE_BYTES);
  if (pages > place.pages) {
    freePolicy(kernel, place);
    place.offset = kernelTake(kernel, pages);
    place.pages = pages;
  }
  kernel.region.views.u8.set(packed, place.offset);
  place.policy = policy;
  return place.offset;
}

function freePolicy(kernel: Kernel, place: PolicyPlace): void {
  if (place.pages > 0) kernelGive(kernel, place.offset, place.pages);
  place.offset = 0;
  place.pages = 0;
  place.policy = undefined;
}

/** Writes UTF-8 bytes into text, or into overflow pages if text is full. Returns their offset. */
function writeText(area: BatchArea, overflow: Overflow, text: string, size: number): number {
  const { u32, buffer } = area.kernel.region.views;
  const usedWord = (area.header >>> 2) + BATCH_TEXT_USED_WORD;
  const used = u32[usedWord] as number;
  if (used + size <= area.textBytes - BATCH_SCRATCH_BYTES) {
    u32[usedWord] = used + size;
    buffer.utf8Write(text, area.text + used, size);
    return area.text + used;
  }
  const offset = overflowRoom(area.kernel, overflow, size);
  area.kernel.region.views.buffer.utf8Write(text, offset, size);
  return offset;
}

function overflowRoom(kernel: Kernel, overflow: Overflow, size: number): number {
  const last = overflow.runs.at(-1);
  const need = size + BATCH_SLACK_BYTES;
  if (last === undefined || overflow.used + need > last.pages * REGION_PAGE_BYTES) {
    const pages = Math.ceil(need / REGION_PAGE_BYTES);
    const offset = kernelTake(kernel, pages);
    overflow.runs.push({ offset, pages });
    overflow.used = size;
    return offset;
  }
  const offset = last.offset + overflow.used;
  overflow.used += size;
  return offset;
}
