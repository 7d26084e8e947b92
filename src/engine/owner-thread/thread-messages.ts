/**
 * What goes between a thread that uses a frontier and the thread that owns it: calls one way, answers and events the other,
 * as structured clone carries them. What a clone would lose (a result's methods, an error's code) goes as plain data.
 */
import { FrontierError, type FrontierErrorCode } from "../../base/errors.ts";
import { VERDICT_CLOSED, VERDICTS, verdictOf } from "../../frontier/admission/verdicts.ts";
import type {
  FrontierEvents,
  Lease,
  PushResult,
  Report,
  Verdict,
} from "../types/frontier-types.ts";

/** A call of a method; `on`: of which object. */
export interface Call {
  readonly id: number;
  readonly on: "frontier" | "lease" | "host" | "source" | "items";
  /** Number of the lease, the source or the iterable; key of the host. */
  readonly key: number | string;
  readonly method: string;
  readonly args: readonly unknown[];
}

export interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: PlainError;
  /** The frontier is closed: no message follows. */
  readonly isClosed?: boolean;
}

/** An event that has a listener. */
export interface EventMessage {
  readonly event: keyof FrontierEvents;
  readonly payload: unknown;
  /** The last listener that came before its event, by number: later ones are not called. */
  readonly since: number;
}

export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly details?: unknown;
}

/** A PushResult: the different verdicts, and which of them each request got. */
export interface PlainResult {
  readonly counts: Omit<PushResult, "verdict"> & { readonly late?: boolean };
  readonly verdicts: readonly Verdict[];
  readonly which: Uint8Array;
}

/** A lease: its fields, and its number with the owner. */
export type PlainLease = {
  readonly [K in keyof Lease as Lease[K] extends (...args: never[]) => unknown
    ? never
    : K]: Lease[K];
} & { readonly number: number };

/** Some items of an iterable; `isLast`: nothing comes after them. */
export interface PlainItems {
  readonly items: readonly unknown[];
  readonly isLast: boolean;
}

export function plainError(cause: unknown): PlainError {
  if (!(cause instanceof Error)) return { name: "Error", message: String(cause) };
  const { name, message } = cause;
  if (!(cause instanceof FrontierError)) return { name, message };
  const { code, details } = cause;
  return { name, message, code, details };
}

export function errorOf({ name, message, code, details }: PlainError): Error {
  if (code !== undefined) return new FrontierError(code as FrontierErrorCode, message, details);
  const error = new Error(message);
  error.name = name;
  return error;
}

/** The cause of a fault: an error, or another value that a user passed as one, which came by a message itself. */
export type PlainCause = { readonly error: PlainError } | { readonly value: unknown };

export function plainCause(cause: unknown): PlainCause {
  return cause instanceof Error ? { error: plainError(cause) } : { value: cause };
}

export function causeOf(cause: PlainCause): unknown {
  return "error" in cause ? errorOf(cause.error) : cause.value;
}

export function plainResult(result: PushResult & { readonly late?: boolean }): PlainResult {
  const { size, accepted, deferred, duplicate, rejected, full, late } = result;
  const verdicts: Verdict[] = [];
  const which = new Uint8Array(size);
  for (let at = 0; at < size; at++) {
    const verdict = result.verdict(at);
    let index = verdicts.indexOf(verdict);
    if (index < 0) index = verdicts.push(verdict) - 1;
    which[at] = index;
  }
  const counts = { size, accepted, deferred, duplicate, rejected, full };
  return { counts: late === undefined ? counts : { ...counts, late }, verdicts, which };
}

/** The one verdict of its kind: a clone is neither frozen nor the same. */
export function ownVerdict({ status, reason }: Verdict): Verdict {
  const own = VERDICTS.find((one) => one.status === status && one.reason === reason);
  return own as Verdict;
}

/** A result, and of so many more that the frontier was closed to them. */
export function withClosed({ counts, verdicts, which }: PlainResult, count: number): PlainResult {
  const size = counts.size + count;
  const all = new Uint8Array(size).fill(verdicts.length);
  all.set(which);
  return {
    counts: { ...counts, size },
    verdicts: [...verdicts, verdictOf(VERDICT_CLOSED)],
    which: all,
  };
}

export function resultOf({ counts, verdicts, which }: PlainResult): PushResult {
  const own = verdicts.map(ownVerdict);
  const verdict = (index: number): Verdict => {
    const one = own[which[index] as number];
    if (one !== undefined) return one;
    const expected = `a whole number below ${counts.size}`;
    throw new FrontierError("ARGUMENT_INVALID", `index: ${index} (expected: ${expected})`);
  };
  return { ...counts, verdict };
}

export function plainReport(report: Report): { facts: Report; text: string } {
  return { facts: { ...report }, text: String(report) };
}

export function reportFrom({ facts, text }: ReturnType<typeof plainReport>): Report {
  return Object.defineProperty({ ...facts }, "toString", { value: () => text });
}

export function plainLease(lease: Lease, number: number): PlainLease {
  const { url, method, body, headers, priority, depth, attempt, deliveries, host, rule } = lease;
  const { parent, handler, hostKey, redirects, data, fingerprint, deadlineMs } = lease;
  return {
    ...{ url, method, body, headers, priority, depth, attempt, deliveries, host, rule },
    ...{ parent, handler, hostKey, redirects, data, fingerprint, deadlineMs, number },
  };
}
