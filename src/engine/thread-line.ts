/** Line: the calls from one thread to the owner's that are under way, in the order they were sent. */
import type { MessagePort } from "node:worker_threads";
import { FrontierError, frontierClosed } from "../base/errors.ts";
import { closedAnswer } from "./thread-closed.ts";
import { type Answer, type Call, errorOf, type Told } from "./thread-protocol.ts";

/** A call that waits for its answer. */
interface Waiting {
  readonly said: Omit<Call, "id">;
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

/** Calls under way, and who listens. */
export class Line {
  readonly #port: MessagePort;
  readonly #calls = new Map<number, Waiting>();
  readonly #tell: (told: Told) => void;
  #lastId = 0;
  #end: Error | undefined;
  /** The owner has closed, as it was asked to. */
  isClosed = false;
  /** The owner has died before that. */
  isBereft = false;

  constructor(port: MessagePort, tell: (told: Told) => void) {
    this.#port = port;
    this.#tell = tell;
    port.on("message", (message: Answer | Told) => this.#take(message));
    port.unref();
  }

  /** Nobody answers any more. */
  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Throws FRONTIER_CLOSED where nobody hears what is said. */
  need(): void {
    if (this.isClosed || this.#end !== undefined) throw this.#end ?? frontierClosed();
  }

  get nextId(): number {
    return this.#lastId + 1;
  }

  /** `mended`: the arguments as they can be sent, where they can not be sent as they are. */
  async call(said: Omit<Call, "id">, mended?: () => readonly unknown[]): Promise<unknown> {
    if (this.isClosed || this.#end !== undefined) return this.#atEnd(said);
    const id = ++this.#lastId;
    try {
      this.#port.postMessage({ id, ...said });
    } catch (cause) {
      if (mended !== undefined) return this.call({ ...said, args: mended() });
      const expected = "plain data: functions stay on their thread";
      const text = `${said.method}: ${String(cause)} (expected: ${expected})`;
      throw new FrontierError("ARGUMENT_INVALID", text);
    }
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { said, resolve, reject });
      this.#port.ref(); // the event loop lives while somebody waits for an answer
    });
  }

  /** What a call gets that nobody answers any more. */
  #atEnd(said: Omit<Call, "id">): unknown {
    const left = this.isClosed ? closedAnswer(said) : undefined;
    if (left === undefined) throw this.#end ?? frontierClosed();
    return left.value;
  }

  /** The owner is gone: whoever waits is told, and so is whoever comes. */
  end(cause: Error): void {
    this.#end ??= cause;
    for (const { said, resolve, reject } of this.#calls.values()) {
      try {
        resolve(this.#atEnd(said));
      } catch (end) {
        reject(end);
      }
    }
    this.#calls.clear();
    this.#port.close();
  }

  #take(message: Answer | Told): void {
    if ("event" in message) {
      this.#tell(message);
      return;
    }
    const call = this.#calls.get(message.id);
    this.#calls.delete(message.id);
    if (this.#calls.size === 0) this.#port.unref();
    if (message.isClosed === true) this.isClosed = true;
    if (message.error === undefined) call?.resolve(message.value);
    else call?.reject(errorOf(message.error));
  }
}
