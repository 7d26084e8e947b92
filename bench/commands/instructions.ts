/**
 * Instructions instead of time: the companion that no neighbour disturbs.
 *
 *   npm run bench -- instructions [cases] [--budget <seconds>] [--json]
 *
 *   node child.js <case at its smoke size>, its first side ─┬─ perf stat -e instructions:u     where the processor's counters can be read
 *                                                           └─ valgrind --tool=cachegrind      else, some 20 to 50 times slower
 *   the same without a case ─▶ subtracted: what Node takes to start and to load the cases of the suite
 *
 * A count is of everything: compilers, collections, our code. It says nothing of cache misses. Compare it with a count of the same Node
 * on the same kind of machine. Sizes are the small ones, so much of a count is code that is compiled: a change of a tenth is a change,
 * one of a hundredth is not. What counts and how long that takes is said before it begins.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchCase, Params } from "../harness/case.ts";
import { CHILD_FLAGS, type Order } from "../harness/child.ts";
import { paramText } from "../harness/run-case.ts";
import { amount } from "../harness/table.ts";
import { progress } from "./named.ts";

interface Counter {
  readonly name: string;
  readonly words: readonly string[];
  /** Finds the count in what the tool wrote to standard error. */
  count(text: string): number | undefined;
  /** What a case takes at the most, on two busy cores. */
  readonly caseSeconds: number;
}

const COUNTERS: readonly Counter[] = [
  {
    name: "perf",
    words: ["perf", "stat", "-x,", "-e", "instructions:u", "--"],
    count: (text) => numberIn(/^(\d+),[^,]*,instructions/m.exec(text)),
    caseSeconds: 3,
  },
  {
    name: "valgrind",
    words: [
      ...["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"],
      "--smc-check=all-non-file",
    ],
    count: (text) => numberIn(/I\s+refs:\s+([\d,]+)/.exec(text)),
    caseSeconds: 40,
  },
];

export interface InstructionFlags {
  readonly json: boolean;
  /** Cases that would begin after so long are left out, by name. */
  readonly budgetSeconds: number;
}

/** Returns the exit code: 0 also where nothing here can count. */
export function instructions(cases: readonly BenchCase[], flags: InstructionFlags): number {
  const counter = COUNTERS.find((each) => countOf(each, ["-e", "0"], PROBE_MS) !== undefined);
  if (counter === undefined) {
    console.log(
      "instructions: not measured: perf can not read the processor's counters here (virtual machines often hide " +
        "them), and there is no valgrind (Debian: apt-get install valgrind)",
    );
    return 0;
  }
  const counted = cases.flatMap(firstSide);
  console.error(aboutText(counter, counted.length, flags.budgetSeconds));
  const child = join(fileURLToPath(new URL("..", import.meta.url)), "child.js");
  const endMs = performance.now() + flags.budgetSeconds * 1e3;
  const count = (order: Partial<Order>): number | undefined => {
    const leftMs = endMs - performance.now();
    const words = [...CHILD_FLAGS, child, JSON.stringify(order)];
    return leftMs < 1 ? undefined : countOf(counter, words, leftMs);
  };
  const starts = new Map<string, number>();
  for (const { bench, side, params } of counted) {
    progress(`${bench.name}: counting`);
    const { suite, name } = bench;
    const start = starts.get(suite) ?? count({ suite }) ?? 0;
    starts.set(suite, start);
    const all = count({ suite, bench: name, side, params });
    progress("");
    const millions = all === undefined ? null : (all - start) / 1e6;
    const by = { case: bench.name, side, params, counter: counter.name, millions };
    const isLate = performance.now() >= endMs;
    const reason = isLate ? `no time was left of --budget ${flags.budgetSeconds}` : "it failed";
    const text = millions === null ? `not measured (${reason})` : `${amount(millions)} million`;
    if (flags.json) console.log(JSON.stringify(by));
    else console.log(`${bench.name}, ${side}, ${paramText(params)}: ${text}`);
  }
  return 0;
}

/** A tool that can not even count Node's start by then counts nothing here. */
const PROBE_MS = 60_000;

interface Counted {
  readonly bench: BenchCase;
  readonly side: string;
  readonly params: Params;
}

function firstSide(bench: BenchCase): Counted[] {
  const [side] = bench.pairs[0] ?? [];
  const params = bench.sizes.smoke[0];
  if (side === undefined || params === undefined) return [];
  return bench.missing?.(side, params) === undefined ? [{ bench, side, params }] : [];
}

function aboutText({ name, caseSeconds }: Counter, cases: number, budgetSeconds: number): string {
  const how =
    name === "perf"
      ? "the processor's counters, by perf"
      : "valgrind (perf can not read the processor's counters here)";
  const seconds = Math.min(budgetSeconds, (cases + 1) * caseSeconds);
  const what = cases === 1 ? "1 case" : `${cases} cases`;
  return `instructions: counted by ${how}; ${what}, up to ${seconds} s (--budget)`;
}

function countOf(
  { words, count }: Counter,
  node: readonly string[],
  timeoutMs: number,
): number | undefined {
  const [program, ...first] = words as [string, ...string[]];
  const { stderr, status } = spawnSync(program, [...first, process.execPath, ...node], {
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
    timeout: Math.ceil(timeoutMs),
    killSignal: "SIGKILL",
  });
  return status === 0 ? count(stderr) : undefined;
}

function numberIn(match: RegExpExecArray | null): number | undefined {
  return match === null ? undefined : Number(match[1]?.replaceAll(",", ""));
}
