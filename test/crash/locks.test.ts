/**
 * Several processes compete for one directory all the time and are killed at random moments, so that many locks have a dead owner. One
 * at a time holds the lock, and the others get no error but FRONTIER_LOCKED. (test/interleave/lock.test.ts covers every order of two.)
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import { createRandom } from "../../src/base/random.ts";
import { progress, stressTime, stressTimeoutMs, testSeed } from "../support/seed.ts";
import { skipUnless } from "../support/skip.ts";

const CHILD = fileURLToPath(new URL("./locks-child.mjs", import.meta.url));
const WIDTH = 3;
/** Kills at CI size; STRESS_SECONDS adds seconds of more. */
const KILLS = 12;

it(
  "one process at a time has a directory, however many are killed on their way to it",
  async (context) => {
    skipUnless(context, process.platform === "linux", "not on Linux");
    const random = createRandom(testSeed("locks"));
    const isGranted = stressTime();
    const parent = mkdtempSync(join(tmpdir(), "outrider-locks-"));
    const directory = join(parent, "data");
    const args = [directory, join(parent, "mark")];
    const lines: string[] = [];
    const started = await Promise.all(Array.from({ length: WIDTH }, () => begin(args, lines)));
    let kills = 0;
    try {
      while (kills < KILLS || isGranted()) {
        await new Promise((resolve) => setTimeout(resolve, random.below(60)));
        const at = random.below(WIDTH);
        await end(started[at] as ChildProcess);
        started[at] = await begin(args, lines);
        kills++;
        expect(lines.filter((line) => line.startsWith("X"))).toEqual([]);
        progress(`${kills} kills of processes that want a lock, 0 faults`);
      }
    } finally {
      await Promise.all(started.map(end));
    }
    expect(lines.filter((line) => line.startsWith("X"))).toEqual([]);
    await (await openFrontier({ directory })).close();
    rmSync(parent, { recursive: true, force: true });
    const had = lines.filter((line) => line === "H").length;
    console.log(`${kills} kills of processes that want a lock, had ${had} times, 0 faults`);
  },
  stressTimeoutMs(600_000),
);

/** Starts a child; its lines go to `lines`. */
async function begin(args: readonly string[], lines: string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [CHILD, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let rest = "";
  child.stdout.on("data", (data: Buffer) => {
    const parts = (rest + data.toString("utf8")).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  });
  await once(child.stdout, "data");
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
