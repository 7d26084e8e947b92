/**
 * Leases that the kernel hands out of a lane that goes on in blocks on disk, against the same frontier that hands them out one by
 * one since somebody listens, and against one that keeps all in memory: the same order, in either direction.
 */
import { describe, expect, it } from "vitest";
import { createRandom, type Random } from "../../src/base/random.ts";
import { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { normalizeOptions } from "../../src/engine/options/normalize-options.ts";
import type { Lease } from "../../src/engine/types/frontier-types.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { openSpillTier } from "../../src/persistence/spill/spill-files.ts";
import { createMemoryFiles } from "../support/memory-files.ts";
import { testSeed } from "../support/seed.ts";

const STEPS = 40;
const HOSTS = 40;

interface Side {
  readonly frontier: LocalFrontier;
  leases: Lease[];
}

function openSide(order: "fifo" | "lifo", memoryBytes: number): Side {
  const settings = normalizeOptions({ defaults: { order }, memoryBytes, seed: 1 } as object);
  const tier = openSpillTier({ directory: "/spill", files: createMemoryFiles() });
  const frontier = new LocalFrontier({ ...settings, spill: { tier, blockLeast: 4 } });
  return { frontier, leases: [] };
}

/** One step of the program on one side, by a generator of its own that all sides seed alike; what it answered. */
function play({ frontier, leases }: Side, random: Random, step: number): unknown {
  const choice = random.below(8);
  if (choice < 3) {
    const count = 200 + random.below(600);
    const urls = Array.from(
      { length: count },
      (_, index) => `http://h${(step * 7 + index) % HOSTS}.test/${step}/${index}`,
    );
    // Some priorities of their own, so that the lane that is best changes.
    return frontier.pushMany(
      random.below(6) === 0 ? urls.map((url) => ({ url, priority: 1 })) : urls,
    );
  }
  if (choice < 6) {
    const more = frontier.pollMany(1 + random.below(300));
    leases.push(...more);
    return more.map(({ url, deliveries }) => `${url} ${deliveries}`);
  }
  const some = leases.splice(0, random.below(leases.length + 1));
  if (choice === 6) return frontier.done(some);
  return some.map((lease) => lease.release());
}

describe("leases of lanes that go on on disk", () => {
  it.each(["fifo", "lifo"] as const)("come in the order of a frontier in memory: %s", (order) => {
    const seed = testSeed(`leases of spilled lanes, ${order}`);
    const [many, each, held] = [openSide(order, 1), openSide(order, 1), openSide(order, 2 ** 30)];
    each.frontier.on("leased", () => {});
    const sides = [many, each, held];
    const randoms = sides.map(() => createRandom(seed));
    let spilled = 0;
    for (let step = 0; step < STEPS; step++) {
      const answers = sides.map((side, index) => play(side, randoms[index] as Random, step));
      expect(answers[0]).toEqual(answers[2]);
      expect(answers[1]).toEqual(answers[2]);
      if (step % 5 === 0) for (const { frontier } of sides) verifyFrontier(frontier);
      spilled = Math.max(spilled, many.frontier.report().spilled.out);
    }
    const rest = sides.map(({ frontier }) => frontier.pollMany(1e5).map(({ url }) => url));
    expect(rest[0]).toEqual(rest[2]);
    expect(rest[1]).toEqual(rest[2]);
    expect(spilled).toBeGreaterThan(1000);
    expect(held.frontier.report().spilled.out).toBe(0);
  });
});
