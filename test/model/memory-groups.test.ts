/**
 * Groups, shares and limits of hosts with the memory at its end: URLs go in until they are refused, leases end in every way, and rules are
 * replaced while hosts wait behind their groups. No call throws but for want of memory, no URL is lost, and all of them come to an end.
 */
import { expect, it } from "vitest";
import type { Lease, Rule } from "../../src/index.ts";
import { openBench } from "../support/bench-frontier.ts";
import { checkConservation } from "../support/duel.ts";
import { seeded, stressRounds, stressTimeoutMs, testSeed } from "../support/seed.ts";
import type { Random } from "../../src/base/random.ts";

/** Some more than the frontier keeps free for what is in. */
const PAGES = 420;
const STEPS = 250;
const LEASE_MS = 200;
const PAD = "x".repeat(1_500);

const urlOf = (at: number, isLong: boolean): string =>
  `http://h${at % 97}.d${at % 7}.example/${at}${isLong ? PAD : ""}`;

/** Rules with shares, of which some have groups. */
function rulesFrom(random: Random): Rule[] {
  const groupsOf = [
    undefined,
    [{ by: "domain" as const, limit: 2, delayMs: 5 }],
    [{ by: "address" as const, limit: 3 }],
    [
      { by: (host: string) => host.slice(0, 2), delayMs: 3 },
      { by: "domain" as const, limit: 1 },
    ],
  ];
  const rest: Rule = { id: "rest", politeness: { perHost: 2 } };
  const rules = Array.from({ length: 1 + random.below(3) }, (_, at): Rule => {
    const groups = groupsOf[random.below(groupsOf.length)];
    return {
      id: `r${at}`,
      match: { domains: [`d${random.below(7)}.example`] },
      share: { priority: 1 + random.below(2), weight: 1 + random.below(5) },
      politeness: {
        perHost: 1 + random.below(3),
        delayMs: random.below(4),
        ...(groups && { groups }),
      },
    };
  });
  return [...rules, rest];
}

function isFull(error: unknown): boolean {
  return (error as { code?: unknown }).code === "MEMORY_FULL";
}

function play(random: Random): { full: number; thrown: number; handedOut: number } {
  const bench = openBench({ leaseMs: LEASE_MS, rules: rulesFrom(random) }, { pageCountMax: PAGES });
  const { frontier, clock, check } = bench;
  const open = new Set<string>();
  const leases: Lease[] = [];
  let next = 0;
  let full = 0;
  let thrown = 0;
  let handedOut = 0;
  /** A call that may be refused for want of memory, and then has changed nothing. */
  const attempt = (call: () => unknown): boolean => {
    try {
      call();
      return true;
    } catch (error) {
      if (!isFull(error)) throw error;
      thrown++;
      return false;
    }
  };
  const push = (count: number, isLong: boolean): void => {
    const urls = Array.from({ length: count }, (_, row) => urlOf(next + row, isLong));
    next += count;
    const pushed = frontier.pushMany(urls);
    urls.forEach((url, row) => {
      const { status } = pushed.verdict(row);
      if (status === "accepted") open.add(url);
      else expect(status).toBe("full");
    });
    full += pushed.full;
  };
  const end = (lease: Lease): void => {
    const { url } = lease;
    const outcome = { address: `10.0.0.${random.below(9)}` };
    const ends: Array<() => void> = [
      () => {
        if (!lease.done({ outcome }).late) open.delete(url);
      },
      () => {
        if (lease.fail("no", outcome)) open.delete(url);
      },
      () => void lease.release(),
      () => {
        if (lease.retry({ delayMs: random.below(30) }) === "failed") open.delete(url);
      },
    ];
    if (!attempt(ends[random.below(ends.length)] as () => void)) leases.push(lease);
  };
  for (let step = 0; step < STEPS; step++) {
    const kind = random.below(10);
    if (kind < 3) push(1 + random.below(4_000), random.below(3) === 0);
    else if (kind < 6) {
      attempt(() => leases.push(...frontier.pollMany(1 + random.below(300))));
      handedOut += leases.length;
    } else if (kind < 8) for (const lease of leases.splice(0, random.below(200))) end(lease);
    else if (kind === 8) attempt(() => frontier.setRules(rulesFrom(random)));
    else clock.advance(random.below(random.below(10) === 0 ? 2 * LEASE_MS : 20));
    checkConservation(frontier.report() as never);
    if (step % 40 === 0) check();
  }
  drain(bench, open, attempt);
  check();
  // Leases that passed their deadlines too often have failed.
  for (const url of open) if (frontier.record(url)?.state === "failed") open.delete(url);
  expect([...open].slice(0, 3), "never handed out").toEqual([]);
  const { pending, waiting, leased } = frontier.report();
  expect({ pending, waiting, leased }).toEqual({ pending: 0, waiting: 0, leased: 0 });
  return { full, thrown, handedOut };
}

/** Lets all that was accepted and has not ended come to its end. */
function drain(
  { frontier, clock }: ReturnType<typeof openBench>,
  open: Set<string>,
  attempt: (call: () => unknown) => boolean,
): void {
  for (
    let idle = 0;
    frontier.report().pending + frontier.report().waiting > 0 && idle < 500;
    idle++
  ) {
    clock.advance(50);
    attempt(() => {
      for (const lease of frontier.pollMany(500)) {
        if (lease.done().late) continue;
        open.delete(lease.url);
        idle = 0;
      }
    });
  }
}

it(
  "groups, shares and replaced rules lose nothing at the end of memory",
  () => {
    const suffered = { full: 0, thrown: 0, handedOut: 0 };
    const seed = testSeed("groups at the end of memory");
    for (let round = 0; round < stressRounds(5, 1); round++) {
      seeded(seed + round, (random) => {
        const { full, thrown, handedOut } = play(random);
        suffered.full += full;
        suffered.thrown += thrown;
        suffered.handedOut += handedOut;
      });
    }
    expect(suffered.full).toBeGreaterThan(0);
    expect(suffered.handedOut).toBeGreaterThan(1_000);
  },
  stressTimeoutMs(600_000),
);
