/**
 * Records that are pushed to hosts on disk: whether the block of a host takes one, and the guest under which it is made (host-blocks.ts).
 * Owner: the frontier's thread.
 */
import {
  HOST_HASH_HI_WORD,
  HOST_HASH_LO_WORD,
  HOST_NAME_BYTES_WORD,
  HOST_NAME_WORD,
  QUEUE_RULE_WORD,
} from "../../layout/records/host.ts";
import {
  SPILL_BY_CLOCK,
  SPILL_CLOSED_WORD,
  SPILL_KIND_WORD,
  SPILL_LANE_WORD,
  SPILL_LIVE_WORD,
  SPILL_NAMELESS_WORD,
  SPILL_QUEUE_WORD,
} from "../../layout/records/spill-block.ts";
import { lanePriority } from "../ordering/lane.ts";
import { setWord, word } from "../store.ts";
import { addToBlock } from "./added-records.ts";
import { GUEST_NAME_BYTES, type HostSpill } from "./host-blocks.ts";
import { holdsHosts } from "./lane-spill.ts";

/** Most records of a block that takes more: what comes back at once stays small. */
const RECORDS_MAX = 4096;

/**
 * Whether a record of this priority may be added to a block by a host in it, under a rule with politeness: it stands no better than its host,
 * and nothing in the block can be taken for it.
 */
export function mayAdd(
  { spill }: HostSpill,
  place: number,
  ruleQueue: number,
  priority: number,
): boolean {
  const { store } = spill;
  const block = spill.blocks[place] as number;
  if (word(store, block, SPILL_NAMELESS_WORD) + word(store, block, SPILL_CLOSED_WORD) > 0) {
    return false;
  }
  if (word(store, block, SPILL_LIVE_WORD) >= RECORDS_MAX) return false;
  if (word(store, block, SPILL_KIND_WORD) === SPILL_BY_CLOCK) return true;
  if (word(store, block, SPILL_QUEUE_WORD) !== ruleQueue) return false;
  return priority <= lanePriority(store.region, word(store, block, SPILL_LANE_WORD));
}

/** The queue under a rule of the guest, which has the name and the hash of a host on disk until the next call; 0: the name is too long. */
export function guestOf(
  { spill, guest, guestQueue }: HostSpill,
  { name, lo, hi }: { name: Uint8Array; lo: number; hi: number },
  ruleQueue: number,
): number {
  if (name.length > GUEST_NAME_BYTES) return 0;
  const { store } = spill;
  store.region.views.u8.set(name, word(store, guest, HOST_NAME_WORD) * 8);
  setWord(store, guest, HOST_NAME_BYTES_WORD, name.length);
  setWord(store, guest, HOST_HASH_LO_WORD, lo);
  setWord(store, guest, HOST_HASH_HI_WORD, hi);
  setWord(store, guestQueue, QUEUE_RULE_WORD, ruleQueue);
  return guestQueue;
}

/** Adds a record made under the guest to the block of its host. */
export function addRecord(away: HostSpill, place: number, record: number): void {
  const { spill, guest, guestQueue } = away;
  const { store } = spill;
  addToBlock(spill, spill.blocks[place] as number, record, {
    lo: word(store, guest, HOST_HASH_LO_WORD),
    hi: word(store, guest, HOST_HASH_HI_WORD),
    ruleQueue: word(store, guestQueue, QUEUE_RULE_WORD),
  });
  away.added += 1;
}

/** Identities are about to be forgotten: no block takes records any more that could be taken for those. */
export function closeToAdded({ spill }: HostSpill): void {
  for (const block of spill.blocks) {
    if (block !== 0 && holdsHosts(spill, block)) setWord(spill.store, block, SPILL_CLOSED_WORD, 1);
  }
}
