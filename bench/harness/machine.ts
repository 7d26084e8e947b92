/** What a number was measured on, and what the process held while it was: the conditions of a result. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { constants, PerformanceObserver, type PerformanceEntry } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** The repository: this file runs from build/bench/harness. */
export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

export interface Machine {
  readonly commit: string;
  readonly dirty: boolean;
  readonly node: string;
  readonly v8: string;
  readonly flags: readonly string[];
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly load: readonly number[];
}

export function machineOf(root: string, flags: readonly string[]): Machine {
  const { node, v8 } = process.versions;
  return {
    commit: git(root, ["rev-parse", "--short=12", "HEAD"]) || "unknown",
    dirty: git(root, ["status", "--porcelain", "--untracked-files=no"]) !== "",
    node,
    v8,
    flags: [...process.execArgv, ...flags],
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
    load: loadavg().map((value) => Math.round(value * 100) / 100),
  };
}

function git(root: string, words: readonly string[]): string {
  try {
    const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"];
    return execFileSync("git", words, { cwd: root, encoding: "utf8", stdio }).trim();
  } catch {
    return ""; // a package without its repository
  }
}

export interface Memory {
  readonly residentBytes: number;
  readonly heapBytes: number;
}

/** Memory after a full collection, where the process was started with --expose-gc. */
export function memoryNow(): Memory {
  globalThis.gc?.();
  const { heapUsed } = process.memoryUsage();
  return { residentBytes: residentBytes(), heapBytes: heapUsed };
}

const SETTLE_MS = 20;
const SETTLE_TURNS = 25;

/** Memory when collections free no more of it: the pages of a warm-up are freed only step by step. */
export async function settledMemory(): Promise<Memory> {
  let least = memoryNow();
  for (let idle = 0, turn = 0; idle < 3 && turn < SETTLE_TURNS; turn++) {
    await wait(SETTLE_MS);
    const now = memoryNow();
    idle = now.residentBytes < least.residentBytes ? 0 : idle + 1;
    if (idle === 0) least = now;
  }
  return least;
}

/** Resident bytes as the system counts them now: node's own figure where there is no /proc. */
function residentBytes(): number {
  return statusBytes("VmRSS") ?? process.memoryUsage.rss();
}

/** The most that was resident at any time of this process. */
export function peakBytes(): number {
  return statusBytes("VmHWM") ?? process.resourceUsage().maxRSS * 1024;
}

function statusBytes(field: string): number | undefined {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    const line = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status);
    return line === null ? undefined : Number(line[1]) * 1024;
  } catch {
    return undefined; // Not Linux.
  }
}

export interface Pauses {
  /** Begin, on the clock of performance.now(), and length. */
  readonly list: readonly { readonly startMs: number; readonly lengthMs: number }[];
  readonly maxMs: number;
}

/** How Node reports a collection. */
type GcEntry = PerformanceEntry & { readonly detail?: { readonly flags?: number } };

/** Watches garbage collections until `stop`, which waits for the last reports. Collections that memoryNow requests are not counted. */
export function watchPauses(): { stop(): Promise<Pauses> } {
  const list: { startMs: number; lengthMs: number }[] = [];
  const collect = (entries: readonly PerformanceEntry[]): void => {
    for (const entry of entries as readonly GcEntry[]) {
      const { startTime, duration, detail } = entry;
      if (((detail?.flags ?? 0) & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0) continue;
      list.push({ startMs: startTime, lengthMs: duration });
    }
  };
  const observer = new PerformanceObserver((entries) => collect(entries.getEntries()));
  observer.observe({ entryTypes: ["gc"] });
  return {
    async stop() {
      // Entries are queued as tasks of the event loop.
      await wait(1);
      collect(observer.takeRecords());
      observer.disconnect();
      return {
        list,
        maxMs: list.reduce((longest, { lengthMs }) => Math.max(longest, lengthMs), 0),
      };
    },
  };
}
