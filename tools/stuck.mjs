/**
 * A reporter of vitest for files that never end. A test that waits is ended by its timeout; one that loops, or blocks its thread, can not be,
 * and the run would wait for it for ever. When no test of a file has ended for STUCK_MS, the reporter prints the file and the test that
 * ended last in it, and ends the run.
 *
 *   onTestModuleQueued, onTestCaseResult ──▶ last: file → {ms, test} ──▶ every CHECK_MS: older than STUCK_MS? ──▶ print, kill, exit 1
 */
import { readdirSync, readFileSync } from "node:fs";
import { relative } from "node:path";

/** Longer than the longest timeout of a test (stressTimeoutMs of test/support/seed.ts): one that ends by it is no concern here. */
export const STUCK_MS = 1_260_000 + Number(process.env.STRESS_SECONDS ?? 0) * 8_000;
const CHECK_MS = 5_000;

export class StuckReporter {
  #root = "";
  /** For each file that runs: when a test of it ended last, or it began (performance.now()), and that test's name. */
  #last = new Map();
  #timer;

  onInit(vitest) {
    this.#root = vitest.config.root;
    // A watching vitest runs until its user ends it.
    if (vitest.config.watch) return;
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
    this.#timer.unref();
  }

  onTestModuleQueued({ moduleId }) {
    this.#last.set(moduleId, { at: performance.now(), test: "none" });
  }

  onTestCaseResult({ module, fullName }) {
    // Some arrive after the end of their file.
    if (!this.#last.has(module.moduleId)) return;
    this.#last.set(module.moduleId, { at: performance.now(), test: fullName });
  }

  onTestModuleEnd({ moduleId }) {
    this.#last.delete(moduleId);
  }

  onTestRunEnd() {
    clearInterval(this.#timer);
  }

  #check() {
    const now = performance.now();
    const stuck = [...this.#last].filter(([, { at }]) => now - at > STUCK_MS);
    if (stuck.length === 0) return;
    for (const [file, { test }] of stuck) {
      const path = relative(this.#root, file);
      console.error(`STUCK ${path}: no test of it ended for ${STUCK_MS / 1_000} s`);
      console.error(`the last to end: ${test}`);
    }
    killBelow(process.pid);
    process.exit(1);
  }
}

/** Ends the processes that a process has started, and theirs; on Linux alone. */
function killBelow(pid) {
  for (const child of childrenOf(pid)) {
    killBelow(child);
    try {
      process.kill(child, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}

function childrenOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8")
        .split(" ")
        .filter(Boolean)
        .map(Number),
    );
  } catch {
    return [];
  }
}
