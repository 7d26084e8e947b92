/**
 * One observation in a process of its own.
 *
 *   parent ── child.ts '{"bench","side","params"}' ─▶ child: setup, run, checksum
 *          ◀────────── last line of standard output: one JSON object ──────────┘
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { BenchCase, Params } from "./case.ts";
import type { Observation } from "./run-case.ts";

/** What every child runs with: a peer that keeps its URLs on the heap needs a large one. */
export const CHILD_FLAGS: readonly string[] = ["--expose-gc", "--max-old-space-size=14336"];

interface Order {
  readonly bench: string;
  readonly side: string;
  readonly params: Params;
}

/** Carries out what the parent asked for and prints the answer. */
export async function obey(cases: readonly BenchCase[], text: string): Promise<void> {
  const order = JSON.parse(text) as Order;
  const bench = cases.find(({ name }) => name === order.bench);
  if (bench === undefined) throw new Error(`case: ${order.bench} (expected: a name of --list)`);
  const job = await bench.setup(order.side, order.params);
  const measured = await job.run();
  const observation: Observation = { measured, checksum: job.checksum() };
  await job.close?.();
  process.stdout.write(`\n${JSON.stringify(observation)}\n`);
}

export function observeInChild(order: Order): Promise<Observation> {
  const script = fileURLToPath(new URL("../child.js", import.meta.url));
  const words = [...CHILD_FLAGS, script, JSON.stringify(order)];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const stop = (): void => {
      child.kill();
      process.exit(130);
    };
    process.once("SIGINT", stop).once("SIGTERM", stop);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      if (code !== 0) {
        reject(new Error(`${order.bench}, ${order.side}: the child ended with ${code ?? signal}`));
        return;
      }
      resolve(JSON.parse(output.trimEnd().split("\n").at(-1) as string) as Observation);
    });
  });
}
