/** What is said of the future is what then comes: `peek` against `pollMany`, `nextDueAt` against a poll at every millisecond. */
import { describe, expect, it } from "vitest";
import type { Random } from "../../src/base/random.ts";
import type { Lease, RequestView } from "../../src/engine/types.ts";
import { seeded, stressRounds, stressTimeoutMs, testSeed } from "../support/seed.ts";
import { openProgram, type ProgramOptions } from "../support/steered-program.ts";

const CALLS = 300;

const told = (all: ReadonlyArray<RequestView | Lease>): string[] =>
  all.map(({ url, priority, depth, attempt, deliveries, rule }) =>
    [url, priority, depth, attempt, deliveries, rule].join(),
  );

/** What a report says of the records; memory and rates are of the machine. */
function facts({ frontier }: { frontier: { report(): object } }): string {
  return JSON.stringify({ ...frontier.report(), memory: 0, rates: 0 });
}

/** Every second call looks ahead: twice the same, nothing changed, and the poll gives just that. */
function lookAhead(random: Random, options: ProgramOptions): void {
  const program = openProgram(random, options);
  const { frontier, leases } = program;
  for (let call = 0; call < CALLS; call++) {
    program.turn();
    if (random.below(2) === 0) continue;
    const max = 1 + random.below(6);
    const before = facts(program);
    const looks = [told(frontier.peek(max)), told(frontier.peek(max))];
    expect(facts(program), `call ${call}: a look changes nothing`).toBe(before);
    if (call % 16 === 0) program.check();
    const given = frontier.pollMany(max);
    expect([told(given), told(given)], `call ${call}: what was told comes`).toEqual(looks);
    leases.push(...given);
  }
  program.check();
}

describe("what is told ahead", () => {
  it.each<[string, ProgramOptions]>([
    ["under all that decides who goes", {}],
    ["where somebody sets the clock", { jumps: true }],
    ["where leases run out and records come late", { jumps: true, leaseMs: 15, isLate: true }],
  ])(
    "by peek is what a poll gives then, %s",
    (name, options) => {
      const base = testSeed(`peek ${name}`);
      for (let round = 0; round < stressRounds(12, 4); round++) {
        seeded(base + round, (random) => lookAhead(random, options));
      }
    },
    stressTimeoutMs(120_000),
  );
});
