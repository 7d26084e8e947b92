/**
 * The engine against the naive model: random programs of calls and clock steps under random
 * options. `SEED=` repeats a run, `STRESS_SECONDS=` lengthens it.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runDuel } from "../support/duel.ts";
import { loadEngine } from "../support/engine.ts";
import { createModelFrontier } from "../support/model-frontier.ts";
import { optionArbitrary } from "../support/option-sets.ts";
import { commandsOf, LARGE, SMALL } from "../support/programs.ts";
import { stressSeconds, testSeed } from "../support/seed.ts";

const COMMANDS_MIN = 100_000;
const PROGRAMS_PER_ROUND = 100;
const LARGE_PROGRAMS = 4;
/** A round, and the search for a shorter failing program, end here; what is missing is played next. */
const ROUND_MS = 60_000;
const engine = await loadEngine();

describe.skipIf(engine === undefined)("the engine and the naive model", () => {
  it("answer every program of calls and clock steps alike (I1 to I4)", async () => {
    const seed = testSeed("model");
    const endMs = performance.now() + stressSeconds() * 1_000;
    let count = 0;
    for (let round = 0; count < COMMANDS_MIN || performance.now() < endMs; round++) {
      count += await playRound({ seed: seed + round, numRuns: PROGRAMS_PER_ROUND });
    }
    expect(count).toBeGreaterThanOrEqual(COMMANDS_MIN);
  }, 3_600_000);

  it("answer long programs with many records alike", async () => {
    const seed = testSeed("large model");
    const endMs = performance.now() + stressSeconds() * 1_000;
    for (let round = 0; round === 0 || performance.now() < endMs; round++) {
      await playRound({ seed: seed + round, numRuns: LARGE_PROGRAMS, isLarge: true });
    }
  }, 3_600_000);
});

/** Plays `numRuns` programs and returns how many commands they had. */
async function playRound(round: {
  seed: number;
  numRuns: number;
  isLarge?: boolean;
}): Promise<number> {
  if (engine === undefined) throw new Error("no engine");
  const { open, verify } = engine;
  const { seed, numRuns, isLarge = false } = round;
  const lengths = isLarge ? { minLength: 800, maxLength: 1_200 } : { maxLength: 300 };
  const list = fc.array(commandsOf(isLarge ? LARGE : SMALL), { ...lengths, size: "max" });
  let count = 0;
  const programs = fc.asyncProperty(optionArbitrary, list, async (spec, commands) => {
    const sides = { trusted: createModelFrontier, suspect: open };
    await runDuel({ spec, commands, ...sides, verify, checkEvery: isLarge ? 50 : 1 });
    count += commands.length;
  });
  await fc.assert(programs, { seed, numRuns, interruptAfterTimeLimit: ROUND_MS });
  return count;
}
