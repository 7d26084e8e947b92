/**
 * A soak: the same small frontier works through millions of URLs, forgets them from time to time, and
 * its memory returns to the level after the first cycles. CI: 10⁶ transitions, `SIMULATION=full`: 10⁸,
 * `SOAK_TRANSITIONS=`: any other number. `OUTRIDER_VERIFY=0` leaves out the asserts of hot loops.
 */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { checkConservation } from "../support/duel.ts";
import { engine } from "../support/engine.ts";
import type { SyncFrontier, SyncLease } from "../support/frontier-surface.ts";
import { stressSeconds } from "../support/seed.ts";

const isFull = process.env.SIMULATION === "full" || stressSeconds() >= 600;
const TRANSITIONS = Number(process.env.SOAK_TRANSITIONS ?? (isFull ? 1e8 : 1e6));
const URLS_PER_CYCLE = 20_000;
const HOSTS = 500;
const TOLD_EVERY = 10_000_000;

type Clock = ReturnType<typeof createVirtualClock>;

describe("a soak", () => {
  it("returns the memory to its baseline", async () => {
    const clock = createVirtualClock(1_000);
    const politeness = { delayMs: 10, perHost: 1 };
    const defaults = { politeness, maxAttempts: 4, backoff: { baseMs: 50, jitter: 0 } };
    const frontier = await engine.open({ clock, leaseMs: 1_000, defaults });
    let transitions = 0;
    let baseline = Number.NaN;
    let told = 0;
    for (let cycle = 0; transitions < TRANSITIONS; cycle++) {
      transitions += runCycle(frontier, clock, cycle);
      checkConservation(frontier.report());
      // The first two cycles bring every structure to its size.
      if (cycle === 1) baseline = offHeapBytes(frontier);
      if (transitions - told < TOLD_EVERY) continue;
      told = transitions;
      tell(frontier, transitions, baseline);
    }
    engine.verify(frontier);
    tell(frontier, transitions, baseline);
    expect(offHeapBytes(frontier)).toBeLessThanOrEqual(baseline * 1.05);
    await frontier.close();
  }, 36_000_000);
});

function tell(frontier: SyncFrontier, transitions: number, baseline: number): void {
  const { rss, heapUsed } = process.memoryUsage();
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  console.info(
    `${transitions} transitions: ${megabytes(offHeapBytes(frontier))} off the heap (baseline ${megabytes(baseline)}), ` +
      `${megabytes(rss)} resident, ${megabytes(heapUsed)} of heap`,
  );
}

/** Pushes, works everything off with all kinds of ends, forgets; returns the number of transitions. */
function runCycle(frontier: SyncFrontier, clock: Clock, cycle: number): number {
  const urls = Array.from(
    { length: URLS_PER_CYCLE },
    (_, i) => `http://h${i % HOSTS}.test/cycle-${cycle}/page-${i}?name=value-${i}`,
  );
  let transitions = frontier.pushMany(urls).accepted;
  for (let dueMs = frontier.nextDueAt(); dueMs !== undefined; dueMs = frontier.nextDueAt()) {
    clock.advance(Math.max(dueMs - clock.now(), 0));
    const leases = frontier.pollMany(1_000);
    leases.forEach((lease, index) => void endSomehow(lease, index + cycle));
    transitions += 2 * leases.length;
  }
  const { pending, waiting, leased } = frontier.report();
  expect({ pending, waiting, leased }).toEqual({ pending: 0, waiting: 0, leased: 0 });
  frontier.forget();
  return transitions + URLS_PER_CYCLE;
}

function endSomehow(lease: SyncLease, index: number): void {
  const chance = (index * 7_919) % 100;
  if (chance < 5) lease.retry();
  else if (chance < 7) lease.fail("gone");
  else if (chance < 9) lease.release();
  else if (chance < 10) lease.extend(5);
  else lease.done();
}

function offHeapBytes(frontier: SyncFrontier): number {
  const report: object = frontier.report();
  if (!("memory" in report)) throw new Error("report() has no memory");
  return (report.memory as { offHeapBytes: number }).offHeapBytes;
}
