/**
 * The machine's clock is set, back an hour or ahead a day, in mid-crawl: nothing is lost or hangs, and no host is visited too soon but
 * where the clock itself said that the time had come (docs/guides/embedding.md, "A clock that is set back").
 */
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../../src/base/clock.ts";
import type { Random } from "../../../../src/base/random.ts";
import type { Lease } from "../../../../src/engine/types/frontier-types.ts";
import { openBench, settled } from "../../../support/bench-frontier.ts";
import { seeded, stressRounds, testSeed } from "../../../support/seed.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const DELAY = 1_000;

interface SetClock extends Clock {
  /** Real time goes on; waits fire like timers, by it and not by the wall. */
  pass(ms: number): void;
  /** Somebody sets the wall clock. */
  set(byMs: number): void;
}

function createSetClock(): SetClock {
  let passed = 0;
  let wall = 1_000 * DAY;
  let waits: Array<{ at: number; fn: () => void }> = [];
  return {
    now: () => wall,
    monotonic: () => passed,
    schedule(atMs, fn) {
      const wait = { at: passed + Math.max(atMs - wall, 1), fn };
      waits.push(wait);
      return () => {
        waits = waits.filter((one) => one !== wait);
      };
    },
    pass(ms) {
      const end = passed + ms;
      for (;;) {
        const next = waits.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        waits = waits.filter((one) => one !== next);
        wall += Math.max(next.at - passed, 0);
        passed = Math.max(next.at, passed);
        next.fn();
      }
      wall += end - passed;
      passed = end;
    },
    set(byMs) {
      wall += byMs;
    },
  };
}

/** Ends a lease or, where its worker dies, does not; false: nothing ended now, since it had run out when the clock was set. */
function isEnded(lease: Lease, kind: number): boolean {
  if (kind === 0) return lease.retry() !== "late";
  if (kind === 1) return lease.fail("no");
  return kind > 2 && !lease.done().late;
}

/** One crawl in which the clock is set again and again; the moments of real time at which hosts were let out too soon. */
async function crawlOf(random: Random, jumps: readonly number[]): Promise<string[]> {
  const clock = createSetClock();
  const { frontier, check } = openBench({
    clock,
    leaseMs: 30_000,
    defaults: { politeness: { delayMs: DELAY }, backoff: { baseMs: 500 }, maxAttempts: 2 },
  });
  const urls = Array.from({ length: 60 }, (_, at) => `http://h${at % 7}.com/${at}`);
  frontier.pushMany(urls);
  frontier.push({ url: "http://later.com/", notBefore: clock.now() + 20_000 });
  const soon: string[] = [];
  const freeAt = new Map<string, number>();
  let isOver = false;
  let back = 0;
  const visit = (lease: Lease): void => {
    const { host } = lease;
    const now = clock.monotonic();
    if (now < (freeAt.get(host) ?? 0)) soon.push(`${host} at ${now}`);
    clock.pass(random.below(300));
    const kind = random.below(8);
    if (isEnded(lease, kind)) freeAt.set(host, clock.monotonic() + DELAY);
  };
  const work = (async () => {
    for (;;) {
      const leases = await frontier.take({ max: 2 });
      if (leases.length === 0) break;
      for (const lease of leases) visit(lease);
      check();
    }
    isOver = true;
  })();
  const times = jumps.map(() => random.below(40));
  for (let turn = 0; !isOver && turn < 12_000; turn++) {
    jumps.forEach((byMs, at) => {
      if (times[at] !== turn) return;
      clock.set(byMs);
      if (byMs > 0)
        freeAt.clear(); // by the wall their time has come
      else back -= byMs;
    });
    clock.pass(turn < 200 ? 1_000 : 20_000); // less than a lease lasts
    await settled();
  }
  expect(isOver).toBe(true); // nothing waits for ever
  await work;
  // What was set back is waited for, and not twice.
  expect(clock.monotonic()).toBeLessThan(200_000 + 2 * back + 600_000);
  const { pending, waiting, leased, done, failed } = frontier.report();
  expect([pending, waiting, leased, done + failed]).toEqual([0, 0, 0, urls.length + 1]);
  check();
  await frontier.close();
  return soon;
}

describe("a clock that is set in mid-crawl", () => {
  it.each<[string, number[]]>([
    ["back an hour", [-HOUR]],
    ["ahead a day", [DAY]],
    ["ahead a day and right again", [DAY, -DAY]],
    ["back and forth", [-HOUR, 2 * HOUR, -HOUR, 5_000, -5_000]],
  ])("%s: all is visited in the end, no host too soon", async (name, jumps) => {
    const base = testSeed(`clock set ${name}`);
    for (let round = 0; round < stressRounds(3, 3); round++) {
      const soon: string[] = [];
      const runs: Promise<string[]>[] = [];
      seeded(base + round, (random) => runs.push(crawlOf(random, jumps)));
      for (const run of runs) soon.push(...(await run));
      expect({ seed: (base + round) >>> 0, soon }).toEqual({
        seed: (base + round) >>> 0,
        soon: [],
      });
    }
  });

  it("keeps hosts that were just visited by as much as it was set back, and no others", () => {
    const clock = createSetClock();
    const { frontier, check } = openBench({ clock, defaults: { politeness: { delayMs: DELAY } } });
    frontier.pushMany(["http://a.com/1", "http://a.com/2", "http://b.com/1"]);
    frontier.poll()?.done();
    clock.set(-HOUR);
    const other = frontier.poll();
    expect(other?.host).toBe("b.com");
    other?.done();
    expect(frontier.poll()).toBeUndefined();
    expect(frontier.nextDueAt()).toBe(clock.now() + HOUR + DELAY);
    clock.pass(HOUR + DELAY - 1);
    expect(frontier.poll()).toBeUndefined();
    clock.pass(1);
    expect(frontier.poll()?.url).toBe("http://a.com/2");
    check();
  });
});

it("a look at what comes next, after the clock was set back, leaves it where it was", () => {
  const clock = createSetClock();
  const politeness = { delayMs: DELAY, perHost: 2 };
  const { frontier, check } = openBench({ clock, defaults: { politeness } });
  frontier.pushMany(["http://a.com/1", "http://a.com/2"]);
  frontier.poll();
  clock.pass(DELAY);
  expect(frontier.nextDueAt()).toBe(clock.now());
  clock.set(-HOUR); // the host had been let go already
  const looks = [1, 2].map(() => frontier.peek(2).map(({ url }) => url));
  check();
  expect(looks).toEqual([["http://a.com/2"], ["http://a.com/2"]]);
  expect(frontier.pollMany(2).map(({ url }) => url)).toEqual(["http://a.com/2"]);
  check();
});

it("nor does a look shut a group again that had let its hosts go, or its hosts wait for what comes in later", () => {
  const clock = createSetClock();
  const groups = [{ by: "domain" as const, delayMs: DELAY }];
  const { frontier, check } = openBench({ clock, defaults: { politeness: { groups } } });
  frontier.pushMany(["http://a.x.com/1", "http://b.x.com/1", "http://c.x.com/1"]);
  frontier.poll();
  clock.pass(DELAY);
  expect(frontier.nextDueAt()).toBe(clock.now());
  clock.set(-HOUR); // the group had let b go already
  const looks = [1, 2].map(() => frontier.peek(2).map(({ url }) => url));
  check();
  expect(looks).toEqual([["http://b.x.com/1"], ["http://b.x.com/1"]]);
  frontier.push("http://b.x.com/2");
  expect(frontier.pollMany(2).map(({ url }) => url)).toEqual(["http://b.x.com/1"]);
  check();
  expect(frontier.nextDueAt()).toBe(clock.now() + DELAY); // by the clock as it is now
});
