/**
 * Streams that bring URLs: PutURLs, one answer for each; PutDiscovered, one for each batch.
 *
 *   client ─▶ messages ─▶ waiting (at most 1,024 URLs, 16 batches) ─▶ runs ─▶ crawl ─▶ answers ─▶ client
 *                 ▲ paused while it is full                             ▲ waits while the client does not read
 *
 *   I1  Answers come in the order of the messages; what a client sends later is applied later.
 *   I2  No more than the bound is waiting: the transport's window closes, and the client waits.
 *   I3  A message that is none ends the stream with INVALID_ARGUMENT, after the answers of those before it.
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
import { type Reader, readerOf } from "./wire.ts";

const URLS_WAITING_MAX = 1_024;
const BATCHES_WAITING_MAX = 16;
/** URLs of one batch; a message's size bounds it too. */
const BATCH_URLS_MAX = 100_000;

interface Kind {
  readonly waitingMax: number;
  read(reader: Reader): PutMessage;
  readonly acks: AckFrames;
}

const ONE_BY_ONE: Kind = {
  waitingMax: URLS_WAITING_MAX,
  read: readUrlItem,
  acks: ackFrames,
};

const BATCHES: Kind = {
  waitingMax: BATCHES_WAITING_MAX,
  read: (reader) => readBatch(reader, BATCH_URLS_MAX),
  acks: batchAckFrames,
};

export function putUrls(calls: Calls, runs: PutRuns, stream: RpcStream): void {
  calls.metrics.putCalls++;
  stream.start(new PutStream(runs, stream, ONE_BY_ONE));
}

export function putDiscovered(calls: Calls, runs: PutRuns, stream: RpcStream): void {
  calls.metrics.putCalls++;
  stream.start(new PutStream(runs, stream, BATCHES));
}

class PutStream implements Receiver, PutSource {
  waiting: PutMessage[] = [];
  readonly #runs: PutRuns;
  readonly #stream: RpcStream;
  readonly #kind: Kind;
  /** Its messages are in a run, or on their way to one, or their answers wait for the client. */
  #isBusy = false;
  #isFull = false;
  #isEnded = false;
  #fault: unknown;

  constructor(runs: PutRuns, stream: RpcStream, kind: Kind) {
    this.#runs = runs;
    this.#stream = stream;
    this.#kind = kind;
  }

  onMessage(bytes: Buffer, start: number, end: number): boolean {
    if (this.#fault !== undefined) return true;
    try {
      this.waiting.push(this.#kind.read(readerOf(bytes, start, end)));
    } catch (cause) {
      this.#fault = cause; // I3
    }
    this.#isFull = this.waiting.length >= this.#kind.waitingMax;
    if (!this.#isBusy) this.#next();
    return !this.#isFull;
  }

  onEnd(): void {
    this.#isEnded = true;
    if (!this.#isBusy) this.#next();
  }

  onGone(): void {
    this.waiting = [];
  }

  take(count: number): readonly PutMessage[] {
    if (count < this.waiting.length) return this.waiting.splice(0, count);
    const all = this.waiting;
    this.waiting = [];
    return all;
  }

  answered(messages: readonly PutMessage[], statuses: Uint8Array, start: number): void {
    if (this.#stream.send(this.#kind.acks(messages, statuses, start))) this.#next();
    else this.#stream.drained().then(() => this.#next());
  }

  /** What waits goes into the next run; where nothing does, the stream rests, or ends. */
  #next(): void {
    if (!this.#stream.isOpen) return;
    this.#isBusy = true;
    if (this.#isFull && this.waiting.length < this.#kind.waitingMax) {
      this.#isFull = false;
      this.#stream.read();
    }
    this.#isBusy = this.waiting.length > 0;
    if (this.#isBusy) this.#runs.add(this);
    else if (this.#fault !== undefined) this.#stream.fail(this.#fault);
    else if (this.#isEnded) this.#stream.end();
  }
}
