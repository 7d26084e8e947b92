/**
 * One observation in a process of its own.
 *
 *   parent ── child.ts '{"suite","bench","side","params"}' ─▶ child: cases of the suite; setup, run, checksum
 *          ◀────────── last line of standard output: one JSON object ─────────────────────────────────┘
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchCase, Params } from "./case.ts";
import { LeftOut, type Observation, TimeUp } from "./run-case.ts";

/** The longest that a timer can wait. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** What every child runs with: a peer that keeps its URLs on the heap needs a large one. */
export const CHILD_FLAGS: readonly string[] = ["--expose-gc", "--max-old-space-size=14336"];

export interface Order {
  /** The folder of the case: no other is loaded, since that takes longer than most runs of the smallest size. */
  readonly suite: string;
  readonly bench: string;
  readonly side: string;
  readonly params: Params;
}

/** Carries out what the parent asked for and prints the answer. Where no case is named, its suite is loaded and nothing else done. */
export async function obey(text: string): Promise<void> {
  const order = JSON.parse(text) as Order | Pick<Order, "suite">;
  const room = new URL(`../cases/${order.suite}/index.js`, import.meta.url).href;
  const cases = Object.values((await import(room)) as Record<string, readonly BenchCase[]>).flat();
  if (!("bench" in order)) return;
  const bench = cases.find(({ name }) => name === order.bench);
  if (bench === undefined) throw new Error(`case: ${order.bench} (expected: a name of --list)`);
  const observation = await observeHere(bench, order.side, order.params);
  process.stdout.write(`\n${JSON.stringify(observation)}\n`);
}

/** One observation in this process: what a child does, and enough to show that a case runs. */
export async function observeHere(
  bench: BenchCase,
  side: string,
  params: Params,
): Promise<Observation> {
  const job = await bench.setup(side, params);
  // Cases that share a process count on a first run that warms up and does not count.
  if (bench.process === "shared") await job.run();
  const measured = await job.run();
  const observation: Observation = { measured, checksum: job.checksum() };
  await job.close?.();
  return observation;
}

export interface ChildOptions {
  /** Folder of the built benchmarks whose child is started; this one's where missing. */
  readonly home?: string;
  /** On the clock of performance.now(): the child is ended then, which throws TimeUp. */
  readonly untilMs?: number | undefined;
  /** The longest that it may take: it is ended then, which throws LeftOut. */
  readonly limitSeconds?: number | undefined;
}

export function observeInChild(
  order: Order,
  { home, untilMs = Number.POSITIVE_INFINITY, limitSeconds }: ChildOptions = {},
): Promise<Observation> {
  const here = fileURLToPath(new URL("..", import.meta.url));
  const words = [...CHILD_FLAGS, join(home ?? here, "child.js"), JSON.stringify(order)];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, {
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    // A group of its own, so that what a child has started ends with it.
    const end = (signal: NodeJS.Signals): void => {
      try {
        process.kill(-(child.pid as number), signal);
      } catch {
        // Gone already.
      }
    };
    const stop = (): void => {
      end("SIGKILL");
      process.exit(130);
    };
    process.once("SIGINT", stop).once("SIGTERM", stop);
    let isUp = false;
    const limitMs = (limitSeconds ?? Number.POSITIVE_INFINITY) * 1e3;
    const leftMs = Math.min(untilMs - performance.now(), limitMs, TIMER_MS_MAX);
    const timer = setTimeout(() => {
      isUp = true;
      end("SIGKILL");
    }, leftMs);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      process.off("SIGINT", stop).off("SIGTERM", stop);
      const who = `${order.bench}, ${order.side}`;
      const last = output.trimEnd().split("\n").at(-1) ?? "";
      if (isUp && leftMs === limitMs) reject(new LeftOut(`not over after ${limitSeconds} s`));
      else if (isUp) reject(new TimeUp(`${who}: time was up`));
      else if (code !== 0) reject(new Error(`${who}: the child ended with ${code ?? signal}`));
      else if (last.endsWith("}")) resolve(JSON.parse(last) as Observation);
      else reject(new Error(`${who}: the child said no more than ${last}`));
    });
  });
}
