import { describe, expect, it } from "vitest";
import type { Core } from "../../../../src/frontier/core.ts";
import {
  clearCopied,
  copiedBytes,
  createCopied,
  dropCopied,
  isCopied,
  noteCopied,
} from "../../../../src/persistence/recovery/copied-records.ts";
import { SPILL_VALUE } from "../../../../src/layout/records/spill-block.ts";
import { verifyRegion } from "../../../../src/memory/region.ts";
import { RECORD_FLAG_NO_IDENTITY } from "../../../../src/structures/records/record.ts";
import { seenSet, seenSlot } from "../../../../src/structures/seen/seen-set.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";
import { FINISHED, hashOf, openBench, openTiered, settle } from "../../../support/seen-bench.ts";

/** A place on disk. */
const PLACE = SPILL_VALUE + 5 * 64 + 1;
const BEGAN = 10_000;
const ENTRY = { flags: 0, isMoved: false, hostAdmitted: -1 };

describe("records that a snapshot holds already when an entry admits them", () => {
  function opened(budgetBytes = 2 ** 26) {
    const bench = openBench();
    const seen = openTiered(bench, createMemoryFiles());
    const { kernel } = bench;
    const core = {
      seen,
      spilling: { budgetBytes },
      store: { kernel, region: kernel.region },
    } as unknown as Core;
    const copied = createCopied();
    const restoration = { copied, core };
    const entryOf = (at: number) => {
      const [lo, hi] = hashOf(at);
      return { ...ENTRY, lo, hi };
    };
    /** A record of the snapshot whose block is on disk. */
    const copy = (at: number, sequence: number): void => {
      seenSet(seen, ...hashOf(at), PLACE);
      noteCopied(restoration, sequence, ...hashOf(at));
    };
    return { kernel, seen, copied, restoration, copy, entryOf };
  }

  it("are those that were admitted after it began, in memory's table or in the cold tier alone", () => {
    const { copied, copy, entryOf, kernel, restoration, seen } = opened();
    copy(1, BEGAN + 1);
    expect(isCopied(restoration, entryOf(1))).toBe(false); // there is no snapshot
    copied.began = BEGAN;
    for (let at = 2; at < 6_000; at++) copy(at, BEGAN - 3_000 + at);
    settle(seen);
    let inTierAlone = 0;
    for (let at = 2; at < 6_000; at++) {
      if (seenSlot(seen, ...hashOf(at)) === 0) inTierAlone += 1;
      expect(isCopied(restoration, entryOf(at)), `${at}`).toBe(at > 3_000);
    }
    expect(inTierAlone).toBeGreaterThan(3_000);
    expect(isCopied(restoration, { ...entryOf(4_000), isMoved: true })).toBe(false);
    expect(isCopied(restoration, { ...entryOf(4_000), hostAdmitted: 0 })).toBe(false);
    const flags = RECORD_FLAG_NO_IDENTITY;
    expect(isCopied(restoration, { ...entryOf(4_000), flags })).toBe(false);
    clearCopied(restoration);
    expect(isCopied(restoration, entryOf(4_000))).toBe(false);
    verifyRegion(kernel.region);
  });

  it.each([0, 2 ** 20, 2 ** 23])(
    "are the same where the table may have an eighth of %i bytes (I2)",
    (budgetBytes) => {
      const { copied, copy, entryOf, restoration, seen } = opened(budgetBytes);
      copied.began = BEGAN;
      const COUNT = 90_000;
      for (let at = 0; at < COUNT; at++) copy(at, BEGAN + 1 + at);
      expect(copied.isWhole).toBe(false);
      expect(copiedBytes(restoration)).toBeLessThanOrEqual(
        Math.max(budgetBytes / 8, 2 ** 18) + 2 ** 18,
      );
      for (let at = 0; at < COUNT; at += 30) {
        dropCopied(restoration, ...hashOf(at));
        seenSet(seen, ...hashOf(at), FINISHED + at);
      }
      settle(seen);
      const wrong: number[] = [];
      for (let at = 0; at < COUNT + 100; at += 5) {
        const isOne = at < COUNT && at % 30 > 0;
        if (isCopied(restoration, entryOf(at)) !== isOne) wrong.push(at);
      }
      expect(wrong).toEqual([]);
      clearCopied(restoration);
      expect(copied.isWhole).toBe(true);
    },
  );

  it("are not those that ended, wherever their identities are now (I1)", () => {
    const { copied, copy, entryOf, restoration, seen } = opened();
    copied.began = BEGAN;
    for (let at = 0; at < 6_000; at++) copy(at, BEGAN + 1 + at);
    for (let at = 0; at < 6_000; at += 2) {
      dropCopied(restoration, ...hashOf(at));
      seenSet(seen, ...hashOf(at), FINISHED + at);
    }
    settle(seen);
    for (let at = 0; at < 6_000; at++)
      expect(isCopied(restoration, entryOf(at))).toBe(at % 2 === 1);
  });

  it("are not those that were not made, for lack of their host", () => {
    const { copied, entryOf, restoration, seen } = opened();
    copied.began = BEGAN;
    noteCopied(restoration, BEGAN + 1, ...hashOf(1));
    seenSet(seen, ...hashOf(2), FINISHED);
    noteCopied(restoration, BEGAN + 1, ...hashOf(2));
    expect(isCopied(restoration, entryOf(1))).toBe(false);
    expect(isCopied(restoration, entryOf(2))).toBe(false);
  });
});
