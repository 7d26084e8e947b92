/** User threads that die without leaving: their published results count, their leases return, and their seats become free. */
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import type { Frontier, FrontierFault } from "../../../../src/engine/types/frontier-types.ts";
import { SHARED_SEATS } from "../../../../src/layout/threads/worker-seats.ts";
import { attach, type WorkerPort } from "../../../../src/workers/remote/worker-port.ts";
import { until } from "../../../support/pool.ts";

const FILE = new URL("../../../support/port-thread.mjs", import.meta.url);

/** Starts a thread that takes `max` leases and dies in the way named by `how`; resolves when it has them. */
async function mortal(frontier: Frontier, how: string, max: number) {
  const word = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(FILE, {
    workerData: { handle: frontier.share(), job: "goes", max, how, word: word.buffer },
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  });
  worker.on("error", () => undefined);
  const gone = new Promise((resolve) => worker.once("exit", resolve));
  const count = await new Promise<number>((resolve) => worker.once("message", resolve));
  const end = async (): Promise<void> => {
    Atomics.store(word, 0, 1);
    if (how === "spins" || how === "waits") await worker.terminate();
    await gone;
  };
  return { count, end };
}

/** Leases that do not expire during the test. */
const LONG = { leaseMs: 3_600_000, keepOpen: true, defaults: { maxAttempts: 9 } };

describe("a user thread that dies", () => {
  it.each(["exits", "throws", "fills", "spins", "waits"])(
    "returns its leases when it %s: begun ones have lost an attempt, others nothing",
    async (how) => {
      const frontier = await openFrontier(LONG);
      const faults: FrontierFault[] = [];
      frontier.on("error", (fault) => faults.push(fault));
      frontier.pushMany(Array.from({ length: 20 }, (_, at) => `http://a.test/${at}`));
      const { count, end } = await mortal(frontier, how, 3);
      expect(count).toBeGreaterThan(0);
      expect(frontier.report()).toMatchObject({ retried: 0, expired: 0 });
      await end();
      await until(() => frontier.report().leased === 0, "all of them back");
      expect(frontier.report()).toMatchObject({ done: 0, failed: 0, retried: count, expired: 0 });
      expect(faults.map(({ stage }) => stage)).toEqual(["worker"]);
      await until(() => frontier.report().pending === 20, "all due again");
      const attempts = frontier.pollMany(20).map(({ attempt }) => attempt);
      expect(attempts.filter((attempt) => attempt === 2)).toHaveLength(count);
      expect(attempts.filter((attempt) => attempt === 1)).toHaveLength(20 - count);
      await frontier.close();
    },
  );

  it("frees its seat for the next thread, when there is no other seat", async () => {
    const frontier = await openFrontier(LONG);
    frontier.push("http://a.test/");
    const { end } = await mortal(frontier, "waits", 1);
    const others: WorkerPort[] = [];
    while (others.length < SHARED_SEATS - 1) others.push(attach(frontier.share()));
    expect(() => attach(frontier.share())).toThrow(/too many threads/);
    await end();
    let next: WorkerPort | undefined;
    const sitsDown = (): boolean => {
      try {
        next = attach(frontier.share());
      } catch {
        return false;
      }
      return true;
    };
    await until(sitsDown, "a seat");
    expect(frontier.report().retried).toBe(1);
    expect(next?.push(["http://b.test/", "http://c.test/"])).toEqual(["queued", "queued"]);
    await until(() => frontier.report().accepted === 3, "what it says");
    await Promise.all([next, ...others].map((port) => port?.close()));
    await frontier.close();
  });
});
