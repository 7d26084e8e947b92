/**
 * A frontier whose pending records go to disk whenever they can against one that keeps all in memory (the naive model holds
 * that one to account): every answer, report and order alike (I4). `SEED=` repeats a run, `STRESS_SECONDS=` lengthens it.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { normalizeOptions } from "../../src/engine/options/normalize-options.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { openSpillTier } from "../../src/persistence/spill/spill-files.ts";
import type { SpillTier } from "../../src/structures/storage-tiers.ts";
import { runDuel } from "../support/duel.ts";
import { createMemoryFiles } from "../support/memory-files.ts";
import { optionArbitrary } from "../support/option-sets.ts";
import type { SyncFrontier, SyncOptions } from "../support/frontier-surface.ts";
import { commandsOf, LARGE } from "../support/programs.ts";
import { stressSeconds, stressTimeoutMs, testSeed } from "../support/seed.ts";

/** Later than a slow machine needs, since each plays the same programs. */
const ROUND_MS = 600_000;
const PROGRAMS = 3;
/** Some options hardly spill (a small capacity, URLs that finish at once): rounds go on until this much went to disk and back. */
const BLOCKS_LEAST = 100;
const ROUNDS_MOST = 50;

/** The tier beside the counts of what went through it. */
function counting(tier: SpillTier, counts: { written: number; read: number }): SpillTier {
  return {
    ...tier,
    write(bytes) {
      counts.written += 1;
      return tier.write(bytes);
    },
    read(place, bytes) {
      counts.read += 1;
      tier.read(place, bytes);
    },
  };
}

describe("a frontier that spills and one that does not", () => {
  it(
    "answer long programs alike when every lane keeps only what goes next in memory (I4)",
    async () => {
      const seed = testSeed("spilling frontier");
      const endMs = performance.now() + stressSeconds() * 1_000;
      const counts = { written: 0, read: 0 };
      const suspect = (options: SyncOptions): SyncFrontier => {
        const files = createMemoryFiles();
        const tier = openSpillTier({ directory: "/spill", files, segmentBytes: 4096 });
        const settings = normalizeOptions({ ...options, seed: 1, memoryBytes: 1 } as object);
        const spill = { tier: counting(tier, counts), blockLeast: 1 };
        return new LocalFrontier({ ...settings, spill }) as unknown as SyncFrontier;
      };
      const inMemory = (options: SyncOptions): SyncFrontier =>
        new LocalFrontier(
          normalizeOptions({ ...options, seed: 1 } as object),
        ) as unknown as SyncFrontier;
      const verify = (frontier: SyncFrontier): void => verifyFrontier(frontier as never);
      const list = fc.array(commandsOf(LARGE), { minLength: 300, maxLength: 900, size: "max" });
      const isThin = (): boolean => counts.written <= BLOCKS_LEAST || counts.read <= BLOCKS_LEAST;
      for (let round = 0; isThin() || performance.now() < endMs; round++) {
        expect(round, "rounds that hardly spilled").toBeLessThan(
          stressSeconds() > 0 ? Number.POSITIVE_INFINITY : ROUNDS_MOST,
        );
        const programs = fc.asyncProperty(optionArbitrary, list, async (spec, commands) => {
          const sides = { trusted: inMemory, suspect };
          await runDuel({ spec, commands, ...sides, verify, checkEvery: 50 });
        });
        const limits = { numRuns: PROGRAMS, interruptAfterTimeLimit: ROUND_MS };
        await fc.assert(programs, { seed: seed + round, ...limits });
      }
      console.log(`spilling frontier: ${counts.written} blocks written, ${counts.read} read`);
    },
    stressTimeoutMs(600_000),
  );
});
