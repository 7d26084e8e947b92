/** Kills the whole process while workers are busy: finished pages stay finished, the others are visited, each once. */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { withPool } from "../support/pool.ts";

/** Pages of the tree that the child crawls: 4 children each, 6 generations. */
const ALL = (4 ** 7 - 1) / 3;

/** Kills a crawl of `directory` once it has finished this many pages; returns how many it reported as done. */
function crawlAndKill(directory: string, durability: string, after: number): Promise<number> {
  const file = new URL("./workers-child.mjs", import.meta.url);
  const child = fork(file, [directory, durability]);
  let told = 0;
  child.on("message", ({ done }: { done: number }) => {
    told = Math.max(told, done);
    if (done >= after || done < 0) child.kill("SIGKILL");
  });
  return new Promise((resolve, reject) => {
    child.once("exit", (code, signal) => {
      if (signal === "SIGKILL") resolve(told);
      else reject(new Error(`the child ended by itself: ${code}`));
    });
  });
}

describe("a process that is killed with workers busy", () => {
  it.each(["sync", "grouped"])("loses nothing in mode %s", async (durability) => {
    const directory = mkdtempSync(join(tmpdir(), "outrider-workers-"));
    try {
      let told = 0;
      for (const after of [1, 40, 800]) {
        told = Math.max(told, await crawlAndKill(directory, durability, told + after));
      }
      const frontier = { directory, defaults: { maxAttempts: 9 } };
      await withPool({ frontier, pool: { concurrency: 16 } }, async (rig) => {
        const opened = rig.frontier.report();
        // With sync a result is on disk before it is counted.
        if (durability === "sync") expect(opened.done).toBeGreaterThanOrEqual(told);
        expect(opened.leased).toBe(0);
        rig.frontier.push("http://a.test/6/4/");
        await rig.pool.run();
        const { done, failed, accepted } = rig.frontier.report();
        expect({ done, failed, accepted }).toEqual({ done: ALL, failed: 0, accepted: ALL });
        verifyFrontier(rig.frontier);
      });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
