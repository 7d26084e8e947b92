/**
 * The pool under fire: threads that die at random while thousands of leases are out; memory limits; a handler that never
 * gives its thread back; an idle pool that costs nothing.
 */
import { describe, expect, it } from "vitest";
import { stressSeconds } from "../support/seed.ts";
import { until, untilIdle, withPool } from "../support/pool.ts";

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

  it("ends a thread whose handler never gives it back", async () => {
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
