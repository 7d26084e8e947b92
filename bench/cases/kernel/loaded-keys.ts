/** Rows of a batch whose raw bytes are canonical already: the loaded bytes are made the keys, nothing is parsed. */
import {
  BATCH_COUNT_WORD,
  BATCH_OK,
  BATCH_ROW_WORDS,
  ROW_HOST_LENGTH_WORD,
  ROW_HOST_START_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_KEY_LENGTH_WORD,
  ROW_KEY_OFFSET_WORD,
  ROW_STATUS_WORD,
} from "../../../src/layout/calls/url-batch.ts";
import type { Pipeline } from "./pipeline.ts";

/** Makes the loaded bytes of each row its key. @hot */
export function keysAsLoaded({ batch, kernel }: Pipeline, rows: number): void {
  const { u32 } = kernel.region.views;
  const { area } = batch;
  u32[(area.header >>> 2) + BATCH_COUNT_WORD] = rows;
  let start = 0;
  for (let row = 0; row < rows; row++) {
    const at = (area.rows >>> 2) + row * BATCH_ROW_WORDS;
    const end = u32[(area.ends >>> 2) + row] as number;
    u32[at + ROW_STATUS_WORD] = BATCH_OK;
    u32[at + ROW_KEY_OFFSET_WORD] = area.input + start;
    u32[at + ROW_KEY_LENGTH_WORD] = end - start;
    u32[at + ROW_HREF_OFFSET_WORD] = area.input;
    u32[at + ROW_HOST_START_WORD] = 0;
    u32[at + ROW_HOST_LENGTH_WORD] = 0;
    start = end;
  }
}
