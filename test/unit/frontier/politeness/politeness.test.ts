/** What hosts learn from outcomes: delays from latencies, back-off from failures, blocks, and budgets of bytes. */
import { describe, expect, it } from "vitest";
import type { Lease, RulePolicy } from "../../../../src/engine/types/frontier-types.ts";
import { openBench } from "../../../support/bench-frontier.ts";

const HOST = "a.com";
const page = (at: number, host = HOST): string => `http://${host}/${at}`;
const pages = (count: number, host = HOST): string[] =>
  Array.from({ length: count }, (_, at) => page(at, host));

function openPolite(politeness: RulePolicy["politeness"], more: RulePolicy = {}) {
  const bench = openBench({ defaults: { ...more, politeness: politeness ?? {} } });
  const { frontier, clock } = bench;
  frontier.pushMany(pages(40));
  /** How long the host waits after a visit that ends like this. */
  const gapAfter = (end: (lease: Lease) => unknown): number => {
    end(frontier.poll() as Lease);
    const dueAt = frontier.nextDueAt() as number;
    const gap = dueAt - clock.now();
    if (gap > 1) {
      clock.advance(gap - 1);
      expect(frontier.poll()).toBe(undefined);
    }
    clock.advance(dueAt - clock.now());
    return gap;
  };
  return { ...bench, gapAfter };
}

describe("the adaptive delay", () => {
  it.each([
    [10, 20],
    [30, 30],
    [500, 200],
  ])("is %d ms within its bounds before any latency is known: %d", (delayMs, first) => {
    const { frontier } = openPolite({ delayMs, adaptive: { factor: 2, minMs: 20, maxMs: 200 } });
    expect(frontier.host(HOST).delayMs).toBe(first);
    expect(frontier.host("nobody.com").delayMs).toBe(first);
  });

  it("is the factor times the last latency within its bounds, the rule's own before the first", () => {
    const { frontier, gapAfter, check } = openPolite({
      ...{ delayMs: 30, adaptive: { factor: 2, minMs: 20, maxMs: 200 } },
    });
    expect(gapAfter((lease) => lease.done())).toBe(30);
    const gaps = [50, 1, 5_000, 0].map((latencyMs) =>
      gapAfter((lease) => lease.done({ outcome: { latencyMs } })),
    );
    expect(gaps).toEqual([100, 20, 200, 20]);
    // What is not said changes nothing, and what is set by hand stands above it.
    expect(gapAfter((lease) => lease.done({ outcome: { status: 200 } }))).toBe(20);
    frontier.host(HOST).delayMs = 7;
    expect(gapAfter((lease) => lease.fail("x", { latencyMs: 80 }))).toBe(7);
    check();
  });
});

describe("back-off", () => {
  const hostBackoff = { after: 2, baseMs: 100, maxMs: 350 };

  it("doubles from its base to its most with every failure in a row, and ends with an answer", () => {
    const { gapAfter, check } = openPolite({ hostBackoff });
    const fail = (lease: Lease): unknown => lease.fail("x");
    const busy = (lease: Lease): unknown => lease.done({ outcome: { status: 503 } });
    const well = (lease: Lease): unknown => lease.done({ outcome: { status: 200 } });
    const gaps = [fail, fail, busy, fail, fail, well, busy, fail].map(gapAfter);
    expect(gaps).toEqual([0, 100, 200, 350, 350, 0, 0, 100]);
    check();
  });

  it("gives the host up after so many: what is pending fails, and others go on", () => {
    const { frontier, clock, check } = openPolite({
      hostBackoff: { ...hostBackoff, giveUpAfter: 3 },
    });
    frontier.push(page(0, "b.com"));
    const told: string[] = [];
    frontier.on("failed", (views) => told.push(...views.map(({ reason }) => `${reason}`)));
    for (let failures = 0; failures < 3; failures++) {
      const lease = frontier.pollMany(2).find(({ host }) => host === HOST);
      lease?.fail("down");
      clock.advance(400);
    }
    expect(frontier.report()).toMatchObject({ failed: 40, pending: 0, leased: 1 });
    expect([told.filter((one) => one === "down").length, new Set(told).size]).toEqual([3, 2]);
    expect(frontier.requeue({ state: "failed" })).toBe(40);
    check();
  });
});

describe("a block", () => {
  it("that an outcome asks for never shortens the one before, and one by hand may", () => {
    const { frontier, clock } = openPolite({ perHost: 2 });
    const [first, second] = frontier.pollMany(2);
    const untilMs = clock.now() + 500;
    for (const [lease, retryAfterMs] of [
      [first, 500],
      [second, 90],
    ] as const) {
      lease?.done({ outcome: { retryAfterMs } });
      expect([frontier.poll(), frontier.nextDueAt()]).toEqual([undefined, untilMs]);
    }
    frontier.host(HOST).blockUntil(untilMs - 400);
    expect(frontier.nextDueAt()).toBe(untilMs - 400);
  });
});

describe("a budget", () => {
  it("of bytes ends pushes to a host once they were fetched, not what is in already", () => {
    const { frontier, check } = openPolite({ budget: { bytes: 1_000 } });
    frontier.poll()?.done({ outcome: { bytes: 999 } });
    expect(frontier.push(page(100)).status).toBe("accepted");
    frontier.poll()?.done({ outcome: { bytes: 1 } });
    expect(frontier.push(page(101))).toMatchObject({ status: "rejected", reason: "budget" });
    expect(frontier.push(page(0))).toMatchObject({ status: "duplicate" });
    expect(frontier.push(page(0, "b.com")).status).toBe("accepted");
    const last = frontier.poll() as Lease;
    expect(last.done({ found: [page(102), page(1, "b.com")] })).toMatchObject({
      ...{ accepted: 1, rejected: 1 },
    });
    expect(frontier.report().rejected).toEqual({ budget: 2 });
    check();
  });
});

describe("the breaker", () => {
  it("counts what failed within its time alone, pauses for its time, and begins anew", () => {
    const breaker = { failures: 3, withinMs: 100, pauseMs: 1_000 };
    const { frontier, clock, check } = openBench({ breaker });
    frontier.pushMany(pages(20));
    const failAt = (...gaps: number[]): string => {
      for (const gap of gaps) {
        clock.advance(gap);
        frontier.poll()?.fail("x");
      }
      return frontier.status;
    };
    expect(failAt(0, 50, 50, 50, 60, 99)).toBe("running"); // never three within 100 ms
    expect(failAt(1)).toBe("running");
    expect(failAt(0)).toBe("paused");
    expect([frontier.poll(), frontier.nextDueAt()]).toEqual([undefined, clock.now() + 1_000]);
    clock.advance(999);
    expect(frontier.status).toBe("paused");
    clock.advance(1);
    expect(failAt(0, 0)).toBe("running"); // those before the pause count no more
    expect(failAt(0)).toBe("paused");
    frontier.resume();
    expect(frontier.poll()?.url).toBe(page(11));
    check();
  });
});
