/** The engine against the naive model, 10⁵ commands and more: the programs of test/model, for longer and with another seed. */
import { describe, expect, it } from "vitest";
import { engine } from "../support/engine.ts";
import { playSmall } from "../support/model-rounds.ts";
import { stressTimeoutMs } from "../support/seed.ts";

const COMMANDS_MIN = 100_000;

describe("the engine and the naive model, for long", () => {
  it(
    "agree on every program of calls and clock steps (I1 to I4)",
    async () => {
      expect(await playSmall(engine, COMMANDS_MIN)).toBeGreaterThanOrEqual(COMMANDS_MIN);
    },
    stressTimeoutMs(600_000),
  );
});
