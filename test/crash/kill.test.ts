/**
 * Kills a process that works on a directory at random moments, hundreds of times. Each time the next process must find everything that
 * was flushed: no done page is pending, no page lacks its children, and there is nothing else (I5).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { faultsOf } from "../support/crash-load.mjs";
import { progress, stressTime, stressTimeoutMs, testSeed } from "../support/seed.ts";
import { sized } from "../support/size.ts";

const CHILD = fileURLToPath(new URL("../support/crash-child.mjs", import.meta.url));
/** Kills at CI size; STRESS_SECONDS adds seconds of more. */
const KILLS = sized(40, 16);

test.each(["sync", "group"])(
  "a process killed at any moment loses nothing that was flushed (mode %s)",
  async (mode) => {
    const random = createRandom(testSeed(`kill ${mode}`));
    let directory = mkdtempSync(join(tmpdir(), "outrider-kill-"));
    const said = { accepted: new Set<string>(), done: new Set<string>() };
    const isGranted = stressTime();
    let kills = 0;
    let looks = 0;
    const look = async (): Promise<void> => {
      const frontier = await openFrontier({ directory });
      verifyFrontier(frontier);
      expect(faultsOf(frontier, said)).toEqual([]);
      await frontier.close();
      looks++;
      progress(`${kills} kills at any moment in mode ${mode}, 0 faults`);
    };
    try {
      while (kills < KILLS || isGranted()) {
        const lines = await runAndKill([directory, mode], random.below(250));
        if (lines.includes("X")) {
          rmSync(directory, { recursive: true, force: true });
          directory = mkdtempSync(join(tmpdir(), "outrider-kill-"));
          said.accepted.clear();
          said.done.clear();
          continue;
        }
        for (const line of lines) {
          if (line.startsWith("A ")) said.accepted.add(line.slice(2));
          if (line.startsWith("D ")) said.done.add(line.slice(2));
        }
        if (kills++ % 4 === 0) await look(); // else kills again on top of the last kill's files
      }
      await look();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
    console.log(`${kills} kills at any moment in mode ${mode}, looked at ${looks} times, 0 faults`);
  },
  stressTimeoutMs(1_200_000),
);

/** Runs the child, kills it this long after its first line, and returns its whole lines. */
function runAndKill(args: readonly string[], afterMs: number): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(process.execPath, [CHILD, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    let err = "";
    let isArmed = false;
    const arm = (): void => {
      if (isArmed) return;
      isArmed = true;
      setTimeout(() => child.kill("SIGKILL"), afterMs);
    };
    child.stdout?.on("data", (data: Buffer) => {
      out += data.toString("utf8");
      arm();
    });
    child.stderr?.on("data", (data: Buffer) => {
      err += data.toString("utf8");
    });
    child.on("close", () => {
      if (err !== "") reject(new Error(err));
      else resolve(out.slice(0, out.lastIndexOf("\n") + 1).split("\n"));
    });
  });
}
