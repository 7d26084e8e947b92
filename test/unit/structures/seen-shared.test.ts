import { describe, expect, it } from "vitest";
import type { Kernel } from "../../../src/kernel/kernel.ts";
import { regionTake } from "../../../src/memory/region.ts";
import { createColdTier } from "../../../src/persistence/cold-tier.ts";
import {
  createSeenSet,
  type SeenMode,
  type SeenSet,
  SEEN_UNKNOWN,
  seenFind,
  seenForget,
  seenRemove,
  seenSet,
} from "../../../src/structures/seen-set.ts";
import {
  attachSeen,
  seenPlace,
  type SharedSeen,
  sharedSeenFind,
} from "../../../src/structures/seen-shared.ts";
import { createMemoryFiles } from "../../support/memory-files.ts";
import { openTestKernel } from "../../support/kernels.ts";
import { FINISHED, hashOf, SEEN_IDENTITY, settle } from "../../support/seen-bench.ts";
import { testRandom } from "../../support/seed.ts";

function openSeen(kernel: Kernel, mode: SeenMode): SeenSet {
  const files = createMemoryFiles();
  const cold =
    mode === "tiered"
      ? { cold: createColdTier({ kernel, directory: "/seen", files, identity: SEEN_IDENTITY }) }
      : {};
  return createSeenSet({
    kernel,
    mode,
    memoryBytes: mode === "tiered" ? 60_000 : 2 ** 20,
    ...cold,
  });
}

/** What a reader hears of each number. */
function ask(seen: SharedSeen, page: number, numbers: readonly number[]): number[] {
  const { kernel } = seen.table;
  const words = new Uint32Array(kernel.memory.buffer);
  for (const [row, at] of numbers.entries()) words.set(hashOf(at), page / 4 + row * 2);
  const values = page + numbers.length * 8;
  sharedSeenFind(seen, page, numbers.length, values);
  return [...new Uint32Array(kernel.memory.buffer, values, numbers.length)];
}

const MODES: readonly SeenMode[] = ["exact", "tiered", "bloom"];

describe.each(MODES)("a seen-set that others ask, mode %s", (mode) => {
  it("says new of nothing that its owner knows, and gives no value to what nobody admitted", () => {
    const random = testRandom(`seen shared ${mode}`);
    const kernel = openTestKernel("shared");
    const page = regionTake(kernel.region, 1);
    const seen = openSeen(kernel, mode);
    const shared = attachSeen(kernel, seenPlace(seen));
    let [known, unknown] = [0, 0];
    for (let round = 0; round < 40; round++) {
      for (let n = random.below(300); n > 0; n--) {
        const at = random.below(20_000);
        if (random.below(8) === 0) seenRemove(seen, ...hashOf(at));
        else seenSet(seen, ...hashOf(at), FINISHED + 1 + at);
      }
      if (round % 5 === 0) settle(seen);
      if (round === 20) seenForget(seen);
      const numbers = Array.from({ length: 500 }, () => random.below(40_000));
      const answers = ask(shared, page, numbers);
      for (const [row, at] of numbers.entries()) {
        const value = seenFind(seen, ...hashOf(at));
        const answer = answers[row] as number;
        const isMaybe = answer === SEEN_UNKNOWN;
        const isRight = value === 0 ? answer === 0 || isMaybe : answer === value || isMaybe;
        if (!isRight) expect.fail(`${at}: ${answer}, and its owner knows ${value}`);
        known += Number(answer !== 0 && !isMaybe);
        unknown += Number(isMaybe);
      }
    }
    if (mode !== "bloom") expect(known).toBeGreaterThan(0);
    if (mode === "exact") expect(unknown).toBe(0);
    else expect(unknown).toBeGreaterThan(0);
  });
});

describe("a tiered seen-set that others ask", () => {
  it("is found to hold what leaves the hot table before, between and behind the two looks", () => {
    const kernel = openTestKernel("shared");
    const page = regionTake(kernel.region, 1);
    const seen = openSeen(kernel, "tiered");
    const place = seenPlace(seen);
    let next = 0;
    /** Numbers that nobody has met, all of them hot. */
    const admit = (count: number): number[] => {
      const numbers = Array.from({ length: count }, () => next++);
      for (const at of numbers) seenSet(seen, ...hashOf(at), FINISHED + 1 + at);
      return numbers;
    };
    const move = (): void => {
      admit(20_000);
      settle(seen);
    };
    const { exports } = kernel;
    const attach = (changed: Partial<Kernel["exports"]>): SharedSeen =>
      attachSeen({ ...kernel, exports: { ...exports, ...changed } }, place);
    const before = attach({
      tableFindShared(...asked) {
        move();
        return exports.tableFindShared(...asked);
      },
    });
    expect(new Set(ask(before, page, admit(400)))).toEqual(new Set([SEEN_UNKNOWN]));
    const between = attach({
      bloomProbeBatch(...asked) {
        move();
        return exports.bloomProbeBatch(...asked);
      },
    });
    const behind = attach({
      bloomProbeBatch(...asked) {
        const maybes = exports.bloomProbeBatch(...asked);
        move();
        return maybes;
      },
    });
    for (const shared of [between, behind]) {
      const numbers = admit(400);
      expect(ask(shared, page, numbers)).toEqual(numbers.map((at) => FINISHED + 1 + at));
    }
  });
});
