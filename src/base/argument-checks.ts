/**
 * Argument checks: every argument that is not a request is read once and checked before anything changes. The frontier's own thread, a
 * thread that reaches it by messages and a thread at its shared memory all use these functions.
 */
import { misuse } from "./errors.ts";
import {
  ANYTHING,
  atLeast,
  type Field,
  type Fields,
  INTEGER,
  kind,
  readObject,
  shape,
  TEXT,
  TRUTH,
  whole,
} from "./fields.ts";
import { hasFunction, isList } from "./type-guards.ts";

/**
 * The result of a visit, as the host's politeness needs it: adaptive delays, back-off, budgets and recrawl periods. A field that is left
 * out changes nothing.
 *
 * @example
 * lease.done({ found, outcome: { status: 200, latencyMs: 87, bytes: body.length } });
 */
export interface Outcome {
  /**
   * HTTP status. 429 and every status from 500 on count as a failure of the host.
   * @defaultValue unknown
   */
  status?: number | undefined;
  /**
   * Time to the first byte in milliseconds, for `adaptive`.
   * @defaultValue unknown
   */
  latencyMs?: number | undefined;
  /**
   * Blocks the host for this many milliseconds, as `Retry-After` asks.
   * @defaultValue none
   */
  retryAfterMs?: number | undefined;
  /**
   * Bytes of the body, counted against `budget.bytes`.
   * @defaultValue 0
   */
  bytes?: number | undefined;
  /**
   * IP address of the server, for groups by `"address"`.
   * @defaultValue unknown
   */
  address?: string | undefined;
  /**
   * Whether the page differs from its last visit, for the epoch `{ adaptive }`.
   * @defaultValue unknown: the period stays
   */
  changed?: boolean | undefined;
  /**
   * False, with `fail`: the host was not contacted, so its next visit and its failures in a row stay as they are.
   * @defaultValue true
   */
  visited?: boolean | undefined;
}

/** Returns a reader of an object argument with these fields. An argument that is left out counts as an empty object. */
export function argument<T extends object>(name: string, fields: Fields<T>): (given: unknown) => T {
  const field = shape(fields);
  return (given = {}) => readObject(field, given, name, "ARGUMENT_INVALID");
}

/** The same field, whose errors do not name the object that holds it. */
export function bare<T>(name: string, field: Field<T>): Field<T> {
  const named: Field<T> = (value, _path, code) => field(value, name, code);
  return field.isRight === undefined ? named : Object.assign(named, { isRight: field.isRight });
}

/** A signal that can be listened to. */
export const SIGNAL = bare(
  "signal",
  kind<AbortSignal>("an AbortSignal", (value) => value instanceof AbortSignal),
);
export const AMOUNT = atLeast(0);

const readOutcomeFields = argument<Outcome>("outcome", {
  status: kind("a whole number", Number.isSafeInteger),
  latencyMs: AMOUNT,
  retryAfterMs: AMOUNT,
  bytes: AMOUNT,
  address: TEXT,
  changed: TRUTH,
  visited: TRUTH,
});

export function readOutcome(given: unknown): Outcome | undefined {
  return given === undefined ? undefined : readOutcomeFields(given);
}

/**
 * The members of an iterable argument, as they are now: a function of the caller's that a call asks may change its list. An
 * error of the caller's own iterator is thrown on unchanged.
 */
export function readList(given: unknown, name: string, expected: string): readonly unknown[] {
  if (isList(given)) return [...given];
  if (!hasFunction(given, Symbol.iterator)) throw misuse("ARGUMENT_INVALID", name, given, expected);
  const iterator = (given as Iterable<unknown>)[Symbol.iterator]();
  if (!hasFunction(iterator, "next")) throw misuse("ARGUMENT_INVALID", name, given, expected);
  return [...{ [Symbol.iterator]: () => iterator }];
}

/** The arguments of `done`. */
export interface DoneFields {
  readonly found: readonly unknown[] | undefined;
  readonly errors: readonly unknown[] | undefined;
  readonly outcome: Outcome | undefined;
}

const readDoneFields = argument<{
  found?: unknown;
  errors?: readonly unknown[];
  outcome?: unknown;
}>("result", { found: ANYTHING, errors: kind("a list", isList), outcome: ANYTHING });

export function readDone(given: object): DoneFields {
  const { found, errors, outcome } = readDoneFields(given);
  const expected = "a list of URLs or requests";
  return {
    errors,
    outcome: readOutcome(outcome),
    found: found === undefined ? undefined : readList(found, "result.found", expected),
  };
}

/**
 * Options of a retry.
 *
 * @example
 * lease.retry({ delayMs: 30_000, reason: "http-503", outcome: { status: 503 } });
 */
export interface RetryOptions {
  /**
   * Wait before the next attempt, in milliseconds.
   * @defaultValue the rule's `backoff`
   */
  delayMs?: number | undefined;
  /**
   * Priority of the next attempt, in place of `retryPriority`.
   * @defaultValue by the rule
   */
  priority?: number | undefined;
  /**
   * Counted in `report().reasons` and kept with the event.
   * @defaultValue none
   */
  reason?: string | undefined;
  /**
   * The result of the visit, for the host's politeness.
   * @defaultValue nothing
   */
  outcome?: Outcome | undefined;
}

export const readRetry: (given: RetryOptions) => RetryOptions = argument<RetryOptions>("options", {
  delayMs: bare("delayMs", AMOUNT),
  priority: bare("priority", INTEGER),
  reason: bare("reason", TEXT),
  outcome: (value) => readOutcomeFields(value),
});

/** The longest extension, one year: a lease is not a way to store a record. */
const EXTEND_MS_MAX = 31_536_000_000;

export function checkExtension(ms: unknown): void {
  if (typeof ms === "number" && ms > 0 && ms <= EXTEND_MS_MAX) return;
  throw misuse("ARGUMENT_INVALID", "ms", ms, `more than 0, at most ${EXTEND_MS_MAX}`);
}

const readCloseFields = argument<{ discard?: boolean }>("options", { discard: TRUTH });

/** Whether `close` discards what is not durable yet. */
export function readClose(given: { discard?: boolean | undefined }): boolean {
  return readCloseFields(given).discard ?? false;
}

export interface TakeOptions {
  max?: number | undefined;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

const readTakeFields = argument<TakeOptions>("options", {
  max: bare(
    "max",
    kind(
      "a whole number of at least 1",
      (value) =>
        value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && Number(value) > 0),
    ),
  ),
  timeoutMs: bare(
    "timeoutMs",
    kind("a number of at least 0", (value) => typeof value === "number" && value >= 0),
  ),
  signal: SIGNAL,
});

/** The arguments of `take`, checked. An undefined `waitMs` waits without a limit. */
export function readTake(given: TakeOptions): {
  max: number;
  waitMs: number | undefined;
  signal: AbortSignal | undefined;
} {
  const { max = 1, timeoutMs, signal } = readTakeFields(given);
  const waitMs = timeoutMs === Number.POSITIVE_INFINITY ? undefined : timeoutMs;
  return { max: Math.min(max, Number.MAX_SAFE_INTEGER), waitMs, signal };
}

/** Options of calls that take only a signal. */
export const readSignal = argument<{ signal?: AbortSignal }>("options", { signal: SIGNAL });

export const readPushFromFields = argument<{ batch?: number; signal?: AbortSignal }>("options", {
  batch: bare("batch", whole(1)),
  signal: SIGNAL,
});

export function checkText(value: unknown, name: string): void {
  if (value !== undefined) TEXT(value, name, "ARGUMENT_INVALID");
}

/** Reads a count; Infinity stands for all. */
export function countOf(value: unknown, name: string): number {
  if (value === Number.POSITIVE_INFINITY) return Number.MAX_SAFE_INTEGER;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw misuse("ARGUMENT_INVALID", name, value, "a whole number of at least 0");
}
