/**
 * Kills a frontier that spills and keeps a cold tier at random: everything flushed is there, once, in its order, and still known. `SEED=`
 * repeats a run, `STRESS_SECONDS=` adds kills.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import { checkLife, type Life, lifeOf } from "../support/tier-lives.ts";
import { stressRounds, testSeed } from "../support/seed.ts";

const CHILD = fileURLToPath(new URL("tiers-child.mjs", import.meta.url));
const OPTIONS = { keepOpen: true, memoryBytes: 150_000, seen: { memoryBytes: 200_000 } };

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
      resolve(lifeOf(text));
    });
  });
}

describe("a frontier with tiers, killed", () => {
  it("recovers everything flushed, once and in order, and refuses all it ever admitted", async () => {
    const seed = testSeed("tier kills");
    const random = createRandom(seed);
    const directory = mkdtempSync(join(tmpdir(), "tier-kills-"));
    let next = 0;
    for (let round = 0; round < stressRounds(5, 0.7); round++) {
      const plan = { seed: random.word(), lines: 2 + random.below(30), waitMs: random.below(40) };
      const life = await live(directory, next, plan);
      next = await checkLife({ ...OPTIONS, directory }, life);
    }
    rmSync(directory, { recursive: true });
    expect(next).toBeGreaterThan(5000);
  }, 600_000);
});
