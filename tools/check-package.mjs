/**
 * Is what npm would publish whole? Packs the tarball, installs it in an empty project and uses it
 * there: every entry imports, the examples run, their types check; publint and attw agree.
 *
 *   npm pack ─▶ outrider-x.y.z.tgz ─┬─▶ publint, attw (ESM only)
 *                                   └─▶ empty project: npm install ─▶ run ─▶ tsc
 *
 * The install tries npm's cache first and the network only when that fails. dist/ must be built.
 */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const modules = fileURLToPath(new URL("../node_modules", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** Files without which a package is not one. */
const NEEDED = ["dist/kernel.wasm", "README.md", "LICENSE"];
const EXAMPLES = ["first.mjs", "worker-crawler/main.mjs", "worker-crawler/visit.mjs"];

const project = mkdtempSync(join(tmpdir(), "outrider-package-"));
try {
  const tarball = pack();
  lint(tarball);
  install(tarball);
  useEntries();
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
  console.log(`packed ${filename}: ${files.length} files, ${Math.ceil(size / 1024)} KiB`);
  return join(project, filename);
}

function lint(tarball) {
  run(process.execPath, [join(modules, "publint/src/cli.js"), "run", tarball, "--strict"]);
  const attw = join(modules, "@arethetypeswrong/cli/dist/index.js");
  run(process.execPath, [attw, tarball, "--profile", "esm-only", "--no-color"]);
}

function install(tarball) {
  const own = { name: "consumer", private: true, type: "module" };
  writeFileSync(join(project, "package.json"), JSON.stringify(own));
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", tarball];
  const cached = spawnSync("npm", [...args, "--offline"], { cwd: project, encoding: "utf8" });
  if (cached.status !== 0) run("npm", [...args, "--prefer-offline"], { cwd: project });
}

/** Every entry of `exports` loads, and the entry's error class is really there. */
function useEntries() {
  const entries = Object.keys(manifest.exports).filter((entry) => !entry.endsWith(".json"));
  const names = entries.map((entry) => join(manifest.name, entry));
  const script = [
    ...names.map((name) => `await import(${JSON.stringify(name)});`),
    `import { FrontierError } from "outrider";`,
    `if (!(new FrontierError("UNSUPPORTED", "x") instanceof Error)) process.exit(1);`,
  ].join("\n");
  writeFileSync(join(project, "entries.mjs"), script);
  run(process.execPath, ["entries.mjs"], { cwd: project });
  console.log(`imports: ${names.join(", ")}`);
}

function examplesToUse() {
  const declared = readFileSync(join(root, "dist/index.d.ts"), "utf8");
  if (declared.includes("openFrontier")) return EXAMPLES;
  console.log("examples SKIPPED: this package does not export openFrontier yet");
  return [];
}

function useExamples() {
  for (const name of examplesToUse()) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    copyFileSync(join(root, "examples", name), join(project, name));
  }
  for (const name of examplesToUse().filter((each) => !each.endsWith("visit.mjs"))) {
    run(process.execPath, [name], { cwd: project });
  }
}

/** The declarations stand on their own: checked whole, without skipLibCheck. */
function checkTypes() {
  const entries = ["", "/pool", "/worker", "/tools", "/testing"].map((path) => `outrider${path}`);
  const lines = entries.map((name, at) => `export type * as entry${at} from "${name}";`);
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
  const files = ["types.ts", ...EXAMPLES.filter((name) => existsSync(join(project, name)))];
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  run(process.execPath, [join(modules, "typescript/bin/tsc"), "-p", "."], { cwd: project });
}

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { stdio: "inherit", encoding: "utf8", ...options });
  if (result.status !== 0) throw new Error(`${command} ${args.join(" ")}: exit ${result.status}`);
  return result;
}
