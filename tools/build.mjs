/**
 * Builds the package: the kernels with asc and the modules with tsc into build/plain/, and the bundle of these into dist/. What threads
 * load is joined in build/plain/ as well (join-modules.mjs).
 *
 *   node tools/build.mjs            everything, from nothing; nothing where build/ and dist/ are what these sources gave before
 *   node tools/build.mjs kernel     the kernels alone
 *   node tools/build.mjs changed    what changed since the last build; enough for tests of internals, which run build/plain/
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { fileURLToPath } from "node:url";
import { joinModules } from "./join-modules.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const plain = `${root}build/plain`;
const stamp = `${root}build/kernel.sha256`;
const wholeStamp = `${root}build/whole.json`;
const what = process.argv[2] ?? "all";

async function run(script, args) {
  const child = spawn(process.execPath, [script, ...args], { cwd: root, stdio: "inherit" });
  const [code] = await once(child, "exit");
  if (code !== 0) process.exit(code ?? 1);
}

const bin = (name) => `${root}node_modules/${name}`;

async function buildKernels() {
  const asc = bin("assemblyscript/bin/asc.js");
  await Promise.all(
    ["debug", "release"].map((target) =>
      run(asc, ["--config", "asconfig.json", "--target", target]),
    ),
  );
  writeFileSync(stamp, kernelSources());
}

/** The files of folders, and files, by names that `isPart` accepts; in order. */
function filesOf(paths, isPart = () => true) {
  const files = paths.flatMap((path) =>
    statSync(root + path).isDirectory()
      ? readdirSync(root + path, { recursive: true }).map((name) => `${path}/${name}`)
      : [path],
  );
  return files.filter((file) => isPart(file) && statSync(root + file).isFile()).sort();
}

/** A hash over names and bytes. */
function hashOf(files) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(readFileSync(root + file));
  return hash.digest("hex");
}

/** All that the kernels are made of. */
function kernelSources() {
  const settings = ["asconfig.json", "node_modules/assemblyscript/package.json"];
  return hashOf(filesOf(["assembly", "src/layout", ...settings], (file) => !file.endsWith(".md")));
}

/** All that the package is made of. */
function wholeSources() {
  const sources = ["assembly", "src", "tools", "docs/rules.schema.json", "asconfig.json"];
  const settings = ["tsconfig.json", "tsconfig.build.json", "package.json"];
  // npm writes there which versions are installed.
  const installed = "node_modules/.package-lock.json";
  return `${hashOf(filesOf([...sources, ...settings, installed]))} ${process.version}`;
}

/** Whether build/ and dist/ are as the last whole build left them, and made of these sources. What was added since does not matter. */
function isWholeCurrent() {
  if (!existsSync(wholeStamp)) return false;
  const { sources, files, made } = JSON.parse(readFileSync(wholeStamp, "utf8"));
  const isThere = files.every((file) => existsSync(root + file));
  return isThere && sources === wholeSources() && made === hashOf(files);
}

function stampWhole() {
  const files = filesOf(["build/plain", "dist"]);
  const facts = { sources: wholeSources(), files, made: hashOf(files) };
  writeFileSync(wholeStamp, JSON.stringify(facts));
}

/** Texts that modules read beside them (integrations/redis/server/lua-files.ts). */
function copyTexts() {
  const lua = "integrations/redis/lua";
  rmSync(`${plain}/${lua}`, { recursive: true, force: true });
  cpSync(`${root}src/${lua}`, `${plain}/${lua}`, { recursive: true });
}

/** tsc leaves a module as it is whose source has the same text; the tests compare times. */
function touchModules() {
  const now = new Date();
  for (const name of readdirSync(plain, { recursive: true }))
    if (name.endsWith(".js")) utimesSync(`${plain}/${name}`, now, now);
}

/** What the library's threads load. */
const joinThreads = () => joinModules(`${root}src/thread.ts`, "thread");

const buildModules = () => run(bin("typescript/bin/tsc"), ["-p", "tsconfig.build.json"]);

if (what === "changed") {
  const isCurrent = existsSync(stamp) && readFileSync(stamp, "utf8") === kernelSources();
  if (!isCurrent || !existsSync(`${plain}/kernel.wasm`)) await buildKernels();
  await buildModules();
  copyTexts();
  await joinThreads();
  touchModules();
} else if (what === "kernel") {
  await buildKernels();
} else if (isWholeCurrent()) {
  console.log("build: build/ and dist/ are of these sources");
  touchModules();
} else {
  rmSync(`${root}build`, { recursive: true, force: true });
  await Promise.all([buildKernels(), buildModules()]);
  copyTexts();
  await run(`${root}tools/bundle.mjs`, []);
  await joinThreads(); // after the bundle, which reads modules one by one
  stampWhole();
}
