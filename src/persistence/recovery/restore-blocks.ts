/**
 * Blocks of hosts from a snapshot: each becomes a block on disk again, and none of its records is made.
 *
 *   section `block` ─▶ rules as they are now ─▶ block on disk, hosts in the index, identities in the seen-set
 *                 └▶ a host or an identity is known, or a rule keeps its hosts in memory ─▶ rows, as of hosts and records in memory
 *
 * A known host or record was copied when it was in memory, before or after its block: rows replace what was there, as the order of the file asks.
 */
import { isMemoryFull } from "../../base/errors.ts";
import { bookPending } from "../../frontier/records/ledger.ts";
import { ITEM_KEY_WORD } from "../../layout/ordering/item.ts";
import {
  SPILL_ENTRY_HEAD_WORDS,
  SPILL_HOST_HEAD_WORDS,
  SPILL_HOST_NAME_WORD,
  SPILL_HOST_PLAIN,
  SPILL_HOST_RECORDS_WORD,
  SPILL_HOST_RULE_WORD,
  SPILL_HOST_WORDS_WORD,
} from "../../layout/records/spill-block.ts";
import { firstRecordAt } from "../../structures/spill/host-codec.ts";
import { addedRuleOf, type BlockImage, layImage } from "../../structures/spill/host-images.ts";
import { entryHi, entryLo, entryWords } from "../../structures/spill/record-codec.ts";
import { blockRows } from "../snapshot/block-rows.ts";
import { doubleAt } from "../snapshot/check-block.ts";
import {
  type BlockChunk,
  doublesOf,
  type HostChunk,
  type RecordChunk,
  wordsOf,
} from "../snapshot/snapshot-format.ts";
import { wrong } from "./check-fields.ts";
import { noteCopied } from "./copied-records.ts";
import { unsettleReturning } from "./recovery-spill.ts";
import { noteSpilledHost } from "./restore-hosts.ts";
import { type Restoration, ruleOfIndex } from "./restore-records.ts";

interface BlockTarget {
  readonly restoration: Restoration;
  /** A page of memory. */
  readonly page: number;
  /** Makes hosts and records one by one. */
  readonly fill: (chunk: HostChunk | RecordChunk) => void;
}

export function restoreBlock({ restoration, page, fill }: BlockTarget, chunk: BlockChunk): void {
  const image = imageOfChunk(chunk);
  if (layBlock(restoration, image, page)) return;
  const { hosts, records } = blockRows(image);
  fill(hosts);
  fill(records);
}

function imageOfChunk({
  clocked,
  rule,
  bounds,
  n,
  records,
  words,
  added,
  more,
}: BlockChunk): BlockImage {
  const [first = 0, last = 0, priority = 0] = doublesOf(bounds);
  return {
    ...{ isClocked: clocked === 1, rule, first, last, priority, hosts: n, records },
    ...{ words: wordsOf(words), added: wordsOf(added), addedRecords: more },
  };
}

/** False, with nothing changed: the block has to be read row by row. */
function layBlock(restoration: Restoration, image: BlockImage, page: number): boolean {
  const { core } = restoration;
  const { spilling } = core;
  if (spilling === undefined || core.seen.tiered === undefined) return false;
  const ruleQueueOf = (index: number): number => {
    const { handle, isGone, policy } = ruleOfIndex(restoration, index);
    return isGone || !policy.isPolite || policy.groups.length > 0 ? 0 : handle;
  };
  let place: number;
  try {
    place = layImage(spilling.away, image, { page, ruleQueueOf });
  } catch (error) {
    if (isMemoryFull(error)) throw error;
    spilling.failure = { error }; // what the disk refuses stays in memory
    return false;
  }
  if (place === -2) throw wrong("two hosts or two identities of one hash");
  if (place < 0) return false;
  unsettleReturning(core, spilling.spill);
  const { added, words } = image;
  for (let at = 0; at < words.length; at += words[at + SPILL_HOST_WORDS_WORD] as number) {
    noteHost(restoration, words, at);
    let next = firstRecordAt(words, at);
    for (let left = words[at + SPILL_HOST_RECORDS_WORD] as number; left > 0; left--) {
      noteEntry(restoration, words, next);
      next += entryWords(words, next);
    }
    const rule = ruleQueueOf(words[at + SPILL_HOST_RULE_WORD] as number);
    bookPending(core, rule, words[at + SPILL_HOST_RECORDS_WORD] as number);
  }
  for (let at = 0; at < added.length; at += entryWords(added, at)) {
    noteEntry(restoration, added, at);
    bookPending(core, ruleQueueOf(addedRuleOf(added, at)), 1);
  }
  return true;
}

function noteEntry(restoration: Restoration, words: Uint32Array, at: number): void {
  const key = doubleAt(words, at + SPILL_ENTRY_HEAD_WORDS + ITEM_KEY_WORD);
  noteCopied(restoration, key, entryLo(words, at), entryHi(words, at));
}

function noteHost(restoration: Restoration, words: Uint32Array, at: number): void {
  const first = at + SPILL_HOST_HEAD_WORDS;
  const isPlain = (words[at + SPILL_HOST_NAME_WORD] as number) >= SPILL_HOST_PLAIN;
  // turn, readyAt; and unless it is plain blockUntil, delayMs, adaptiveMs
  const delay = isPlain ? 0 : Math.max(doubleAt(words, first + 6), doubleAt(words, first + 8), 0);
  noteSpilledHost(restoration, doubleAt(words, first), doubleAt(words, first + 2) - delay);
}
