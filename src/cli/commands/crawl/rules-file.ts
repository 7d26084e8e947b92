/**
 * Rules from a JSON file: a list of rules, or `{ "$schema": …, "version": …, "rules": [ … ] }` (docs/rules.schema.json). Watched
 * while a crawl runs: a good change takes effect at once, a bad one is reported and changes nothing.
 *
 *   event in the folder, or another time or size once a second ─▶ SETTLE_MS later: read ─▶ as read before? ─ yes ─▶ reported
 *                                                                    ▲                            └ no ─┐
 *                                                                    └──────────── SETTLE_MS ◀──────────┘
 *
 *   I1  The folder is watched, not the file: editors write a new file and rename it, and links are turned to another one.
 *   I2  A text is reported when two reads in a row return it: a half-written file is not taken for a change, and of many quick saves
 *       only the last one is.
 *   I3  The file is polled too, since some systems report no events, as on many network disks.
 */
import { type FSWatcher, readFileSync, statSync, watch } from "node:fs";
import { dirname, resolve } from "node:path";
import { createSystemClock, type Rule } from "../../../index.ts";
import { jsonOfFile, UsageError } from "../../flags.ts";

const SETTLE_MS = 50;
const POLL_MS = 1_000;
const FIELDS: readonly string[] = ["$schema", "version", "rules"];

/** Reads a file of rules. Throws UsageError, which names the file. The frontier itself checks the content of each rule. */
export function readRules(path: string) {
  const given = jsonOfFile("rules", path);
  const rules = Array.isArray(given) ? given : (given as { rules?: unknown } | null)?.rules;
  if (!Array.isArray(rules)) {
    throw new UsageError(`--rules: ${path}: expected a list of rules, or { "rules": [ … ] }`);
  }
  const unknown = Object.keys(given as object).find((name) => !FIELDS.includes(name));
  if (!Array.isArray(given) && unknown !== undefined) {
    throw new UsageError(`--rules: ${path}: ${unknown} (expected: ${FIELDS.join(", ")})`);
  }
  const version = Array.isArray(given) ? undefined : (given as { version?: unknown }).version;
  const hasVersion = typeof version === "number" || typeof version === "string";
  return { rules: rules as Rule[], ...(hasVersion ? { version } : {}) };
}

/** Reports each change of the file's text, once it has settled; returns the function that ends watching. */
export function watchRules(path: string, onChange: () => void): () => void {
  const clock = createSystemClock();
  let known = textOf(path);
  let seen = known;
  let stamp = stampOf(path);
  let cancelSettling: (() => void) | undefined;
  let cancelLooking = (): void => {};
  const settle = (): void => {
    cancelSettling ??= clock.schedule(clock.now() + SETTLE_MS, () => {
      cancelSettling = undefined;
      read();
    });
  };
  const read = (): void => {
    const text = textOf(path);
    // Missing for the moment of a rename, or empty for that of a write: another event follows.
    if (text === undefined || text === "") return;
    const isSettled = text === seen;
    seen = text;
    if (!isSettled) settle();
    else if (text !== known) {
      known = text;
      onChange();
    }
  };
  const look = (): void => {
    const now = stampOf(path);
    if (now !== stamp) settle();
    stamp = now;
    cancelLooking = clock.schedule(clock.now() + POLL_MS, look);
  };
  const watcher = watcherOf(dirname(resolve(path)), settle);
  look();
  return () => {
    watcher?.close();
    cancelSettling?.();
    cancelLooking();
  };
}

/** Returns undefined where the system, or the disk, reports no events. */
function watcherOf(folder: string, onEvent: () => void): FSWatcher | undefined {
  try {
    return watch(folder, { persistent: false }, onEvent).on("error", () => {});
  } catch {
    return undefined;
  }
}

/** A value that differs after every change of a file, except one of the same size within the same moment. */
function stampOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return "";
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
