/**
 * The engine against the naive model: random programs of calls and clock steps under random
 * options. `SEED=` repeats a run, `STRESS_SECONDS=` lengthens it.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runDuel } from "../support/duel.ts";
import { loadEngine } from "../support/engine.ts";
import { createModelFrontier } from "../support/model-frontier.ts";
import { commandArbitrary, optionArbitrary } from "../support/programs.ts";
import { stressSeconds, testSeed } from "../support/seed.ts";

const COMMANDS_MIN = 100_000;
const PROGRAMS_PER_ROUND = 100;
const engine = await loadEngine();

describe.skipIf(engine === undefined)("the engine and the naive model", () => {
  it("answer every program of calls and clock steps alike (I1 to I4)", async () => {
    const seed = testSeed("model");
    const endMs = performance.now() + stressSeconds() * 1_000;
    let count = 0;
    for (let round = 0; count < COMMANDS_MIN || performance.now() < endMs; round++) {
      count += await playRound(seed + round);
    }
    expect(count).toBeGreaterThanOrEqual(COMMANDS_MIN);
  }, 3_600_000);
});

async function playRound(seed: number): Promise<number> {
  if (engine === undefined) throw new Error("no engine");
  const { open, verify } = engine;
  let count = 0;
  const programs = fc.asyncProperty(
    optionArbitrary,
    fc.array(commandArbitrary, { maxLength: 300, size: "max" }),
    async (spec, commands) => {
      await runDuel({ spec, commands, trusted: createModelFrontier, suspect: open, verify });
      count += commands.length;
    },
  );
  await fc.assert(programs, { seed, numRuns: PROGRAMS_PER_ROUND });
  return count;
}
