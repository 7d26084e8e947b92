/** Line: the calls from one thread to the owner's that are under way, in the order they were sent. */
import type { MessagePort } from "node:worker_threads";
import { FrontierError } from "../base/errors.ts";
import { type Answer, type Call, errorOf, type Told } from "./thread-protocol.ts";

/** Calls under way, and who listens. */
export class Line {
  readonly #port: MessagePort;
  readonly #calls = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (cause: unknown) => void }
  >();
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

  get nextId(): number {
    return this.#lastId + 1;
  }

  call(said: Omit<Call, "id">): Promise<unknown> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      try {
        this.#port.postMessage({ id, ...said });
      } catch (cause) {
        const expected = "plain data: functions stay on their thread";
        const text = `${said.method}: ${String(cause)} (expected: ${expected})`;
        reject(new FrontierError("ARGUMENT_INVALID", text));
        return;
      }
      this.#calls.set(id, { resolve, reject });
      this.#port.ref(); // the event loop lives while somebody waits for an answer
    });
  }

  /** The owner is gone: whoever waits is told, and so is whoever comes. */
  end(cause: Error): void {
    this.#end ??= cause;
    for (const { reject } of this.#calls.values()) reject(this.#end);
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
