/**
 * The command: which cases, at which size, and where the results go.
 *
 *   npm run bench ─ words ─┬─ nothing ──────────────────────────────▶ suite
 *                          ├─ compare, check, instructions, report ─▶ commands/<its name>
 *                          └─ cases or suites ──────────────────────▶ named
 *
 * commands/help.ts has every word and flag; run.mjs prints it, without a build.
 */
import { parseArgs } from "node:util";
import { CASES } from "./cases/index.ts";
import { compare } from "./commands/compare.ts";
import { instructions } from "./commands/instructions.ts";
import { runNamed } from "./commands/named.ts";
import { check } from "./commands/regression.ts";
import { report } from "./commands/report.ts";
import { runSuite } from "./commands/suite.ts";
import type { BenchCase } from "./harness/case.ts";

/** What a suite may take, in seconds; on a slow machine it has fewer rounds, not more time. */
const BUDGET_SECONDS = 570;
/** The same for a comparison of two versions that are built. */
const COMPARE_SECONDS = 300;

/** Returns the exit code. */
export async function main(words: string[]): Promise<number> {
  const read = readWords(words);
  if (read === undefined) return 2;
  const { values, positionals } = read;
  const rounds = wholeOf("--rounds", values.rounds);
  const budget = wholeOf("--budget", values.budget);
  const limit = wholeOf("--limit", values.limit);
  if (rounds === null || budget === null || limit === null) return 2;
  const { smoke: isSmoke, json, params, large } = values;
  const [command, ...names] = positionals;
  if (command === "report") return report();
  if (command === "check") return check(names);
  const revision = command === "compare" ? names.shift() : undefined;
  const isCommand = command === "compare" || command === "instructions";
  const chosen = choose(isCommand ? names : positionals);
  if (chosen === undefined) return 2;
  if (command === "instructions")
    return instructions(chosen, { json, budgetSeconds: budget ?? BUDGET_SECONDS });
  if (command === "compare") {
    const { strict } = values;
    const budgetSeconds = budget ?? COMPARE_SECONDS;
    const how = { isSmoke, params, rounds, budgetSeconds, json, strict };
    return compare({ cases: chosen, revision: revision ?? "", ...how });
  }
  if (positionals.length === 0 && !isSmoke && !values.list) {
    const budgetSeconds = budget ?? BUDGET_SECONDS;
    const suite = { cases: CASES, budgetSeconds, large, rounds, json, isDry: values.plan };
    return runSuite({ ...suite, write: values.write ?? true });
  }
  const write = values.write ?? !isSmoke;
  const list = values.list;
  const named = { isSmoke, large, rounds, params, limit, budgetSeconds: budget };
  return runNamed(chosen, { ...named, write, json, list });
}

/** What was asked for; undefined, and a word about it, where that is not understood. */
function readWords(words: string[]): ReturnType<typeof parseWords> | undefined {
  try {
    return parseWords(words);
  } catch (cause) {
    console.error(`${wordsOf(cause)}\nnpm run bench -- --help names every word`);
    return undefined;
  }
}

/** Without the advice of the parser, which is not meant for those who call npm. */
function wordsOf(cause: unknown): string {
  return cause instanceof Error
    ? (cause.message.split(". To specify")[0] as string)
    : String(cause);
}

/** Throws what the parser says of a flag that is not there. */
function parseWords(args: string[]) {
  return parseArgs({
    args,
    allowPositionals: true,
    allowNegative: true,
    options: {
      smoke: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      large: { type: "boolean", default: false },
      plan: { type: "boolean", default: false },
      rounds: { type: "string" },
      params: { type: "string" },
      budget: { type: "string" },
      limit: { type: "string" },
      write: { type: "boolean" },
      json: { type: "boolean", default: false },
      strict: { type: "boolean", default: false },
    },
  });
}

/** A whole number from 1; null, and a word about it, for anything else that was given. */
function wholeOf(flag: string, text: string | undefined): number | undefined | null {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  console.error(`${flag}: ${text} (expected: a whole number from 1)`);
  return null;
}

/** Cases by suite or name; all where nothing is named. */
function choose(names: readonly string[]): BenchCase[] | undefined {
  const known = (name: string): boolean =>
    CASES.some((bench) => bench.name === name || bench.suite === name);
  const odd = names.find((name) => !known(name));
  if (odd !== undefined) {
    const suites = [...new Set(CASES.map(({ suite }) => suite))].join(", ");
    console.error(
      `case: ${odd} (expected: ${suites} or a name of --list; --help names the commands)`,
    );
    return undefined;
  }
  if (names.length === 0) return [...CASES];
  return CASES.filter(({ name, suite }) => names.includes(name) || names.includes(suite));
}
