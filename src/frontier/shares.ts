/**
 * Shares: which rule hands out next, by stride scheduling (API.md "Shares"). Rules are named by their indexes.
 *
 *   rule      pass   rate = (100 + weight) / priority
 *   news       3.2    110     ◀── lowest pass goes, pass += 1 / rate
 *   list       3.4     36.7       ties by rule order; `current` = the pass that went last
 *
 * Kept only while there are several rules (core.sole says that there is one). A 4-ary heap holds every rule
 * that has something standing in its ranks, and some that ran empty and were not looked at since: those leave when they
 * come up, which changes nothing, since nothing can be served at a lower pass meanwhile.
 *
 *   columns, by index   passes · strides · orders · places · handles
 *   heap, by place      heap (indexes) beside heapPasses, so that comparing reads neighbours
 *
 *   I1  Every rule with something in its ranks is listed; `places` has its place in the heap, −1 outside.
 *   I2  A rule joins at max(its own pass, current): absence is no credit, and no debt is forgiven.
 */
import { assert } from "../base/assert.ts";

/** What a rule says of its share. */
export interface Share {
  readonly index: number;
  /** Of its rule queue. */
  readonly handle: number;
  readonly order: number;
  readonly rate: number;
}

export interface Shares {
  passes: Float64Array;
  /** 1 / rate. */
  strides: Float64Array;
  orders: Int32Array;
  places: Int32Array;
  /** Of the rule queues. */
  handles: Uint32Array;
  heap: Int32Array;
  heapPasses: Float64Array;
  count: number;
  /** The pass of the rule that went last: no rule starts below it. */
  current: number;
  /** What the latest charge found, for peek to put back. */
  passBefore: number;
  currentBefore: number;
}

const FIRST_CAPACITY = 16;

export function createShares(): Shares {
  const shares = { count: 0, current: 0, passBefore: 0, currentBefore: 0 };
  const capacity = FIRST_CAPACITY;
  return {
    ...shares,
    passes: new Float64Array(capacity),
    strides: new Float64Array(capacity),
    orders: new Int32Array(capacity),
    places: new Int32Array(capacity).fill(-1),
    handles: new Uint32Array(capacity),
    heap: new Int32Array(capacity),
    heapPasses: new Float64Array(capacity),
  };
}

/** Takes what a new rule says of its share; it is not listed, and has had nothing. */
export function sharesAdd(shares: Shares, rule: Share): void {
  if (rule.index >= shares.passes.length) widen(shares, rule.index + 1);
  shares.passes[rule.index] = 0;
  shares.places[rule.index] = -1;
  shares.handles[rule.index] = rule.handle;
  sharesTake(shares, rule);
}

/** Takes order and rate of a rule as they are now; `sharesReorder` comes before the next hand-out. */
export function sharesTake({ strides, orders }: Shares, { index, order, rate }: Share): void {
  strides[index] = 1 / rate;
  orders[index] = order;
}

/** The index of the listed rule that goes next, or −1. @hot */
export function sharesFirst({ heap, count }: Shares): number {
  return count === 0 ? -1 : (heap[0] as number);
}

export function isListed({ places }: Shares, index: number): boolean {
  return (places[index] as number) >= 0;
}

/** A rule has something to hand out. @hot */
export function sharesJoin(shares: Shares, index: number): void {
  if ((shares.places[index] as number) >= 0) return;
  const pass = Math.max(shares.passes[index] as number, shares.current);
  shares.passes[index] = pass;
  siftUp(shares, shares.count++, index);
}

/** A rule has nothing to hand out, or goes. @hot */
export function sharesLeave(shares: Shares, index: number): void {
  const at = shares.places[index] as number;
  if (at < 0) return;
  shares.places[index] = -1;
  const last = shares.heap[--shares.count] as number;
  if (last !== index) sift(shares, at, last);
}

/** The rule that went is charged for one hand-out. @hot */
export function sharesCharge(shares: Shares, index: number): void {
  const { passes, places, strides } = shares;
  const pass = passes[index] as number;
  shares.passBefore = pass;
  shares.currentBefore = shares.current;
  shares.current = pass;
  passes[index] = pass + (strides[index] as number);
  const place = places[index] as number;
  if (place >= 0) siftDown(shares, place, index);
}

/** Takes the latest charge back. */
export function sharesRefund(shares: Shares, index: number, pass: number, current: number): void {
  shares.current = current;
  shares.passes[index] = pass;
  const place = shares.places[index] as number;
  if (place >= 0) sift(shares, place, index);
}

/** Orders and passes have changed: everything stands anew. */
export function sharesReorder(shares: Shares): void {
  const listed = shares.heap.slice(0, shares.count);
  listed.sort((a, b) => (isBefore(shares, a, b) ? -1 : 1));
  for (let at = 0; at < listed.length; at++) put(shares, at, listed[at] as number);
}

/** Checks the heap and the places. */
export function verifyShares(shares: Shares): void {
  const { heap, heapPasses, passes, places, count } = shares;
  for (let at = 0; at < count; at++) {
    const index = heap[at] as number;
    assert(places[index] === at, "I1: a listed rule knows its place");
    assert(heapPasses[at] === passes[index], "the passes stand beside the rules");
    const above = heap[(at - 1) >> 2] as number;
    if (at > 0) assert(!isBefore(shares, index, above), "the lowest pass is first");
  }
  const listed = places.filter((place) => place >= 0).length;
  assert(listed === count, "I1: what is not listed has no place");
}

function isBefore({ passes, orders }: Shares, a: number, b: number): boolean {
  const one = passes[a] as number;
  const other = passes[b] as number;
  return one < other || (one === other && (orders[a] as number) < (orders[b] as number));
}

function sift(shares: Shares, at: number, index: number): void {
  siftUp(shares, at, index);
  siftDown(shares, shares.places[index] as number, index);
}

function siftUp(shares: Shares, from: number, index: number): void {
  const { heap } = shares;
  let at = from;
  while (at > 0) {
    const parent = (at - 1) >> 2;
    const above = heap[parent] as number;
    if (isBefore(shares, above, index)) break;
    put(shares, at, above);
    at = parent;
  }
  put(shares, at, index);
}

function siftDown(shares: Shares, from: number, index: number): void {
  const { heap, heapPasses, orders, passes, count } = shares;
  const pass = passes[index] as number;
  const order = orders[index] as number;
  let at = from;
  for (;;) {
    const first = at * 4 + 1;
    if (first >= count) break;
    const end = Math.min(first + 4, count);
    let best = first;
    let lowest = heapPasses[first] as number;
    for (let child = first + 1; child < end; child++) {
      const its = heapPasses[child] as number;
      if (its > lowest) continue;
      if (its === lowest && !comesFirst(heap, orders, child, best)) continue;
      best = child;
      lowest = its;
    }
    if (lowest > pass) break;
    const below = heap[best] as number;
    if (lowest === pass && (orders[below] as number) > order) break;
    put(shares, at, below);
    at = best;
  }
  put(shares, at, index);
}

/** Of two places of equal passes, whether the rule at `a` comes before that at `b`. */
function comesFirst(heap: Int32Array, orders: Int32Array, a: number, b: number): boolean {
  return (orders[heap[a] as number] as number) < (orders[heap[b] as number] as number);
}

function put({ heap, heapPasses, passes, places }: Shares, at: number, index: number): void {
  heap[at] = index;
  heapPasses[at] = passes[index] as number;
  places[index] = at;
}

function widen(shares: Shares, least: number): void {
  const capacity = Math.max(least, shares.passes.length * 2);
  const from = shares.places.length;
  shares.passes = wider(shares.passes, new Float64Array(capacity));
  shares.strides = wider(shares.strides, new Float64Array(capacity));
  shares.orders = wider(shares.orders, new Int32Array(capacity));
  shares.places = wider(shares.places, new Int32Array(capacity)).fill(-1, from);
  shares.handles = wider(shares.handles, new Uint32Array(capacity));
  shares.heap = wider(shares.heap, new Int32Array(capacity));
  shares.heapPasses = wider(shares.heapPasses, new Float64Array(capacity));
}

function wider<T extends Float64Array | Int32Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
