/**
 * Spilled records shown a block at a time, for those who take many at once. Owner: the frontier's thread.
 *
 *   block ─▶ its entries that are there, in memory for the time of the call ─▶ show(handles) ─▶ freed
 *
 *   I1  Nothing but memory for a while is taken: block, lane and seen-set stay as they are.
 *   I2  Where memory has no room for all at once, they are shown in several calls.
 */
import {
  SPILL_LIVE_WORD,
  SPILL_LOWERED_WORD,
  SPILL_PLACE_WORD,
} from "../../layout/records/spill-block.ts";
import { recordFree } from "../records/record.ts";
import {
  holdsHosts,
  outOfMemory,
  readBlock,
  type ShowSpilled,
  type Spill,
  unpack,
} from "./lane-spill.ts";
import { isGone } from "./block-chain.ts";
import { depthOfSpilled } from "./spilled-identity.ts";
import { endUnpacking, entryWords } from "./record-codec.ts";
import { word } from "../store.ts";

/**
 * Shows every record of a block, with its host where that is on disk too; `show` may only read them. Throws what the tier throws, and
 * MEMORY_FULL.
 */
export function visitSpilled(spill: Spill, block: number, show: ShowSpilled): void {
  if (holdsHosts(spill, block)) {
    spill.show?.(block, show);
    return;
  }
  const { store, unpacking, handles } = spill;
  const place = word(store, block, SPILL_PLACE_WORD);
  const isLowered = word(store, block, SPILL_LOWERED_WORD) !== 0; // else its entries have it
  const entries = readBlock(spill, block);
  let left = word(store, block, SPILL_LIVE_WORD);
  let count = 0;
  for (let index = 0, at = 0; left > 0 && index < entries; ) {
    const record = isGone(store, block, index) ? 0 : unpack(spill, block, at);
    if (record !== 0) {
      if (isLowered) depthOfSpilled(spill.seen, store, record, place);
      handles[count++] = record;
      left -= 1;
    } else if (!isGone(store, block, index)) {
      if (count === 0) throw outOfMemory(spill);
      visitAll(spill, count, show);
      count = 0;
      continue; // once more, with their room
    }
    at += entryWords(spill.words, at);
    index += 1;
  }
  if (count > 0) visitAll(spill, count, show);
  endUnpacking(store, unpacking);
}

/** Shows what is unpacked and frees it. */
function visitAll(spill: Spill, count: number, show: ShowSpilled): void {
  const { handles, store } = spill;
  try {
    show(handles.subarray(0, count), []);
  } finally {
    for (let index = 0; index < count; index++) recordFree(store, handles[index] as number);
  }
}
