/**
 * The engine against the naive model: random programs of calls and clock steps under random options. `SEED=` repeats a run,
 * `STRESS_SECONDS=` lengthens it. test/stress plays 10⁵ commands.
 */
import { describe, expect, it } from "vitest";
import { engine } from "../support/engine.ts";
import { playLarge, playSmall } from "../support/model-rounds.ts";
import { stressTimeoutMs } from "../support/seed.ts";
import { sized } from "../support/size.ts";

const COMMANDS_MIN = sized(5_000, 600);

describe("the engine and the naive model", () => {
  it(
    "answer every program of calls and clock steps alike (I1 to I4)",
    async () => {
      expect(await playSmall(engine, COMMANDS_MIN)).toBeGreaterThanOrEqual(COMMANDS_MIN);
    },
    stressTimeoutMs(600_000),
  );

  it(
    "answer long programs with many records alike",
    async () => {
      expect(await playLarge(engine)).toBeGreaterThan(0);
    },
    stressTimeoutMs(600_000),
  );
});
