/**
 * The engine against the naive model with several rules: shares, matching, and sets that are swapped while leases are out.
 * `SEED=` repeats a run, `STRESS_SECONDS=` lengthens it.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runDuel } from "../support/duel.ts";
import { engine } from "../support/engine.ts";
import { createModelFrontier } from "../support/model-frontier.ts";
import { ruleOptionsOf } from "../support/option-sets.ts";
import { hostsOf, ruleCommandsOf, SMALL } from "../support/programs.ts";
import { stressSeconds, stressTimeoutMs, testSeed } from "../support/seed.ts";
import { sized } from "../support/size.ts";

/** A quick look by default; 10⁵ commands and more where time was granted. */
const COMMANDS_MIN = sized(8_000, 500);
const PROGRAMS_PER_ROUND = sized(50, 4);
/** Later than a slow machine needs, since each plays the same programs. */
const ROUND_MS = 600_000;

describe("the engine and the naive model with rules", () => {
  it(
    "agree on verdicts, order, shares and swaps (I1 to I4)",
    async () => {
      const seed = testSeed("rules model");
      const endMs = performance.now() + stressSeconds() * 1_000;
      let count = 0;
      for (let round = 0; count < COMMANDS_MIN || performance.now() < endMs; round++) {
        count += await playRound(seed + round);
      }
      console.log(`rules model: ${count} commands`);
      expect(count).toBeGreaterThanOrEqual(COMMANDS_MIN);
    },
    stressTimeoutMs(600_000),
  );
});

async function playRound(seed: number): Promise<number> {
  const { open, verify } = engine;
  const list = fc.array(ruleCommandsOf(SMALL), { maxLength: 300, size: "max" });
  let count = 0;
  const programs = fc.asyncProperty(ruleOptionsOf(hostsOf(SMALL)), list, async (spec, commands) => {
    const sides = { trusted: createModelFrontier, suspect: open };
    await runDuel({ spec, commands, ...sides, verify });
    count += commands.length;
  });
  await fc.assert(programs, {
    seed,
    numRuns: PROGRAMS_PER_ROUND,
    interruptAfterTimeLimit: ROUND_MS,
  });
  return count;
}
