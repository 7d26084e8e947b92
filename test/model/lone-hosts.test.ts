/**
 * Lone hosts (structures/hosts/lone-host.ts): programs over many hosts, most of which are a record and nothing more, against the naive model;
 * with rules that are swapped, and where every allocation fails in turn. `SEED=` repeats a run.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { coreOf } from "../../src/engine/api/verify-frontier.ts";
import { normalizeOptions } from "../../src/engine/options/normalize-options.ts";
import type { FrontierOptions } from "../../src/index.ts";
import { runDuel } from "../support/duel.ts";
import { engine } from "../support/engine.ts";
import type { SyncFrontier } from "../support/frontier-surface.ts";
import { createModelFrontier } from "../support/model-frontier.ts";
import {
  buildOptions,
  optionArbitrary,
  type OptionSpec,
  ruleOptionsOf,
} from "../support/option-sets.ts";
import {
  BROAD,
  broadCommandsOf,
  type Command,
  hostsOf,
  ruleCommandsOf,
} from "../support/programs.ts";
import { runScarce } from "../support/scarcity.ts";
import { testSeed } from "../support/seed.ts";
import { sized } from "../support/size.ts";

const PROGRAMS = sized(150, 25);
const SCARCE_PROGRAMS = sized(30, 8);
const COMMANDS_MAX = 120;
const SCARCE_COMMANDS_MAX = 25;

/** Without what asks for more of each row than its URL, so that the kernel makes the records; politeness always. */
function plainly(options: fc.Arbitrary<OptionSpec>): fc.Arbitrary<OptionSpec> {
  return options.map(({ accept: _, politeness = {}, limits, policy, rules }) => {
    const { epoch: _epoch, freshHosts: _fresh, ...rest } = policy;
    const { by: _by, groups: _groups, budget: _budget, ...polite } = politeness;
    const { capacity: _capacity, ...bounds } = limits;
    const spec = { policy: rest, politeness: polite, limits: bounds };
    return rules === undefined ? spec : { ...spec, rules };
  });
}

/** The same batches with each page once: the second one of a batch is a duplicate, whether there was room for the first or not. */
function distinctly(command: Command): Command {
  if (command.do !== "pushUrls") return command;
  const pages = new Map(command.urls.map((url) => [pageOf(url), url]));
  return { do: "pushUrls", urls: [...pages.values()] };
}

function pageOf(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.hash = "";
  url.searchParams.sort();
  return url.href;
}

/** How many lone hosts a frontier has had at most. */
interface Met {
  lone: number;
}

/** The engine, looked at after each call. */
function watched(met: Met): (frontier: SyncFrontier) => void {
  return (frontier) => {
    const { lone } = coreOf(frontier as never).hosts;
    met.lone = Math.max(met.lone, lone);
    engine.verify(frontier);
  };
}

async function play(
  options: fc.Arbitrary<OptionSpec>,
  commands: fc.Arbitrary<Command>,
  name: string,
) {
  const met = { lone: 0 };
  const list = fc.array(commands, { maxLength: COMMANDS_MAX, size: "max" });
  const property = fc.asyncProperty(options, list, (spec, program) =>
    runDuel({
      ...{ spec, commands: program, verify: watched(met) },
      ...{ trusted: createModelFrontier, suspect: engine.open },
    }),
  );
  await fc.assert(property, { seed: testSeed(name), numRuns: PROGRAMS });
  return met;
}

describe("hosts that are one record", () => {
  it("change no answer", async () => {
    const met = await play(plainly(optionArbitrary), broadCommandsOf(BROAD), "lone hosts");
    expect(met.lone).toBeGreaterThan(10);
  }, 600_000);

  it("change none under rules that are swapped", async () => {
    const options = plainly(ruleOptionsOf(hostsOf(BROAD)));
    const commands = ruleCommandsOf(BROAD, broadCommandsOf(BROAD));
    const met = await play(options, commands, "lone hosts under rules");
    expect(met.lone).toBeGreaterThan(5);
  }, 600_000);

  it("lose, double and miscount nothing where memory fails at every allocation", async () => {
    const open = async (spec: OptionSpec, clock: ReturnType<typeof createVirtualClock>) => {
      const options = normalizeOptions(buildOptions(spec, clock) as FrontierOptions);
      const frontier = await LocalFrontier.open({ ...options, pageCountMax: 1_024 });
      return frontier as unknown as SyncFrontier;
    };
    let refused = 0;
    const list = fc.array(broadCommandsOf(BROAD).map(distinctly), {
      ...{ minLength: 5, maxLength: SCARCE_COMMANDS_MAX },
      size: "max",
    });
    const options = plainly(optionArbitrary);
    const property = fc.asyncProperty(options, list, fc.boolean(), async (spec, program, lasts) => {
      const suffered = await runScarce({
        commands: program,
        open: (clock) => open(spec, clock),
        model: (clock) => createModelFrontier(buildOptions(spec, clock)),
        isLasting: lasts,
      });
      refused += suffered.refused;
    });
    await fc.assert(property, { seed: testSeed("lone scarce"), numRuns: SCARCE_PROGRAMS });
    expect(refused).toBeGreaterThan(100);
  }, 600_000);

  it("are all visited where they have filled the memory", async () => {
    const clock = createVirtualClock(1_700_000_000_000);
    const rules = [{ id: "polite", politeness: { delayMs: 1_000 } }];
    const options = normalizeOptions({ clock, rules } as FrontierOptions);
    const frontier = await LocalFrontier.open({ ...options, pageCountMax: 600 });
    let accepted = 0;
    for (let host = 0, full = 0; full === 0; host += 500) {
      const urls = Array.from({ length: 500 }, (_, index) => `https://h${host + index}.test/`);
      const pushed = frontier.pushMany(urls);
      accepted += pushed.accepted;
      full = pushed.full;
    }
    expect(coreOf(frontier).hosts.lone).toBeGreaterThan(0.9 * accepted);
    while (frontier.report().pending > 0) {
      expect(frontier.done(frontier.pollMany(32))).toBeGreaterThan(0);
      clock.advance(1);
    }
    expect(frontier.report()).toMatchObject({ done: accepted, pending: 0 });
    await frontier.close();
  });
});
