/**
 * Shares: which rule hands out next, by stride scheduling (docs/guides/rules.md, Shares). Rules are named by their indexes.
 *
 *   rule      pass   rate = (100 + weight) / priority
 *   news       3.2    110     ◀── lowest pass goes, pass += 1 / rate
 *   list       3.4     36.7       ties by rule order; `current` = the pass that went last
 *
 * Kept only while there are several rules (core.sole: there is one). Every rule is listed that has something
 * standing in its ranks, and some that ran empty and were not looked at since: those leave when they come up, which changes
 * nothing, since nothing can be served at a lower pass meanwhile.
 *
 *   columns, by index   passes · strides · orders · places · handles
 *   line (a ring)       rules that come in order: of those that share a rate each goes to the end as it is charged: O(1), and
 *                       who comes next is known far ahead
 *   heap (4-ary)        all others: O(log), compared by the passes that stand beside the indexes
 *
 *   I1  Every rule with something in its ranks is listed: in the line (its place is SHARES_LINE − slot), or in the heap
 *       (its place is its index there); −1: it is not.
 *   I2  A rule joins at max(its own pass, current): absence is no credit, and no debt is forgiven.
 *   I3  Passes, and where they are equal orders, rise along the line; neither of its ends is a gap.
 */
import { assert } from "../../base/assert.ts";

/** A rule's settings of its share. */
interface Share {
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
  heapCount: number;
  /** Indexes, −1: a gap. A power of two of slots, twice as many as rules at least. */
  line: Int32Array;
  /** Positions of the first entry and behind the last one; slot = position & (length − 1). */
  first: number;
  end: number;
  /** The pass of the rule that went last: no rule starts below it. */
  current: number;
  /** What the latest charge found, for peek to put back. */
  passBefore: number;
  currentBefore: number;
  /** The charges of the latest turns, in their order, to be taken back. */
  readonly turns: { readonly indexes: Int32Array; readonly befores: Float64Array };
  /** Rule queues that go next, until the next question. */
  readonly upcoming: Uint32Array;
}

/** Most turns that are charged ahead. */
export const TURNS_MAX = 64;
/** Most rule queues that are foretold: as many as one poll hands out at once. */
const AHEAD_MAX = 1024;

const FIRST_CAPACITY = 16;
/** The place of slot 0 of the line; of the others one less each. */
const SHARES_LINE = -2;
const NONE = -1;
/** Entries of the line that one insertion may send to the heap, so that a far pass does not close the line to others. */
const SENT_MAX = 2;

export function createShares(): Shares {
  const capacity = FIRST_CAPACITY;
  return {
    ...{ heapCount: 0, first: 0, end: 0, current: 0, passBefore: 0, currentBefore: 0 },
    line: new Int32Array(capacity * 2),
    passes: new Float64Array(capacity),
    strides: new Float64Array(capacity),
    orders: new Int32Array(capacity),
    places: new Int32Array(capacity).fill(-1),
    handles: new Uint32Array(capacity),
    heap: new Int32Array(capacity),
    heapPasses: new Float64Array(capacity),
    turns: { indexes: new Int32Array(TURNS_MAX), befores: new Float64Array(TURNS_MAX * 2) },
    upcoming: new Uint32Array(AHEAD_MAX),
  };
}

/** Takes a new rule's settings of its share; it is not listed, and has had nothing. */
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
export function sharesFirst(shares: Shares): number {
  const { first, end, heap, heapCount, line } = shares;
  const front = first === end ? NONE : (line[first & (line.length - 1)] as number);
  if (heapCount === 0) return front;
  const top = heap[0] as number;
  return front < 0 || isBefore(shares, top, front) ? top : front;
}

/** The rule queues that probably go next, at most `max`. @hot */
export function sharesAhead(shares: Shares, max: number): Uint32Array {
  const { end, handles, line, upcoming } = shares;
  const most = Math.min(max, upcoming.length);
  const mask = line.length - 1;
  let count = 0;
  for (let position = shares.first; position !== end && count < most; position++) {
    const index = line[position & mask] as number;
    if (index >= 0) upcoming[count++] = handles[index] as number;
  }
  return upcoming.subarray(0, count);
}

export function isListed({ places }: Shares, index: number): boolean {
  return places[index] !== NONE;
}

/** A rule has something to hand out. @hot */
export function sharesJoin(shares: Shares, index: number): void {
  if (shares.places[index] !== NONE) return;
  shares.passes[index] = Math.max(shares.passes[index] as number, shares.current);
  list(shares, index);
}

/** A rule has nothing to hand out, or goes. @hot */
export function sharesLeave(shares: Shares, index: number): void {
  const place = shares.places[index] as number;
  if (place === NONE) return;
  shares.places[index] = NONE;
  if (place <= SHARES_LINE) leaveLine(shares, SHARES_LINE - place);
  else leaveHeap(shares, place, index);
}

/** The rule that went is charged for one hand-out. @hot */
export function sharesCharge(shares: Shares, index: number): void {
  const { passes, strides } = shares;
  const pass = passes[index] as number;
  shares.passBefore = pass;
  shares.currentBefore = shares.current;
  shares.current = pass;
  move(shares, index, pass + (strides[index] as number));
}

/**
 * Charges the rules that go next for a hand-out each, at most `max` and TURNS_MAX; their queues. A caller that cannot hand out for all of
 * them takes the last ones back. @hot
 */
export function sharesTurns(shares: Shares, max: number): Uint32Array {
  const { handles, turns, upcoming } = shares;
  const most = Math.min(max, TURNS_MAX);
  for (let turn = 0; turn < most; turn++) {
    const index = sharesFirst(shares);
    if (index < 0) return upcoming.subarray(0, turn);
    sharesCharge(shares, index);
    turns.indexes[turn] = index;
    turns.befores[turn * 2] = shares.passBefore;
    turns.befores[turn * 2 + 1] = shares.currentBefore;
    upcoming[turn] = handles[index] as number;
  }
  return upcoming.subarray(0, most);
}

/** Takes the charges of the latest `count` turns back, but for the first `kept`. @hot */
export function sharesReturn(shares: Shares, count: number, kept: number): void {
  const { indexes, befores } = shares.turns;
  for (let turn = count - 1; turn >= kept; turn--) {
    const pass = befores[turn * 2] as number;
    sharesRefund(shares, indexes[turn] as number, pass, befores[turn * 2 + 1] as number);
  }
}

/** Takes the latest charge back. */
export function sharesRefund(shares: Shares, index: number, pass: number, current: number): void {
  shares.current = current;
  move(shares, index, pass);
}

/** Orders and passes have changed: everything stands anew, unless it stands as it should. */
export function sharesReorder(shares: Shares): void {
  const { line, places } = shares;
  if (shares.heapCount === 0 && isInOrder(shares)) return;
  const listed: number[] = [];
  for (let index = 0; index < places.length; index++) {
    if (places[index] !== NONE) listed.push(index);
  }
  listed.sort((a, b) => (isBefore(shares, a, b) ? -1 : 1));
  shares.heapCount = 0;
  shares.first = 0;
  shares.end = listed.length;
  for (let slot = 0; slot < listed.length; slot++) {
    line[slot] = listed[slot] as number;
    places[line[slot] as number] = SHARES_LINE - slot;
  }
}

/** Whether those in the line are where their passes and orders want them. */
function isInOrder(shares: Shares): boolean {
  const { line, first, end } = shares;
  let before = NONE;
  for (let position = first; position !== end; position++) {
    const index = line[position & (line.length - 1)] as number;
    if (index < 0) continue;
    if (before >= 0 && !isBefore(shares, before, index)) return false;
    before = index;
  }
  return true;
}

/** Checks line, heap and places. */
export function verifyShares(shares: Shares): void {
  const { heap, heapPasses, passes, places, heapCount, line, first, end } = shares;
  for (let at = 0; at < heapCount; at++) {
    const index = heap[at] as number;
    assert(places[index] === at, "I1: a listed rule knows its place");
    assert(heapPasses[at] === passes[index], "the passes stand beside the rules");
    const above = heap[(at - 1) >> 2] as number;
    if (at > 0) assert(!isBefore(shares, index, above), "the lowest pass is first");
  }
  let lined = 0;
  let before = NONE;
  for (let position = first; position !== end; position++) {
    const slot = position & (line.length - 1);
    const index = line[slot] as number;
    const isEnd = position === first || position === end - 1;
    if (isEnd) assert(index >= 0, "I3: no end of the line is a gap");
    if (index < 0) continue;
    lined++;
    assert(places[index] === SHARES_LINE - slot, "I1: a rule in the line knows its place");
    if (before >= 0) assert(isBefore(shares, before, index), "I3: passes rise along the line");
    before = index;
  }
  const listed = places.filter((place) => place !== NONE).length;
  assert(listed === heapCount + lined, "I1: what is not listed has no place");
}

/** Another pass for a rule: it goes to where that stands, if it is listed. */
function move(shares: Shares, index: number, pass: number): void {
  const { passes, places } = shares;
  const place = places[index] as number;
  if (place >= 0) {
    passes[index] = pass;
    // In the heap it stays there while that holds no more than a few; a rule of the line's rate finds its way back.
    if (!comesLast(shares, index)) {
      siftUp(shares, place, index);
      siftDown(shares, places[index] as number, index);
      return;
    }
  }
  sharesLeave(shares, index);
  passes[index] = pass;
  if (place !== NONE) list(shares, index);
}

/** Whether a rule that is in the heap would stand at the end of the line. */
function comesLast(shares: Shares, index: number): boolean {
  const { first, end, line } = shares;
  return first === end || isBefore(shares, line[(end - 1) & (line.length - 1)] as number, index);
}

/** Puts a rule at either end of the line, or into the heap. */
function list(shares: Shares, index: number): void {
  const { line } = shares;
  const mask = line.length - 1;
  if (shares.end - shares.first > mask) closeGaps(shares);
  for (let sent = 0; ; sent++) {
    if (comesLast(shares, index)) {
      enterLine(shares, shares.end++ & mask, index);
      return;
    }
    const front = line[shares.first & mask] as number;
    if (isBefore(shares, index, front)) {
      enterLine(shares, --shares.first & mask, index);
      return;
    }
    if (sent === SENT_MAX) break;
    const last = line[(shares.end - 1) & mask] as number;
    leaveLine(shares, (shares.end - 1) & mask);
    enterHeap(shares, last);
  }
  enterHeap(shares, index);
}

function enterLine({ line, places }: Shares, slot: number, index: number): void {
  line[slot] = index;
  places[index] = SHARES_LINE - slot;
}

/** Leaves a gap, and no gap at either end. */
function leaveLine(shares: Shares, slot: number): void {
  const { line } = shares;
  const mask = line.length - 1;
  line[slot] = NONE;
  while (shares.first !== shares.end && line[shares.first & mask] === NONE) shares.first++;
  while (shares.first !== shares.end && line[(shares.end - 1) & mask] === NONE) shares.end--;
}

function closeGaps(shares: Shares): void {
  const { line } = shares;
  const mask = line.length - 1;
  let to = shares.first;
  for (let position = shares.first; position !== shares.end; position++) {
    const index = line[position & mask] as number;
    if (index >= 0) enterLine(shares, to++ & mask, index);
  }
  shares.end = to;
}

function enterHeap(shares: Shares, index: number): void {
  siftUp(shares, shares.heapCount++, index);
}

function leaveHeap(shares: Shares, at: number, index: number): void {
  const last = shares.heap[--shares.heapCount] as number;
  if (last === index) return;
  siftUp(shares, at, last);
  siftDown(shares, shares.places[last] as number, last);
}

function isBefore({ passes, orders }: Shares, a: number, b: number): boolean {
  const one = passes[a] as number;
  const other = passes[b] as number;
  return one < other || (one === other && (orders[a] as number) < (orders[b] as number));
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
  const { heap, heapPasses, orders, passes, heapCount: count } = shares;
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
  let capacity = shares.passes.length;
  while (capacity < least) capacity *= 2;
  straighten(shares, capacity * 2);
  const from = shares.places.length;
  shares.passes = wider(shares.passes, new Float64Array(capacity));
  shares.strides = wider(shares.strides, new Float64Array(capacity));
  shares.orders = wider(shares.orders, new Int32Array(capacity));
  shares.places = wider(shares.places, new Int32Array(capacity)).fill(-1, from);
  shares.handles = wider(shares.handles, new Uint32Array(capacity));
  shares.heap = wider(shares.heap, new Int32Array(capacity));
  shares.heapPasses = wider(shares.heapPasses, new Float64Array(capacity));
}

/** A longer ring, its entries from slot 0 on. */
function straighten(shares: Shares, slots: number): void {
  const { line, first, end } = shares;
  shares.line = new Int32Array(slots);
  shares.first = 0;
  shares.end = 0;
  for (let position = first; position !== end; position++) {
    const index = line[position & (line.length - 1)] as number;
    if (index >= 0) enterLine(shares, shares.end++, index);
  }
}

function wider<T extends Float64Array | Int32Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
