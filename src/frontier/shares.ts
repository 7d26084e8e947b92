/**
 * Shares: which rule hands out next, by stride scheduling (API.md "Shares").
 *
 *   rule      pass   rate = (100 + weight) / priority
 *   news       3.2    110     ◀── lowest pass goes, pass += 1 / rate
 *   list       3.4     36.7       ties by rule order; `current` = the pass that went last
 *
 * Kept only while there are several rules (core.sole says that there is one). A binary heap holds every rule
 * that has something standing in its ranks, and some that ran empty and were not looked at since: those leave when they
 * come up, which changes nothing, since nothing can be served at a lower pass meanwhile.
 *
 *   I1  Every rule with something in its ranks is listed; `place` is its index in the heap, −1 outside.
 *   I2  A rule joins at max(its own pass, current): absence is no credit, and no debt is forgiven.
 */
import { assert } from "../base/assert.ts";
import type { RuleState } from "./rule-state.ts";

export interface Shares {
  readonly heap: RuleState[];
  /** The pass of each rule of the heap, beside it: comparing reads no objects. */
  readonly passes: number[];
  /** The pass of the rule that went last: no rule starts below it. */
  current: number;
  /** What the latest charge found, for peek to put back. */
  passBefore: number;
  currentBefore: number;
}

export function createShares(): Shares {
  return { heap: [], passes: [], current: 0, passBefore: 0, currentBefore: 0 };
}

/** A rule has something to hand out. */
export function sharesJoin(shares: Shares, rule: RuleState): void {
  if (rule.place >= 0) return;
  rule.pass = Math.max(rule.pass, shares.current);
  shares.heap.push(rule);
  shares.passes.push(rule.pass);
  siftUp(shares, shares.heap.length - 1, rule);
}

/** A rule has nothing to hand out, or goes. */
export function sharesLeave(shares: Shares, rule: RuleState): void {
  const at = rule.place;
  if (at < 0) return;
  rule.place = -1;
  const last = shares.heap.pop() as RuleState;
  shares.passes.pop();
  if (last !== rule) sift(shares, at, last);
}

/** The rule that went is charged for one hand-out. */
export function sharesCharge(shares: Shares, rule: RuleState): void {
  shares.passBefore = rule.pass;
  shares.currentBefore = shares.current;
  shares.current = rule.pass;
  rule.pass += 1 / rule.rate;
  if (rule.place >= 0) siftDown(shares, rule.place, rule);
}

/** Takes the latest charge back. */
export function sharesRefund(shares: Shares, rule: RuleState, pass: number, current: number): void {
  shares.current = current;
  rule.pass = pass;
  if (rule.place >= 0) sift(shares, rule.place, rule);
}

/** Orders and rates have changed: everything stands anew. */
export function sharesReorder(shares: Shares): void {
  const { heap } = shares;
  heap.sort((a, b) => (isBefore(a, b) ? -1 : 1));
  for (let at = 0; at < heap.length; at++) {
    const rule = heap[at] as RuleState;
    rule.place = at;
    shares.passes[at] = rule.pass;
  }
}

/** Checks the heap and the places. */
export function verifyShares(shares: Shares): void {
  const { heap } = shares;
  for (let at = 0; at < heap.length; at++) {
    const rule = heap[at] as RuleState;
    assert(rule.place === at, "I1: a listed rule knows its place");
    assert(shares.passes[at] === rule.pass, "the passes stand beside the rules");
    const above = heap[(at - 1) >> 1];
    if (at > 0) assert(!isBefore(rule, above as RuleState), "the lowest pass is first");
  }
}

function isBefore(a: RuleState, b: RuleState): boolean {
  return a.pass < b.pass || (a.pass === b.pass && a.order < b.order);
}

function sift(shares: Shares, at: number, rule: RuleState): void {
  siftUp(shares, at, rule);
  siftDown(shares, rule.place, rule);
}

function siftUp({ heap, passes }: Shares, from: number, rule: RuleState): void {
  const { pass, order } = rule;
  let at = from;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = passes[parent] as number;
    if (above < pass) break;
    if (above === pass && (heap[parent] as RuleState).order < order) break;
    put(heap, passes, at, heap[parent] as RuleState);
    at = parent;
  }
  put(heap, passes, at, rule);
}

function siftDown({ heap, passes }: Shares, from: number, rule: RuleState): void {
  const { pass, order } = rule;
  let at = from;
  for (;;) {
    let below = at * 2 + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && isLess(heap, passes, below + 1, below)) below++;
    const best = passes[below] as number;
    if (best > pass || (best === pass && (heap[below] as RuleState).order > order)) break;
    put(heap, passes, at, heap[below] as RuleState);
    at = below;
  }
  put(heap, passes, at, rule);
}

function isLess(heap: RuleState[], passes: number[], a: number, b: number): boolean {
  const one = passes[a] as number;
  const other = passes[b] as number;
  if (one !== other) return one < other;
  return (heap[a] as RuleState).order < (heap[b] as RuleState).order;
}

function put(heap: RuleState[], passes: number[], at: number, rule: RuleState): void {
  heap[at] = rule;
  passes[at] = rule.pass;
  rule.place = at;
}
