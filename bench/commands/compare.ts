/**
 * Two versions against each other, in alternating fresh processes.
 *
 *   temporary folder/base   worktree of the revision ─ build ─▶ dist ◀─┐
 *   temporary folder/head   worktree of HEAD         ─ build ─▶ dist ◀─┤ build/bench/src; the benchmarks are those of here
 *
 *   round 1   head  base  head′        head′ / head is the A/A row: where it is not level there is no verdict
 *   round 2   head′ base  head
 *
 *   npm run bench -- compare <revision> [cases] [--rounds N] [--smoke] [--json] [--strict]
 *
 * Only the first side of each case runs, which is ours. A ratio over 1: HEAD is faster. Exit code 1 with --strict when
 * something got worse; 2 when a version can not be built.
 *
 *   I1  Both versions run the same benchmarks over the same URLs, and must answer with the same checksums.
 *   I2  The temporary folder and both worktrees are gone afterwards, also after an interrupt.
 */
import { execFileSync, type StdioOptions } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BenchCase, type Params, ROUNDS } from "../harness/case.ts";
import { observeInChild } from "../harness/child.ts";
import { ROOT } from "../harness/machine.ts";
import { type CaseResult, type Observation, paramText, runCase } from "../harness/run-case.ts";
import { verdictOf } from "../harness/statistics.ts";
import { doubtOf, resultText } from "../harness/table.ts";
import { progress } from "./named.ts";
import { suiteSizes } from "./suite.ts";

export interface CompareFlags {
  readonly cases: readonly BenchCase[];
  readonly revision: string;
  readonly isSmoke: boolean;
  readonly rounds: number | undefined;
  readonly json: boolean;
  readonly strict: boolean;
}

const VERSIONS = ["head", "base"] as const;

/** Returns the exit code. */
export async function compare(flags: CompareFlags): Promise<number> {
  const commits = { head: commitOf("HEAD"), base: commitOf(flags.revision) };
  if (commits.base === undefined || commits.head === undefined) {
    console.error(`compare: ${flags.revision} (expected: a revision of this repository)`);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), "bench-compare-"));
  const remove = (): void => removeAll(folder);
  const stop = (): void => process.exit(130);
  process.once("exit", remove).once("SIGINT", stop).once("SIGTERM", stop);
  try {
    for (const version of VERSIONS) prepare(join(folder, version), commits[version] as string);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 2;
  }
  let worse = 0;
  for (const bench of flags.cases) worse += await compareCase(bench, folder, flags);
  return flags.strict && worse > 0 ? 1 : 0;
}

function commitOf(revision: string): string | undefined {
  try {
    return git(["rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`]);
  } catch {
    return undefined;
  }
}

function git(words: readonly string[]): string {
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
  return execFileSync("git", words, { cwd: ROOT, encoding: "utf8", stdio }).trim();
}

/** A worktree with its packages, its dist, and the benchmarks of here linked to that. */
function prepare(path: string, commit: string): void {
  progress(`building ${commit.slice(0, 12)}`);
  git(["worktree", "add", "--detach", path, commit]);
  const options = { cwd: path, stdio: ["ignore", "ignore", "inherit"] as StdioOptions };
  const lock = (root: string): string => readFileSync(join(root, "package-lock.json"), "utf8");
  if (lock(path) === lock(ROOT)) {
    symlinkSync(join(ROOT, "node_modules"), join(path, "node_modules"), "junction");
  } else execFileSync("npm", ["ci", "--no-audit", "--no-fund"], options);
  execFileSync(process.execPath, [join(path, "tools/build.mjs")], options);
  cpSync(join(ROOT, "build/bench"), join(path, "build/bench"), { recursive: true });
  symlinkSync(join(path, "dist"), join(path, "build/src"), "junction");
}

function removeAll(folder: string): void {
  for (const version of VERSIONS) {
    const path = join(folder, version);
    if (!existsSync(path)) continue;
    try {
      git(["worktree", "remove", "--force", path]);
    } catch {
      // A folder that git no longer knows goes with the rest.
    }
  }
  rmSync(folder, { recursive: true, force: true });
}

/** How many phases got worse. */
async function compareCase(bench: BenchCase, folder: string, flags: CompareFlags): Promise<number> {
  const side = bench.pairs[0]?.[0];
  const sizes = flags.isSmoke ? bench.sizes.smoke : suiteSizes(bench, false);
  let worse = 0;
  for (const params of sizes) {
    const reason = side === undefined ? "no side" : bench.missing?.(side, params);
    if (side === undefined || reason !== undefined) continue;
    try {
      const result = await runCase({
        bench: versus(bench),
        params,
        rounds: flags.rounds ?? ROUNDS.fresh,
        observeFresh: (version) => observeVersion(bench, { version, side, params, folder }),
        progress,
      });
      progress("");
      worse += tell(bench, result, flags.json);
    } catch (error) {
      progress("");
      const why = error instanceof Error ? error.message : String(error);
      console.error(`${bench.name}, ${paramText(params)}: not compared (${why})`);
    }
  }
  return worse;
}

/** The same case, its sides the two versions. */
function versus(bench: BenchCase): BenchCase {
  const pairs = [VERSIONS];
  return { ...bench, process: "fresh", pairs, isSameWork: true, missing: () => undefined };
}

interface Seat {
  readonly version: string;
  readonly side: string;
  readonly params: Params;
  readonly folder: string;
}

function observeVersion(
  bench: BenchCase,
  { version, side, params, folder }: Seat,
): Promise<Observation> {
  const home = join(folder, version, "build/bench");
  return observeInChild({ bench: bench.name, side, params }, { home });
}

const WORDS = { faster: "better", slower: "worse", inconclusive: "inconclusive" } as const;

function tell(bench: BenchCase, result: CaseResult, json: boolean): number {
  const doubt = doubtOf(result);
  const rows = result.comparisons.map(({ phase, ratio }) => {
    const verdict = doubt === undefined ? WORDS[verdictOf(ratio)] : "inconclusive";
    return { case: bench.name, params: result.params, phase, ratio, verdict };
  });
  if (json) for (const each of rows) console.log(JSON.stringify(each));
  else {
    console.log(`\n${bench.name}: head against base, over 1 is faster`);
    console.log(resultText(bench, result));
    for (const { phase, verdict } of rows) console.log(`    ${phase}: ${verdict}`);
  }
  return rows.filter(({ verdict }) => verdict === "worse").length;
}
