/**
 * Room `src/engine/owner-thread`: a frontier owned by a thread of its own: calls as messages, answers as promises, the
 * same meanings. Decides nothing but what is answered once that thread has ended.
 */

/**
 * Opens a frontier on a thread of its own, and cleans up after that thread if it dies before it was closed.
 *
 *   open ─▶ thread ─ first answer ─▶ AsyncFrontier                     close ─▶ the thread ends by itself
 *                                         └ the thread dies (an uncaught error, out of memory)
 *                                              ├ every call under way and to come: FRONTIER_CLOSED, with the cause
 *                                              ├ threads at its shared memory: notified that their messages are no longer read
 *                                              └ its directory's lock: released, since this process lives on
 *
 *   I1  Only the lock that was there when the thread had opened is released: a later owner of the directory has another.
 */
import { once } from "node:events";
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import { FrontierError, frontierClosed, misuse } from "../../base/errors.ts";
import { packageFile } from "../../base/package-files.ts";
import { nodeFiles, attempt } from "../../persistence/files.ts";
import { giveLock, heldLock } from "../../persistence/directory/directory-lock.ts";
import { frontierDirectory } from "../../persistence/directory/frontier-directory.ts";
import { markOwnerGone } from "../../workers/protocol/shared-memory.ts";
import type { AsyncFrontier } from "../types/async-frontier.ts";
import { EventHub } from "../event-hub.ts";
import { type AnswerClosed, answerClosed } from "./closed-frontier.ts";
import { type EventInDelivery, threadFrontier } from "./thread-frontier.ts";
import { CallChannel } from "./call-channel.ts";
import {
  type Answer,
  causeOf,
  errorOf,
  type PlainCause,
  type EventMessage,
} from "./thread-messages.ts";
import type { FrontierFault, FrontierHandle, FrontierOptions } from "../types/frontier-types.ts";

/**
 * Opens a frontier on a thread of its own: the options and methods of `openFrontier`, with promises. Use it where no call may block the
 * event loop, or where the calling thread is busy. Rejects with `OPTION_INVALID` for an option that is or contains a function. Costs
 * about 50 ms to open and a message for each call, about 0.1 ms: use batches.
 *
 * When that thread dies, every call rejects with `FRONTIER_CLOSED` and the cause in `details.cause`, and `status`
 * reports `stopped` with reason `died`. The directory can be opened again at once, with everything that was
 * durable.
 *
 * @example
 * const frontier = await openFrontierThread({ directory: "crawl-data" });
 * await frontier.pushMany(urls);
 * for (const lease of await frontier.take({ max: 100 })) await lease.done();
 * await frontier.close();
 */
export async function openFrontierThread<Data = unknown>(
  options: FrontierOptions = {},
): Promise<AsyncFrontier<Data>> {
  const { port1, port2 } = new MessageChannel();
  let worker: Worker;
  let closed: AnswerClosed;
  if (options === null) throw misuse("OPTION_INVALID", "options", null, "an object");
  try {
    closed = answerClosed(options);
    const workerData = { outriderJob: "owner", port: port2, options };
    worker = new Worker(packageFile("thread.js"), { workerData, transferList: [port2] });
  } catch (cause) {
    port1.close();
    const expected = "plain data: functions stay on their thread";
    throw misuse("OPTION_INVALID", "options", String(cause), expected);
  }
  let failure: unknown;
  worker.on("error", (cause) => {
    failure = cause;
  });
  const died = new Promise<undefined>((resolve) => worker.once("exit", () => resolve(undefined)));
  // Its last message may arrive after the event of its end.
  const last = died.then(() => [receiveMessageOnPort(port1)?.message as unknown]);
  const opened = await Promise.race([once(port1, "message"), last]);
  const { value, error } = (opened[0] as Answer | undefined) ?? { error: undefined };
  if (error !== undefined || value === undefined) {
    port1.close();
    await worker.terminate();
    throw error === undefined ? ownerDied(failure) : errorOf(error);
  }
  const { name } = value as { name: string };
  const events = new EventHub();
  const handles: FrontierHandle[] = [];
  const inDelivery: EventInDelivery = { message: undefined };
  const deliver = ({ event, payload: plain, since }: EventMessage): void => {
    const payload = event === "error" ? faultOf(plain) : plain;
    inDelivery.message = { event, payload, since };
    events.emit(event, payload as never);
    events.flush();
    inDelivery.message = undefined;
  };
  const hold = (isHeld: boolean): void => {
    if (isHeld || options.keepOpen === true) worker.ref();
    else worker.unref();
  };
  const channel = new CallChannel(port1, { deliver, askClosed: closed, hold });
  const giveUp = lockOf(options, name);
  void died.then(() => {
    channel.hasOwnerDied = !channel.isClosed;
    if (channel.hasOwnerDied) {
      giveUp();
      for (const handle of handles) markOwnerGone(handle);
    }
    channel.end(channel.hasOwnerDied ? ownerDied(failure) : frontierClosed());
    if (!channel.hasOwnerDied) return;
    events.emit("status", { from: "running", to: "stopped", reason: "died" });
    events.flush();
  });
  hold(false);
  const parts = { channel, worker, events, handles, inDelivery };
  return threadFrontier(name, parts) as unknown as AsyncFrontier<Data>;
}

/** Releases the lock that is in the directory now (I1). */
function lockOf({ directory, readOnly }: FrontierOptions, name: string): () => void {
  if (directory === undefined || readOnly === true) return () => undefined;
  const place = { files: nodeFiles, directory: frontierDirectory(directory, name) };
  const lock = heldLock(place);
  return () => {
    // The disk is gone too: the next open reports which process holds it.
    if (lock !== undefined) attempt(() => giveLock(place, lock));
  };
}

function faultOf(payload: unknown): FrontierFault {
  const fault = payload as FrontierFault;
  return { ...fault, cause: causeOf(fault.cause as PlainCause) };
}

function ownerDied(cause: unknown): FrontierError {
  const why = cause instanceof Error ? cause.message : String(cause ?? "it was ended");
  const expected = "a running thread; open the frontier again to continue";
  const text = `frontier: its thread ended: ${why} (expected: ${expected})`;
  return new FrontierError("FRONTIER_CLOSED", text, { cause });
}
