/**
 * Laws that the model must keep by itself, after every command of random programs: questions
 * change nothing, peek tells what pollMany gives, nextDueAt tells when a poll succeeds.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { runDuel } from "../support/duel.ts";
import type { SyncFrontier } from "../support/frontier-surface.ts";
import { createModelFrontier } from "../support/model-frontier.ts";
import { performCommand, type Side } from "../support/perform.ts";
import { buildOptions, type OptionSpec, optionArbitrary } from "../support/option-sets.ts";
import { type Command, commandsOf, SMALL } from "../support/programs.ts";
import { testSeed } from "../support/seed.ts";

/** Longer than any clock of the programs, so that beyond it nothing can become due. */
const HORIZON_MS = 1_200;

const commandList = fc.array(commandsOf(SMALL), { maxLength: 60, size: "max" });

describe("the model", () => {
  it("is not changed by questions", async () => {
    const verify = (frontier: SyncFrontier): void => {
      const before = JSON.stringify([frontier.report(), frontier.peek(5), frontier.nextDueAt()]);
      const after = JSON.stringify([frontier.report(), frontier.peek(5), frontier.nextDueAt()]);
      expect(after).toBe(before);
    };
    const open = createModelFrontier;
    const programs = fc.asyncProperty(optionArbitrary, commandList, (spec, commands) =>
      runDuel({ spec, commands, trusted: open, suspect: open, verify }),
    );
    await fc.assert(programs, { seed: testSeed("questions"), numRuns: 100 });
  });

  it("gives with pollMany what peek showed", () => {
    const programs = fc.property(optionArbitrary, commandList, (spec, commands) => {
      const { frontier } = play(spec, commands);
      const shown = frontier.peek(5).map(({ url, priority, depth }) => [url, priority, depth]);
      const given = frontier.pollMany(5).map(({ url, priority, depth }) => [url, priority, depth]);
      expect(given).toEqual(shown);
    });
    fc.assert(programs, { seed: testSeed("peek"), numRuns: 300 });
  });

  it("can be polled at nextDueAt and not before", () => {
    const programs = fc.property(optionArbitrary, commandList, (spec, commands) => {
      const { frontier, clock } = play(spec, commands);
      const dueMs = frontier.nextDueAt();
      if (dueMs !== undefined && dueMs > clock.now() + HORIZON_MS) return;
      const endMs = dueMs ?? clock.now() + HORIZON_MS;
      while (clock.now() < endMs) {
        expect(frontier.peek(1)).toEqual([]);
        clock.advance(1);
      }
      expect(frontier.peek(1).length).toBe(dueMs === undefined ? 0 : 1);
    });
    fc.assert(programs, { seed: testSeed("nextDueAt"), numRuns: 100 });
  });
});

/** Runs a program on the model alone; commands that end a lease take the latest one. */
function play(spec: OptionSpec, commands: readonly Command[]): Side {
  const clock = createVirtualClock(1_000);
  const frontier = createModelFrontier(buildOptions(spec, clock));
  const side: Side = { frontier, clock, leases: [] };
  for (const command of commands) performCommand(side, command, [side.leases.length - 1]);
  return side;
}
