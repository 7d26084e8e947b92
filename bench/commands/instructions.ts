/**
 * Instructions instead of time: the companion that no neighbour disturbs.
 *
 *   npm run bench -- instructions [cases] [--json]
 *
 *   node child.js <case at its smoke size>, its first side ─┬─ perf stat -e instructions:u    where the processor's counters can be read
 *                                                           └─ valgrind --tool=callgrind      else, some 50 times slower
 *   the same with a case that does nothing ─▶ subtracted: what Node takes to start
 *
 * A count is of everything: compilers, collections, our code. It repeats to about a hundredth, where times on a shared machine repeat to a
 * tenth; it says nothing of cache misses. Compare it with a count of the same Node on the same kind of machine.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchCase } from "../harness/case.ts";
import { CHILD_FLAGS } from "../harness/child.ts";
import { paramText } from "../harness/run-case.ts";
import { amount } from "../harness/table.ts";

interface Counter {
  readonly name: string;
  readonly words: readonly string[];
  /** Finds the count in what the tool wrote to standard error. */
  count(text: string): number | undefined;
}

const COUNTERS: readonly Counter[] = [
  {
    name: "perf",
    words: ["perf", "stat", "-x,", "-e", "instructions:u", "--"],
    count: (text) => numberIn(/^(\d+),[^,]*,instructions/m.exec(text)),
  },
  {
    name: "valgrind",
    words: [
      ...["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"],
      "--smc-check=all-non-file",
    ],
    count: (text) => numberIn(/Collected : (\d+)/.exec(text)),
  },
];

/** Returns the exit code: 0 also where nothing here can count. */
export function instructions(cases: readonly BenchCase[], json: boolean): number {
  const counter = COUNTERS.find((each) => countOf(each, ["-e", "0"]) !== undefined);
  if (counter === undefined) {
    console.log("instructions: not measured (neither perf's counters nor valgrind can be used)");
    return 0;
  }
  const start = countOf(counter, [...CHILD_FLAGS, "-e", "0"]) ?? 0;
  for (const bench of cases) {
    const [side] = bench.pairs[0] ?? [];
    const params = bench.sizes.smoke[0];
    if (side === undefined || params === undefined || bench.missing?.(side, params)) continue;
    const child = join(fileURLToPath(new URL("..", import.meta.url)), "child.js");
    const order = JSON.stringify({ bench: bench.name, side, params });
    const count = countOf(counter, [...CHILD_FLAGS, child, order]);
    const millions = count === undefined ? undefined : (count - start) / 1e6;
    const by = { case: bench.name, side, params, counter: counter.name, millions };
    const text = millions === undefined ? "not measured" : `${amount(millions)} million`;
    if (json) console.log(JSON.stringify(by));
    else console.log(`${bench.name}, ${side}, ${paramText(params)}: ${text} (${counter.name})`);
  }
  return 0;
}

function countOf({ words, count }: Counter, node: readonly string[]): number | undefined {
  const [program, ...first] = words as [string, ...string[]];
  const { stderr, status } = spawnSync(program, [...first, process.execPath, ...node], {
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
  });
  return status === 0 ? count(stderr) : undefined;
}

function numberIn(match: RegExpExecArray | null): number | undefined {
  return match === null ? undefined : Number(match[1]);
}
