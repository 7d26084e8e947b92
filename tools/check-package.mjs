/**
 * Is what npm would publish whole? Packs the tarball, installs it in an empty project and uses it there.
 *
 *   npm pack ─▶ outrider-x.y.z.tgz ─┬─▶ files and bytes under their ceilings; publint, attw (ESM only)
 *                                   └─▶ empty project: npm install ─▶ no install script anywhere
 *                                         ├─▶ every entry, by import and by require, on this Node and on OLDEST
 *                                         ├─▶ one FrontierError for all entries and threads
 *                                         └─▶ the examples; tsc
 *
 * The install tries npm's cache first and the network only when that fails. The package must be built.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeOf } from "./nodes.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const modules = fileURLToPath(new URL("../node_modules", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** Files without which a package is not one. */
const NEEDED = [
  "dist/kernel.wasm",
  "dist/thread.cjs",
  "dist/THIRD-PARTY.txt",
  "README.md",
  "LICENSE",
];
/** A package is unpacked, and its entries are found, by each installation and each start. */
const FILES_MAX = 40;
const BYTES_MAX = 600_000;
/** The floor of `engines`, which has no require() of ES modules. */
const OLDEST = "20.15.0";
const EXAMPLES = ["first.mjs", "worker-crawler/main.mjs", "worker-crawler/visit.mjs"];

const project = mkdtempSync(join(tmpdir(), "outrider-package-"));
try {
  const tarball = pack();
  lint(tarball);
  install(tarball);
  checkScripts();
  useEntries();
  useOldest();
  useUncaught();
  useOneClass();
  useExamples();
  checkTypes();
  console.log("check:package: the package installs, runs and type-checks in an empty project");
} finally {
  rmSync(project, { recursive: true, force: true });
}

function pack() {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", project];
  const { stdout } = run("npm", args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const answer = JSON.parse(stdout);
  const [{ filename, files, size }] = Array.isArray(answer) ? answer : Object.values(answer);
  const packed = new Set(files.map((file) => file.path));
  const missing = NEEDED.filter((path) => !packed.has(path));
  if (missing.length > 0) throw new Error(`not in the package: ${missing.join(", ")}`);
  const maps = [...packed].filter((path) => path.endsWith(".map"));
  if (maps.length > 0) throw new Error(`packed: ${maps.join(", ")} (expected: no source maps)`);
  console.log(`packed ${filename}: ${files.length} files, ${size} bytes`);
  if (files.length > FILES_MAX || size > BYTES_MAX)
    throw new Error(`packed: expected: at most ${FILES_MAX} files, ${BYTES_MAX} bytes`);
  return join(project, filename);
}

function lint(tarball) {
  run(process.execPath, [join(modules, "publint/src/cli.js"), "run", tarball, "--strict"]);
  const attw = join(modules, "@arethetypeswrong/cli/dist/index.js");
  run(process.execPath, [
    attw,
    tarball,
    "--profile",
    "esm-only",
    "--no-color",
    "--exclude-entrypoints",
    "./urlfrontier.proto",
  ]);
}

function install(tarball) {
  const own = { name: "consumer", private: true, type: "module" };
  writeFileSync(join(project, "package.json"), JSON.stringify(own));
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", tarball];
  const cached = spawnSync("npm", [...args, "--offline"], { cwd: project, encoding: "utf8" });
  if (cached.status !== 0) run("npm", [...args, "--prefer-offline"], { cwd: project });
}

/** Nothing runs when a user installs the package: neither a script of ours nor one of what comes with it. */
function checkScripts() {
  const lock = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8"));
  const installed = Object.entries(lock.packages);
  const running = installed.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  if (running.length > 0)
    throw new Error(
      `install scripts: ${running.map(([path]) => path).join(", ")} (expected: none)`,
    );
  console.log("no install script in the package or in what comes with it");
}

/** Names of all entries that hold code. */
function entryNames() {
  const entries = Object.keys(manifest.exports).filter((entry) => !/\.(json|proto)$/.test(entry));
  return entries.map((entry) => join(manifest.name, entry));
}

/** Writes a script in the project and runs it. */
function runScript(name, lines, node = process.execPath) {
  writeFileSync(join(project, name), `${lines.join("\n")}\n`);
  run(node, [name], { cwd: project });
}

/** Every entry of `exports` loads, by import and by require, which have the same class then. */
function useEntries() {
  const names = entryNames().map((name) => JSON.stringify(name));
  runScript("entries.mjs", [
    `import { FrontierError } from "outrider";`,
    ...names.map((name) => `await import(${name});`),
    `if (!(new FrontierError("UNSUPPORTED", "x") instanceof Error)) process.exit(1);`,
  ]);
  runScript("entries.cjs", [
    `for (const name of [${names.join(", ")}]) require(name);`,
    `const { openFrontier, FrontierError } = require("outrider");`,
    `(async () => {`,
    `  if ((await import("outrider/pool")).FrontierError !== FrontierError) process.exit(1);`,
    `  const frontier = await openFrontier();`,
    `  frontier.push("https://example.org/");`,
    `  if (frontier.poll().url !== "https://example.org/") process.exit(2);`,
    `  await frontier.close();`,
    `})();`,
  ]);
  console.log(`imports and requires: ${names.join(", ")}`);
}

/** Where require() takes no ES module, Node names the way that there is; import works from the floor on. */
function useOldest() {
  const node = nodeOf(OLDEST);
  if (node === undefined) {
    console.log(`Node ${OLDEST} SKIPPED: no package of it runs on ${process.platform}`);
    return;
  }
  run(node, ["entries.mjs"], { cwd: project });
  useMappings(node);
  const lines = [
    `try {`,
    `  require("outrider");`,
    `} catch ({ code, message }) {`,
    `  const isClear = /^require\\(\\) of ES Module .*outrider.* not supported/.test(message);`,
    `  const isNamed = code === "ERR_REQUIRE_ESM" && message.includes("import()");`,
    `  process.exit(isClear && isNamed ? 0 : 1);`,
    `}`,
    `process.exit(2);`,
  ];
  runScript("oldest.cjs", lines, node);
  console.log(`Node ${OLDEST}: imports; require() answers with the way out`);
}

/** The table of hosts, part of which each Node makes by itself, maps each character as it does here. */
function useMappings(oldest) {
  const lines = [
    `const { toUnicode } = require(${JSON.stringify(join(root, "dist/tr46.cjs"))});`,
    `const hash = require("node:crypto").createHash("sha256");`,
    `for (let point = 0; point < 0x30000; point++)`,
    `  hash.update(String(toUnicode("a" + String.fromCodePoint(point)).domain));`,
    `console.log(hash.digest("hex"));`,
  ];
  writeFileSync(join(project, "mappings.cjs"), lines.join("\n"));
  const [here, there] = [process.execPath, oldest].map(
    (node) => run(node, ["mappings.cjs"], { cwd: project, stdio: "pipe" }).stdout,
  );
  if (here !== there) throw new Error(`Node ${OLDEST}: maps characters of hosts in another way`);
}

/** Node prints the source line of an uncaught error: it must be a line, and not a whole file. */
function useUncaught() {
  const script = `import { openFrontier } from "outrider";\nawait openFrontier({ nonsense: 1 });\n`;
  writeFileSync(join(project, "uncaught.mjs"), script);
  const { stderr, status } = spawnSync(process.execPath, ["uncaught.mjs"], {
    cwd: project,
    encoding: "utf8",
  });
  if (status !== 1 || !stderr.includes("OPTION_INVALID") || stderr.length > 2_000)
    throw new Error(`uncaught error: ${stderr.length} characters (expected: at most 2,000)`);
}

/** `instanceof FrontierError` holds for what any entry throws, and for what comes from a thread. */
function useOneClass() {
  runScript("visit.mjs", [
    `import { FrontierError } from "outrider";`,
    `import * as worker from "outrider/worker";`,
    `export default (lease) => {`,
    `  if (worker.FrontierError !== FrontierError) throw new Error("two classes in a thread");`,
    `  try {`,
    `    lease.retry({ afterMs: "soon" });`,
    `  } catch (cause) {`,
    `    if (!(cause instanceof FrontierError)) throw cause;`,
    `    lease.done();`,
    `  }`,
    `};`,
  ]);
  runScript("one-class.mjs", [
    `import assert from "node:assert/strict";`,
    `import { FrontierError, openFrontier, openFrontierThread } from "outrider";`,
    `import * as pools from "outrider/pool";`,
    `assert.equal(pools.FrontierError, FrontierError);`,
    `assert.throws(() => new pools.WorkerPool({}), FrontierError);`,
    `await assert.rejects(openFrontier({ nonsense: 1 }), FrontierError);`,
    `await assert.rejects(openFrontierThread({ nonsense: 1 }), FrontierError);`,
    `const frontier = await openFrontier();`,
    `const faults = [];`,
    `frontier.on("error", (fault) => faults.push(fault.message));`,
    `frontier.push("https://example.org/");`,
    `const handler = new URL("./visit.mjs", import.meta.url);`,
    `const pool = new pools.WorkerPool({ frontier, handler, threads: 1 });`,
    `await pool.run();`,
    `await pool.close();`,
    `assert.deepEqual([faults, frontier.report().done], [[], 1]);`,
    `await frontier.close();`,
  ]);
  console.log("one FrontierError in all entries and threads");
}

function useExamples() {
  for (const name of EXAMPLES) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    copyFileSync(join(root, "examples", name), join(project, name));
  }
  for (const name of EXAMPLES.filter((each) => !each.endsWith("visit.mjs"))) {
    run(process.execPath, [name], { cwd: project });
  }
}

/** The declarations need nothing else: they are checked completely, without skipLibCheck. */
function checkTypes() {
  const lines = entryNames().map((name, at) => `export type * as entry${at} from "${name}";`);
  writeFileSync(join(project, "types.ts"), `${lines.join("\n")}\n`);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "ES2023",
    lib: ["ES2024", "ESNext.Disposable"],
    module: "NodeNext",
    moduleResolution: "NodeNext",
    allowJs: true,
    checkJs: true,
    skipLibCheck: false,
    types: ["node"],
    typeRoots: [join(modules, "@types")],
  };
  compile("tsconfig.json", { compilerOptions, files: ["types.ts"] });
  // JavaScript has no place for the type of a parameter; all else of it is checked.
  const options = { ...compilerOptions, noImplicitAny: false };
  compile("tsconfig.examples.json", { compilerOptions: options, files: EXAMPLES });
}

function compile(name, config) {
  writeFileSync(join(project, name), JSON.stringify(config));
  run(process.execPath, [join(modules, "typescript/bin/tsc"), "-p", name], { cwd: project });
}

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { stdio: "inherit", encoding: "utf8", ...options });
  if (result.status !== 0) throw new Error(`${command} ${args.join(" ")}: exit ${result.status}`);
  return result;
}
