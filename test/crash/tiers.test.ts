/**
 * A frontier that spills and keeps a cold tier is killed at random: what was flushed is there, once, in its order, and known.
 * `SEED=` repeats a run, `STRESS_SECONDS=` adds kills.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import { MemoryFrontier } from "../../src/engine/frontier.ts";
import { normalizeOptions } from "../../src/engine/options.ts";
import { verifyFrontier } from "../../src/engine/verify.ts";
import { stressRounds, testSeed } from "../support/seed.ts";

const CHILD = fileURLToPath(new URL("tiers-child.mjs", import.meta.url));
const OPTIONS = { keepOpen: true, memoryBytes: 150_000, seen: { memoryBytes: 200_000 } };

interface Life {
  pushed: number;
  done: number;
}

/** Runs the child until `lines` lines came and `waitMs` passed, then kills it. */
function live(
  directory: string,
  from: number,
  plan: { seed: number; lines: number; waitMs: number },
) {
  return new Promise<Life>((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, directory, String(from), String(plan.seed)]);
    let text = "";
    let errors = "";
    let isKilled = false;
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    child.stdout.on("data", (chunk) => {
      text += chunk;
      if (isKilled || text.split("\n").length <= plan.lines) return;
      isKilled = true;
      setTimeout(() => child.kill("SIGKILL"), plan.waitMs);
    });
    child.on("exit", (_code, signal) => {
      if (signal !== "SIGKILL") return reject(new Error(`child ended by itself: ${errors}`));
      const last = (word: string): number =>
        Number(
          text
            .match(new RegExp(`^${word} (\\d+)$`, "gm"))
            ?.at(-1)
            ?.split(" ")[1] ?? 0,
        );
      resolve({ pushed: last("pushed"), done: last("done") });
    });
  });
}

describe("a frontier with tiers, killed", () => {
  it("has all that was flushed, once and in order, and knows all it ever admitted", async () => {
    const seed = testSeed("tier kills");
    const random = createRandom(seed);
    const directory = mkdtempSync(join(tmpdir(), "tier-kills-"));
    let next = 0;
    for (let round = 0; round < stressRounds(5, 0.7); round++) {
      const plan = { seed: random.word(), lines: 2 + random.below(30), waitMs: random.below(40) };
      const life = await live(directory, next, plan);
      const frontier = await MemoryFrontier.open(normalizeOptions({ ...OPTIONS, directory }));
      verifyFrontier(frontier);
      const { done, pending, leased, accepted } = frontier.report();
      expect(accepted).toBeGreaterThanOrEqual(life.pushed);
      expect(done).toBeGreaterThanOrEqual(life.done);
      expect(done + pending + leased).toBe(accepted);
      next = accepted;
      const urls = Array.from({ length: next }, (_, at) => `http://h${at % 7}.test/${at}`);
      // Nothing done comes back, nothing is lost: the rest stands in the order of pushing.
      const rest = [...frontier.records({ state: "pending" })].map(({ url }) => url);
      expect(rest.sort()).toEqual(urls.slice(done).sort());
      const first = frontier.pollMany(200);
      expect(first.map(({ url }) => url)).toEqual(urls.slice(done, done + first.length));
      for (const lease of first.reverse()) lease.release();
      for (let start = 0; start < next; start += 5000) {
        const part = urls.slice(start, start + 5000);
        expect(frontier.pushMany(part).duplicate).toBe(part.length);
      }
      await frontier.close();
    }
    rmSync(directory, { recursive: true });
    expect(next).toBeGreaterThan(5000);
  }, 600_000);
});
