/**
 * Makes `<home>/build/src`, which the benchmarks import as `../../src/…`.
 *
 *   node bench/link-sources.mjs <home>
 *
 *   src/index.js, pool.js, …    the public entries: what is in dist/, the bundle that is published
 *   src/<room>/…                internals: build/plain/, one file per module
 *
 * A version from before there was a bundle has both in dist/: then build/src is a link to it.
 * Several runs may start at once: the folder appears whole.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";

const home = resolve(process.argv[2] ?? ".");
const build = join(home, "build");
const target = join(build, "src");
const plain = join(build, "plain");

const fresh = `${target}.${process.pid}`;
mkdirSync(build, { recursive: true });
if (existsSync(plain)) makeFolder();
else symlinkSync("../dist", fresh, "junction");
// A link cannot be replaced by a folder in one step.
if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) rmSync(target, { recursive: true });
try {
  renameSync(fresh, target);
} catch (error) {
  // Another run made it in the meantime.
  rmSync(fresh, { recursive: true });
  if (!existsSync(target)) throw error;
}

function makeFolder() {
  mkdirSync(fresh);
  const { exports } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  const entries = Object.values(exports).flatMap(({ default: path }) => path ?? []);
  for (const path of entries) {
    const file = path.slice("./dist/".length);
    writeFileSync(join(fresh, file), `export * from "../../dist/${file}";\n`);
  }
  for (const entry of readdirSync(plain, { withFileTypes: true })) {
    if (entry.isDirectory())
      symlinkSync(join("../plain", entry.name), join(fresh, entry.name), "junction");
  }
}
