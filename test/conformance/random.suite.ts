/** Random programs on an implementation and on the naive model. `SEED=` repeats a run, `STRESS_SECONDS=` lengthens it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  clocklessCommand,
  clocklessOptions,
  supportedOptions,
  supportedRules,
} from "../support/conformance/clockless.ts";
import { runAsyncDuel } from "../support/conformance/duel-async.ts";
import type { Implementation } from "../support/conformance/implementations.ts";
import type { Open } from "../support/duel.ts";
import { optionArbitrary, ruleOptionsOf, type OptionSpec } from "../support/option-sets.ts";
import { type Command, commandsOf, hostsOf, ruleCommandsOf, SMALL } from "../support/programs.ts";
import { stressRounds, testSeed } from "../support/seed.ts";
import type { Skipper } from "../support/skip.ts";

/** How much is played in CI, and how often counts and order are compared. */
interface Length {
  readonly programs: number;
  readonly perSecond: number;
  readonly checkEvery: number;
  /**
   * Whether programs whose rules change are played too.
   * @defaultValue true
   */
  readonly withRules?: boolean;
}

/** Plays random programs against the naive model; `trusted` may be a broken copy of it, which must be caught. */
export async function playPrograms(
  context: Skipper,
  implementation: Implementation,
  { programs, checkEvery, seed, trusted }: Length & { seed: number; trusted?: Open },
  withRules = false,
): Promise<void> {
  const { isExact, supports } = implementation;
  const options = withRules ? ruleOptionsOf(hostsOf(SMALL)) : optionArbitrary;
  const commands = withRules ? ruleCommandsOf(SMALL) : commandsOf(SMALL);
  const list = fc.array(commands, { maxLength: 120, size: "max" });
  const play = async (drawn: OptionSpec, all: Command[]): Promise<void> => {
    const spec = supportedOptions(isExact ? drawn : clocklessOptions(drawn), supports);
    await runAsyncDuel({
      spec,
      commands: all.flatMap((one) => commandOf(one, implementation)),
      open: (given) => implementation.open(context, { ...given, seed: 1 }),
      checkEvery,
      movesLater: !isExact,
      ...(trusted === undefined ? {} : { trusted }),
    });
  };
  const numRuns = programs;
  await fc.assert(fc.asyncProperty(options, list, play), { seed, numRuns, endOnFailure: !isExact });
}

function commandOf(command: Command, { isExact, supports }: Implementation): Command[] {
  const one = isExact ? command : clocklessCommand(command);
  if (one === undefined || one.do === "drain" || one.do === "nextDueAt") return [];
  if (one.do === "hostAddress" && !supports.groups) return [];
  if (one.do === "forget" && one.epoch === "forever" && !supports.foreverBeside) return [];
  if (!supports.hostsApart) return apartOf(one);
  return [one.do === "setRules" ? { ...one, rules: supportedRules(one.rules, supports) } : one];
}

/** A host without work is forgotten, and with it when it joined; `clear` forgets clocks; a redirect does not keep an epoch of its own. */
function apartOf(one: Command): Command[] {
  if (one.do === "put" || one.do === "clear" || one.do === "redirect") return [];
  if (one.do !== "push") return [one];
  const { dueInMs: _, ...now } = one;
  return [now];
}

/** Registers the random part for an implementation. */
export function random(implementation: Implementation, length: Length): void {
  const { name } = implementation;
  describe(`${name}: random programs`, () => {
    it("answer as the naive model does", async (context) => {
      const seed = testSeed(`conformance ${name}`);
      const programs = stressRounds(length.programs, length.perSecond);
      await playPrograms(context, implementation, { ...length, programs, seed });
      expect(programs).toBeGreaterThan(0);
    });

    if (length.withRules === false) return;
    it("answer as the naive model does, with rules that change", async (context) => {
      const seed = testSeed(`conformance rules ${name}`);
      const programs = stressRounds(length.programs, length.perSecond);
      await playPrograms(context, implementation, { ...length, programs, seed }, true);
      expect(programs).toBeGreaterThan(0);
    });
  });
}
