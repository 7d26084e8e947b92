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
import type { ServerDuplexStream } from "@grpc/grpc-js";
import type { Crawl, FoundUrl } from "../crawls/crawl.ts";
import { crawlIdOf } from "../crawls/missing-key.ts";
import type { Calls } from "./calls.ts";
import { callErrorOf } from "./call-errors.ts";
import {
  ackBytes,
  type Batch,
  batchAckBytes,
  FAILED,
  OK,
  readBatch,
  readUrlItem,
  type UrlInfo,
  type UrlItem,
} from "./messages.ts";

const URLS_WAITING_MAX = 1_024;
const BATCHES_WAITING_MAX = 16;
/** URLs of one batch; a message's size bounds it too. */
const BATCH_URLS_MAX = 100_000;
/** Batches go in together until they have so many URLs: a store elsewhere is asked once for all of them. */
const TOGETHER_URLS = 1_024;

type Stream = ServerDuplexStream<Buffer, Buffer>;

export function putUrls(calls: Calls, stream: Stream): void {
  calls.metrics.putCalls++;
  runStream(calls, stream, {
    waitingMax: URLS_WAITING_MAX,
    read: readUrlItem,
    apply: (items, answer) => applyItems(calls, items, answer),
  });
}

export function putDiscovered(calls: Calls, stream: Stream): void {
  calls.metrics.putCalls++;
  runStream(calls, stream, {
    waitingMax: BATCHES_WAITING_MAX,
    read: (bytes) => readBatch(bytes, BATCH_URLS_MAX),
    apply: (batches, answer) => applyBatches(calls, batches, answer),
  });
}

interface StreamOf<T> {
  readonly waitingMax: number;
  readonly read: (bytes: Buffer) => T;
  /** Applies messages and sends their answers, one by one. */
  readonly apply: (messages: T[], answer: (bytes: Buffer) => Promise<void> | void) => Promise<void>;
}

function runStream<T>(
  calls: Calls,
  stream: Stream,
  { waitingMax, read, apply }: StreamOf<T>,
): void {
  let waiting: T[] = [];
  let isRunning = false;
  let isEnded = false;
  let fault: unknown;
  const isOpen = (): boolean => !stream.cancelled && !stream.destroyed;
  const answer = (bytes: Buffer): Promise<void> | void => {
    if (!isOpen() || stream.write(bytes)) return;
    return drained(stream);
  };
  const run = async (): Promise<void> => {
    isRunning = true;
    // Messages of one read of the socket come one by one: let them all come.
    await new Promise(setImmediate);
    while (waiting.length > 0 && isOpen()) {
      const messages = waiting;
      waiting = [];
      const startedAt = calls.monotonic();
      await apply(messages, answer);
      calls.metrics.countRun(calls.monotonic() - startedAt);
      if (stream.isPaused()) stream.resume();
    }
    isRunning = false;
    if (fault !== undefined)
      stream.emit("error", callErrorOf(fault)); // ends it, after what was written
    else if (isEnded && isOpen()) stream.end();
  };
  const start = (): void => {
    if (!isRunning) run().catch((cause) => stream.emit("error", callErrorOf(cause)));
  };
  stream.on("data", (bytes: Buffer) => {
    if (fault !== undefined) return;
    try {
      waiting.push(read(bytes));
    } catch (cause) {
      fault = cause; // I3
    }
    if (waiting.length >= waitingMax) stream.pause();
    start();
  });
  stream.on("end", () => {
    isEnded = true;
    start();
  });
  stream.on("error", () => {
    waiting = [];
  });
  stream.on("cancelled", () => {
    waiting = [];
  });
}

/** Resolves when the client has read, or is gone. */
export function drained(stream: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of ["drain", "cancelled", "close", "error"]) stream.off(event, done);
      resolve();
    };
    for (const event of ["drain", "cancelled", "close", "error"]) stream.on(event, done);
  });
}

/** Items in runs: discovered ones of one crawl that follow one another go in as one batch, and so do known ones. */
async function applyItems(
  calls: Calls,
  items: readonly UrlItem[],
  answer: (bytes: Buffer) => Promise<void> | void,
): Promise<void> {
  for (let start = 0; start < items.length; ) {
    const first = items[start] as UrlItem;
    let end = start + 1;
    while (end < items.length && isSameRun(first, items[end] as UrlItem)) end++;
    const run = items.slice(start, end);
    const statuses = await statusesOf(calls, run, first);
    for (const [index, { id, url }] of run.entries()) {
      const waits = answer(ackBytes(id === "" ? url : id, statuses[index] as number));
      if (waits !== undefined) await waits;
    }
    start = end;
  }
}

function isSameRun(first: UrlItem, item: UrlItem): boolean {
  return item.isKnown === first.isKnown && item.crawlID === first.crawlID;
}

async function statusesOf(calls: Calls, run: UrlItem[], first: UrlItem): Promise<Uint8Array> {
  const statuses = await applied(calls, first, async (crawl) => {
    return await (first.isKnown ? crawl.know(run) : crawl.discover(run));
  });
  const answers = statuses ?? new Uint8Array(run.length).fill(FAILED);
  calls.metrics.countPut(run.length, first.isKnown, answers);
  if (first.isKnown) {
    for (const [at, { refetchAt }] of run.entries())
      if (refetchAt === 0 && answers[at] === OK) calls.metrics.completed++;
  }
  return answers;
}

/** undefined: the server is closing, or the frontier refused: the client may send it again. */
async function applied(
  calls: Calls,
  { crawlID }: UrlInfo,
  act: (crawl: Crawl) => Promise<Uint8Array>,
): Promise<Uint8Array | undefined> {
  if (calls.isClosing()) return undefined;
  try {
    return await act(await calls.crawl(crawlIdOf(crawlID)));
  } catch (cause) {
    calls.fault("put", cause);
    return undefined;
  }
}

async function applyBatches(
  calls: Calls,
  batches: readonly Batch[],
  answer: (bytes: Buffer) => Promise<void> | void,
): Promise<void> {
  for (let start = 0, end = 0; start < batches.length; start = end) {
    let count = 0;
    while (end < batches.length && count < TOGETHER_URLS)
      count += batches[end++]?.items.length ?? 0;
    const together = batches.slice(start, end);
    const statuses = await applyFound(
      calls,
      together.flatMap(({ items }) => items),
    );
    let place = 0;
    for (const { id, items } of together) {
      const waits = answer(batchAckBytes(id, statuses.subarray(place, place + items.length)));
      place += items.length;
      if (waits !== undefined) await waits;
    }
  }
}

/** URLs may be of several crawls; each has its status at its place. */
async function applyFound(calls: Calls, items: readonly UrlInfo[]): Promise<Uint8Array> {
  const statuses = new Uint8Array(items.length).fill(FAILED);
  for (const places of byCrawl(items).values()) {
    const urls: FoundUrl[] = places.map((place) => items[place] as UrlInfo);
    const made = await applied(calls, items[places[0] as number] as UrlInfo, async (crawl) =>
      crawl.discover(urls),
    );
    for (const [index, place] of places.entries()) {
      statuses[place] = made?.[index] ?? FAILED;
    }
  }
  calls.metrics.countPut(items.length, false, statuses);
  return statuses;
}

function byCrawl(items: readonly UrlInfo[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [index, { crawlID }] of items.entries()) {
    const list = places.get(crawlID);
    if (list === undefined) places.set(crawlID, [index]);
    else list.push(index);
  }
  return places;
}
