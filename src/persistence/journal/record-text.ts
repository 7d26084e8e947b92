/** The text of a record's URL in a journal entry. */
import { recordTextLength, recordTextOffset } from "../../structures/records/record.ts";
import type { Store } from "../../structures/store.ts";
import { wordsOf } from "./entry-fields.ts";
import { type FrameBuffer, writeBytesPadded } from "./frame-buffer.ts";

/** Texts of up to this many words are copied word by word, which is cheaper than a call. */
const SHORT_WORDS = 64;

/** Copies the URL's text word by word from the record to the frame buffer, where there is room for it; both are aligned. @hot */
export function writeRecordText(store: Store, frames: FrameBuffer, record: number): void {
  const length = recordTextLength(store, record);
  const offset = recordTextOffset(store, record);
  const words = wordsOf(length);
  if (words > SHORT_WORDS) {
    writeBytesPadded(frames, store.region.views.u8.subarray(offset, offset + length));
    return;
  }
  const source = store.region.views.u32;
  const from = offset >>> 2;
  const { u32, end } = frames;
  for (let i = 0; i < words; i++) u32[end + i] = source[from + i] as number;
  const rest = length & 3;
  if (rest !== 0) {
    const last = end + words - 1;
    u32[last] = (u32[last] as number) & ((1 << (rest * 8)) - 1);
  }
  frames.end = end + words;
}
