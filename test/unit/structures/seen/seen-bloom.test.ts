import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import { TABLE_CLAIMED, TABLE_NEW } from "../../../../src/layout/seen/table.ts";
import {
  SEEN_UNKNOWN,
  createSeenSet,
  seenAdmitBatch,
  seenFind,
  seenForget,
  seenInsert,
  seenSet,
  seenStats,
} from "../../../../src/structures/seen/seen-set.ts";
import { testSeed } from "../../../support/seed.ts";
import { FINISHED, ROWS, hashOf, openBench } from "../../../support/seen-bench.ts";

describe("seen-set, mode bloom", () => {
  it("misses nothing in fixed memory, and loses about as many as it says", () => {
    const random = createRandom(testSeed("seen bloom"));
    const bench = openBench();
    const { kernel, hashes, values, slots } = bench;
    const memoryBytes = 2 * 65536; // for 150,000 members: the filter is overfull soon
    const seen = createSeenSet({ kernel, mode: "bloom", capacity: 40_000, memoryBytes });
    const { u32 } = kernel.region.views;
    let lost = 0;
    let offered = 0;
    const known = new Map<number, number>();
    for (let batch = 0; batch < 250; batch++) {
      const rows: number[] = [];
      for (let row = 0; row < ROWS; row++) {
        // Three of four rows are new; the others come again, some of them live, some finished.
        const isOld = offered > 0 && random.below(4) === 0;
        const at = isOld ? random.below(offered) : offered++;
        rows.push(at);
        u32.set(hashOf(at), hashes / 4 + row * 2);
        u32[values / 4 + row] = 0;
      }
      const fresh = seenAdmitBatch(seen, hashes, ROWS, values, slots);
      let expected = 0;
      rows.forEach((at, row) => {
        const value = u32[values / 4 + row] as number;
        if (value === TABLE_CLAIMED) expect(rows.indexOf(at)).toBeLessThan(row);
        else if (value === TABLE_NEW) {
          expect(known.has(at), `hash ${at} new twice`).toBe(false);
          u32[(u32[slots / 4 + row] as number) >>> 2] = at + 1;
          known.set(at, at + 1);
          expected += 1;
        } else if (known.has(at)) expect(value).toBe(known.get(at));
        else {
          expect(value).toBe(SEEN_UNKNOWN);
          known.set(at, SEEN_UNKNOWN);
          lost += 1;
        }
      });
      expect(fresh).toBe(expected);
      for (const at of rows.slice(0, 550)) {
        if ((known.get(at) ?? 0) >= SEEN_UNKNOWN) continue;
        seenSet(seen, ...hashOf(at), FINISHED + 5);
        known.set(at, SEEN_UNKNOWN);
      }
    }
    const stats = seenStats(seen);
    expect(stats.count + lost).toBe(offered);
    expect(stats.falsePositiveRate).toBeGreaterThan(0.02);
    expect(lost / stats.expectedLost).toBeGreaterThan(0.9);
    expect(lost / stats.expectedLost).toBeLessThan(1.1);
    for (const [at, value] of known)
      if (seenFind(seen, ...hashOf(at)) !== value) expect.fail(`hash ${at}`);
    expect(seenInsert(seen, ...hashOf(0))).toBe(0);
    seenForget(seen);
    expect(seenFind(seen, ...hashOf(0))).toBe(0);
    expect(seenInsert(seen, ...hashOf(0))).toBeGreaterThan(0);
  });

  it("keeps within memoryBytes while records finish", () => {
    const bench = openBench();
    const { kernel, hashes, values, slots } = bench;
    const memoryBytes = 4 * 2 ** 20;
    const seen = createSeenSet({ kernel, mode: "bloom", memoryBytes });
    for (let base = 0; base < 300_000; base += ROWS) {
      const { u32 } = kernel.region.views;
      for (let row = 0; row < ROWS; row++) u32.set(hashOf(base + row), hashes / 4 + row * 2);
      u32.fill(0, values / 4, values / 4 + ROWS);
      seenAdmitBatch(seen, hashes, ROWS, values, slots);
      for (let row = 0; row < ROWS; row++) seenSet(seen, ...hashOf(base + row), FINISHED);
    }
    expect(seenStats(seen).bytes).toBeLessThanOrEqual(memoryBytes);
    expect(seenStats(seen).falsePositiveRate).toBeLessThan(0.01);
  });
});
