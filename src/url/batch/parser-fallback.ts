/**
 * Parses the rows that the kernel left to the JavaScript parser, and writes the results back into the batch.
 */
import {
  BATCH_NEEDS_PARSER,
  BATCH_OK,
  BATCH_ROW_WORDS,
  BATCH_TOO_LONG,
  ROW_STATUS_WORD,
} from "../../layout/calls/url-batch.ts";
import { type UrlBatch, urlOfRow } from "./batch-memory.ts";
import { writeKeyRow, writeParsedRow } from "./write-rows.ts";
import { rowText } from "./batch-strings.ts";
import { describeHref, type ParsedUrl, parseUrl } from "../parsing/canonical-parser.ts";
import { keyOfHref, visitUrl } from "../keys/dedup-key.ts";
import type { NormalPolicy } from "../keys/key-policy.ts";

/** Parses a row that the kernel left; returns its new status. */
export function parseLeft(batch: UrlBatch, row: number): number {
  const { area } = batch;
  const at = (area.rows >>> 2) + row * BATCH_ROW_WORDS;
  const status = area.kernel.region.views.u32[at + ROW_STATUS_WORD] as number;
  if (status !== BATCH_NEEDS_PARSER) return status;
  const url = urlOfRow(batch, row);
  const parsed = parseUrl(url, parsedBase(batch), area.maxUrlBytes);
  if (typeof parsed === "number") {
    area.kernel.region.views.u32[at + ROW_STATUS_WORD] = parsed;
    return parsed;
  }
  writeParsedRow(area, batch.overflow, at, parsed);
  return BATCH_OK;
}

/** Makes the key of a row whose status is `wanted`; returns its new status. */
export function keyLeft(
  batch: UrlBatch,
  row: number,
  wanted: number,
  policy: NormalPolicy,
): number {
  const { area } = batch;
  const { u32 } = area.kernel.region.views;
  const at = (area.rows >>> 2) + row * BATCH_ROW_WORDS;
  const status = u32[at + ROW_STATUS_WORD] as number;
  if (status !== wanted) return status;
  const href = rowText(batch, row, "href", undefined);
  const url = urlOfRow(batch, row);
  const parsed = describeHref(href, batch.baseHref === undefined ? url.toWellFormed() : href);
  const key = keyOfHref(parsed, policy, area.maxUrlBytes);
  if (key === undefined) {
    u32[at + ROW_STATUS_WORD] = BATCH_TOO_LONG;
    return BATCH_TOO_LONG;
  }
  const visit = visitUrl(parsed, policy);
  if (!href.startsWith(visit)) writeParsedRow(area, batch.overflow, at, describeHref(visit));
  writeKeyRow(area, batch.overflow, at, { key, visitLength: visit.length });
  return BATCH_OK;
}

function parsedBase(batch: UrlBatch): ParsedUrl | undefined {
  if (batch.baseParsed === undefined && batch.baseHref !== undefined) {
    batch.baseParsed = describeHref(batch.baseHref);
  }
  return batch.baseParsed;
}
