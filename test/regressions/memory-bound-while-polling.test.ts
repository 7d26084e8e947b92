/**
 * Polls alone kept no bound on memory: what they brought back from disk stayed until something was pushed. 300,000 visits of hosts with five
 * records each took 130 MB beyond 20 MiB.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFrontier } from "../../src/index.ts";

const HOSTS = 30_000;
const PAGES = 5;
const BUDGET = 8 * 2 ** 20;

test("memory stays within its bound while nothing is pushed", async () => {
  const directory = mkdtempSync(join(tmpdir(), "outrider-polls-"));
  let now = 1_700_000_000_000;
  // A program that never lets the event loop turn: nothing happens in the background.
  const never = (): (() => void) => () => {};
  const clock = { now: () => now, monotonic: () => now, schedule: never, after: never };
  const politeness = { delayMs: 600, perHost: 1 };
  const options = { directory, clock, memoryBytes: BUDGET, seen: { memoryBytes: 16 * 2 ** 20 } };
  const frontier = await openFrontier({ ...options, defaults: { politeness } });
  try {
    for (let page = 0; page < PAGES; page++) {
      for (let from = 0; from < HOSTS; from += 1000) {
        const host = (index: number): number => from + index;
        const urls = Array.from({ length: 1000 }, (_, at) => `http://h${host(at)}.test/${page}`);
        expect(frontier.pushMany(urls).accepted).toBe(1000);
      }
    }
    const before = frontier.report().memory.offHeapBytes;
    let most = 0;
    for (let visits = 0; visits < HOSTS; now++) {
      const leases = frontier.pollMany(32);
      visits += leases.length;
      for (const lease of leases) lease.done();
      most = Math.max(most, frontier.report().memory.offHeapBytes);
    }
    expect(most - before).toBeLessThan(BUDGET / 2);
  } finally {
    await frontier.close({ discard: true });
    rmSync(directory, { recursive: true });
  }
});
