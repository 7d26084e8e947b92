/**
 * What a frontier says that its own thread has closed: the same as one that was closed on this thread. One whose thread has died says
 * nothing, since nobody knows what became of the call (thread-line.ts).
 */
import { VERDICT_CLOSED, verdictOf } from "../frontier/verdict.ts";
import { pushResult } from "./push-result.ts";
import { type Call, type PlainResult, plainResult } from "./thread-protocol.ts";

/** The answer to a call; undefined: it throws FRONTIER_CLOSED. */
export function closedAnswer({
  on,
  method,
  args,
}: Omit<Call, "id">): { value: unknown } | undefined {
  if (on === "lease") return { value: { isGone: true, isClosed: true } };
  if (on !== "frontier") return undefined;
  switch (method) {
    case "status":
      return { value: "stopped" };
    case "push":
      return { value: verdictOf(VERDICT_CLOSED) };
    case "pushMany":
      return { value: closedResult(args[0] as readonly unknown[]) };
    case "pollMany":
    case "take":
      return { value: [] };
    case "done":
      return { value: 0 };
    case "close":
      return { value: undefined };
    default:
      return undefined;
  }
}

function closedResult({ length }: readonly unknown[]): PlainResult {
  return plainResult(pushResult(new Uint8Array(length).fill(VERDICT_CLOSED)));
}
