/**
 * Rules from a JSON file: a list of rules, or `{ "version": …, "rules": [ … ] }`. Watched while a crawl runs: a good change takes
 * effect at once, a bad one is told and changes nothing.
 *
 *   I1  The folder is watched, not the file: editors write a new file and rename it.
 */
import { readFileSync, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Rule } from "../index.ts";
import { UsageError } from "./flags.ts";

export interface RulesFile {
  readonly rules: Rule[];
  readonly version?: number | string;
}

/** Reads a file of rules; throws UsageError that names the file. What a rule may hold, the frontier judges. */
export function readRules(path: string): RulesFile {
  let given: unknown;
  try {
    given = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new UsageError(`--rules: ${path}: ${(cause as Error).message}`);
  }
  const rules = Array.isArray(given) ? given : (given as { rules?: unknown } | null)?.rules;
  if (!Array.isArray(rules)) {
    throw new UsageError(`--rules: ${path}: expected a list of rules, or { "rules": [ … ] }`);
  }
  const version = Array.isArray(given) ? undefined : (given as { version?: unknown }).version;
  const hasVersion = typeof version === "number" || typeof version === "string";
  return { rules: rules as Rule[], ...(hasVersion ? { version } : {}) };
}

/** Tells of each change of the file's text; returns its cancellation. */
export function watchRules(path: string, onChange: () => void): () => void {
  const name = basename(path);
  let known = textOf(path);
  const watcher = watch(dirname(resolve(path)), (_, changed) => {
    if (changed !== null && changed !== name) return;
    const text = textOf(path);
    // Half-written, or away for the moment of a rename: another event follows.
    if (text === undefined || text === "" || text === known) return;
    known = text;
    onChange();
  });
  return () => watcher.close();
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
