/**
 * A frontier kills itself at named points: before, within and after each step with each kind of file. After any of them the next opening
 * recovers everything that was flushed, by the parent's record of the children's lines; the next child checks it, and finally the parent.
 *
 *   file      journal (rotation: open, rename) · snapshot · cold (spilled identities, compaction) · manifest · spill · lock · directory
 *   step      open · write · sync · rename · remove · truncate
 *   moment    before · torn: half of the bytes · after
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Random } from "../../src/base/random.ts";
import { joinModules } from "../../tools/join-modules.mjs";
import { progress, stressTime, stressTimeoutMs, testRandom } from "../support/seed.ts";
import { sized } from "../support/size.ts";
import { checkLife, type Life, lifeOf } from "../support/tier-lives.ts";

const CHILD = await joinModules(
  fileURLToPath(new URL("points-child.mjs", import.meta.url)),
  "points-child",
);
const OPTIONS = { keepOpen: true, memoryBytes: 60_000, seen: { memoryBytes: 60_000 } };
const TIMEOUT_MS = stressTimeoutMs(1_200_000);
/** Lives per directory: the later ones begin with the files of earlier kills. */
const LIVES = 10;

/** Consecutive lives that may end before they reach their point. */
const MISSES_MAX = 4;

/** Steps that occur with each kind of file. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  journal: ["open", "write", "sync", "rename", "remove", "truncate"],
  snapshot: ["open", "write", "sync", "rename", "remove"],
  partial: ["open", "write", "sync", "rename", "remove"],
  cold: ["open", "write", "sync", "rename", "remove"],
  manifest: ["open", "write", "sync", "rename"],
  spill: ["open", "write", "remove"],
  lock: ["open", "write", "sync", "remove"],
  directory: ["sync"],
};

const POINTS = Object.entries(STEPS).flatMap(([file, steps]) =>
  steps.flatMap((step) => {
    const moments = step === "write" ? ["before", "torn", "after"] : ["before", "after"];
    return moments.map((moment) => `${file}.${step}.${moment}`);
  }),
);

/** Kills at CI size, each point twice; STRESS_SECONDS adds seconds of more. */
const KILLS = POINTS.length * sized(2, 1);

test(
  "a frontier killed at each named point loses nothing that was flushed",
  async () => {
    const random = testRandom("points");
    const died = new Map(POINTS.map((point) => [point, 0]));
    let kills = 0;
    let full = 0;
    let before = "nothing";
    let misses = 0;
    let cleared = 0;
    const isGranted = stressTime();
    for (let lives = 0; kills < KILLS || isGranted(); ) {
      const directory = mkdtempSync(join(tmpdir(), "points-"));
      // Every third directory stores whole records beside the journal.
      const records = (lives / LIVES) % 3 === 1 ? ("full" as const) : ("state" as const);
      let said: Life = { pushed: 0, done: 0 };
      for (let life = 0; life < LIVES; life++, lives++) {
        const point = POINTS[kills % POINTS.length] as string;
        const plan = { directory, said, point, records, random, isSoon: misses > 0 };
        const { text, isKilled } = await live(plan);
        expect(text.match(/^fault .*$/m)?.[0], `before ${point}, after ${before}`).toBe(undefined);
        // A life may end before its point occurs for the wanted time; the next one dies at its first occurrence.
        misses = isKilled ? 0 : misses + 1;
        expect(misses, `lives in which ${point} never came`).toBeLessThan(MISSES_MAX);
        if (isKilled) {
          before = point;
          kills++;
          full += Number(records === "full");
          died.set(point, (died.get(point) as number) + 1);
        }
        if ((said.base ?? 0) < (lifeOf(text, said).base ?? 0)) cleared++;
        said = lifeOf(text, said);
      }
      await checkLife({ ...OPTIONS, directory, records }, said);
      rmSync(directory, { recursive: true });
      progress(`${kills} kills at named points, ${full} of them with whole records, 0 faults`);
    }
    const fewest = Math.min(...died.values());
    console.log(
      `${kills} kills at ${died.size} points, each at least ${fewest} times, ${full} full, 0 faults`,
    );
    console.log(`${cleared} lives that cleared all`);
    expect(cleared).toBeGreaterThan(0);
    expect(fewest).toBeGreaterThan(0);
    expect(full).toBeGreaterThan(LIVES);
  },
  TIMEOUT_MS,
);

interface Plan {
  readonly directory: string;
  readonly said: Life;
  readonly point: string;
  readonly records: "state" | "full";
  readonly random: Random;
  /** Dies at the first occurrence. */
  readonly isSoon: boolean;
}

/** Runs one life to its end: it dies at the first, second or a later occurrence of the point. */
function live(plan: Plan): Promise<{ text: string; isKilled: boolean }> {
  const { directory, said, point, records, random, isSoon } = plan;
  const isRare = /^(lock|spill.(open|remove))/.test(point); // once in a life, or not again before its end
  const isFrequent = /write|journal.sync/.test(point);
  const which = isRare || isSoon ? 1 : 1 + random.below(isFrequent ? 8 : 1 + random.below(2));
  const { pushed, done, base = 0, clearing = base } = said;
  const args = [
    ...[CHILD, directory, random.word(), point, which, pushed, done, records, base, clearing],
  ].map(String);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    let errors = "";
    child.stdout.on("data", (data: Buffer) => {
      text += data.toString("utf8");
    });
    child.stderr.on("data", (data: Buffer) => {
      errors += data.toString("utf8");
    });
    child.on("close", (code, signal) => {
      const isKilled = signal === "SIGKILL";
      if (isKilled || code === 0) resolve({ text, isKilled });
      else reject(new Error(`${point}, time ${which}: ${errors}`));
    });
  });
}
