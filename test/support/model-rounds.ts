/** Rounds of random programs that the engine and the naive model play against each other. */
import fc from "fast-check";
import { runDuel } from "./duel.ts";
import type { Engine } from "./engine.ts";
import { createModelFrontier } from "./model-frontier.ts";
import { optionArbitrary } from "./option-sets.ts";
import { commandsOf, LARGE, SMALL } from "./programs.ts";
import { stressSeconds, testSeed } from "./seed.ts";
import { sized } from "./size.ts";

const PROGRAMS_PER_ROUND = sized(100, 15);
const LARGE_PROGRAMS = sized(4, 1);
/**
 * Deadline of a round, and of the search for a shorter failing program: later than a slow machine needs, since each plays the same
 * programs.
 */
const ROUND_MS = 600_000;

/** Runs programs of so many commands in all, or for STRESS_SECONDS; returns how many. */
export async function playSmall(engine: Engine, commandsMin: number): Promise<number> {
  const seed = testSeed("model");
  const endMs = performance.now() + stressSeconds() * 1_000;
  let count = 0;
  for (let round = 0; count < commandsMin || performance.now() < endMs; round++) {
    count += await playRound(engine, seed + round, false);
  }
  return count;
}

/** A few programs with many records; returns how many commands they had. */
export async function playLarge(engine: Engine): Promise<number> {
  const seed = testSeed("large model");
  const endMs = performance.now() + stressSeconds() * 1_000;
  let count = 0;
  for (let round = 0; round === 0 || performance.now() < endMs; round++) {
    count += await playRound(engine, seed + round, true);
  }
  return count;
}

/** Plays the programs of one seed and returns how many commands they had. */
async function playRound(engine: Engine, seed: number, isLarge: boolean): Promise<number> {
  const { open, verify } = engine;
  const lengths = isLarge ? { minLength: 800, maxLength: 1_200 } : { maxLength: 300 };
  const list = fc.array(commandsOf(isLarge ? LARGE : SMALL), { ...lengths, size: "max" });
  let count = 0;
  const programs = fc.asyncProperty(optionArbitrary, list, async (spec, commands) => {
    const sides = { trusted: createModelFrontier, suspect: open };
    await runDuel({ spec, commands, ...sides, verify, checkEvery: isLarge ? 50 : 1 });
    count += commands.length;
  });
  const numRuns = isLarge ? LARGE_PROGRAMS : PROGRAMS_PER_ROUND;
  await fc.assert(programs, { seed, numRuns, interruptAfterTimeLimit: ROUND_MS });
  return count;
}
