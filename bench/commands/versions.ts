/**
 * Builds of revisions, kept, so that a comparison builds each version once.
 *
 *   build/bench-versions/<commit>/   package.json, dist/          of the revision; build/plain too, since there is one
 *                                    node_modules                 link to those of here where both lock files agree, else its own
 *                                    bench, build/bench           the benchmarks of this tree, copied at each use
 *                                    build/src                    leads to these (bench/link-sources.mjs)
 *
 *   worktree in a temporary folder ── npm ci, where the lock file differs ── build ──▶ renamed to its place when it is whole
 *
 *   I1  A folder with a commit's name is a whole build of that commit: it is made elsewhere and renamed.
 *   I2  The worktree is gone afterwards, also after an interrupt. The newest KEPT builds stay.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../harness/machine.ts";

const VERSIONS = join(ROOT, "build/bench-versions");
/** Of some 30 MB each without packages of their own. */
const KEPT = 6;

/** The full name of a revision; undefined: no such revision. */
export function commitOf(revision: string): string | undefined {
  try {
    return git(["rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`]);
  } catch {
    return undefined;
  }
}

export function isBuilt(commit: string): boolean {
  return existsSync(homeOf(commit));
}

/** The folder whose child.js measures that version; builds it where that was not done yet. Throws what the build says. */
export function versionHome(commit: string): string {
  const home = homeOf(commit);
  if (!isBuilt(commit)) makeVersion(commit, home);
  for (const path of ["bench", "build/bench"])
    rmSync(join(home, path), { recursive: true, force: true });
  symlinkSync(join(ROOT, "bench"), join(home, "bench"), "junction");
  cpSync(join(ROOT, "build/bench"), join(home, "build/bench"), { recursive: true });
  const now = Date.now() / 1e3;
  utimesSync(home, now, now);
  prune(commit);
  return join(home, "build/bench");
}

function homeOf(commit: string): string {
  return join(VERSIONS, commit.slice(0, 12));
}

function makeVersion(commit: string, home: string): void {
  const folder = mkdtempSync(join(tmpdir(), "bench-version-"));
  const tree = join(folder, "tree");
  const remove = (): void => removeTree(folder, tree);
  process.once("exit", remove);
  try {
    git(["worktree", "add", "--detach", tree, commit]);
    const isShared = lockOf(tree) === lockOf(ROOT);
    const packages = join(tree, "node_modules");
    if (isShared) symlinkSync(join(ROOT, "node_modules"), packages, "junction");
    else run(tree, "npm", ["ci", "--no-audit", "--no-fund"]);
    run(tree, process.execPath, [join(tree, "tools/build.mjs")]);
    const made = `${home}.${process.pid}`;
    mkdirSync(join(made, "build"), { recursive: true });
    for (const name of ["package.json", "dist", ...(isShared ? [] : ["node_modules"])])
      cpSync(join(tree, name), join(made, name), { recursive: true, verbatimSymlinks: true });
    if (isShared) symlinkSync(join(ROOT, "node_modules"), join(made, "node_modules"), "junction");
    const plain = join(tree, "build/plain");
    if (existsSync(plain)) cpSync(plain, join(made, "build/plain"), { recursive: true });
    run(made, process.execPath, [join(ROOT, "bench/link-sources.mjs"), made]);
    renameSync(made, home);
  } finally {
    process.off("exit", remove);
    remove();
  }
}

/** What a tool says goes to standard error where it fails. */
function run(cwd: string, program: string, words: readonly string[]): void {
  try {
    execFileSync(program, words, { cwd, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" });
  } catch (cause) {
    const { stderr = "" } = cause as { stderr?: string };
    throw new Error(`${program} ${words.join(" ")}: ${stderr.trim().split("\n").at(-1)}`);
  }
}

function removeTree(folder: string, tree: string): void {
  if (existsSync(tree)) {
    try {
      git(["worktree", "remove", "--force", tree]);
    } catch {
      // A folder that git has forgotten is removed with the rest.
    }
  }
  rmSync(folder, { recursive: true, force: true });
}

/** All but the newest go, and never the one that was just asked for. */
function prune(commit: string): void {
  const own = commit.slice(0, 12);
  const others = readdirSync(VERSIONS).filter((name) => name !== own);
  const atOf = (name: string): number => statSync(join(VERSIONS, name)).mtimeMs;
  const old = others.sort((a, b) => atOf(b) - atOf(a)).slice(KEPT - 1);
  for (const name of old) rmSync(join(VERSIONS, name), { recursive: true, force: true });
}

function lockOf(root: string): string {
  return readFileSync(join(root, "package-lock.json"), "utf8");
}

function git(words: readonly string[]): string {
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
  return execFileSync("git", words, { cwd: ROOT, encoding: "utf8", stdio }).trim();
}
