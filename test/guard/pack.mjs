/**
 * Packs the package of a checkout so that it runs for good: compiled without comments, types and source maps, and with its
 * dependencies beside it, so that a later change of ours to a dependency cannot reach it.
 *
 *   git worktree add <checkout> <commit> && npm ci --prefix <checkout>
 *   node test/guard/pack.mjs <checkout> <tarball>
 *
 * lmdb, undici and htmlparser2 stay outside, as they are optional: they are found in our own node_modules.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Each dependency, and those of its files that Node loads. */
const BUNDLED = {
  msgpackr: ["package.json", "LICENSE", "*.js"],
  piscina: ["package.json", "LICENSE", "dist/*.js", "dist/*.mjs", "dist/*/*.js", "dist/*/*/*.js"],
  tldts: ["package.json", "LICENSE", "dist/cjs/index.js"],
  "tldts-core": ["package.json", "LICENSE", "dist/cjs/index.js"],
  tr46: ["package.json", "LICENSE.md", "index.js", "lib/*"],
  punycode: ["package.json", "LICENSE-MIT.txt", "punycode.js"],
};

const [from, to] = process.argv.slice(2).map((path) => resolve(path));
const stage = mkdtempSync(join(tmpdir(), "guard-pack-"));

run(process.execPath, [join(from, "tools/build.mjs"), "kernel"]);
run(process.execPath, [
  join(from, "node_modules/typescript/bin/tsc"),
  ...["-p", join(from, "tsconfig.build.json"), "--outDir", join(stage, "dist")],
  ...["--sourceMap", "false", "--inlineSources", "false", "--declaration", "false"],
  ...["--removeComments", "true"],
]);
for (const name of ["kernel.wasm", "kernel.debug.wasm", "kernel.shared.wasm"]) {
  cpSync(join(from, "dist", name), join(stage, "dist", name));
}
for (const name of ["LICENSE", "docs/rules.schema.json"])
  cpSync(join(from, name), join(stage, name));
for (const [name, patterns] of Object.entries(BUNDLED)) {
  const folder = join(from, "node_modules", name);
  cpSync(folder, join(stage, "node_modules", name), {
    recursive: true,
    filter: (path) => isKept(path.slice(folder.length + 1), patterns),
  });
}
writeFileSync(join(stage, "package.json"), JSON.stringify(manifest(), undefined, 2));
const { stdout } = run("npm", ["pack", "--silent", "--ignore-scripts"], stage, "pipe");
renameSync(join(stage, stdout.trim()), to);
rmSync(stage, { recursive: true });

/** Without scripts and tools; with the exact versions that are packed. */
function manifest() {
  const { name, version, license, type, engines, exports, ...rest } = JSON.parse(
    readFileSync(join(from, "package.json"), "utf8"),
  );
  const bundled = Object.keys(BUNDLED);
  const versionOf = (one) =>
    JSON.parse(readFileSync(join(from, "node_modules", one, "package.json"), "utf8")).version;
  return {
    ...{ name, version, license, type, engines, exports, files: ["dist", "docs"] },
    dependencies: Object.fromEntries(bundled.map((one) => [one, versionOf(one)])),
    bundleDependencies: bundled,
    peerDependencies: rest.peerDependencies,
    peerDependenciesMeta: rest.peerDependenciesMeta,
  };
}

/** Folders are kept where a pattern goes on in them. */
function isKept(path, patterns) {
  const parts = path.split("/");
  if (path.endsWith(".map") || path.endsWith(".ts")) return false;
  return (
    path === "" ||
    patterns.some((pattern) => {
      const wanted = pattern.split("/");
      return parts.every((part, at) => at < wanted.length && matches(part, wanted[at]));
    })
  );
}

function matches(part, wanted) {
  return wanted.startsWith("*") ? part.endsWith(wanted.slice(1)) : part === wanted;
}

function run(command, args, cwd = from, stdout = "inherit") {
  const result = spawnSync(command, args, {
    cwd,
    stdio: ["ignore", stdout, "inherit"],
    encoding: "utf8",
  });
  if (result.status !== 0)
    throw new Error(`${command} ended with ${result.status ?? result.signal}`);
  return result;
}
