/** Pools whose number of threads changes all the time, and pools whose threads die between runs. */
import { describe, expect, it } from "vitest";
import { withPool } from "../../../support/pool.ts";

describe("a pool that is resized", () => {
  it("starts no more threads than it had at most, however often it is resized", async () => {
    await withPool({ pool: { threads: 1 } }, async ({ frontier, pool, faults }) => {
      frontier.push("http://a.test/3/5/");
      const run = pool.run();
      for (let time = 0; time < 70; time++) {
        pool.resize(3);
        pool.resize(1);
      }
      expect(pool.report().workers.length).toBe(3);
      pool.resize(2);
      await run;
      expect(frontier.report()).toMatchObject({ done: 1 + 5 + 25 + 125, retried: 0, expired: 0 });
      expect(faults).toEqual([]);
      expect(pool.report()).toMatchObject({ threads: 2, restarts: 0, recycled: 0 });
    });
  });

  it("gives no task to a thread that is about to be ended", async () => {
    await withPool({ pool: { threads: 2, concurrency: 8 } }, async (rig) => {
      const { frontier, pool, faults } = rig;
      frontier.push("http://a.test/0/");
      let rounds = 0;
      const run = pool.run();
      // It runs until threads have come and gone a hundred times, in every state of starting and leaving.
      frontier.on("done", () => {
        if (rounds++ < 100) frontier.push({ url: `http://a.test/${rounds}`, handler: "naps" });
        pool.resize(1 + ((rounds * 7) % 5));
      });
      await run;
      expect(frontier.report()).toMatchObject({ done: 101, retried: 0, expired: 0 });
      expect(faults).toEqual([]);
    });
  });

  it("starts a new thread when one of the previous run has just died", async () => {
    const word = new Int32Array(new SharedArrayBuffer(8));
    const options = { threads: 1, workerData: { word: word.buffer } };
    await withPool({ pool: options }, async ({ frontier, pool }) => {
      frontier.push({ url: "http://a.test/1", handler: "leavesABomb" });
      await pool.run();
      frontier.push("http://a.test/2");
      Atomics.store(word, 0, 1);
      expect(Atomics.wait(word, 1, 0, 240_000)).not.toBe("timed-out");
      // It has died, and the pool has not been notified yet.
      await pool.run();
      expect(frontier.report()).toMatchObject({ done: 2, retried: 0, failed: 0 });
    });
  });
});
