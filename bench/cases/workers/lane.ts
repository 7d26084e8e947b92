/**
 * lane: URLs from one thread to another, as strings at both ends; and as bytes at both ends.
 *
 *   strings ─▶ block of 256 in a lane ─▶ strings        lane
 *   strings ─▶ buffer of 256, transferred ─▶ strings    transfer
 *   strings ─▶ array of 256, cloned ─▶ strings          batch
 *   strings ─▶ a message each ─▶ string                 single (an eighth of the URLs)
 *   strings ─▶ block of 256 in a ringbuf.js ─▶ strings  ringbuf: size and bytes, pushed and popped by copy
 *   string ─▶ bytes of a URL in a ringbuf.js ─▶ string  ringbuf one (an eighth of the URLs)
 *   records ─▶ block of 256 in a lane ─▶ records        lane bytes: gathered from memory, every word read (records.ts)
 *   records ─▶ buffer of 256, transferred ─▶ records    transfer bytes
 *
 * What the lane itself costs shows between the last two: between the first two the strings do, which both make alike. Leases go
 * through the pool as strings and bytes mixed: a frontier has bytes, a handler wants a string.
 *
 * Checksum: count, bytes and last characters of all URLs in their order, of records all words; not of those that send fewer.
 *
 * Estimate: a block costs one latin1Write (38 ns a URL) there and one slice (31 ns) here, side by side on two cores: 40 ns a
 * URL, 25 million/s alone, 13–17 measured in prototypes. A transfer adds a buffer, a message and a turn of the event loop: 20
 * µs a block, 8 million/s. A clone writes and reads every string: 6–8. One by one 0.6. ringbuf.js copies a block twice more, 16 KiB
 * at 10 GB/s each: 3 ns a URL and two stores of a cursor a block beside the same strings, 20 million/s; one by one
 * each URL costs a write, two pushes, two pops and a read: 700 ns. Bytes: 17 words written and 17 read, 15 ns a URL on each side,
 * 50 million/s; a transfer keeps its 20 µs a block, 80 ns a URL more: 4 × (2 × as measured).
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import {
  attachProducer,
  createSpscLane,
  laneClaim,
  type LaneProducer,
  laneSeal,
  laneSend,
  lanePublish,
  spscBytes,
} from "../../../src/structures/threads/spsc-lane.ts";
import { type BenchCase, type Job, nowNs, numberOf, type Params } from "../../harness/case.ts";
import { urlChunk } from "../../harness/urls.ts";
import { blockBytes, type Sum, writeBlock } from "./blocks.ts";
import { layRecords, type Records, writeRecords } from "./records.ts";
import { createRing, ringMemory, ringSend } from "./ringbuf.ts";

const BLOCK = 256;
const SLOTS = 8_192;
const SHAPE = { hosts: 100 };

export const lane: BenchCase = {
  name: "lane",
  suite: "workers",
  about:
    "URLs from one thread to another: a lane in blocks against transferred buffers, messages and ringbuf.js",
  unit: "URL",
  process: "fresh",
  pairs: [
    ["lane", "transfer"],
    ["lane bytes", "transfer bytes"],
    ["lane", "batch"],
    ["lane", "single"],
    ["lane", "ringbuf"],
    ["lane", "ringbuf one"],
  ],
  isSameWork: false,
  target: "≥ 10 million/s, ≥ 1.7 × a transferred buffer of 256",
  sizes: { smoke: [{ urls: 51_200 }], real: [{ urls: 5_120_000 }] },
  rounds: 5,
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const isSingle = side === "single" || side === "ringbuf one";
  const total = numberOf(params, "urls") / (isSingle ? PART : 1);
  const blocks = blocksOf(total);
  const isRing = side.startsWith("ringbuf");
  const memory = isRing ? ringMemory(SLOTS * 64) : new SharedArrayBuffer(spscBytes(SLOTS));
  const records = side.endsWith("bytes") ? layRecords(blocks) : undefined;
  if (!isRing) createSpscLane({ buffer: memory, offset: 0 }, SLOTS);
  const file = new URL("./lane-consumer.js", import.meta.url);
  let sum: Sum | undefined;
  return {
    async run() {
      const worker = new Worker(file, { workerData: { side, total, memory } });
      await once(worker, "message");
      const start = nowNs();
      const ended = once(worker, "message");
      const load = { blocks, records, total };
      if (isRing) sendRing(memory, load, isSingle);
      else if (side.startsWith("lane")) sendLane(memory, load);
      else await send(side, worker, load);
      [sum] = (await ended) as [Sum];
      const spent = nowNs() - start;
      await worker.terminate();
      return { times: { url: spent / total }, facts: { "million/s": (total / spent) * 1e3 } };
    },
    checksum: () => (isSingle ? `${sum?.count}` : JSON.stringify(sum)),
  };
}

/** Sides of a URL at a time take that part of them. */
const PART = 8;

/** 64 different blocks, sent round and round. */
function blocksOf(total: number): string[][] {
  const count = Math.min(64, total / BLOCK);
  return Array.from({ length: count }, (_, at) => urlChunk(at * BLOCK, BLOCK, SHAPE));
}

interface Load {
  readonly blocks: string[][];
  /** The same as bytes, where it is these that are sent. */
  readonly records: Records[] | undefined;
  readonly total: number;
}

function sendLane(memory: SharedArrayBuffer, { blocks, records, total }: Load): void {
  const ring = attachProducer({ buffer: memory, offset: 0 });
  for (let at = 0, turn = 0; at < total; at += BLOCK, turn++) {
    const each = turn % blocks.length;
    if (records === undefined) sendBlock(ring, blocks[each] as string[]);
    else sendRecords(ring, records[each] as Records);
  }
}

function sendRing(memory: SharedArrayBuffer, { blocks, total }: Load, isSingle: boolean): void {
  const ring = createRing(memory);
  for (let at = 0, turn = 0; at < total; at += BLOCK, turn++) {
    const urls = blocks[turn % blocks.length] as string[];
    if (isSingle) for (const url of urls) ringSend(ring, [url]);
    else ringSend(ring, urls);
  }
}

async function send(side: string, worker: Worker, load: Load): Promise<void> {
  const { blocks, records, total } = load;
  for (let at = 0, turn = 0; at < total; at += BLOCK, turn++) {
    const urls = blocks[turn % blocks.length] as string[];
    if (records !== undefined) {
      const of = records[turn % blocks.length] as Records;
      const words = new Int32Array(of.words);
      writeRecords(words, 0, of);
      worker.postMessage(words.buffer, [words.buffer]);
    } else if (side === "batch") worker.postMessage(urls);
    else if (side === "single") for (const url of urls) worker.postMessage(url);
    else {
      const buffer = new ArrayBuffer((blockBytes(urls) + 3) & ~3);
      writeBlock(Buffer.from(buffer), new Int32Array(buffer), 0, urls);
      worker.postMessage(buffer, [buffer]);
    }
    // So that messages do not pile up without end.
    if (turn % 64 === 63) await new Promise(setImmediate);
  }
}

const nap = new Int32Array(new SharedArrayBuffer(4));

function sendBlock(ring: LaneProducer, urls: readonly string[]): void {
  const size = (blockBytes(urls) + 3) & ~3;
  const start = laneClaim(ring, size);
  if (start >= 0) {
    writeBlock(ring.slots, ring.slotWords, start, urls);
    laneSeal(ring, size);
    lanePublish(ring);
    return;
  }
  const bytes = Buffer.alloc(size);
  writeBlock(bytes, new Int32Array(bytes.buffer, bytes.byteOffset, size >>> 2), 0, urls);
  sendPieces(ring, bytes);
}

function sendRecords(ring: LaneProducer, records: Records): void {
  const size = records.words * 4;
  const start = laneClaim(ring, size);
  if (start >= 0) {
    writeRecords(ring.slotWords, start >>> 2, records);
    laneSeal(ring, size);
    lanePublish(ring);
    return;
  }
  const words = new Int32Array(records.words);
  writeRecords(words, 0, records);
  sendPieces(ring, new Uint8Array(words.buffer));
}

/** At the end of the ring, or full: in pieces, as there is room. */
function sendPieces(ring: LaneProducer, bytes: Uint8Array): void {
  const size = bytes.length;
  for (let at = 0, idle = 0; at < size; ) {
    const went = laneSend(ring, bytes, at, size);
    at += went;
    lanePublish(ring);
    if (went === 0 && ++idle > 1_000) Atomics.wait(nap, 0, 0, 0.05);
  }
}
