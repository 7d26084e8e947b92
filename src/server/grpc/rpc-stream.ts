/**
 * RpcStream: one call that streams, as an interceptor of grpc-js sees it: below its streams of objects, which send one message in a
 * turn of the event loop. Here all that a turn answers goes to the socket together.
 *
 *   I1  `send` returns false when 64 KiB are on their way; `drained` resolves when all of them have left, or the client is gone.
 *   I2  After `end`, `fail` or a client that left, nothing is sent.
 */
import type { ServerInterceptingCallInterface } from "@grpc/grpc-js";
import { callErrorOf, OK_STATUS } from "./call-errors.ts";

const SENDING_BYTES_MAX = 65_536;
/** What a message takes on its way, beside its own bytes. */
const MESSAGE_BYTES = 128;

/** What a call does with what comes. */
export interface Receiver {
  /** False: no more, until `read` is called. */
  onMessage(bytes: Buffer): boolean;
  /** The client sends no more. */
  onEnd(): void;
  onGone?(): void;
}

export class RpcStream {
  isOpen = true;
  readonly #call: ServerInterceptingCallInterface;
  #messages = 0;
  #bytes = 0;
  #isReading = false;
  #hasTaken = false;
  #waiters: Array<() => void> = [];
  readonly #sent = (): void => {
    if (--this.#messages > 0) return;
    this.#bytes = 0;
    this.#release();
  };

  constructor(call: ServerInterceptingCallInterface) {
    this.#call = call;
  }

  start(receiver: Receiver): void {
    this.#call.start({
      onReceiveMetadata: () => this.read(),
      onReceiveMessage: (bytes: Buffer) => {
        if (this.isOpen && receiver.onMessage(bytes)) this.read();
      },
      onReceiveHalfClose: () => receiver.onEnd(),
      onCancel: () => {
        this.isOpen = false;
        this.#release();
        receiver.onGone?.();
      },
    });
  }

  /** Asks for the next message. One that is there comes at once: a loop takes them, not the stack. */
  read(): void {
    this.#hasTaken = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#hasTaken) {
      this.#hasTaken = false;
      this.#call.startRead();
    }
    this.#isReading = false;
  }

  send(bytes: Buffer): boolean {
    if (!this.isOpen) return true;
    this.#messages++;
    this.#bytes += bytes.length + MESSAGE_BYTES;
    this.#call.sendMessage(bytes, this.#sent);
    return this.#bytes < SENDING_BYTES_MAX;
  }

  drained(): Promise<void> {
    if (!this.isOpen || this.#messages === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  end(): void {
    this.#close(OK_STATUS, "OK");
  }

  /** Ends the call, after what was sent. */
  fail(cause: unknown): void {
    const { code, details } = callErrorOf(cause);
    this.#close(code, details);
  }

  #close(code: number, details: string): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#call.sendStatus({ code, details });
  }

  #release(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}
