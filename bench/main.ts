/**
 * The command: which cases, at which size, and where the results go.
 *
 *   npm run bench -- kernel                 all cases of a suite, real size
 *   npm run bench -- dedup bloom            some cases by name
 *   npm run bench -- core --smoke           seconds: shows that everything runs and every checksum agrees
 *   npm run bench -- --list                 names, sentences, targets
 *   --rounds N   --params urls=1000000 (only such sizes)   --write   --no-write   --json   --no-build
 */
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { CASES } from "./cases/index.ts";
import type { BenchCase, Params } from "./harness/case.ts";
import { CHILD_FLAGS, observeInChild } from "./harness/child.ts";
import { machineOf } from "./harness/machine.ts";
import { resultOf, type ResultFile, writeResult } from "./harness/result-file.ts";
import { type CaseResult, paramText, runCase } from "./harness/run-case.ts";
import { headText, resultText } from "./harness/table.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ROUNDS = { smoke: 1, real: { shared: 15, fresh: 5 } } as const;

interface Flags {
  readonly isSmoke: boolean;
  readonly rounds: number | undefined;
  readonly params: string | undefined;
  readonly write: boolean;
  readonly json: boolean;
}

/** Returns the exit code. */
export async function main(words: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    allowNegative: true,
    options: {
      smoke: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      rounds: { type: "string" },
      params: { type: "string" },
      write: { type: "boolean" },
      json: { type: "boolean", default: false },
    },
  });
  const chosen = choose(positionals);
  if (chosen === undefined) return 2;
  if (values.list) {
    for (const bench of chosen) console.log(listText(bench));
    return 0;
  }
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isSafeInteger(rounds) && rounds > 0)) {
    console.error(`--rounds: ${values.rounds} (expected: a whole number from 1)`);
    return 2;
  }
  const isSmoke = values.smoke;
  const flags: Flags = {
    isSmoke,
    rounds,
    params: values.params,
    write: values.write ?? !isSmoke,
    json: values.json,
  };
  let failed = 0;
  for (const bench of chosen) failed += (await runOne(bench, flags)) ? 0 : 1;
  return failed === 0 ? 0 : 1;
}

/** Cases by suite or name; all where nothing is named. */
function choose(names: readonly string[]): BenchCase[] | undefined {
  const known = (name: string): boolean =>
    CASES.some((bench) => bench.name === name || bench.suite === name);
  const odd = names.find((name) => !known(name));
  if (odd !== undefined) {
    console.error(`case: ${odd} (expected: kernel, core, rules or a name of --list)`);
    return undefined;
  }
  if (names.length === 0) return [...CASES];
  return CASES.filter(({ name, suite }) => names.includes(name) || names.includes(suite));
}

function listText(bench: BenchCase): string {
  const pairs = bench.pairs.map(([subject, peer]) => `${subject} / ${peer}`).join(", ");
  const sizes = bench.sizes.real.map(paramText).join(" | ");
  const target = bench.target === undefined ? "" : `\n    target: ${bench.target}`;
  return `${bench.suite} ${bench.name}: ${bench.about}\n    ${pairs}\n    ${sizes}${target}`;
}

/** Whether a size has every `name=value` of a list. */
function matches(params: Params, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  return wanted.split(",").every((each) => {
    const [name, value] = each.split("=");
    return name !== undefined && String(params[name]) === value;
  });
}

/** True when all of its sizes ran and every checksum agreed. */
async function runOne(bench: BenchCase, flags: Flags): Promise<boolean> {
  const size = flags.isSmoke ? "smoke" : "real";
  const machine = machineOf(ROOT, bench.process === "fresh" ? CHILD_FLAGS : []);
  const startedAt = new Date();
  const rounds =
    flags.rounds ?? (flags.isSmoke ? ROUNDS.smoke : (bench.rounds ?? ROUNDS.real[bench.process]));
  const wanted = flags.params;
  const sizes = bench.sizes[size].filter((params) => matches(params, wanted));
  if (!flags.json) console.log(headText(bench));
  const results: CaseResult[] = [];
  try {
    for (const params of sizes) {
      const result = await runCase({
        bench,
        params,
        rounds,
        observeFresh: (side) => observeInChild({ bench: bench.name, side, params }),
        progress,
      });
      progress("");
      results.push(result);
      if (!flags.json) console.log(resultText(bench, result));
    }
  } catch (error) {
    progress("");
    console.error(error instanceof Error ? error.message : error);
    return false;
  }
  const file: ResultFile = { bench, size, startedAt, machine, results };
  if (flags.json) console.log(JSON.stringify(resultOf(file)));
  if (flags.write && results.length > 0) {
    const path = writeResult(join(ROOT, "bench/results"), file);
    if (!flags.json) console.log(`\n  ${path.slice(ROOT.length)}`);
  }
  return true;
}

/** One line that is drawn anew, on a terminal only. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
