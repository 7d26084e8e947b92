/** Random operations on a seen-set beside a Map with the expected answers. */
import { expect } from "vitest";
import type { Random } from "../../src/base/random.ts";
import { TABLE_CLAIMED, TABLE_NEW, TABLE_SKIP } from "../../src/layout/seen/table.ts";
import {
  type SeenSet,
  seenAdmitBatch,
  seenInsert,
  seenFind,
  seenRemove,
  seenSet,
  seenStep,
} from "../../src/structures/seen/seen-set.ts";
import { FINISHED, ROWS, type SeenBench, hashOf } from "./seen-bench.ts";

/** Hashes are those of 0 … SEEN_POOL − 1. */
export const SEEN_POOL = 9000;

export interface SeenPlay {
  readonly bench: SeenBench;
  readonly seen: SeenSet;
  /** Number of the hash → value. */
  readonly model: Map<number, number>;
  readonly random: Random;
}

type Model = Map<number, number>;

/** Runs random operations against the model. */
export function playSeen({ bench, seen, model, random }: SeenPlay, operations: number): void {
  for (let i = 0; i < operations; i++) {
    const at = random.below(SEEN_POOL);
    const [lo, hi] = hashOf(at);
    const value = model.get(at) ?? 0;
    switch (random.below(12)) {
      case 0:
      case 1:
      case 2:
        admit(bench, seen, model, random);
        break;
      case 3:
        expect(seenFind(seen, lo, hi), `find ${at}`).toBe(value);
        break;
      case 4: {
        expect(seenRemove(seen, lo, hi), `remove ${at}`).toBe(value !== 0);
        model.delete(at);
        break;
      }
      case 5: {
        const slot = seenInsert(seen, lo, hi);
        const held = bench.kernel.region.views.u32[slot >>> 2] as number;
        expect(held, `insert ${at}`).toBe(value === 0 ? TABLE_CLAIMED : value);
        if (value !== 0) break;
        bench.kernel.region.views.u32[slot >>> 2] = at + 1;
        model.set(at, at + 1);
        break;
      }
      case 6:
        probe(bench, seen, model, random);
        break;
      case 7:
        seenStep(seen, random.below(400));
        break;
      default:
        // Mostly records finish, so that there is something to move.
        for (let n = random.below(240); n > 0; n--) finish(seen, model, random);
    }
    expect(seen.count).toBe(model.size);
  }
}

function finish(seen: SeenSet, model: Model, random: Random): void {
  const at = random.below(SEEN_POOL);
  const isNew = !model.has(at);
  if (isNew && random.below(4) > 0) return;
  const value = (FINISHED | random.below(2 ** 30)) >>> 0;
  expect(seenSet(seen, ...hashOf(at), value)).toBe(true);
  model.set(at, value);
}

function putRows(bench: SeenBench, random: Random): number[] {
  const { u32 } = bench.kernel.region.views;
  const count = 1 + random.below(ROWS);
  const base = random.below(SEEN_POOL);
  const rows = Array.from({ length: count }, () => (base + random.below(count * 2)) % SEEN_POOL);
  rows.forEach((at, row) => {
    u32.set(hashOf(at), bench.hashes / 4 + row * 2);
    u32[bench.values / 4 + row] = random.below(10) === 0 ? TABLE_SKIP : 0;
  });
  return rows;
}

function admit(bench: SeenBench, seen: SeenSet, model: Model, random: Random): void {
  const { kernel, hashes, values, slots } = bench;
  const rows = putRows(bench, random);
  const skipped = rows.map((_, row) => kernel.region.views.u32[values / 4 + row] !== 0);
  const fresh = seenAdmitBatch(seen, hashes, rows.length, values, slots);
  const { u32 } = kernel.region.views;
  const before = new Map(model);
  let expectedFresh = 0;
  rows.forEach((at, row) => {
    const value = u32[values / 4 + row];
    const slot = (u32[slots / 4 + row] as number) >>> 2;
    if (skipped[row]) {
      expect(value).toBe(TABLE_SKIP);
      return;
    }
    const known = before.get(at);
    if (known !== undefined) {
      expect(value, `row of ${at}`).toBe(known);
      expect(u32[slot]).toBe(known);
      return;
    }
    const isFirst = !model.has(at);
    expect(value, `row of ${at}`).toBe((isFirst ? TABLE_NEW : TABLE_CLAIMED) >>> 0);
    expect(u32[slot]).toBe(isFirst ? TABLE_CLAIMED : at + 1);
    if (isFirst) expectedFresh += 1;
    model.set(at, at + 1);
    u32[slot] = at + 1;
  });
  expect(fresh).toBe(expectedFresh);
}

function probe(bench: SeenBench, seen: SeenSet, model: Model, random: Random): void {
  const { kernel, hashes } = bench;
  putRows(bench, random).forEach((at, row) => {
    const { u32 } = kernel.region.views;
    const word = hashes / 4 + 2 * row;
    const value = seenFind(seen, u32[word] as number, u32[word + 1] as number);
    const expected = model.get(at) ?? 0;
    if (value !== expected) expect.fail(`probe of ${at}: ${value}, not ${expected}`);
  });
}
