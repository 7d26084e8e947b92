/** Errors of calls as gRPC's statuses. Whatever a call throws is one of them; none ends the server. */
import { WireError } from "./wire.ts";

export const OK_STATUS = 0;
export const INVALID_ARGUMENT = 3;
export const DEADLINE_EXCEEDED = 4;
export const NOT_FOUND = 5;
export const RESOURCE_EXHAUSTED = 8;
export const UNIMPLEMENTED = 12;
export const INTERNAL = 13;
export const UNAVAILABLE = 14;
export const UNAUTHENTICATED = 16;

/** A call that fails with a status. */
export class CallError extends Error {
  readonly code: number;
  readonly details: string;

  constructor(code: number, details: string) {
    super(details);
    this.name = "CallError";
    this.code = code;
    this.details = details;
  }
}

const CODES: Readonly<Record<string, number>> = {
  FRONTIER_CLOSED: UNAVAILABLE,
  SERVER_GONE: UNAVAILABLE,
  CRAWLS_FULL: RESOURCE_EXHAUSTED,
  MEMORY_FULL: RESOURCE_EXHAUSTED,
  DISK_FULL: RESOURCE_EXHAUSTED,
  ARGUMENT_INVALID: INVALID_ARGUMENT,
  REQUEST_INVALID: INVALID_ARGUMENT,
};

/** What was thrown, as the status that the client gets. */
export function callErrorOf(cause: unknown): CallError {
  if (cause instanceof CallError) return cause;
  if (cause instanceof WireError) return new CallError(INVALID_ARGUMENT, cause.message);
  const { code, message } = cause as { code?: unknown; message?: unknown };
  const status = typeof code === "string" ? CODES[code] : undefined;
  return new CallError(status ?? INTERNAL, typeof message === "string" ? message : "unknown fault");
}
