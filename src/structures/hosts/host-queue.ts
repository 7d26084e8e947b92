/**
 * Host queues: what one rule has pending on one host. Each stands on two chains, that of its host and that of its rule.
 *
 *   host ──▶ queue (rule 2) ─▶ queue (rule 0)         the one asked for last comes first
 *   rule queue ◀──▶ queue (host a) ◀──▶ queue (host b)
 */
import { arenaGive, arenaTake } from "../../memory/arena.ts";
import {
  HOST_QUEUES_WORD,
  QUEUE_HOST_WORD,
  QUEUE_MARK,
  QUEUE_MARK_WORD,
  QUEUE_NEXT_WORD,
  QUEUE_RULE_NEXT_WORD,
  QUEUE_RULE_PREVIOUS_WORD,
  QUEUE_RULE_WORD,
  QUEUE_SIZE_BYTES,
  RULE_QUEUE_FIRST_WORD,
} from "../../layout/records/host.ts";
import { setWord, type Store, word } from "../store.ts";

/** Whose queues are made, and how many were. */
interface QueueMaker {
  readonly store: Store;
  queuesMade: number;
}

/** The host's queue under a rule, made and counted when missing; 0 when memory is exhausted. O(rules on the host). */
export function queueOf(maker: QueueMaker, host: number, ruleQueue: number): number {
  const { store } = maker;
  const first = word(store, host, HOST_QUEUES_WORD);
  let before = 0;
  for (let queue = first; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) {
    if (word(store, queue, QUEUE_RULE_WORD) === ruleQueue) {
      if (before !== 0) toFront(store, host, queue, before);
      return queue;
    }
    before = queue;
  }
  const queue = queueMake(store, host, ruleQueue);
  if (queue === 0) return 0;
  queueJoin(store, queue);
  maker.queuesMade++;
  return queue;
}

/** An empty queue on the chain of its host, and not on that of its rule; 0 when memory is exhausted. */
export function queueMake(store: Store, host: number, ruleQueue: number): number {
  const queue = arenaTake(store.arena, QUEUE_SIZE_BYTES);
  if (queue === 0) return 0;
  const { u32 } = store.region.views;
  u32.fill(0, queue * 2, queue * 2 + QUEUE_SIZE_BYTES / 4);
  setWord(store, queue, QUEUE_MARK_WORD, QUEUE_MARK);
  setWord(store, queue, QUEUE_RULE_WORD, ruleQueue);
  setWord(store, queue, QUEUE_HOST_WORD, host);
  setWord(store, queue, QUEUE_NEXT_WORD, word(store, host, HOST_QUEUES_WORD));
  setWord(store, host, HOST_QUEUES_WORD, queue);
  return queue;
}

/** Puts a queue made before on the chain of its rule. */
export function queueJoin(store: Store, queue: number): void {
  const ruleQueue = word(store, queue, QUEUE_RULE_WORD);
  const next = word(store, ruleQueue, RULE_QUEUE_FIRST_WORD);
  setWord(store, queue, QUEUE_RULE_NEXT_WORD, next);
  if (next !== 0) setWord(store, next, QUEUE_RULE_PREVIOUS_WORD, queue);
  setWord(store, ruleQueue, RULE_QUEUE_FIRST_WORD, queue);
}

/** Frees an empty queue that is on no rule's chain, and its host. */
export function queueGive(store: Store, queue: number): void {
  arenaGive(store.arena, queue, QUEUE_SIZE_BYTES);
}

/** The queue of a rule after `queue`, or its first one for 0; 0 at the end. */
export function queueNextOfRule(store: Store, ruleQueue: number, queue: number): number {
  if (queue === 0) return word(store, ruleQueue, RULE_QUEUE_FIRST_WORD);
  return word(store, queue, QUEUE_RULE_NEXT_WORD);
}

/** Frees a queue that holds nothing and that no record names. */
export function queueFree(store: Store, queue: number): void {
  const host = word(store, queue, QUEUE_HOST_WORD);
  const next = word(store, queue, QUEUE_NEXT_WORD);
  let before = word(store, host, HOST_QUEUES_WORD);
  if (before === queue) setWord(store, host, HOST_QUEUES_WORD, next);
  else {
    while (word(store, before, QUEUE_NEXT_WORD) !== queue) {
      before = word(store, before, QUEUE_NEXT_WORD);
    }
    setWord(store, before, QUEUE_NEXT_WORD, next);
  }
  const ruleNext = word(store, queue, QUEUE_RULE_NEXT_WORD);
  const rulePrevious = word(store, queue, QUEUE_RULE_PREVIOUS_WORD);
  const ruleQueue = word(store, queue, QUEUE_RULE_WORD);
  if (rulePrevious === 0) setWord(store, ruleQueue, RULE_QUEUE_FIRST_WORD, ruleNext);
  else setWord(store, rulePrevious, QUEUE_RULE_NEXT_WORD, ruleNext);
  if (ruleNext !== 0) setWord(store, ruleNext, QUEUE_RULE_PREVIOUS_WORD, rulePrevious);
  arenaGive(store.arena, queue, QUEUE_SIZE_BYTES);
}

function toFront(store: Store, host: number, queue: number, before: number): void {
  setWord(store, before, QUEUE_NEXT_WORD, word(store, queue, QUEUE_NEXT_WORD));
  setWord(store, queue, QUEUE_NEXT_WORD, word(store, host, HOST_QUEUES_WORD));
  setWord(store, host, HOST_QUEUES_WORD, queue);
}
