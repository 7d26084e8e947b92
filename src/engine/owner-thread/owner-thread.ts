/**
 * The thread that owns a frontier for another one (thread-frontier.ts): opens it, has a call handler make the calls that come, and answers
 * each. No other thread touches the frontier; workers join it as any other.
 *
 *   I1  Calls are made in the order they were sent, and each is answered once; that of close after all others.
 */
import type { MessagePort } from "node:worker_threads";
import { openFrontier } from "../api/open-frontier.ts";
import { CallHandler } from "./call-handler.ts";
import { closedLease } from "./closed-frontier.ts";
import { type Call, plainError } from "./thread-messages.ts";
import type { Frontier, FrontierOptions } from "../types/frontier-types.ts";

/** Answers the calls that come through a port. */
function serve(frontier: Frontier, port: MessagePort): void {
  const callHandler = new CallHandler({
    frontier,
    spent: closedLease(),
    send: (message) => port.postMessage(message),
  });
  /** Answers under way, those of close apart. */
  const answers = new Set<Promise<void>>();
  const answer = async (call: Call, isClose: boolean): Promise<void> => {
    try {
      const value = await callHandler.handle(call);
      // Calls under way are answered before the thread ends.
      if (isClose) await Promise.all(answers);
      port.postMessage({ id: call.id, value, isClosed: isClose });
    } catch (cause) {
      port.postMessage({ id: call.id, error: plainError(cause) });
    }
  };
  port.on("message", (call: Call) => {
    const isClose = call.on === "frontier" && call.method === "close";
    const answered = answer(call, isClose);
    if (isClose) return; // it waits for the others
    answers.add(answered);
    void answered.then(() => answers.delete(answered));
  });
}

/** Opens the frontier that this thread was started for. */
export async function own(port: MessagePort, options: FrontierOptions): Promise<void> {
  try {
    const frontier = await openFrontier(options);
    serve(frontier, port);
    port.postMessage({ id: 0, value: { name: frontier.name } });
  } catch (cause) {
    port.postMessage({ id: 0, error: plainError(cause) });
    port.close();
  }
}
