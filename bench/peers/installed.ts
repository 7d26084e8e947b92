/**
 * Packages that are measured but not depended on: `npm run bench:peers` puts them into bench/peers/node_modules, and nothing else
 * looks there. BENCH_PEERS names another folder that has a node_modules with them.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../harness/machine.ts";

function home(): string {
  return process.env.BENCH_PEERS ?? join(ROOT, "bench/peers");
}

/** Why a package cannot be measured here; undefined where it can. */
export function packageMissing(name: string): string | undefined {
  if (existsSync(join(home(), "node_modules", name))) return undefined;
  return "not installed: npm run bench:peers";
}

/** A package's exports: say their shape where you ask. */
export function loadPackage(name: string): unknown {
  return createRequire(pathToFileURL(join(home(), "package.json")))(name);
}

/** The same of a package that is a module only: its file is named. */
export function importPackage(name: string, file: string): Promise<unknown> {
  return import(pathToFileURL(join(home(), "node_modules", name, file)).href);
}

export function packageVersion(name: string): string {
  const path = join(home(), "node_modules", name, "package.json");
  return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
}
