/** The consumer's thread of `lane`: takes all URLs in, and posts what they add up to. */
import { parentPort, workerData } from "node:worker_threads";
import {
  attachConsumer,
  type LaneConsumer,
  laneDrop,
  laneFree,
  laneNext,
} from "../../../src/structures/threads/spsc-lane.ts";
import { addUrl, readBlock, type Sum } from "./blocks.ts";
import { readRecords } from "./records.ts";
import { createRing, ringReadAll } from "./ringbuf.ts";

const { side, total, memory } = workerData as {
  side: string;
  total: number;
  memory: SharedArrayBuffer;
};
const sum: Sum = { count: 0, bytes: 0, mixed: 0 };
const port = parentPort as NonNullable<typeof parentPort>;
const finish = (): void => port.postMessage({ ...sum });

/** Of the ring itself, or of the memory that a record in pieces was put together in. */
function wordsOf({ slots, slotWords, source }: LaneConsumer): Int32Array {
  if (source === slots) return slotWords;
  return new Int32Array(source.buffer, source.byteOffset, source.length >>> 2);
}

if (side === "lane" || side === "lane bytes") {
  const lane = attachConsumer({ buffer: memory, offset: 0 });
  const nap = new Int32Array(new SharedArrayBuffer(4));
  port.postMessage("ready");
  for (let idle = 0; sum.count < total; ) {
    if (!laneNext(lane)) {
      if (++idle > 1_000) Atomics.wait(nap, 0, 0, 0.05);
      continue;
    }
    idle = 0;
    if (side === "lane") readBlock(lane.source, lane.start, lane.size, sum);
    else readRecords(wordsOf(lane), lane.start >>> 2, sum);
    laneDrop(lane);
    laneFree(lane);
  }
  finish();
} else if (side.startsWith("ringbuf")) {
  port.postMessage("ready");
  ringReadAll(createRing(memory), total, sum);
  finish();
} else {
  port.on("message", (message: ArrayBuffer | string | string[]) => {
    if (typeof message === "string") addUrl(sum, message);
    else if (Array.isArray(message)) for (const url of message) addUrl(sum, url);
    else if (side === "transfer bytes") readRecords(new Int32Array(message), 0, sum);
    else readBlock(Buffer.from(message), 0, message.byteLength, sum);
    if (sum.count === total) finish();
  });
  port.postMessage("ready");
}
