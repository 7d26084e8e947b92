/**
 * Room `src/base`: what every room may use: errors, asserts, argument checks, and the only clock and source of chance.
 * Decides nothing about crawling; imports nothing of ours.
 */

/**
 * The two errors there are. Misuse and the outside world: FrontierError with a stable code.
 * A broken invariant: InvariantError, which no caller is expected to catch.
 */

import { hasFunction } from "./type-guards.ts";

/** Codes of errors. A code keeps its meaning; more may be added. */
export type FrontierErrorCode =
  | "FRONTIER_CLOSED"
  | "FRONTIER_LOCKED"
  | "OPTION_INVALID"
  | "REQUEST_INVALID"
  | "RULE_INVALID"
  | "ARGUMENT_INVALID"
  | "STATE_INVALID"
  | "SNAPSHOT_CORRUPT"
  | "FORMAT_UNSUPPORTED"
  | "PROFILE_MISMATCH"
  | "DISK_FULL"
  | "DISK_READONLY"
  | "DISK_GONE"
  | "DISK_FAILED"
  | "FILES_EXHAUSTED"
  | "KERNEL_MISSING"
  | "MEMORY_FULL"
  | "UNSUPPORTED";

/** An error with a stable `code`. Its message has the form `name: value (expected: …)`. */
export class FrontierError extends Error {
  /** What is wrong; see `FrontierErrorCode`. */
  readonly code: string;
  /** For misuse: `{ name, value, expected }`. */
  readonly details?: unknown;

  /** Made by Outrider; a test may make one. */
  constructor(code: FrontierErrorCode, message: string, details?: unknown) {
    super(message);
    this.name = "FrontierError";
    this.code = code;
    if (details !== undefined) this.details = details;
  }
}

/** A broken invariant. The frontier closes and keeps the last good snapshot. */
export class InvariantError extends Error {
  constructor(invariant: string) {
    super(`broken invariant: ${invariant}`);
    this.name = "InvariantError";
  }
}

/** A FrontierError in the house form: `name: value (expected: …)`. */
export function misuse(
  code: FrontierErrorCode,
  name: string,
  value: unknown,
  expected: string,
): FrontierError {
  return new FrontierError(code, `${name}: ${shown(value)} (expected: ${expected})`, {
    name,
    value,
    expected,
  });
}

/**
 * Refuses the promise that a function of the user's gave, whose answer is wanted at once. Should it be rejected later, that is of no
 * consequence: who gave it learns of it here.
 */
export function refusePromise(name: string, answer: unknown, expected: string): void {
  if (!hasFunction(answer, "then")) return;
  try {
    (answer as PromiseLike<unknown>).then(undefined, () => undefined);
  } catch {
    // One that is none of the language's may throw: it is refused all the same.
  }
  const wanted = `${expected}, at once: the function can not be async`;
  throw new FrontierError("ARGUMENT_INVALID", `${name}: a promise (expected: ${wanted})`, {
    name,
    expected: wanted,
  });
}

/** The region is exhausted: every allocation that fails ends here. */
export function memoryFull(): FrontierError {
  const expected = "room in the frontier's 4 GiB; set `capacity` below what fits";
  return new FrontierError("MEMORY_FULL", `memory: exhausted (expected: ${expected})`);
}

/** Whether that is what was thrown. */
export function isMemoryFull(error: unknown): boolean {
  return error instanceof FrontierError && error.code === "MEMORY_FULL";
}

/** What a closed frontier throws where it has no other answer. */
export function frontierClosed(): FrontierError {
  const expected = "an open frontier; open it again to continue";
  return new FrontierError("FRONTIER_CLOSED", `frontier: closed (expected: ${expected})`);
}

/** A value as text for a message: short, safe for every input, never a throw. */
export function shown(value: unknown): string {
  let text: string;
  try {
    if (typeof value === "string") text = JSON.stringify(value);
    else if (typeof value === "function") text = "a function";
    else if (typeof value === "object" && value !== null)
      text = JSON.stringify(value) ?? "an object";
    else text = String(value);
  } catch {
    text = `a ${typeof value}`;
  }
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
}

/** What a function of the user's threw, or what is wrong with its answer: a value, until it can be reported. */
export interface HookFault {
  readonly cause: unknown;
}

/** Whether a function failed, where its answer would be a text. */
export function isHookFault<T extends string | undefined>(
  answer: T | HookFault,
): answer is HookFault {
  return typeof answer === "object";
}
