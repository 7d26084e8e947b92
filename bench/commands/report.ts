/**
 * What is made of a suite: its JSON and the tables of README.md and bench/results/README.md; TARGETS.md, of every result;
 * and on demand its page.
 *
 *   npm run bench -- report        the tables from the kept results, and the newest suite's page in build/
 *
 * A result that a later one supersedes is deleted (report/retention.ts), so that the folder does not grow with every run.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { writeEstimates } from "../harness/estimates.ts";
import { ROOT } from "../harness/machine.ts";
import { SUITE_SCHEMA, type SuiteObject, suiteName, writeSuite } from "../harness/result-file.ts";
import { htmlOf } from "../report/html.ts";
import { removeSuperseded } from "../report/retention.ts";
import { resultsBlock, withBlock } from "../report/summary.ts";
import { keptRuns, readTargets, targetsText } from "../report/targets.ts";
import { verdictBlock } from "../report/verdicts.ts";

export const RESULTS = join(ROOT, "bench/results");
/** Where pages are drawn: git ignores it. */
const PAGES = join(ROOT, "build/bench-report");
/** A suite of a clean tree; those of single cases have a time in their names. */
const SUITE_FILE = /^\d{4}-\d\d-\d\d-[0-9a-f]{7,40}\.json$/;

/** Every suite that was kept, the oldest first. */
export function suitesOf(folder: string = RESULTS): SuiteObject[] {
  const names = readdirSync(folder).filter((name) => SUITE_FILE.test(name));
  const suites = names.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
  return (suites as SuiteObject[])
    .filter(({ schema }) => schema === SUITE_SCHEMA)
    .sort((a, b) => a.at.localeCompare(b.at));
}

/** The suite that was committed before `newest`, from git's history; undefined where it has none. */
export function suiteBefore(newest: SuiteObject): SuiteObject | undefined {
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 28 });
  const filter = ["--diff-filter=AM", "--name-only", "--format=%H"];
  let commit = "";
  for (const line of git("log", ...filter, "--", "bench/results").split("\n")) {
    if (/^[0-9a-f]{40,64}$/.test(line)) commit = line;
    if (!SUITE_FILE.test(basename(line)) || basename(line) === `${suiteName(newest)}.json`)
      continue;
    const suite = JSON.parse(git("show", `${commit}:${line}`)) as SuiteObject;
    if (suite.schema === SUITE_SCHEMA && suite.at < newest.at) return suite;
  }
  return undefined;
}

/** Deletes what later results supersede, and names it. */
export function dropSuperseded(): void {
  for (const path of removeSuperseded(RESULTS)) {
    console.error(`  ${path.slice(ROOT.length)}: superseded, deleted`);
  }
}

/** Writes everything that is made of a suite; tables only from a clean tree. */
export function publish(suite: SuiteObject): void {
  const json = writeSuite(RESULTS, suite);
  const files = [json, writeEstimates(RESULTS, suite)];
  if (!suite.dirty) files.push(...writeTables(suite), writeTargets());
  else
    console.error(
      "\n  README.md, bench/results/README.md and TARGETS.md are left as they are: the tree has changes that are not committed",
    );
  for (const path of files) console.error(`  ${path.slice(ROOT.length)}`);
  dropSuperseded();
}

/** Returns the exit code. */
export function report(): number {
  const suite = suitesOf().at(-1);
  if (suite !== undefined) console.error(`  ${writePage(suite).slice(ROOT.length)}`);
  for (const path of [...writeTables(suite), writeTargets()])
    console.error(`  ${path.slice(ROOT.length)}`);
  dropSuperseded();
  return 0;
}

function writePage(suite: SuiteObject): string {
  mkdirSync(PAGES, { recursive: true });
  const path = join(PAGES, `${suiteName(suite)}.html`);
  writeFileSync(path, htmlOf(suite));
  return path;
}

function writeTargets(): string {
  const path = join(RESULTS, "TARGETS.md");
  writeFileSync(path, targetsText(readTargets(RESULTS), keptRuns(RESULTS)));
  return path;
}

/** README's rows with verdicts, and all others in the README of the results. */
function writeTables(suite: SuiteObject | undefined): string[] {
  const runs = keptRuns(RESULTS);
  const blocks = [
    [join(ROOT, "README.md"), verdictBlock(runs)],
    [join(RESULTS, "README.md"), resultsBlock(suite, runs)],
  ] as const;
  for (const [path, block] of blocks)
    writeFileSync(path, withBlock(readFileSync(path, "utf8"), block));
  return blocks.map(([path]) => path);
}
