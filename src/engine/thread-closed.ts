/**
 * What a frontier of another thread says from the moment its close began: what any closed frontier says. It is asked of one, on this
 * thread, that was never open: so neither thread has to be the faster one, and nothing is said in two places. One whose thread has
 * died says nothing, since nobody knows what became of the call (thread-line.ts).
 */
import { frontierClosed } from "../base/errors.ts";
import { Desk } from "./desk.ts";
import { EventHub } from "./events.ts";
import { MemoryFrontier } from "./frontier.ts";
import { RecordLease } from "./lease.ts";
import { Life } from "./life.ts";
import { normalizeOptions, type Settings } from "./options.ts";
import { Clerk } from "./thread-clerk.ts";
import type { Call } from "./thread-protocol.ts";
import type { FrontierOptions, Lease } from "./types.ts";

/** Makes a call as a closed frontier of these options does. */
export type AskClosed = (call: Omit<Call, "id">) => unknown;

/** Costs nothing before it is asked. */
export function askClosed(options: FrontierOptions): AskClosed {
  const { directory, defaults, seen } = options;
  // What arguments are judged by; it is the caller's, who may change it.
  const judged = structuredClone({
    ...(directory === undefined ? {} : { directory }),
    ...(defaults === undefined ? {} : { defaults }),
    ...(seen === undefined ? {} : { seen }),
  });
  let clerk: Clerk | undefined;
  return (call) => {
    // The user's own state was the other thread's.
    if (call.method === "state" || call.method === "setState") throw frontierClosed();
    clerk ??= closedClerk(normalizeOptions(judged));
    return clerk.make({ id: 0, ...call });
  };
}

function closedClerk(settings: Settings): Clerk {
  // With a directory one is made by `open` alone: until then it has neither memory nor files.
  const frontier = new MemoryFrontier({ ...settings, directory: "never opened" });
  void frontier.close();
  return new Clerk({ frontier, spent: closedLease(settings), tell: () => undefined });
}

/** A lease of a frontier that is closed, and no other's. */
export function closedLease(settings = normalizeOptions()): Lease {
  const desk = new Desk(new Life(settings, new EventHub()), 0, () => "");
  return new RecordLease(desk);
}
