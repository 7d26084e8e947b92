/**
 * The pool under stress: threads that die at random while thousands of leases are out; all seats busy while the frontier closes; memory
 * limits; a handler that never returns; an idle pool that costs nothing.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import type { FrontierOptions } from "../../src/engine/types/frontier-types.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { SHARED_SEATS } from "../../src/layout/threads/worker-seats.ts";
import { stressSeconds } from "../support/seed.ts";
import { until, untilIdle, withPool } from "../support/pool.ts";

const PORT = new URL("../support/port-thread.mjs", import.meta.url);

describe("a pool under fire", () => {
  it("loses and doubles nothing while one lease in 300 kills its thread", async () => {
    const count = 3_000 * Math.max(1, Math.floor(stressSeconds() / 10));
    const options = { frontier: { defaults: { maxAttempts: 50 }, maxDeliveries: 1_000 } };
    await withPool({ ...options, pool: { threads: 3, concurrency: 8 } }, async (rig) => {
      const { frontier, pool } = rig;
      for (let at = 0; at < count; at++) {
        const handler = at % 300 === 7 ? { handler: "stumbles" } : {};
        frontier.push({ url: `http://host${at % 50}.test/2/3/${at}`, ...handler });
      }
      await pool.run();
      const { done, failed, accepted, pending, leased } = frontier.report();
      expect({ failed, pending, leased }).toEqual({ failed: 0, pending: 0, leased: 0 });
      expect(done).toBe(accepted);
      // Every page but those of a named handler has 3 children, and they 3 each.
      const named = Math.ceil((count - 7) / 300);
      expect(accepted).toBe(count + (count - named) * 12);
      expect(pool.report().restarts).toBeGreaterThan(0);
    });
  });

  it("keeps every published result when it closes over threads that work, die, throw and push", async () => {
    const directory = mkdtempSync(join(tmpdir(), "outrider-fire-"));
    const options: FrontierOptions = {
      ...{ directory, durability: "sync", maxDeliveries: 10_000 },
      defaults: { maxAttempts: 1_000 },
    };
    const named = ["stumbles", "throwsAtFirst", "naps", "returnsLate"];
    // All seats, within a minute; starting a thread costs most of the time of this test.
    const own = 2;
    const threads = stressSeconds() >= 60 ? SHARED_SEATS - own : 6;
    const pages = threads * 50;
    try {
      let told: string[] = [];
      const pool = { threads, concurrency: 2 };
      await withPool({ frontier: options, pool }, async (rig) => {
        const { frontier } = rig;
        for (let at = 0; at < pages; at++) {
          const handler = at % 40 < named.length ? { handler: named[at % 40] as string } : {};
          frontier.push({ url: `http://host${at % 50}.test/1/3/${at}`, ...handler });
        }
        const run = rig.pool.run();
        const pushing = Array.from({ length: own }, (_, thread) => {
          const urls = Array.from({ length: 2_000 }, (_, at) => `http://own${thread}.test/${at}`);
          const job = { job: "pushOn", urls, batch: 20, handle: frontier.share() };
          const worker = new Worker(PORT, { workerData: job });
          return once(worker, "message").then(([said]: string[][]) => {
            return urls.filter((_, at) => said?.[at] === "queued");
          });
        });
        const isBusy = (): boolean =>
          rig.pool.report().restarts > 0 && frontier.report().done > pages / 3;
        await until(isBusy, "a busy pool");
        const closing = frontier.close();
        await Promise.all([closing, run]);
        told = (await Promise.all(pushing)).flat();
      });
      const again = { frontier: options, pool: { threads: 2, concurrency: 8 } };
      await withPool(again, async ({ frontier, pool: second }) => {
        expect(frontier.report().leased).toBe(0);
        const lost = told.filter((url) => frontier.record(url) === undefined);
        expect(lost).toEqual([]);
        await second.run();
        const { done, failed, accepted, pending } = frontier.report();
        expect({ failed, pending }).toEqual({ failed: 0, pending: 0 });
        expect(done).toBe(accepted);
        for (let at = 0; at < pages; at++) {
          expect(frontier.record(`http://host${at % 50}.test/1/3/${at}`)?.state).toBe("done");
        }
        verifyFrontier(frontier);
      });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it("replaces a thread that exceeds its memory", async () => {
    const pool = { threads: 1, resourceLimits: { maxOldGenerationSizeMb: 24 } };
    await withPool({ frontier: { defaults: { maxAttempts: 2 } }, pool }, async (rig) => {
      rig.frontier.push({ url: "http://a.test/", handler: "fills" });
      for (let at = 0; at < 20; at++) rig.frontier.push(`http://b.test/${at}`);
      await rig.pool.run();
      expect(rig.frontier.report()).toMatchObject({ failed: 1, done: 20 });
      expect(rig.pool.report().restarts).toBe(2);
    });
  });

  it("ends a thread whose handler never returns", async () => {
    const frontier = { leaseMs: 500, maxDeliveries: 1_000, defaults: { maxAttempts: 1 } };
    await withPool({ frontier, pool: { threads: 1, concurrency: 1 } }, async (rig) => {
      rig.frontier.push({ url: "http://a.test/", handler: "hangs", priority: 1 });
      rig.frontier.push({ url: "http://b.test/", maxAttempts: 1_000 });
      await rig.pool.run();
      expect(rig.frontier.report()).toMatchObject({ failed: 1, done: 1 });
      expect(rig.pool.report().restarts).toBeGreaterThanOrEqual(1);
    });
  });

  it("costs less than 1 % of a core while eight threads are idle", async () => {
    await withPool({ frontier: { keepOpen: true }, pool: { threads: 8 } }, async (rig) => {
      const controller = new AbortController();
      rig.frontier.push("http://a.test/");
      const run = rig.pool.run({ signal: controller.signal });
      const seated = (): number =>
        rig.pool.report().workers.filter(({ thread }) => thread >= 0).length;
      await until(() => seated() === 8 && rig.frontier.report().done === 1, "eight idle threads");
      const share = await untilIdle(2_000, 0.01);
      console.log(`idle pool of 8 threads: ${(share * 100).toFixed(2)} % of one core`);
      controller.abort();
      await expect(run).rejects.toThrow();
    });
  });
});
