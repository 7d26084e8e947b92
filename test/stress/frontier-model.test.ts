/** The engine against the naive model, 10⁵ commands and more (4·10⁴ at the quick size): the programs of test/model, for longer and with another seed. */
import { describe, expect, it } from "vitest";
import { engine } from "../support/engine.ts";
import { playSmall } from "../support/model-rounds.ts";
import { stressTimeoutMs } from "../support/seed.ts";
import { sized } from "../support/size.ts";

const COMMANDS_MIN = sized(100_000, 40_000);

describe("the engine and the naive model, for long", () => {
  it(
    "agree on every program of calls and clock steps (I1 to I4)",
    async () => {
      expect(await playSmall(engine, COMMANDS_MIN)).toBeGreaterThanOrEqual(COMMANDS_MIN);
    },
    stressTimeoutMs(600_000),
  );
});
