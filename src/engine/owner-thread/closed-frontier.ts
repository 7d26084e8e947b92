/**
 * Answers calls of a frontier on another thread once its close has begun, as any closed frontier does: by a frontier on this thread that
 * was never opened. This avoids a race with `close()`, and no answer is implemented twice. Calls of a frontier whose thread has died are
 * not answered here, since it is unknown what became of them (call-channel.ts).
 */
import { frontierClosed } from "../../base/errors.ts";
import { givenOf } from "../../base/plain-copy.ts";
import { LeaseService } from "../leases/lease-service.ts";
import { EventHub } from "../event-hub.ts";
import { LocalFrontier } from "../api/local-frontier.ts";
import { RecordLease } from "../leases/record-lease.ts";
import { Lifecycle } from "../lifecycle/lifecycle.ts";
import { normalizeOptions, type Settings } from "../options/normalize-options.ts";
import { CallHandler } from "./call-handler.ts";
import type { Call } from "./thread-messages.ts";
import type { FrontierOptions, Lease } from "../types/frontier-types.ts";

/** Makes a call as a closed frontier of these options does. */
export type AnswerClosed = (call: Omit<Call, "id">) => unknown;

/** Costs nothing before it is asked. */
export function answerClosed(options: FrontierOptions): AnswerClosed {
  const { directory, defaults, seen } = options;
  // The settings that arguments are copied against; they are the caller's, who may change them.
  const copied = structuredClone(givenOf({ directory, defaults, seen }));
  let callHandler: CallHandler | undefined;
  return (call) => {
    // The user's own state was the other thread's.
    if (call.method === "state" || call.method === "setState") throw frontierClosed();
    callHandler ??= closedCallHandler(normalizeOptions(copied));
    return callHandler.handle({ id: 0, ...call });
  };
}

function closedCallHandler(settings: Settings): CallHandler {
  // With a directory one is made by `open` alone: until then it has neither memory nor files.
  const frontier = new LocalFrontier({ ...settings, directory: "never opened" });
  void frontier.close();
  return new CallHandler({ frontier, spent: closedLease(settings), send: () => undefined });
}

/** A lease of a frontier that is closed, and no other's. */
export function closedLease(settings = normalizeOptions()): Lease {
  const leases = new LeaseService(new Lifecycle(settings, new EventHub()), 0, () => "");
  return new RecordLease(leases);
}
