/**
 * Memory that is really at its end, in a small region: short URLs, then long ones until nothing is accepted, then short ones until nothing
 * is; then every lease there is room for, and every end of it. What is in can always go on (frontier/room.ts, I2).
 */
import { describe, expect, it } from "vitest";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import type { FrontierOptions, Lease } from "../../src/index.ts";
import { openBench } from "../support/bench-frontier.ts";

const PAGES = 900;
const SHORT = 130_000;
const PAD = "x".repeat(1_900);
/** Under load a run takes a while; nothing here waits. */
const LIMIT_MS = 600_000;

type Bench = ReturnType<typeof openBench>;

/** Hosts of 40 domains, so that a group holds several hosts. */
function hostNameOf(at: number, hosts: number): string {
  const host = at % hosts;
  return `h${host}.d${host % 40}.example`;
}

function fill({ frontier }: Bench, hosts: number): number {
  const short = (at: number): string => `http://${hostNameOf(at, hosts)}/${at}`;
  let accepted = frontier.pushMany(Array.from({ length: SHORT }, (_, at) => short(at))).accepted;
  expect(accepted).toBe(SHORT);
  for (let at = 0, isOpen = true; isOpen; at += 500) {
    const urls = Array.from({ length: 500 }, (_, row) => `http://long.example/${at + row}/${PAD}`);
    const pushed = frontier.pushMany(urls).accepted;
    accepted += pushed;
    isOpen = pushed > 0;
  }
  for (let at = SHORT; frontier.push(short(at)).status === "accepted"; at++) accepted++;
  expect(frontier.push("http://h0.d0.example/last")).toMatchObject({
    status: "full",
    reason: "memory",
  });
  return accepted;
}

/** All leases that there is room for. */
function leaseAll({ frontier }: Bench, most: number): Lease[] {
  const leases: Lease[] = [];
  for (;;) {
    try {
      const more = frontier.pollMany(Math.min(997, most - leases.length));
      if (more.length === 0) return leases;
      leases.push(...more);
    } catch (error) {
      expect(error).toMatchObject({ code: "MEMORY_FULL" });
      return leases;
    }
  }
}

/** Groups that let as many leases out as there is memory for. */
const WIDE = [{ by: "domain" as const, limit: 1_000_000 }];
/** Groups that stop after a few leases, and by their clocks: most hosts are parked behind them. */
const NARROW = [{ by: "domain" as const, limit: 3, delayMs: 10 }];

const KINDS: Array<[string, FrontierOptions, number]> = [
  ["one rule", {}, 50],
  ["hosts that take turns", { defaults: { politeness: { perHost: 1_000_000 } } }, 2_000],
  ["pages that come again", { defaults: { epoch: { every: 1_000 } } }, 50],
  ["hosts in groups", { defaults: { politeness: { perHost: 1_000_000, groups: WIDE } } }, 2_000],
];

describe.each(KINDS)("a frontier at the end of memory: %s", (_, options, hosts) => {
  it(
    "loses nothing, ends every lease in every way, and wakes what waits",
    () => {
      const bench = openBench({ leaseMs: 1_000_000, ...options }, { pageCountMax: PAGES });
      const { clock, frontier, check } = bench;
      const accepted = fill(bench, hosts);
      const leases = leaseAll(bench, accepted);
      expect(leases.length).toBeGreaterThan(50_000);
      expect(leases.length).toBeLessThan(accepted);
      expect(new Set(leases.map(({ url }) => url)).size).toBe(leases.length);
      expect(frontier.report()).toMatchObject({
        leased: leases.length,
        pending: accepted - leases.length,
      });
      check();
      // Each of its own priority, so that each wants a lane of its own when it is back.
      const half = leases.length >> 1;
      for (const [at, lease] of leases.slice(0, half).entries()) {
        expect(lease.retry({ delayMs: 5_000, priority: at })).toBe("requeued");
      }
      expect(frontier.report()).toMatchObject({ waiting: half, retried: half });
      check();
      const rest = leases.slice(half);
      const third = Math.floor(rest.length / 3);
      for (const lease of rest.slice(0, third)) expect(lease.release()).toBe(true);
      for (const lease of rest.slice(third, 2 * third)) expect(lease.fail("gone")).toBe(true);
      const last = rest.slice(2 * third);
      expect(frontier.done(last)).toBe(last.length);
      expect(frontier.report()).toMatchObject({ leased: 0, failed: third, done: last.length });
      check();
      clock.advance(5_000);
      expect(frontier.report().waiting).toBe(0);
      check();
      let finished = last.length;
      for (;;) {
        const more = leaseAll(bench, 20_000);
        if (more.length === 0) break;
        finished += frontier.done(more);
        if (finished > 2 * accepted) break; // pages that come again come for ever
      }
      if (options.defaults?.epoch === undefined) {
        expect(frontier.report()).toMatchObject({ pending: 0, waiting: 0, done: accepted - third });
      }
      check();
    },
    LIMIT_MS,
  );

  it(
    "lets every lease run out, and hands each out again",
    () => {
      const bench = openBench({ leaseMs: 1_000, ...options }, { pageCountMax: PAGES });
      const { clock, frontier, check } = bench;
      const accepted = fill(bench, hosts);
      const leases = leaseAll(bench, accepted);
      clock.advance(1_000);
      expect(frontier.report()).toMatchObject({
        leased: 0,
        expired: leases.length,
        pending: accepted,
      });
      const again = new Set(leaseAll(bench, leases.length).map(({ url }) => url));
      // A page of them may find its memory in use for something else now.
      expect(again.size).toBeGreaterThan(leases.length * 0.98);
      if (hosts === 50)
        expect(leases.slice(0, again.size).every(({ url }) => again.has(url))).toBe(true);
      check();
    },
    LIMIT_MS,
  );
});

describe("groups at the end of memory", () => {
  it(
    "let their hosts out as their clocks pass and their leases end, and lose none",
    () => {
      const politeness = { perHost: 2, groups: NARROW };
      const bench = openBench(
        { leaseMs: 1_000, defaults: { politeness } },
        { pageCountMax: PAGES },
      );
      const { clock, frontier, check } = bench;
      const accepted = fill(bench, 2_000);
      const seen = new Set<string>();
      let finished = 0;
      let leased: Lease[] = [];
      let full = 0;
      for (let round = 0; round < 300; round++) {
        let more: Lease[] = [];
        try {
          more = frontier.pollMany(500);
        } catch (error) {
          expect(error).toMatchObject({ code: "MEMORY_FULL" });
          full++;
        }
        for (const { url } of more) {
          expect(seen.has(url), url).toBe(false);
          seen.add(url);
        }
        leased.push(...more);
        // Ends of every sort, each of which moves hosts from gate to gate.
        const [one, two, ...rest] = leased;
        if (one?.retry({ delayMs: 50 }) === "requeued") seen.delete(one.url);
        if (two?.release() === true) seen.delete(two.url);
        finished += frontier.done(rest);
        leased = [];
        frontier.push(`http://${hostNameOf(round, 2_000)}/late/${round}`);
        clock.advance(10);
        if (round % 50 === 0) check();
      }
      expect(full).toBeLessThan(300);
      expect(finished).toBeGreaterThan(2_000);
      const { accepted: all, done, pending, waiting } = frontier.report();
      expect(all).toBeGreaterThanOrEqual(accepted);
      expect({ done, sum: done + pending + waiting }).toEqual({ done: finished, sum: all });
      check();
    },
    LIMIT_MS,
  );
});

describe("a caller who waits at the end of memory", () => {
  it(
    "is told so, and has leases again when some have ended",
    async () => {
      const bench = openBench({ leaseMs: 1_000_000 }, { pageCountMax: PAGES });
      const accepted = fill(bench, 50);
      const leases = leaseAll(bench, accepted);
      const waiting = bench.frontier.take({ max: 3 }).catch((error: unknown) => error);
      await expect(waiting).resolves.toMatchObject({ code: "MEMORY_FULL" });
      for (const lease of leases.splice(0, 2_000)) expect(lease.done().late).toBe(false);
      expect(leaseAll(bench, accepted).length).toBeGreaterThan(0);
      verifyFrontier(bench.frontier);
    },
    LIMIT_MS,
  );
});
