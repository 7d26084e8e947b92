import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import {
  type SeenSetOptions,
  createSeenSet,
  seenForget,
  seenStats,
} from "../../../../src/structures/seen/seen-set.ts";
import { testSeed } from "../../../support/seed.ts";
import { openBench } from "../../../support/seen-bench.ts";
import { type SeenPlay, playSeen } from "../../../support/seen-model.ts";

describe("seen-set", () => {
  it("agrees with a Map in mode exact (I3)", () => {
    const random = createRandom(testSeed("seen exact"));
    const bench = openBench();
    const seen = createSeenSet({ kernel: bench.kernel, mode: "exact" });
    const model: SeenPlay["model"] = new Map();
    playSeen({ bench, seen, model, random }, 250);
    seenForget(seen);
    model.clear();
    playSeen({ bench, seen, model, random }, 100);
    expect(seenStats(seen)).toMatchObject({ expectedLost: 0, coldReads: 0, falsePositiveRate: 0 });
  });

  it("refuses mode tiered without a cold tier", () => {
    const options = { kernel: openBench().kernel, mode: "tiered" } as SeenSetOptions;
    expect(() => createSeenSet(options)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    );
  });
});
