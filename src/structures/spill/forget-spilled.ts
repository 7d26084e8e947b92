/**
 * Spilled records when all identities are forgotten (lane-spill.ts). Owner: the frontier's thread.
 *
 *   spillSettle ─▶ what only the seen-set held is in the entries ─▶ spillForget ─▶ blocks are marked
 *                                                                        └ nothing is read or written: entries lose their
 *                                                                          identities, and get names, as they are read
 */
import {
  SPILL_BYTES_WORD,
  SPILL_LOWERED_WORD,
  SPILL_NAMELESS_WORD,
  SPILL_PLACE_WORD,
} from "../../layout/records/spill-block.ts";
import {
  bringHosts,
  holdsHosts,
  noteBlock,
  readBlock,
  refill,
  type Spill,
  spillBlock,
  spillPlaces,
} from "./lane-spill.ts";
import { isGone } from "./block-chain.ts";
import { lowerEntry } from "./spilled-identity.ts";
import { entryWords } from "./record-codec.ts";
import { setWord, word } from "../store.ts";

/**
 * Before identities are forgotten: depths that only the seen-set holds go into the entries. Blocks with such are written
 * anew; where the tier refuses, their records come back into memory.
 */
export function spillSettle(spill: Spill): void {
  const { store, tier } = spill;
  for (const place of spillPlaces(spill)) {
    const block = spillBlock(spill, place);
    if (word(store, block, SPILL_LOWERED_WORD) === 0) continue;
    if (holdsHosts(spill, block)) {
      bringHosts(spill, block);
      continue;
    }
    const count = readBlock(spill, block);
    const { words } = spill;
    for (let index = 0, at = 0; index < count; index++) {
      if (!isGone(store, block, index)) lowerEntry(spill.seen, store, { words, at }, place);
      at += entryWords(words, at);
    }
    try {
      const bytes = word(store, block, SPILL_BYTES_WORD);
      const to = tier.write(new Uint8Array(words.buffer, 0, bytes));
      setWord(store, block, SPILL_PLACE_WORD, to);
      setWord(store, block, SPILL_LOWERED_WORD, 0);
      spill.blocks[place] = 0;
      spill.blockCount -= 1;
      noteBlock(spill, to, block);
      tier.free(place);
    } catch {
      refill(spill, block, false);
    }
  }
}

/** A generation is forgotten: what is spilled has lost its identity (I6). Nothing is read or written. */
export function spillForget({ store, blocks }: Spill): void {
  for (const block of blocks) if (block !== 0) setWord(store, block, SPILL_NAMELESS_WORD, 1);
}
