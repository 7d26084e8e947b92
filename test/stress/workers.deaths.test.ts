/**
 * A pool's thread dies in each possible way, with leases at work, leases handed out, results published and one half written, while its
 * owner is parked and while it is blocked: every lease returns exactly once.
 */
import type { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { until, withPool } from "../support/pool.ts";

const HANDLER = new URL("../support/pool-dies.mjs", import.meta.url);
const [DYING, GO, LAST] = [1, 2, 3];
const PAGES = 14;
const DONE = 3;
const HELD = 6;

const WAYS = ["exits", "throws", "runs out of memory", "is terminated"].flatMap((how) => [
  { how, isOwnerHeld: false, owner: "parked" },
  { how, isOwnerHeld: true, owner: "held up" },
]);

const pageAt = (page: number): string => `http://a.test/${page}`;

describe("a thread of a pool that dies half way through a result", () => {
  it.each(WAYS)("$how while its owner is $owner: every lease returns once", async (way) => {
    const { how, isOwnerHeld } = way;
    const state = new Int32Array(new SharedArrayBuffer(16));
    const workerData = { doneCount: DONE, heldCount: HELD, how, isOwnerHeld, state: state.buffer };
    const resourceLimits = how === "runs out of memory" ? { maxOldGenerationSizeMb: 24 } : {};
    const threads: Worker[] = [];
    const note = (thread: Worker): void => void threads.push(thread);
    process.on("worker", note);
    const options = {
      frontier: { leaseMs: 3_600_000, defaults: { maxAttempts: 9, backoff: { baseMs: 0 } } },
      pool: { handler: HANDLER, threads: 1, concurrency: HELD, workerData, resourceLimits },
    };
    await withPool(options, async ({ frontier, pool, faults }) => {
      for (let page = 0; page < PAGES; page++) {
        frontier.push({ url: pageAt(page), priority: PAGES - page, handler: "diesAmid" });
      }
      const run = pool.run();
      if (isOwnerHeld) {
        await until(() => Atomics.load(state, 0) === HELD, "all at work");
        Atomics.store(state, GO, 1);
        Atomics.wait(state, LAST, 0, 60_000); // nothing is read meanwhile
      }
      if (how === "is terminated") {
        await until(() => Atomics.load(state, LAST) === 1, "its last word");
        void threads[0]?.terminate();
      }
      await run;
      expect(Atomics.load(state, DYING)).toBe(1);
      const { accepted, done, retried, failed, expired, lateResults, duplicate, rejected } =
        frontier.report();
      // Each page has one child, in whichever life it was pushed.
      expect({ accepted, done, failed, expired, lateResults, duplicate, rejected }).toEqual({
        ...{ accepted: 2 * PAGES, done: 2 * PAGES, failed: 0, expired: 0 },
        ...{ lateResults: 0, duplicate: 0, rejected: {} },
      });
      // A begun lease has lost an attempt; a done one, or one only handed out, has not.
      expect(retried).toBe(HELD);
      for (let page = 0; page < PAGES; page++) {
        const attempts = page >= DONE && page < DONE + HELD ? 2 : 1;
        expect([page, frontier.record(pageAt(page))]).toMatchObject([page, { attempts }]);
      }
      expect(pool.report()).toMatchObject({ restarts: 1, handling: 0 });
      expect(faults.map(({ stage }) => stage)).toEqual(["worker"]);
      verifyFrontier(frontier);
    }).finally(() => process.off("worker", note));
  });
});
