/** A real pool on a disk that fills up while its workers are busy: everything waits, and continues when there is space. */
import { describe, expect, it } from "vitest";
import { createSystemClock, createVirtualClock } from "../../../../src/base/clock.ts";
import type { FrontierOptions } from "../../../../src/engine/types/frontier-types.ts";
import { verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import { WorkerPool } from "../../../../src/workers/pool/worker-pool.ts";
import { killedFiles, openRig } from "../../../support/durable-rig.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";
import { HANDLERS, until } from "../../../support/pool.ts";

/** The tree of http://a.test/4/5/. */
const TREE = 1 + 5 + 25 + 125 + 625;

/** The rig needs a clock that can be set; no test sets this one. */
function systemClock() {
  return { ...createSystemClock(), advance: (): void => undefined };
}

describe("a pool on a full disk", () => {
  it.each<[string, FrontierOptions]>([
    ["sync", { durability: "sync" }],
    ["grouped", { durability: { everyMs: 20 } }],
  ])(
    "loses no result and no lease in mode %s, though a thread dies meanwhile",
    async (_, options) => {
      const files = createMemoryFiles();
      const word = new Int32Array(new SharedArrayBuffer(8));
      const defaults = { maxAttempts: 9 };
      const { frontier } = await openRig(files, systemClock(), { ...options, defaults });
      const workerData = { word: word.buffer };
      const pool = new WorkerPool({
        ...{ frontier, handler: HANDLERS, threads: 2, concurrency: 4, workerData },
      });
      frontier.push({ url: "http://b.test/", handler: "diesOnWord", priority: 9 });
      // One handler is at work when the disk is full, however fast the others are.
      frontier.push({ url: "http://d.test/", handler: "staysForSecondWord", priority: 9 });
      frontier.push("http://a.test/4/5/");
      const run = pool.run();
      await until(() => frontier.report().done >= 20, "some pages");
      files.capacity = 0;
      // Each push meets the full disk anew, unless a worker's result has met it before. A call that throws may have taken effect: this
      // disk refuses even reserved room.
      let pushed = 0;
      let admitted = 0;
      const isRefused = (): boolean => {
        try {
          if (frontier.push(`http://c.test/${pushed++}`).reason === "disk") return true;
        } catch (error) {
          expect(error).toMatchObject({ code: "DISK_FULL" });
        }
        admitted++;
        return false;
      };
      await until(isRefused, "a full disk");
      const { done, accepted } = frontier.report();
      Atomics.store(word, 1, 1);
      await until(() => pool.report().completed > done, "a result that can not be applied");
      Atomics.store(word, 0, 1);
      await until(() => pool.report().restarts === 1, "a death meanwhile");
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      // Only what is written counts, and nothing is abandoned.
      expect(frontier.report()).toMatchObject({ done, accepted, failed: 0 });
      files.capacity = Number.POSITIVE_INFINITY;
      await run;
      const ended = frontier.report();
      expect(ended).toMatchObject({ pending: 0, leased: 0, failed: 0 });
      expect(ended.done).toBe(TREE + 2 + admitted);
      expect(frontier.record("http://b.test/")?.state).toBe("done");
      expect(ended.retried).toBeGreaterThan(0);
      verifyFrontier(frontier);
      await pool.close();
      await frontier.flush();
      const again = await openRig(killedFiles(files), createVirtualClock(0), options);
      expect(again.frontier.report()).toMatchObject({ done: ended.done, pending: 0, leased: 0 });
      await again.frontier.close();
      await frontier.close();
    },
  );
});
