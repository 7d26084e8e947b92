/**
 * The producer's thread of the lane's stress test: records that certify themselves, in batches of random size.
 *
 *   record: serial (4 bytes) · check = serial × odd + size (4) · size − 8 bytes of (serial + index)
 */
import { parentPort, workerData } from "node:worker_threads";
import {
  attachProducer,
  lanePublish,
  laneSend,
} from "../../build/plain/structures/threads/spsc-lane.js";
import { xorshift } from "./xorshift.mjs";

const { memory, offset, count, longest, seed } = workerData;
const lane = attachProducer({ buffer: memory, offset });
const nap = new Int32Array(new SharedArrayBuffer(4));
const random = xorshift(seed);
const record = Buffer.alloc(longest + 8);

for (let serial = 0; serial < count; serial++) {
  const size = 8 + (random() % longest);
  record.writeUInt32LE(serial, 0);
  record.writeUInt32LE((Math.imul(serial, 0x9e3779b1) + size) >>> 0, 4);
  for (let at = 8; at < size; at++) record[at] = serial + at;
  for (let at = 0, idle = 0; at < size; ) {
    const went = laneSend(lane, record, at, size);
    at += went;
    if (at < size) lanePublish(lane);
    if (went === 0 && ++idle > 200) Atomics.wait(nap, 0, 0, 0.02);
  }
  if ((random() & 7) === 0) lanePublish(lane);
}
lanePublish(lane);
parentPort.postMessage("sent");
