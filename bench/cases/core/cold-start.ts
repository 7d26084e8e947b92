/**
 * cold-start: what a process takes to its first lease, beyond a Node process that does nothing.
 *
 *   this process ── spawn ─▶ node cold-start-child.js empty ─▶ exit    ─┐
 *                ── spawn ─▶ node cold-start-child.js <side> ─▶ exit   ─┴ in turns, `starts` times: median of each, their difference
 *
 *   side       in the process
 *   outrider   import, openFrontier, push of one URL, its lease
 *   thread     the same by openFrontierThread: one thread more, with the frontier in it
 *   pool       import of the frontier and of the pool, push, and a worker's thread has handled the page
 *   crawlee    load, RequestQueue on MemoryStorage, one request in and out
 *   bullmq     load of BullMQ and ioredis alone: a first job waits for Redis besides
 *   undici     load and an Agent: no queue, for scale
 *
 * The sides do different work on purpose: each what a user of it does first. CPU is of all threads of the process, and is what a busy
 * machine stretches least. Time that ends with the process is in it: an open frontier is left to the end, as programs leave it.
 *
 * Estimate, milliseconds beyond an empty process of 40: outrider 50 (25 for 780 kB of modules, 10 for Node's own that they import, 10 for the
 * kernel and its memory, 5 for the first calls of all), thread 75, pool 95, undici 60, bullmq 150, crawlee 400.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import {
  type BenchCase,
  type Job,
  type Measured,
  numberOf,
  type Params,
} from "../../harness/case.ts";
import { medianOf } from "../../harness/statistics.ts";
import { crawleeMissing } from "../../peers/crawlee/queue.ts";
import { packageMissing } from "../../peers/installed.ts";

const CHILD = fileURLToPath(new URL("./cold-start-child.js", import.meta.url));

export const coldStart: BenchCase = {
  name: "cold-start",
  suite: "core",
  about: "from the start of a process to its first lease, beyond an empty Node process",
  question: "How long does a program wait that begins with Outrider?",
  unit: "start",
  process: "fresh",
  pairs: [
    ["outrider", "crawlee"],
    ["outrider", "bullmq"],
    ["outrider", "undici"],
    ["outrider", "thread"],
    ["outrider", "pool"],
  ],
  isSameWork: false,
  target: "outrider ≤ 120 ms beyond an empty process",
  sizes: { smoke: [{ starts: 1 }], real: [{ starts: 7 }] },
  setup,
  isGuest: (side) => side === "crawlee" || side === "bullmq",
  missing(side) {
    if (side === "crawlee") return crawleeMissing();
    return side === "bullmq" ? packageMissing("bullmq") : undefined;
  },
};

function setup(side: string, params: Params): Job {
  const starts = numberOf(params, "starts");
  let said = "";
  return {
    run(): Measured {
      const own = { wallMs: [] as number[], cpuMs: [] as number[] };
      const empty = { wallMs: [] as number[], cpuMs: [] as number[] };
      for (let at = 0; at < starts; at++) {
        for (const [list, name] of at % 2 === 0 ? pairOf(side) : pairOf(side).toReversed()) {
          const { wallMs, cpuMs, answer } = start(name);
          const into = list === "own" ? own : empty;
          into.wallMs.push(wallMs);
          into.cpuMs.push(cpuMs);
          if (list === "own") said = answer;
        }
      }
      const emptyMs = medianOf(empty.wallMs);
      const beyondMs = medianOf(own.wallMs) - emptyMs;
      return {
        times: { start: beyondMs * 1e6 },
        facts: {
          "ms beyond an empty process": beyondMs,
          "CPU ms beyond an empty process": medianOf(own.cpuMs) - medianOf(empty.cpuMs),
          "ms of an empty process": emptyMs,
        },
      };
    },
    checksum: () => said,
  };
}

function pairOf(side: string): (readonly ["own" | "empty", string])[] {
  return [
    ["empty", "empty"],
    ["own", side],
  ];
}

interface Start {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly answer: string;
}

/** One process from its start to its end. */
function start(side: string): Start {
  const startMs = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, [CHILD, side], {
    encoding: "utf8",
  });
  const wallMs = performance.now() - startMs;
  if (status !== 0) throw new Error(`cold-start, ${side}: ended with ${status}: ${stderr}`);
  const { cpuMs, answer } = JSON.parse(stdout) as Omit<Start, "wallMs">;
  return { wallMs, cpuMs, answer };
}
