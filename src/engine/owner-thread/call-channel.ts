/**
 * CallChannel: the calls from one thread to the owner's that are under way, in the order they were sent.
 *
 *   open ──close is sent──▶ closing ──answered──▶ closed ──the thread ends──▶ over
 *     ▲                        │ └ the disk refused: open again                 ▲
 *     └────────────────────────┘        open, closing ──the thread dies─────────┘ orphaned
 *
 *   I1  From closing on each call is answered here, as a closed frontier answers: by nothing that depends on which
 *       thread is faster.
 *   I2  Calls under way when the thread dies are rejected, and so are later ones.
 *   I3  While a call waits the process lives, until the thread has answered or its death was detected: a port that its
 *       other side took along keeps no process alive.
 */
import type { MessagePort } from "node:worker_threads";
import { FrontierError, frontierClosed } from "../../base/errors.ts";
import type { AnswerClosed } from "./closed-frontier.ts";
import type { Crossing } from "./thread-methods.ts";
import {
  type Answer,
  type Call,
  errorOf,
  type PlainLease,
  type EventMessage,
} from "./thread-messages.ts";

/** A call that waits for its answer. */
interface Waiting {
  readonly request: Omit<Call, "id">;
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

interface CallChannelParts {
  readonly deliver: (message: EventMessage) => void;
  readonly askClosed: AnswerClosed;
  /** Whether the process shall live on until the thread ends. */
  readonly hold: (isHeld: boolean) => void;
}

/** Calls under way, and listeners. */
export class CallChannel {
  readonly #port: MessagePort;
  readonly #calls = new Map<number, Waiting>();
  readonly #parts: CallChannelParts;
  #lastId = 0;
  #end: Error | undefined;
  #isClosing = false;
  /** The owner has closed, as it was asked to. */
  isClosed = false;
  /** The owner has died before that. */
  hasOwnerDied = false;

  constructor(port: MessagePort, parts: CallChannelParts) {
    this.#port = port;
    this.#parts = parts;
    port.on("message", (message: Answer | EventMessage) => this.#take(message));
    port.unref();
  }

  /** No more answers will come. */
  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  get #isOpen(): boolean {
    return !this.#isClosing && !this.isClosed && this.#end === undefined;
  }

  /** Throws FRONTIER_CLOSED where no thread reads messages any more. */
  need(): void {
    if (!this.#isOpen) throw this.#end ?? frontierClosed();
  }

  get nextId(): number {
    return this.#lastId + 1;
  }

  /** Makes a call as its crossing has it; `own` makes the caller's leases. */
  async cross(
    request: Omit<Call, "id">,
    { read, makeSendable, unpack }: Crossing,
    own: (lease: PlainLease) => unknown = (lease) => lease,
  ): Promise<unknown> {
    const args = read === undefined ? request.args : read(...(request.args as never[]));
    const mended =
      makeSendable === undefined ? undefined : () => makeSendable(...(args as never[]));
    const plain = await this.call({ ...request, args }, mended);
    return unpack === undefined ? plain : unpack(plain as never, own);
  }

  /** `mended`: the arguments as they can be sent, where they can not be sent as they are. */
  async call(request: Omit<Call, "id">, mended?: () => readonly unknown[]): Promise<unknown> {
    const isAsked = this.#isOpen || (this.#isClosing && request.method === "status");
    if (!isAsked) return this.#atEnd(request);
    try {
      this.#port.postMessage({ id: this.nextId, ...request });
    } catch (cause) {
      if (mended === undefined) return this.#refuse(request, cause);
      return this.call({ ...request, args: mended() });
    }
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { request, resolve, reject });
      this.#port.ref(); // the event loop lives while a call waits for an answer (I3)
      this.#parts.hold(true);
    });
  }

  /** Closed from here on, unless the owner can not (I1). */
  async close(options: object): Promise<void> {
    const closed = this.call({ on: "frontier", key: 0, method: "close", args: [options] });
    this.#isClosing = true;
    try {
      await closed;
    } finally {
      this.#isClosing = false;
    }
  }

  /** The owner is gone: calls under way are rejected, and so are later ones (I2). */
  end(cause: Error): void {
    this.#end ??= cause;
    for (const { request, resolve, reject } of this.#calls.values()) {
      this.#atEnd(request).then(resolve, reject);
    }
    this.#calls.clear();
    this.#port.close();
  }

  /** The answer to a call after the end. */
  async #atEnd(request: Omit<Call, "id">): Promise<unknown> {
    if (this.hasOwnerDied) throw this.#end;
    return this.#parts.askClosed(request);
  }

  /** Refuses what cannot be sent: by name, if a frontier would not take the arguments either. */
  async #refuse(request: Omit<Call, "id">, cause: unknown): Promise<never> {
    try {
      await this.#parts.askClosed(request);
    } catch (fault) {
      if ((fault as FrontierError).code !== "FRONTIER_CLOSED") throw fault;
    }
    const expected = "plain data: functions stay on their thread";
    const text = `${request.method}: ${String(cause)} (expected: ${expected})`;
    throw new FrontierError("ARGUMENT_INVALID", text);
  }

  #take(message: Answer | EventMessage): void {
    if ("event" in message) {
      this.#parts.deliver(message);
      return;
    }
    const call = this.#calls.get(message.id);
    this.#calls.delete(message.id);
    if (this.#calls.size === 0) {
      this.#port.unref();
      this.#parts.hold(false);
    }
    if (message.isClosed === true) this.isClosed = true;
    if (message.error === undefined) call?.resolve(message.value);
    else call?.reject(errorOf(message.error));
  }
}
