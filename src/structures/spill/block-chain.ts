/**
 * Room `src/structures/spill`: the cold end of lanes as blocks on a tier, and back before they are needed. Decides which
 * block comes back; when to spill is decided in frontier/scheduling.
 */

/**
 * Chains: the blocks of a lane in the order in which it will need them (layout/records/spill-block.ts). Owner: the frontier's thread.
 *
 *   lane ── spare word ──▶ chain (a lane of blocks) ⇄ block ⇄ block ⇄ …
 *
 *   I1  A lane with blocks has a chain, and a chain has blocks.
 *   I2  A block's key is its first key where the lane is FIFO, its last one where it is LIFO: the key from which on the lane
 *       needs it.
 */
import { ITEM_KEY_FIELD } from "../../layout/ordering/item.ts";
import { LANE_BYTES, LANE_COUNT_WORD, LANE_SPARE_WORD } from "../../layout/ordering/lane.ts";
import {
  SPILL_ENTRIES_WORD,
  SPILL_FIFO,
  SPILL_GONE_WORD,
  SPILL_LIFO,
  SPILL_LIVE_WORD,
  SPILL_OTHER_WORD,
} from "../../layout/records/spill-block.ts";
import { arenaGive } from "../../memory/arena.ts";
import {
  createLaneCursor,
  laneCreate,
  laneFirst,
  laneInsert,
  laneLast,
  laneOpen,
  laneRemove,
  laneStep,
} from "../ordering/lane.ts";
import { ranksBest, ranksNext } from "../ordering/ranks.ts";
import { recordKey } from "../records/record.ts";
import { float, setFloat, setWord, type Store, word } from "../store.ts";

/** Records of a lane in memory. */
export function laneHeld(store: Store, lane: number): number {
  return word(store, lane, LANE_COUNT_WORD);
}

/** Whether a lane goes on in blocks. @hot */
export function laneIsSpilled(store: Store, lane: number): boolean {
  return (store.region.views.u32[lane * 2 + LANE_SPARE_WORD] as number) !== 0;
}

/** Records of a lane that are in blocks. */
export function spilledOfLane(store: Store, lane: number): number {
  const chain = word(store, lane, LANE_SPARE_WORD);
  if (chain === 0) return 0;
  let count = 0;
  const cursor = createLaneCursor();
  laneOpen(store.region, chain, cursor, true);
  for (let block = laneStep(store.region, cursor); block !== 0; ) {
    count += word(store, block, SPILL_LIVE_WORD);
    block = laneStep(store.region, cursor);
  }
  return count;
}

/** Records in blocks of all lanes of one owner. */
export function spilledOfRanks(store: Store, root: number): number {
  let count = 0;
  let lane = ranksBest(store.arena, root);
  for (; lane !== 0; lane = ranksNext(store.arena, root, lane)) count += spilledOfLane(store, lane);
  return count;
}

/** The highest key of a FIFO lane's last block: what stands before it is needed before it. */
export function farEnd(store: Store, lane: number): number {
  const chain = word(store, lane, LANE_SPARE_WORD);
  if (chain === 0) return Number.NEGATIVE_INFINITY;
  return float(store, laneLast(store.region, chain), SPILL_OTHER_WORD);
}

/** The key from which on a lane's first block is needed; with no block, one that is behind all. @hot */
export function chainBound(store: Store, lane: number, isLifo: boolean): number {
  const { region } = store;
  const chain = word(store, lane, LANE_SPARE_WORD);
  if (chain === 0) return isLifo ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  turnChain(store, chain, isLifo);
  return recordKey(store, isLifo ? laneLast(region, chain) : laneFirst(region, chain));
}

/** The lane's chain, made when missing, its keys the bounds that this direction needs; 0: memory is exhausted. */
export function chainOf(store: Store, lane: number, isLifo: boolean): number {
  let chain = word(store, lane, LANE_SPARE_WORD);
  if (chain === 0) {
    chain = laneCreate(store.arena, 0);
    if (chain === 0) return 0;
    setWord(store, chain, LANE_SPARE_WORD, isLifo ? SPILL_LIFO : SPILL_FIFO);
    setWord(store, lane, LANE_SPARE_WORD, chain);
  }
  turnChain(store, chain, isLifo);
  return chain;
}

/** Frees an empty chain (I4). */
export function dropChain(store: Store, lane: number): void {
  const chain = word(store, lane, LANE_SPARE_WORD);
  if (chain === 0 || laneHeld(store, chain) > 0) return;
  setWord(store, lane, LANE_SPARE_WORD, 0);
  arenaGive(store.arena, chain, LANE_BYTES);
}

/** A rule may change its order: then every block of the chain stands by its other bound. O(blocks of the lane). */
export function turnChain(store: Store, chain: number, isLifo: boolean): void {
  const wanted = isLifo ? SPILL_LIFO : SPILL_FIFO;
  if (word(store, chain, LANE_SPARE_WORD) === wanted) return;
  const blocks: number[] = [];
  for (let block = laneFirst(store.region, chain); block !== 0; ) {
    laneRemove(store.region, chain, block);
    blocks.push(block);
    block = laneFirst(store.region, chain);
  }
  setWord(store, chain, LANE_SPARE_WORD, wanted);
  for (const block of blocks) {
    const key = recordKey(store, block);
    setFloat(store, block, ITEM_KEY_FIELD * 2, float(store, block, SPILL_OTHER_WORD));
    setFloat(store, block, SPILL_OTHER_WORD, key);
    laneInsert(store.region, chain, block);
  }
}

/** Whether an entry of a block left it alone. */
export function isGone(store: Store, block: number, index: number): boolean {
  const gone = word(store, block, SPILL_GONE_WORD);
  return gone !== 0 && (word(store, gone, index >>> 5) & (1 << (index & 31))) !== 0;
}

/** Bytes of these bits. */
export function goneMapBytes(store: Store, block: number): number {
  return ((word(store, block, SPILL_ENTRIES_WORD) + 31) >>> 5) * 4;
}
