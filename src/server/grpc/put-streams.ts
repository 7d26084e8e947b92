/**
 * Streams that bring URLs: PutURLs, one answer for each; PutDiscovered, one for each batch.
 *
 *   client ─▶ bytes ─▶ messages (at most 1,024 URLs, 16 batches) ─▶ run ─▶ crawl ─▶ answers ─▶ client
 *               ▲ paused at 64 KiB                                    ▲ waits while the client does not read
 *
 *   I1  Answers come in the order of the messages; what a client sends later is applied later.
 *   I2  Messages are read when their run begins: until then they are the bytes that came, and most objects are gone before they are
 *       ever moved by a garbage collection. Beyond the bound the transport's window closes, and the client waits.
 *   I3  A message that cannot be decoded ends the stream with INVALID_ARGUMENT, after the answers of those before it.
 */
import type { Calls } from "./calls.ts";
import {
  type AckFrames,
  ackFrames,
  batchAckFrames,
  type PutMessage,
  readBatch,
  readUrlItem,
} from "./messages.ts";
import type { PutRuns, PutSource } from "./put-runs.ts";
import type { Receiver, RpcStream } from "./rpc-stream.ts";
import type { Reader } from "./wire.ts";

const URLS_MAX = 1_024;
const BATCHES_MAX = 16;

interface PutKind {
  /** Most messages of a stream in one run. */
  readonly messagesMax: number;
  read(reader: Reader): PutMessage;
  readonly acks: AckFrames;
}

export const ONE_BY_ONE: PutKind = {
  messagesMax: URLS_MAX,
  read: readUrlItem,
  acks: ackFrames,
};

export const BATCHES: PutKind = {
  messagesMax: BATCHES_MAX,
  read: readBatch,
  acks: batchAckFrames,
};

export function openPut(calls: Calls, runs: PutRuns, stream: RpcStream, kind: PutKind): void {
  calls.metrics.putCalls++;
  stream.start(new PutStream(runs, stream, kind));
}

class PutStream implements Receiver, PutSource {
  readonly messagesMax: number;
  readonly #runs: PutRuns;
  readonly #stream: RpcStream;
  readonly #kind: PutKind;
  /** It is ready, or in a run, or its answers wait for the client. */
  #isBusy = false;
  #next: PutMessage | undefined;
  #fault: unknown;

  constructor(runs: PutRuns, stream: RpcStream, kind: PutKind) {
    this.messagesMax = kind.messagesMax;
    this.#runs = runs;
    this.#stream = stream;
    this.#kind = kind;
  }

  onMessages(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#runs.add(this);
  }

  onEnd(): void {
    this.#stream.end();
  }

  onGone(): void {
    this.pass();
  }

  get next(): PutMessage | undefined {
    if (this.#next !== undefined || this.#fault !== undefined) return this.#next;
    try {
      const reader = this.#stream.take();
      if (reader !== undefined) this.#next = this.#kind.read(reader);
    } catch (cause) {
      this.#fault = cause; // I3
    }
    return this.#next;
  }

  pass(): void {
    this.#next = undefined;
  }

  answered(messages: readonly PutMessage[], statuses: Uint8Array, start: number): void {
    if (this.#stream.send(this.#kind.acks(messages, statuses, start))) this.goOn();
    else this.#stream.drained().then(() => this.goOn());
  }

  goOn(): void {
    if (this.next !== undefined) this.#runs.add(this);
    else if (this.#fault !== undefined) this.#stream.fail(this.#fault);
    else {
      this.#isBusy = false;
      this.#stream.allTaken();
    }
  }
}
