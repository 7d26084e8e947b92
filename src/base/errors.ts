/**
 * Room `src/base`: what every room may use: errors, asserts, argument checks, the only clock and the only source of randomness. Decides
 * nothing about crawling. Imports nothing of ours.
 */

/**
 * The two kinds of errors. FrontierError, with a stable code, reports misuse and faults of the outside world. InvariantError reports a
 * broken invariant; callers are not expected to catch it.
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
  | "CRAWLS_FULL"
  | "PACKAGE_MISSING"
  | "PORT_IN_USE"
  | "SERVER_GONE"
  | "SERVER_UNFIT"
  | "UNSUPPORTED";

/** An error with a stable `code`. Its message has the form `name: value (expected: …)`. */
export class FrontierError extends Error {
  /** What is wrong; see `FrontierErrorCode`. */
  readonly code: string;
  /** For misuse: `{ name, value, expected }`. */
  readonly details?: unknown;

  /** For Outrider itself, and for tests. */
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

/** A FrontierError whose message has the form `name: value (expected: …)`. */
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
 * Throws if a user's function returned a promise where its value is needed at once. A later rejection of that promise is ignored, because
 * this error has already reported the fault.
 */
export function refusePromise(name: string, answer: unknown, expected: string): void {
  if (!hasFunction(answer, "then")) return;
  try {
    (answer as PromiseLike<unknown>).then(undefined, () => undefined);
  } catch {
    // A foreign thenable may throw; it is refused just the same.
  }
  const wanted = `${expected}, at once: the function can not be async`;
  throw new FrontierError("ARGUMENT_INVALID", `${name}: a promise (expected: ${wanted})`, {
    name,
    expected: wanted,
  });
}

/** The error of every allocation that fails because the region is exhausted. */
export function memoryFull(): FrontierError {
  const expected = "room in the frontier's 4 GiB; set `capacity` below what fits";
  return new FrontierError("MEMORY_FULL", `memory: exhausted (expected: ${expected})`);
}

/** Whether an error is MEMORY_FULL. */
export function isMemoryFull(error: unknown): boolean {
  return error instanceof FrontierError && error.code === "MEMORY_FULL";
}

/** A call from within a function of the user's that a push is asking. */
export function frontierAsking(): FrontierError {
  const expected = "accept, keyOf and by only return a value; call it after push has returned";
  const message = `frontier: called from within a push (expected: ${expected})`;
  return new FrontierError("STATE_INVALID", message);
}

/** The error of a call on a closed frontier. */
export function frontierClosed(): FrontierError {
  const expected = "an open frontier; open it again to continue";
  return new FrontierError("FRONTIER_CLOSED", `frontier: closed (expected: ${expected})`);
}

/** A value as short text for a message. Never throws. */
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

/** The error that a user's function threw, or the fault of its result, kept until it can be reported. */
export interface HookFault {
  readonly cause: unknown;
}

/** Whether a user's function failed instead of returning a string. */
export function isHookFault<T extends string | undefined>(
  answer: T | HookFault,
): answer is HookFault {
  return typeof answer === "object";
}
