/** Every allocation of every call fails in turn (test/support/scarcity.ts), beside the naive model. `SEED=` repeats a run. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { createVirtualClock } from "../../src/base/clock.ts";
import { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { normalizeOptions } from "../../src/engine/options/normalize-options.ts";
import type { FrontierOptions } from "../../src/index.ts";
import type { SyncFrontier } from "../support/frontier-surface.ts";
import { createModelFrontier } from "../support/model-frontier.ts";
import {
  buildOptions,
  optionArbitrary,
  type OptionSpec,
  ruleOptionsOf,
} from "../support/option-sets.ts";
import { type Command, commandsOf, hostsOf, ruleCommandsOf, SMALL } from "../support/programs.ts";
import { runScarce, type Suffered } from "../support/scarcity.ts";
import { testSeed } from "../support/seed.ts";

const PROGRAMS = 40;
const COMMANDS = 40;

/** In a region of its own that is small: verifying looks at all of it. */
async function open(spec: OptionSpec, clock: ReturnType<typeof createVirtualClock>) {
  const options = normalizeOptions(buildOptions(spec, clock) as FrontierOptions);
  return (await LocalFrontier.open({
    ...options,
    pageCountMax: 1_024,
  })) as unknown as SyncFrontier;
}

async function suffer(
  specs: fc.Arbitrary<OptionSpec>,
  commands: fc.Arbitrary<Command>,
  name: string,
): Promise<Suffered> {
  const suffered = { refused: 0, thrown: 0 };
  const list = fc.array(commands, { minLength: 10, maxLength: COMMANDS, size: "max" });
  const property = fc.asyncProperty(specs, list, fc.boolean(), async (spec, program, isLasting) => {
    const { refused, thrown } = await runScarce({
      commands: program,
      open: (clock) => open(spec, clock),
      model: (clock) => createModelFrontier(buildOptions(spec, clock)),
      isLasting,
    });
    suffered.refused += refused;
    suffered.thrown += thrown;
  });
  await fc.assert(property, { seed: testSeed(name), numRuns: PROGRAMS });
  return suffered;
}

describe("a frontier whose memory fails at every allocation", () => {
  it("loses, doubles and miscounts nothing, under one rule", async () => {
    const { refused, thrown } = await suffer(optionArbitrary, commandsOf(SMALL), "scarce");
    expect(refused).toBeGreaterThan(1_000);
    expect(thrown).toBeGreaterThan(100);
  });

  it("nor under rules that are swapped", async () => {
    const hosts = hostsOf(SMALL);
    const { refused } = await suffer(ruleOptionsOf(hosts), ruleCommandsOf(SMALL), "scarce rules");
    expect(refused).toBeGreaterThan(1_000);
  });
});
