/**
 * Bundles the package: build/plain/ (one file per module) ─▶ dist/ (what is published).
 *
 *   build/plain/*.js    ─ rolldown ─▶ dist/<entry>.js, dist/<chunk>.js       msgpackr and hdr-histogram-js inside
 *   tr46, tldts         ─ rolldown ─▶ dist/tr46.cjs, dist/tldts.cjs          read when first called
 *   build/plain/*.d.ts  ─ rollup ───▶ dist/<entry>.d.ts, dist/<chunk>.d.ts
 *   thread.cjs, kernel.wasm ────────▶ dist/                                  as they are
 *   licences of what is inside ─────▶ dist/THIRD-PARTY.txt
 *
 * Entries are read from package.json: each path below dist/ that `exports` or `bin` names is made of the module of that name.
 * An address that leads to a file of the package is only ever made by src/base/package-files.ts, which a constant set here
 * sends to dist/.
 *
 *   I1  A package is either inside or in `dependencies`, `optionalDependencies` or `peerDependencies`, so that a user installs it:
 *       any other fails the build.
 *   I2  No entry waits at its top level, so that require() can load each of them (check-package.mjs tries it).
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { packExpressions } from "./pack-expressions.mjs";
import { packLua } from "./pack-lua.mjs";
import { packTable } from "./pack-table.mjs";
import { packTrie } from "./pack-trie.mjs";
import { rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";

const root = fileURLToPath(new URL("..", import.meta.url));
const plain = join(root, "build/plain");
const dist = join(root, "dist");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Entries that no user names: the one of threads, and what is loaded by address. */
const OWN = ["thread", "integrations/lmdb/record-tier"];
const COPIED = ["thread.cjs", "kernel.wasm"];
/** Packages inside that begin with large tables, and the functions of theirs that are called: read with the first call. */
const LATE = { tldts: ["getDomain"], tr46: ["default.toASCII", "default.toUnicode"] };
/** All that may be inside. */
const INSIDE = ["hdr-histogram-js", "msgpackr", "punycode", "tldts", "tldts-core", "tr46"];

const { dependencies, optionalDependencies, peerDependencies } = manifest;
const outside = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
const isOf = (names) => (id) => names.some((name) => id === name || id.startsWith(`${name}/`));

const entryFiles = new Set(Object.values(inputs(named(manifest.exports), ".js")));
/** What modules reach, by their paths. */
const reaches = new Map();
/** Empty lines of types, and defaults that are none. */
const NOTHING_MEANT = /^ *(?:\* @defaultValue none)?\n/gm;
/** Characters of a line of several statements: more lines make the package larger. */
const LINE_MAX = 1_000;
/** A comment of documentation; and one that a blank line, another comment or an import follows. */
const COMMENT = /^[ \t]*\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n/gm;
const HEAD = /^[ \t]*\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n(?=[ \t]*\n|[ \t]*\/\*\*|import )/gm;

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
const folders = new Set([...(await bundleEntries()), ...(await bundleLate())]);
await rollUpTypes();
for (const path of COPIED) copyFileSync(join(plain, path), join(dist, path));
writeFileSync(join(dist, "THIRD-PARTY.txt"), licences([...folders].sort()));

/** Paths below dist/, without their ending. */
function named(value) {
  if (typeof value === "string") return /^\.\/dist\/(.*)\.js$/.exec(value)?.[1] ?? [];
  return Object.values(value).flatMap(named);
}

function inputs(names, ending) {
  return Object.fromEntries(names.map((name) => [name, join(plain, `${name}${ending}`)]));
}

async function bundleEntries() {
  const names = [...named(manifest.exports), ...named(manifest.bin), ...OWN];
  return await write({
    input: inputs(names, ".js"),
    external: isOf(outside),
    plugins: [late(), entriesOutside(), luaInside(), statementsOnLines()],
    transform: { define: { OUTRIDER_BUNDLE: "true" } },
    // Layout constants are read in every hot loop, and by most chunks.
    optimization: { inlineConst: { mode: "all", pass: 2 } },
    output: {
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "chunk-[name].js",
      codeSplitting: { groups: chunks() },
      // What a stack trace names stays: functions and classes, and by statementsOnLines() each has lines of its own.
      minify: {
        compress: true,
        mangle: { toplevel: true, keepNames: true },
        codegen: { removeWhitespace: true },
      },
      comments: { legal: false, annotation: false, jsdoc: false },
    },
  });
}

/** The scripts of Redis, in place of the module that reads their files. Comments are kept: `scripts.ts` reads some of them. */
function luaInside() {
  return {
    name: "lua-inside",
    load(id) {
      if (!id.endsWith("/integrations/redis/server/lua-files.js")) return null;
      const all = JSON.stringify(packLua(join(plain, "integrations/redis/lua")));
      return `const TEXTS = ${all};\nexport const luaText = (name) => TEXTS[name];\n`;
    },
  };
}

async function bundleLate() {
  const folders = [];
  for (const name of Object.keys(LATE)) {
    const made = await write({
      input: { [name]: moduleOf(name) },
      plugins: [tablePacked(), expressionsPacked(), triePacked()],
      output: { format: "cjs", entryFileNames: "[name].cjs", minify: true },
    });
    folders.push(...made);
  }
  return folders;
}

/** The form of a package whose large tables are files of their own. */
function moduleOf(name) {
  return fileURLToPath(import.meta.resolve(name === "tldts" ? "tldts/dist/es6/index.js" : name));
}

/** The public suffixes. */
function triePacked() {
  return {
    name: "trie-packed",
    async load(id) {
      if (!id.endsWith("tldts/dist/es6/src/data/trie.js")) return null;
      return { code: packTrie(await import(pathToFileURL(id))), moduleType: "js" };
    },
  };
}

/** The largest table inside, which would be a tenth of the package. */
function tablePacked() {
  return {
    name: "table-packed",
    load(id) {
      if (!id.endsWith("/tr46/lib/mappingTable.json")) return null;
      return { code: packTable(JSON.parse(readFileSync(id, "utf8"))), moduleType: "js" };
    },
  };
}

/** The second largest. */
function expressionsPacked() {
  return {
    name: "expressions-packed",
    async load(id) {
      if (!id.endsWith("/tr46/lib/regexes.js")) return null;
      return { code: packExpressions((await import(pathToFileURL(id))).default), moduleType: "js" };
    },
  };
}

/** Bundles and writes; the folders of the packages that are inside now. */
async function write({ output, ...input }) {
  const build = await rolldown({
    platform: "node",
    // A slow machine is no fault of the bundle.
    checks: { bundlerTimings: false },
    // I1: an import that leads nowhere is a warning to rolldown.
    onwarn({ code, message }) {
      throw new Error(`${code}: ${message}`);
    },
    ...input,
  });
  const written = await build.write({ dir: dist, ...output });
  await build.close();
  checkPlaces(written.output);
  const modules = written.output.flatMap((chunk) => ("moduleIds" in chunk ? chunk.moduleIds : []));
  return modules.flatMap(
    (id) => /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? [],
  );
}

/** package-files.js finds the files of the package beside itself. */
function checkPlaces(output) {
  for (const { fileName, moduleIds = [] } of output)
    if (fileName.includes("/") && moduleIds.includes(join(plain, "base/package-files.js")))
      throw new Error(`base/package-files.js: in ${fileName} (expected: at the root of dist/)`);
}

/** Entries that modules of other entries import: each stays a file with its code in it. Else its code would be a chunk beside it. */
function entriesOutside() {
  const files = new Map(
    ["pool", "server", "tools", "crawl"].map((name) => [join(plain, `${name}.js`), `./${name}.js`]),
  );
  return {
    name: "entries-outside",
    resolveId(source, importer) {
      const id = importer === undefined ? undefined : files.get(join(dirname(importer), source));
      return id === undefined ? null : { id, external: true };
    },
  };
}

/**
 * Each function and class begins a line, and so do a statement that makes an error and one that its line has no room for, so that a stack trace
 * leads to it and Node prints little more than it.
 */
function statementsOnLines() {
  return {
    name: "statements-on-lines",
    generateBundle(_, output) {
      for (const chunk of Object.values(output))
        if (chunk.type === "chunk") chunk.code = onLines(chunk.code);
    },
  };
}

function onLines(code) {
  const starts = new Map();
  collect(parseAst(code), starts);
  const places = [...starts].sort(([a], [b]) => a - b);
  const cuts = [0];
  for (const [at, [start, isWanted]] of places.entries()) {
    const [next] = places[at + 1] ?? [code.length];
    if (start > 0 && (isWanted || next - cuts.at(-1) > LINE_MAX)) cuts.push(start);
  }
  return cuts.map((start, at) => code.slice(start, cuts[at + 1])).join("\n");
}

/**
 * Where statements begin, and whether a line is wanted there. A line may end before each: what stands there ends with a brace or a
 * semicolon.
 */
function collect(node, starts) {
  if (Array.isArray(node)) for (const each of node) collect(each, starts);
  if (typeof node?.type !== "string") return;
  const isWanted = node.type === "Program";
  if (Array.isArray(node.body))
    for (const each of node.body)
      starts.set(each.start, isWanted || isFailure(each) || starts.get(each.start) === true);
  for (const value of Object.values(node)) if (typeof value === "object") collect(value, starts);
}

/** Whether a statement makes an error: Node prints its line. */
function isFailure({ type, argument }) {
  if (type === "ThrowStatement") return true;
  return type === "ReturnStatement" && argument?.type === "NewExpression";
}

/**
 * Three chunks: what the owner of a frontier loads, what the threads of a crawl load, and what both do, or a worker. A file costs a
 * process that starts about a millisecond, a module in it next to nothing.
 */
function chunks() {
  const worker = ["worker", "thread", "base/package-files", "engine/api/url-functions"];
  const visit = ["crawl/threads/visit-thread", "crawl/synthetic-web/web-thread"];
  const engine = ["index", "engine/owner-thread/owner-thread"];
  const test = {
    common: (is) => is(worker) || (is(visit) && is(engine)),
    // What exports and imports of a directory and of Redis share is too little for a file of its own.
    engine: (is) => is(engine) || (is(["tools"]) && is(["redis"])),
    visit: (is) => is(visit),
  };
  return Object.entries(test).map(([name, isIn], at) => ({
    name: (id, graph) => (isIn((roots) => isReached(id, roots, graph)) ? name : null),
    debugName: name,
    priority: 10 - at, // the first that takes a module has it
  }));
}

/** Whether one of these modules imports a module, through any others but entries, of which the bundler takes what is needed. */
function isReached(id, roots, graph) {
  const key = roots.join();
  if (!reaches.has(key)) {
    const reached = new Set();
    const queue = Object.values(inputs(roots, ".js"));
    for (const each of queue) {
      if (reached.has(each)) continue;
      reached.add(each);
      const next = graph.getModuleInfo(each)?.importedIds ?? [];
      queue.push(...next.filter((path) => !entryFiles.has(path)));
    }
    reaches.set(key, reached);
  }
  return reaches.get(key).has(id);
}

/** In place of a package of LATE: its functions, which load it when they are called. */
function late() {
  return {
    name: "late",
    resolveId: (id) =>
      Object.hasOwn(LATE, id) ? { id: `\0late:${id}`, moduleSideEffects: false } : null,
    load(id) {
      if (!id.startsWith("\0late:")) return null;
      const name = id.slice("\0late:".length);
      return [
        `import { createRequire } from "node:module";`,
        `let loaded;`,
        `const load = () => (loaded ??= createRequire(import.meta.url)("./${name}.cjs"));`,
        ...callers(LATE[name]),
      ].join("\n");
    },
  };
}

/** One function for each that is called; those of a default export are properties of one object. */
function callers(names) {
  const call = (name) => `(...args) => load().${name}(...args)`;
  const own = names.filter((name) => !name.startsWith("default."));
  const ofDefault = names
    .filter((name) => name.startsWith("default."))
    .map((name) => name.slice("default.".length));
  const lines = own.map((name) => `export const ${name} = ${call(name)};`);
  if (ofDefault.length > 0)
    lines.push(
      `export default { ${ofDefault.map((name) => `${name}: ${call(name)}`).join(", ")} };`,
    );
  return lines;
}

/** Declarations that entries share are one file: a compiler reads all of them anyway. */
async function rollUpTypes() {
  const input = inputs(named(manifest.exports), ".d.ts");
  const entries = Object.values(input);
  const build = await rollup({
    input,
    plugins: [dts(), withoutHeads(), narrowed()],
    external: (id) => !/^[./]/.test(id),
  });
  await build.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].d.ts",
    chunkFileNames: "[name].d.ts",
    manualChunks: (id) => (entries.includes(id) ? undefined : "types"),
  });
  await build.close();
}

/** Types without what describes the inside of the project: drawings, and the heads of files, which belong to no declaration. */
function withoutHeads() {
  return {
    name: "without-heads",
    renderChunk: (code) => ({
      code: code
        .replace(COMMENT, (comment) => (/[─▶┐┘└┬]/.test(comment) ? "" : unwrapped(comment)))
        .replace(HEAD, ""),
      map: null,
    }),
  };
}

/** A comment whose sentences go on in their line, which an editor breaks where it has to; examples stay. */
function unwrapped(comment) {
  const [text, ...examples] = comment.split(/(?=\* @example)/);
  return text.replace(/([a-z\d,`)])\n *\* (?=[a-z`(])/g, "$1 ") + examples.join("");
}

/** A space for each level of indentation, in place of four: a kilobyte of the package. */
function narrowed() {
  const narrow = (spaces) => " ".repeat(Math.floor(spaces.length / 4) + (spaces.length % 4));
  return {
    name: "narrowed",
    renderChunk: (code) => ({
      code: code.replace(NOTHING_MEANT, "").replace(/^ +/gm, narrow),
      map: null,
    }),
  };
}

/** Each package inside: name, version and its licence, word for word. */
function licences(folders) {
  const parts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8"),
    );
    if (!INSIDE.includes(name))
      throw new Error(`${name}: in the bundle (expected: ${INSIDE.join(", ")})`); // I1
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Error(`${name}: no licence in ${folder}`);
    const text = readFileSync(join(folder, file), "utf8").trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  const head = [
    "Parts of these packages are in the JavaScript files of this folder. The part of tldts holds",
    "the Public Suffix List (https://publicsuffix.org), which is subject to the Mozilla Public",
    "License 2.0 (https://mozilla.org/MPL/2.0/).\n",
  ].join("\n");
  return [head, ...parts].join(`\n${"-".repeat(80)}\n\n`);
}
