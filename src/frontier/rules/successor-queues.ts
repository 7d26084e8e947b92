/**
 * Successors: the queues under which records of rules that have gone go on, where their host alone decides. A sweep finds them
 * once for each queue that it empties; all further records of that queue are neither read as URLs nor matched.
 *
 *   record ─▶ its queue ── known ──▶ the queue of the same host under the new rule
 *                └─ not ─▶ its URL, matched (rematch-records.ts) ─▶ kept, if any other URL of the queue would have gone the same way
 *
 *   pairs of slots: who comes to a taken one sends the one before to its neighbour, and what stood there is not known any more
 *
 *   I1  An answer holds within one slice: no set comes and no host goes meanwhile. `forgetSuccessors` comes before the next.
 *   I2  What is kept names a queue of a rule of the set, on a host with records.
 */

/** More than one slice meets queues. */
const SLOT_BITS = 11;
const SLOTS = 2 ** SLOT_BITS;
/** 2³² / the golden ratio, odd. */
const SPREAD = 0x9e37_79b1;

export interface Successors {
  /** Handles of queues, 0: empty; beside each its successor. */
  readonly froms: Uint32Array;
  readonly tos: Uint32Array;
}

export function createSuccessors(): Successors {
  return { froms: new Uint32Array(SLOTS), tos: new Uint32Array(SLOTS) };
}

/** The queue under which the records of a queue go on, or 0: not known. @hot */
export function successorQueue({ froms, tos }: Successors, queue: number): number {
  const slot = slotOf(queue);
  if (froms[slot] === queue) return tos[slot] as number;
  return froms[slot ^ 1] === queue ? (tos[slot ^ 1] as number) : 0;
}

export function keepSuccessor({ froms, tos }: Successors, queue: number, to: number): void {
  const slot = slotOf(queue);
  if (froms[slot] !== 0) {
    froms[slot ^ 1] = froms[slot] as number;
    tos[slot ^ 1] = tos[slot] as number;
  }
  froms[slot] = queue;
  tos[slot] = to;
}

export function forgetSuccessors({ froms }: Successors): void {
  froms.fill(0);
}

/** The handles of queues lie in runs a page apart, which their low bits alone would send to the same slots. */
function slotOf(queue: number): number {
  return Math.imul(queue, SPREAD) >>> (32 - SLOT_BITS);
}
