/** Applies a worker's message as a call of the lease service, which checks its deadline as for any other result. */
import { FrontierError, isMemoryFull } from "../../../base/errors.ts";
import {
  MESSAGE_DONE,
  MESSAGE_EXTEND,
  MESSAGE_FAIL,
  MESSAGE_FAULT,
  MESSAGE_PUSH,
  MESSAGE_REDIRECT,
  MESSAGE_RELEASE,
  MESSAGE_RETRY,
  MESSAGE_SEND,
} from "../../../layout/threads/worker-messages.ts";
import type { ResultMessage } from "../../protocol/result-message.ts";
import { readExtras } from "./check-message.ts";
import type { OwnedLease, OwnerPort, Pushed } from "./owner-port.ts";
import type { Seat } from "./worker-seat.ts";

/** Fields of extras. They come from a thread that anything may have written, so none is trusted. */
interface Extras {
  errors?: unknown[];
  outcome?: unknown;
  requests?: unknown[];
  reason?: string;
  url?: string;
  change?: unknown;
  ms?: number;
  stage?: string;
  name?: string;
  message?: string;
  stack?: string;
  value?: unknown;
}

const NO_EXTRAS: Extras = Object.freeze({});

/**
 * Returns false when the message could not be applied for want of disk or memory, and must be tried again. Throws RingFault when its
 * extras cannot be read.
 */
export function applyResult(port: OwnerPort, seat: Seat, message: ResultMessage): boolean {
  const extras = message.extras === undefined ? NO_EXTRAS : (readExtras(message.extras) as Extras);
  if (message.kind === MESSAGE_PUSH) return applyPush(port, message, extras);
  const entry = seat.entries.get(message.id);
  if (message.kind === MESSAGE_FAULT) {
    const cause = causeOf(extras);
    const stage = typeof extras.stage === "string" ? extras.stage : "handler";
    const url = entry?.lease.url;
    port.fault({ kind: "handler", stage, cause, ...(url === undefined ? {} : { url }) });
    return true;
  }
  if (entry === undefined) return true; // the lease has expired, and the worker was notified
  const { lease } = entry;
  if (message.kind === MESSAGE_SEND) {
    deliver(port, seat, extras.value, lease.url);
    return true;
  }
  try {
    if (settle(port, lease, message, extras)) seat.entries.delete(message.id);
  } catch (cause) {
    if (isFull(cause)) return false;
    // The handler's result is invalid: the fault is reported, and the lease is retried as after a throw.
    port.fault({ kind: "handler", stage: "result", cause, url: lease.url });
    seat.entries.delete(message.id);
    lease.retry({ reason: "result" } as never);
  }
  return true;
}

/** Calls the listener. Its error is reported as a fault, and the result after the message is still applied. */
function deliver(port: OwnerPort, seat: Seat, value: unknown, url: string): void {
  try {
    seat.onSent?.({ value, url, worker: seat.index });
  } catch (cause) {
    port.fault({ kind: "listener", stage: "message", cause, url });
  }
}

/** Returns true when the lease has ended. */
function settle(
  port: OwnerPort,
  lease: OwnedLease,
  message: ResultMessage,
  extras: Extras,
): boolean {
  const { links, dropped } = message;
  const { errors, outcome, requests, reason, url, change, ms } = extras;
  switch (message.kind) {
    case MESSAGE_DONE: {
      const found = requests === undefined ? links : [...links, ...requests];
      const isBare = found.length === 0 && errors === undefined && outcome === undefined;
      const result = { found, ...(errors ? { errors } : {}), ...(outcome ? { outcome } : {}) };
      const { late } = isBare ? lease.done() : lease.done(result as never);
      if (!late) port.countDropped(dropped);
      return true;
    }
    case MESSAGE_RETRY:
      lease.retry(message.extras === undefined ? undefined : (extras as never));
      return true;
    case MESSAGE_FAIL:
      lease.fail(reason, outcome as never);
      return true;
    case MESSAGE_RELEASE:
      lease.release();
      return true;
    case MESSAGE_REDIRECT:
      lease.redirect(url as string, change as never);
      return false;
    case MESSAGE_EXTEND:
      lease.extend(ms as number);
      return false;
    default:
      return false;
  }
}

function applyPush(port: OwnerPort, message: ResultMessage, extras: Extras): boolean {
  const { links, dropped } = message;
  try {
    const { good, bad } =
      extras.requests === undefined
        ? { good: links, bad: [] }
        : port.sift([...links, ...extras.requests]);
    if (good.length > 0 && isRefusedByDisk(port.pushMany(good))) return false;
    for (const { cause } of bad) port.fault({ kind: "handler", stage: "push", cause });
    port.countDropped(dropped);
  } catch (cause) {
    if (isFull(cause)) return false;
    port.fault({ kind: "handler", stage: "push", cause });
  }
  return true;
}

/** Whether a push was refused because the disk is full. That is not the caller's fault. */
function isRefusedByDisk(pushed: Pushed): boolean {
  if (pushed.full === 0) return false;
  for (let at = 0; at < pushed.size; at++) if (pushed.verdict(at).reason === "disk") return true;
  return false;
}

/** Whether there was no room on disk or in memory: nothing has changed, and the call may be repeated. */
export function isFull(cause: unknown): boolean {
  return cause instanceof FrontierError && (cause.code === "DISK_FULL" || isMemoryFull(cause));
}

function causeOf({ name, message, stack }: Extras): Error {
  const cause = new Error(typeof message === "string" ? message : "");
  if (typeof name === "string") cause.name = name;
  if (typeof stack === "string") cause.stack = stack;
  return cause;
}
