/**
 * Arguments: what comes in beside requests, read once and checked by name before anything changes. By the same functions wherever a
 * frontier is used from: the owner's thread, one that asks it by messages, one at its shared memory.
 */
import { FrontierError, misuse } from "./errors.ts";
import { hasFunction, isList, isMadeBy, isObject } from "./kinds.ts";

/** What the worker of a lease learned; feeds back-off, adaptive delay and budgets. */
export interface Outcome {
  status?: number;
  latencyMs?: number;
  retryAfterMs?: number;
  bytes?: number;
  address?: string;
  changed?: boolean;
  /** False, with `fail`: the host was not asked at all, so neither its clock nor its failures in a row learn of it. */
  visited?: boolean;
}

const OUTCOME_FIELDS = [
  "status",
  "latencyMs",
  "retryAfterMs",
  "bytes",
  "address",
  "changed",
  "visited",
];

/** The fields of an object argument, each read once; an unknown one is a mistake, never ignored. */
export function readFields<T extends object>(
  given: T | undefined,
  name: string,
  fields: readonly string[],
): T {
  const read: Record<string, unknown> = {};
  if (given === undefined) return read as T;
  if (!isObject(given)) {
    throw misuse("ARGUMENT_INVALID", name, given, "an object");
  }
  try {
    for (const field of Object.keys(given)) {
      if (!fields.includes(field)) {
        const expected = `one of ${fields.join(", ")}`;
        throw misuse("ARGUMENT_INVALID", `${name}.${field}`, "unknown", expected);
      }
    }
    for (const field of fields) {
      const value: unknown = (given as Record<string, unknown>)[field];
      if (value !== undefined) read[field] = value;
    }
  } catch (cause) {
    if (cause instanceof FrontierError) throw cause;
    throw new FrontierError("ARGUMENT_INVALID", `${name}: unreadable (expected: plain data)`, {
      cause,
    });
  }
  return read as T;
}

/** The members of an iterable argument; what its iterator throws is the caller's own and comes out as it is. */
export function readList(given: unknown, name: string, expected: string): readonly unknown[] {
  if (isList(given)) return given;
  if (!hasFunction(given, Symbol.iterator)) throw misuse("ARGUMENT_INVALID", name, given, expected);
  const iterator = (given as Iterable<unknown>)[Symbol.iterator]();
  if (!hasFunction(iterator, "next")) throw misuse("ARGUMENT_INVALID", name, given, expected);
  return [...{ [Symbol.iterator]: () => iterator }];
}

export function readOutcome(given: unknown): Outcome | undefined {
  if (given === undefined) return undefined;
  const outcome = readFields(given as Outcome, "outcome", OUTCOME_FIELDS);
  for (const field of ["latencyMs", "retryAfterMs", "bytes"] as const) {
    checkAmount(outcome[field], `outcome.${field}`);
  }
  const { address, status } = outcome;
  if (status !== undefined && !Number.isSafeInteger(status)) {
    throw misuse("ARGUMENT_INVALID", "outcome.status", status, "a whole number");
  }
  checkText(address, "outcome.address");
  for (const field of ["changed", "visited"] as const) {
    const value = outcome[field];
    if (value === undefined || typeof value === "boolean") continue;
    throw misuse("ARGUMENT_INVALID", `outcome.${field}`, value, "true or false");
  }
  return outcome;
}

/** What `done` was told. */
export interface DoneFields {
  readonly found: readonly unknown[] | undefined;
  readonly errors: readonly unknown[] | undefined;
  readonly outcome: Outcome | undefined;
}

export function readDone(given: object): DoneFields {
  const fields = ["found", "errors", "outcome"];
  const { found, errors, outcome } = readFields<Partial<Record<keyof DoneFields, unknown>>>(
    given,
    "result",
    fields,
  );
  if (errors !== undefined && !isList(errors)) {
    throw misuse("ARGUMENT_INVALID", "result.errors", errors, "a list");
  }
  return {
    errors,
    outcome: readOutcome(outcome),
    found:
      found === undefined
        ? undefined
        : readList(found, "result.found", "a list of URLs or requests"),
  };
}

/** How a lease is tried again; what is left out is the rule's. */
export interface RetryOptions {
  delayMs?: number;
  priority?: number;
  reason?: string;
  outcome?: Outcome;
}

export function readRetry(given: RetryOptions): RetryOptions {
  const options = readFields(given, "options", ["delayMs", "priority", "reason", "outcome"]);
  const { delayMs, priority, reason } = options;
  checkAmount(delayMs, "delayMs");
  if (priority !== undefined && !Number.isSafeInteger(priority)) {
    throw misuse("ARGUMENT_INVALID", "priority", priority, "a safe integer");
  }
  checkText(reason, "reason");
  const outcome = readOutcome(options.outcome);
  return outcome === undefined ? options : { ...options, outcome };
}

/** Longest extension: a year; a lease is no way to keep a record for ever. */
const EXTEND_MS_MAX = 31_536_000_000;

export function checkExtension(ms: unknown): void {
  if (typeof ms === "number" && ms > 0 && ms <= EXTEND_MS_MAX) return;
  throw misuse("ARGUMENT_INVALID", "ms", ms, `more than 0, at most ${EXTEND_MS_MAX}`);
}

/** Whether `close` shall forget what is not durable yet. */
export function readClose(given: { discard?: boolean }): boolean {
  const { discard = false } = readFields(given, "options", ["discard"]);
  if (typeof discard === "boolean") return discard;
  throw misuse("ARGUMENT_INVALID", "options.discard", discard, "true or false");
}

export function checkAmount(value: unknown, name: string): void {
  if (value === undefined) return;
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return;
  throw misuse("ARGUMENT_INVALID", name, value, "a finite number of at least 0");
}

export function checkText(value: unknown, name: string): void {
  if (value === undefined || typeof value === "string") return;
  throw misuse("ARGUMENT_INVALID", name, value, "a string");
}

/** A signal that can be listened to, or none. */
export function checkSignal(signal: unknown): void {
  if (signal === undefined || isMadeBy(signal, AbortSignal)) return;
  throw misuse("ARGUMENT_INVALID", "signal", signal, "an AbortSignal");
}

const TAKE_FIELDS = ["max", "timeoutMs", "signal"];

export interface TakeOptions {
  max?: number;
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** What `take` was asked for; waitMs undefined: as long as it takes. */
export function readTake(given: TakeOptions): {
  max: number;
  waitMs: number | undefined;
  signal: AbortSignal | undefined;
} {
  const { max = 1, timeoutMs, signal } = readFields(given, "options", TAKE_FIELDS);
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs >= 0)) {
    throw misuse("ARGUMENT_INVALID", "timeoutMs", timeoutMs, "a number of at least 0");
  }
  checkSignal(signal);
  const waitMs = timeoutMs === Number.POSITIVE_INFINITY ? undefined : timeoutMs;
  return { max: positiveOf(max, "max"), waitMs, signal };
}

/** A count; Infinity: as many as there are. */
export function countOf(value: unknown, name: string): number {
  if (value === Number.POSITIVE_INFINITY) return Number.MAX_SAFE_INTEGER;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw misuse("ARGUMENT_INVALID", name, value, "a whole number of at least 0");
}

/** A count of at least one. */
export function positiveOf(value: unknown, name: string): number {
  const count = countOf(value, name);
  if (count > 0) return count;
  throw misuse("ARGUMENT_INVALID", name, value, "a whole number of at least 1");
}
