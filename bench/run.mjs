/**
 * Makes the benchmarks runnable and starts them: types are stripped, nothing else is done to them.
 * Builds the package first where its sources are newer than dist/; --no-build leaves it as it is.
 *
 *   bench/**.ts ──transpile──▶ build/bench/**.js      build/src ──▶ dist, build/plain (link-sources.mjs)
 *
 * The benchmarks import `../../src/…`; in build/ those paths lead to what is built: a public entry to the bundle that is published,
 * an internal module to its own file.
 */
import { spawnSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const build = join(root, "build");

const words = process.argv.slice(2);
const mayBuild = !words.includes("--no-build");
// It needs nothing of dist/.
const isHelp = words.includes("--help") || words.includes("-h");

if (mayBuild && !isHelp && isOld()) buildPackage();
await prepare();
if (isHelp) {
  const { HELP } = await import(pathToFileURL(join(build, "bench/commands/help.js")).href);
  process.stdout.write(HELP);
} else {
  const { main } = await import(pathToFileURL(join(build, "bench/main.js")).href);
  process.exitCode = await main(words.filter((word) => word !== "--no-build"));
}

/** Whether dist/ lacks something or is older than a source of it. */
function isOld() {
  const made = ["dist/index.js", "dist/kernel.wasm", "build/plain/index.js"].map((path) =>
    statSync(join(root, path), { throwIfNoEntry: false }),
  );
  const madeAt = Math.min(...made.map((stat) => stat?.mtimeMs ?? 0));
  const all = [...sources(join(root, "src")), ...sources(join(root, "assembly"))];
  return all.some((source) => statSync(source).mtimeMs > madeAt);
}

function buildPackage() {
  console.error("dist/ is missing or older than its sources: building");
  const options = { cwd: root, stdio: /** @type {const} */ (["ignore", "ignore", "inherit"]) };
  const { status } = spawnSync(process.execPath, [join(root, "tools/build.mjs")], options);
  if (status !== 0) process.exit(status ?? 1);
}

/** Several runs may start at once: files appear whole, and only where they are missing or old. */
async function prepare() {
  mkdirSync(join(build, "bench"), { recursive: true });
  linkSources();
  const old = sources(join(root, "bench")).filter((source) => {
    const made = statSync(targetOf(source), { throwIfNoEntry: false });
    return made === undefined || made.mtimeMs < statSync(source).mtimeMs;
  });
  if (old.length === 0) return;
  const { default: ts } = await import("typescript");
  for (const source of old) {
    const target = targetOf(source);
    const { outputText } = ts.transpileModule(readFileSync(source, "utf8"), {
      fileName: source,
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
        inlineSourceMap: true,
        inlineSources: true,
      },
    });
    mkdirSync(dirname(target), { recursive: true });
    const fresh = `${target}.${process.pid}`;
    writeFileSync(fresh, outputText);
    renameSync(fresh, target);
  }
}

/** @param {string} source */
function targetOf(source) {
  return join(build, relative(root, source)).replace(/\.ts$/, ".js");
}

/** Anew only where the package was built since. */
function linkSources() {
  const at = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const isLink = lstatSync(join(build, "src"), { throwIfNoEntry: false })?.isSymbolicLink();
  if (isLink !== true && at("build/src") >= at("build/plain/index.js")) return;
  const script = join(root, "bench/link-sources.mjs");
  const { status } = spawnSync(process.execPath, [script, root], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

/** Every TypeScript file below a folder. @param {string} folder @returns {string[]} */
function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : sources(path);
    return entry.name.endsWith(".ts") ? [path] : [];
  });
}
