import { describe, expect, it } from "vitest";
import { createHashSorter, sortHashes } from "../../../../src/structures/seen/sort-hashes.ts";
import { testRandom } from "../../../support/seed.ts";

describe("hash order", () => {
  it("is the order of the numbers hi · 2³² + lo, for any hashes (I1)", () => {
    const random = testRandom("hash order");
    const target = createHashSorter(3000);
    for (let round = 0; round < 60; round++) {
      const count = random.below(round < 20 ? 5 : 3000);
      // Narrow ranges and equal high halves too; words before `start` belong to somebody else.
      const start = random.below(9);
      const words = new Uint32Array(start + count * 2).map(() => random.word());
      const spread = 2 ** random.below(33);
      const base = random.below(2 ** 32 - spread + 1);
      for (let i = 0; i < count; i++) words[start + i * 2 + 1] = base + random.below(spread);
      sortHashes(words, start, count, target);
      const numbers = [...target.order.subarray(0, count)].map(
        (i) =>
          (BigInt(words[start + i * 2 + 1] as number) << 32n) +
          BigInt(words[start + i * 2] as number),
      );
      expect(new Set(target.order.subarray(0, count)).size).toBe(count);
      for (let i = 1; i < count; i++)
        if ((numbers[i] as bigint) < (numbers[i - 1] as bigint)) expect.fail(`place ${i}`);
    }
  });
});
