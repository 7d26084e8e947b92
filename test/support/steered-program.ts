/**
 * A random program over a frontier with everything that decides who may go: rules with shares, hosts, groups, adaptive delays, back-off,
 * budgets, holds, leases that run out, and a clock that is set. It checks nothing itself: tests check between its calls.
 */
import { createVirtualClock } from "../../src/base/clock.ts";
import type { Random } from "../../src/base/random.ts";
import type { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import type { Lease, Politeness, Rule } from "../../src/engine/types/frontier-types.ts";
import { openBench } from "./bench-frontier.ts";

export interface SteeredProgram {
  readonly frontier: LocalFrontier;
  readonly leases: Lease[];
  now(): number;
  /** Sets the clock without firing the waits on it. */
  set(byMs: number): void;
  /** One call, or a step of the clock. */
  turn(): void;
  check(): void;
}

export interface ProgramOptions {
  /** Whether the clock is set back and forth. */
  readonly jumps?: boolean;
  readonly leaseMs?: number;
  /** Whether most requests have due times of their own. */
  readonly isLate?: boolean;
  /** Whether the set of rules stays. */
  readonly isFixed?: boolean;
}

const HOSTS = ["a.x.com", "b.x.com", "a.y.com", "b.y.com"];

export function openProgram(random: Random, options: ProgramOptions = {}): SteeredProgram {
  const { jumps = false, leaseMs = 60, isLate = false, isFixed = false } = options;
  const base = createVirtualClock(1_000_000);
  let offset = 0;
  const clock = { ...base, now: () => base.now() + offset };
  const { frontier, check } = openBench({
    ...{ clock, leaseMs, maxDeliveries: 100_000, rules: rulesOf(random) },
    maxLeases: random.below(2) === 0 ? 5 : 100_000,
  });
  const leases: Lease[] = [];
  const program = { frontier, leases, now: clock.now, check };
  const set = (byMs: number): void => {
    offset += byMs;
  };
  const turn = (): void => {
    const kind = random.below(100);
    if (kind < 45) pushOne(random, program, isLate);
    else if (kind < 75) endOne(random, leases);
    else if (kind < 80) frontier.update(urlOf(random), { priority: random.below(11) - 5 });
    else if (kind < 86) steer(random, program);
    else if (kind < 87 && !isFixed) frontier.setRules(rulesOf(random));
    else if (kind < 88) sweep(random, frontier);
    else base.advance(pick(random, [0, 1, 1, 3, 10, 70]));
    if (jumps && random.below(50) === 0) set(pick(random, [-500, 500, -30, 30]));
  };
  return { ...program, set, turn };
}

type Open = Pick<SteeredProgram, "frontier" | "now">;

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}

const urlOf = (random: Random): string => `http://${pick(random, HOSTS)}/${random.below(300)}`;

function politenessOf(random: Random): Politeness | undefined {
  const kinds: Array<Politeness | undefined> = [
    undefined,
    { delayMs: random.below(40), perHost: 1 + random.below(3) },
    { delayMs: 10, by: "domain" },
    { delayMs: 5, groups: [{ by: "domain", delayMs: random.below(12), limit: 2 }] },
    {
      groups: [
        { by: "domain", delayMs: 8 },
        { by: "address", delayMs: 6, limit: 1 },
      ],
    },
    {
      adaptive: { factor: 1, minMs: 2, maxMs: 30 },
      hostBackoff: { after: 1, baseMs: 10, maxMs: 50 },
    },
    { delayMs: 3, budget: { urls: 60, bytes: 5_000 } },
  ];
  return pick(random, kinds);
}

function rulesOf(random: Random): Rule[] {
  const order = (): "fifo" | "lifo" => pick(random, ["fifo", "lifo"] as const);
  const share = () => ({ priority: 1 + random.below(4), weight: random.below(50) });
  const more = (): Pick<Rule, "politeness" | "order" | "share"> => {
    const politeness = politenessOf(random);
    return { order: order(), share: share(), ...(politeness === undefined ? {} : { politeness }) };
  };
  const first: Rule = { id: "a", match: { hosts: ["a.x.com"] }, maxAttempts: 2, ...more() };
  const second: Rule = { id: "b", match: { domains: ["x.com"] }, ...more() };
  const last: Rule = { id: "c", startLast: random.below(2) === 0, ...more() };
  return random.below(4) === 0 ? [last] : [first, second, last];
}

function pushOne(random: Random, { frontier, now }: Open, isLate: boolean): void {
  const isDeferred = random.below(isLate ? 2 : 10) === 0;
  frontier.push({
    ...{ url: urlOf(random), priority: random.below(5) - 2, start: random.below(3) === 0 },
    ...(isDeferred ? { notBefore: now() + random.below(50) } : {}),
    ...(random.below(10) === 0 ? { dedup: pick(random, ["skip", "record"] as const) } : {}),
  });
}

/** One of the leases that are out ends in some way; some are left to expire. */
function endOne(random: Random, leases: Lease[]): void {
  const [lease] = leases.splice(random.below(Math.max(leases.length, 1)), 1);
  if (lease === undefined) return;
  const outcome = {
    ...{ status: pick(random, [200, 503]), latencyMs: random.below(50), bytes: random.below(90) },
    address: pick(random, ["1.1.1.1", "2.2.2.2"]),
    ...(random.below(9) === 0 ? { retryAfterMs: random.below(60) } : {}),
  };
  const kind = random.below(7);
  if (kind < 2) lease.done({ outcome, found: [urlOf(random)] });
  else if (kind === 2) lease.retry({ outcome, delayMs: random.below(40) });
  else if (kind === 3) lease.release();
  else if (kind === 4) lease.fail("x", outcome);
  else if (kind === 5) lease.extend(1 + random.below(30));
}

function steer(random: Random, { frontier, now }: Open): void {
  const host = frontier.host(pick(random, [...HOSTS, "x.com"]));
  const kind = random.below(7);
  if (kind === 0) host.hold();
  else if (kind < 3) host.unhold();
  else if (kind === 3) host.delayMs = random.below(20);
  else if (kind === 4) host.limit = 1 + random.below(3);
  else if (kind === 5) host.blockUntil(now() - 10 + random.below(50));
  else host.address = pick(random, ["1.1.1.1", "2.2.2.2"]);
}

function sweep(random: Random, frontier: LocalFrontier): void {
  const kind = random.below(4);
  if (kind === 0) frontier.requeue({ all: true });
  else if (kind === 1) frontier.remove({ host: "a.x.com" });
  else if (kind === 2) frontier.forget();
  else frontier.clear();
}
