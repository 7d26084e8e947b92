/**
 * lane: URLs from one thread to another, as strings at both ends.
 *
 *   strings ─▶ block of 256 in a lane ─▶ strings        lane
 *   strings ─▶ buffer of 256, transferred ─▶ strings    transfer
 *   strings ─▶ array of 256, cloned ─▶ strings          batch
 *   strings ─▶ a message each ─▶ string                 single (an eighth of the URLs)
 *
 * Checksum: count, bytes and last characters of all URLs in their order; not of `single`, which sends fewer.
 *
 * Estimate: a block costs one latin1Write (38 ns a URL) there and one slice (31 ns) here, side by side on two cores: 40 ns a
 * URL, 25 million/s alone, 13–17 measured in prototypes. A transfer adds a buffer, a message and a turn of the event loop: 20
 * µs a block, 8 million/s. A clone writes and reads every string: 6–8. One by one 0.6.
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
} from "../../../src/structures/spsc-lane.ts";
import { type BenchCase, type Job, nowNs, numberOf, type Params } from "../../harness/case.ts";
import { urlChunk } from "../../harness/urls.ts";
import { blockBytes, type Sum, writeBlock } from "./blocks.ts";

const BLOCK = 256;
const SLOTS = 8_192;
const SHAPE = { hosts: 100 };

export const lane: BenchCase = {
  name: "lane",
  suite: "workers",
  about:
    "URLs from one thread to another: a lane in blocks against transferred buffers and messages",
  unit: "URL",
  process: "fresh",
  pairs: [
    ["lane", "transfer"],
    ["lane", "batch"],
    ["lane", "single"],
  ],
  isSameWork: false,
  target: "≥ 10 million/s, ≥ 1.7 × a transferred buffer of 256",
  sizes: { smoke: [{ urls: 51_200 }], real: [{ urls: 5_120_000 }] },
  rounds: 5,
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const total = numberOf(params, "urls") / (side === "single" ? 8 : 1);
  const blocks = blocksOf(total);
  const memory = new SharedArrayBuffer(spscBytes(SLOTS));
  createSpscLane({ buffer: memory, offset: 0 }, SLOTS);
  const file = new URL("./lane-consumer.js", import.meta.url);
  let sum: Sum | undefined;
  return {
    async run() {
      const worker = new Worker(file, { workerData: { side, total, memory } });
      await once(worker, "message");
      const start = nowNs();
      const ended = once(worker, "message");
      await send(side, worker, {
        blocks,
        total,
        lane: attachProducer({ buffer: memory, offset: 0 }),
      });
      [sum] = (await ended) as [Sum];
      const spent = nowNs() - start;
      await worker.terminate();
      return { times: { url: spent / total }, facts: { "million/s": (total / spent) * 1e3 } };
    },
    checksum: () => (side === "single" ? `${sum?.count}` : JSON.stringify(sum)),
  };
}

/** 64 different blocks, sent round and round. */
function blocksOf(total: number): string[][] {
  const count = Math.min(64, total / BLOCK);
  return Array.from({ length: count }, (_, at) => urlChunk(at * BLOCK, BLOCK, SHAPE));
}

interface Load {
  readonly blocks: string[][];
  readonly total: number;
  readonly lane: LaneProducer;
}

async function send(
  side: string,
  worker: Worker,
  { blocks, total, lane: ring }: Load,
): Promise<void> {
  for (let at = 0, turn = 0; at < total; at += BLOCK, turn++) {
    const urls = blocks[turn % blocks.length] as string[];
    if (side === "lane") sendBlock(ring, urls);
    else if (side === "batch") worker.postMessage(urls);
    else if (side === "single") for (const url of urls) worker.postMessage(url);
    else {
      const buffer = new ArrayBuffer((blockBytes(urls) + 3) & ~3);
      writeBlock(Buffer.from(buffer), new Int32Array(buffer), 0, urls);
      worker.postMessage(buffer, [buffer]);
    }
    // So that messages do not pile up without end.
    if (side !== "lane" && turn % 64 === 63) await new Promise(setImmediate);
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
  // At the end of the ring, or full: in pieces, as there is room.
  const bytes = Buffer.alloc(size);
  writeBlock(bytes, new Int32Array(bytes.buffer, bytes.byteOffset, size >>> 2), 0, urls);
  for (let at = 0, idle = 0; at < size; ) {
    const went = laneSend(ring, bytes, at, size);
    at += went;
    lanePublish(ring);
    if (went === 0 && ++idle > 1_000) Atomics.wait(nap, 0, 0, 0.05);
  }
}
