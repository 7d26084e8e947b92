/**
 * The two packages: the old one as it was packed before it was restructured, and the new one as a user of it gets it.
 *
 *   old   outrider-013b343.tgz ─▶ build/guard/013b343/package     its dependencies come with it; lmdb is ours
 *   new   the package of this repository, by its own `exports`; GUARD_NEW names another folder
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { ENTRIES, EXPORTS } from "./renames.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
export const ROOT = resolve(HERE, "../..");
export const SCRATCH = join(ROOT, "build/guard");
const COMMIT = "013b343";
const BLOCK = 512;

/** The folder of the old package, unpacked at the first call. */
export function oldFolder() {
  const folder = join(SCRATCH, COMMIT, "package");
  if (!existsSync(folder)) unpack(join(HERE, `outrider-${COMMIT}.tgz`), join(SCRATCH, COMMIT));
  return folder;
}

export function newFolder() {
  return resolve(process.env.GUARD_NEW ?? ROOT);
}

/** Both packages, the old one first. */
export async function bothPackages() {
  return [await loadPackage(oldFolder(), "old"), await loadPackage(newFolder(), "new")];
}

/** A package by its folder; `side` is "old" or "new". */
export async function loadPackage(folder, side) {
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const urlOf = (entry) => {
    const wanted = side === "new" ? (ENTRIES[entry] ?? entry) : entry;
    return pathToFileURL(join(folder, exports[wanted].default)).href;
  };
  const modules = {};
  for (const entry of [".", "./pool", "./worker"]) modules[entry] = await import(urlOf(entry));
  // Its own dependencies are optional, and only its names are compared.
  modules["./crawl"] = await import(urlOf("./crawl")).catch(unlessMissing);
  /** What the old package exports as `name` of `entry`. */
  const api = (name, entry = ".") => {
    const moved = side === "new" ? EXPORTS[`${entry}#${name}`] : undefined;
    if (moved === undefined) return modules[entry][name];
    const [place, its] = moved.split("#");
    return modules[place][its];
  };
  for (const moved of side === "new" ? Object.values(EXPORTS) : []) {
    const [place] = moved.split("#");
    modules[place] ??= await import(urlOf(place));
  }
  return { side, folder, api, urlOf, modules };
}

function unlessMissing(cause) {
  if (cause.code !== "ERR_MODULE_NOT_FOUND") throw cause;
  console.log(`guard: names of ./crawl are not compared: ${cause.message}`);
  return {};
}

/** Exports of the old package that the new one lacks, or has as something else. */
export function lostExports([old, now]) {
  const lost = [];
  for (const [entry, names] of Object.entries(old.modules)) {
    for (const name of Object.keys(names)) {
      if (typeof now.api(name, entry) !== typeof names[name]) lost.push(`${entry}#${name}`);
    }
  }
  return lost;
}

/** A gzipped tar of plain files, as npm writes it. Moved into place whole, so that two processes may unpack at once. */
function unpack(tarball, to) {
  const bytes = gunzipSync(readFileSync(tarball));
  const scratch = `${to}.${process.pid}.tmp`;
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at] !== 0; ) {
    const text = (from, length) =>
      bytes.toString("utf8", at + from, at + from + length).replace(/\0.*$/s, "");
    const size = Number.parseInt(text(124, 12), 8);
    const prefix = text(345, 155);
    const path = join(scratch, prefix, text(0, 100));
    if (!path.startsWith(scratch)) throw new Error(`${tarball}: ${path}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes.subarray(at + BLOCK, at + BLOCK + size));
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  mkdirSync(dirname(to), { recursive: true });
  try {
    renameSync(scratch, to);
  } catch (cause) {
    rmSync(scratch, { recursive: true });
    if (!existsSync(to)) throw cause;
  }
}
