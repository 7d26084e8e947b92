/** What is said of the future is what then comes: `peek` against `pollMany`, `nextDueAt` against a poll at every millisecond. */
import { describe, expect, it } from "vitest";
import type { Random } from "../../src/base/random.ts";
import type { Lease, RequestView } from "../../src/engine/types/frontier-types.ts";
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

/** Clocks that one look walks at most (forecast.ts): what is told may be early where there are more. */
const CLOCKS = 40;
/** How far the clock is stepped, where nothing comes or it comes late. */
const STEPS = 90;

/** Every now and then the clock is stepped to what nextDueAt tells: nothing comes before it, something at it, and it never tells otherwise. */
function waitAhead(random: Random, options: ProgramOptions): number {
  const program = openProgram(random, options);
  const { frontier, leases, now } = program;
  let waits = 0;
  for (let call = 0; call < CALLS; call++) {
    program.turn();
    if (random.below(3) === 0) leases.push(...frontier.pollMany(1 + random.below(3)));
    if (random.below(12) > 0) continue;
    const { waiting, leased } = frontier.report();
    const dueAt = frontier.nextDueAt();
    const endMs = Math.min(dueAt ?? Number.POSITIVE_INFINITY, now() + STEPS);
    for (; now() < endMs; program.set(1)) {
      const early = told(frontier.pollMany(9));
      const at = `call ${call}: ${(dueAt ?? 0) - now()} before`;
      expect(early, at).toEqual([]);
      if (waiting + leased < CLOCKS) expect(frontier.nextDueAt(), at).toBe(dueAt);
    }
    if (now() !== dueAt) continue;
    waits++;
    const given = frontier.pollMany(9);
    leases.push(...given);
    if (given.length > 0 || waiting + leased >= CLOCKS) continue;
    expectNothing(program, `call ${call}: at it`);
  }
  program.check();
  return waits;
}

/** Where the first clock was told, for none brings a lease about, nothing comes until none is left. */
function expectNothing({ frontier, now, set }: ReturnType<typeof openProgram>, at: string): void {
  for (let dueAt = frontier.nextDueAt(); dueAt !== undefined; dueAt = frontier.nextDueAt()) {
    expect(dueAt, at).toBeGreaterThan(now());
    set(dueAt - now());
    expect(told(frontier.pollMany(9)), at).toEqual([]);
  }
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
      for (let round = 0; round < stressRounds(8, 4); round++) {
        seeded(base + round, (random) => lookAhead(random, options));
      }
    },
    stressTimeoutMs(600_000),
  );

  it.each<[string, ProgramOptions]>([
    ["under all that decides who goes", { isFixed: true }],
    ["where leases run out and records come late", { isFixed: true, leaseMs: 15, isLate: true }],
    ["where somebody sets the clock", { isFixed: true, leaseMs: 25, jumps: true }],
  ])(
    "by nextDueAt is when a poll gives something, and not before, %s",
    (name, options) => {
      const base = testSeed(`due ${name}`);
      const rounds = stressRounds(8, 4);
      let waits = 0;
      for (let round = 0; round < rounds; round++) {
        seeded(base + round, (random) => {
          waits += waitAhead(random, options);
        });
      }
      expect(waits).toBeGreaterThan(6 * rounds);
    },
    stressTimeoutMs(600_000),
  );
});
