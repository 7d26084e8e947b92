/**
 * Checks the notes of a journal before anything is made of them: a checksum proves that a note is as it was written, not who wrote it. A
 * note that cannot be is damage of the frame that holds it (persistence/recovery/recover.ts, R4).
 *
 *   counters   { pushed, duplicate …, rejected and passes by name }     whole numbers, and passes that are numbers
 *   rules      null, or { rules, version }: where the opening has no rules of its own, a set that setRules would take
 *   failed:…, foundOn…                            as failure-notes.ts reads them
 *   any other, such as the user's state           whatever msgpack can express
 */
import { FrontierError } from "../../base/errors.ts";
import { isRecord } from "../../base/serializable.ts";
import { normalizeRules } from "../../frontier/rules/rule-specs.ts";
import {
  failedName,
  failureOfValue,
  isFailureNote,
  isPiece,
} from "../../persistence/journal/failure-note.ts";
import { packr } from "../../persistence/msgpack.ts";
import { FoundOn } from "../records/found-on.ts";

/** Throws when a note is not as a frontier writes it. `areRulesNeeded`: the opening continues under the rules of the note. */
export function checkNote(name: string, bytes: Uint8Array, areRulesNeeded: boolean): void {
  const value = packr.unpack(bytes) as unknown;
  if (name === "counters") checkCounters(recordOf(value));
  else if (name === "rules") checkRules(value, areRulesNeeded);
  else if (name === "seeding") arraysOf(arrayOf(value ?? []));
  else if (name === "seedingAt") for (const count of arrayOf(value ?? [])) countOf(count);
  else if (isFailureNote(name)) checkFailure(name, value);
}

const COUNTS = ["pushed", "duplicate", "full", "lateResults", "expired", "leaseSequence", "joined"];

function checkCounters(counters: Record<string, unknown>): void {
  for (const name of COUNTS) countOf(counters[name]);
  if (counters.seen !== undefined) countOf(counters.seen);
  if (counters.current !== undefined) passOf(counters.current);
  for (const count of Object.values(recordOf(counters.rejected))) countOf(count);
  for (const pass of Object.values(recordOf(counters.passes))) passOf(pass);
}

/**
 * Rules with functions are not in a note. A set that is wrong under any options was forged. One that only this opening's options exclude
 * was not: the opening then fails with RULE_INVALID, and nothing is set aside.
 */
function checkRules(value: unknown, areNeeded: boolean): void {
  if (value === null || value === undefined) return;
  const { rules, version } = recordOf(value);
  arrayOf(rules);
  if (!areNeeded) return;
  if (typeof version !== "string" && !Number.isFinite(version)) throw wrong("a version", version);
  try {
    normalizeRules(rules, {}, "exact");
  } catch (error) {
    throw error instanceof FrontierError ? new TypeError(error.message) : error;
  }
}

function checkFailure(name: string, value: unknown): void {
  if (isPiece(name)) {
    const [number, pages] = arrayOf(value);
    new FoundOn().restore(pages, countOf(number));
  } else if (failedName(name) === undefined) new FoundOn().restore(value);
  else failureOfValue(value);
}

function recordOf(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || !isRecord(value)) throw wrong("a map", value);
  return value;
}

function arrayOf(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw wrong("a list", value);
  return value;
}

function arraysOf(values: readonly unknown[]): void {
  for (const value of values) arrayOf(value);
}

/** Above it there is no room for the counts to come. */
const COUNT_MAX = 2 ** 52;

function countOf(value: unknown): number {
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0;
  if (!isCount || (value as number) > COUNT_MAX) throw wrong("a count", value);
  return value as number;
}

function passOf(value: unknown): void {
  if (typeof value !== "number" || Number.isNaN(value)) throw wrong("a pass", value);
}

function wrong(expected: string, value: unknown): TypeError {
  return new TypeError(`${String(value).slice(0, 40)} (expected: ${expected})`);
}
