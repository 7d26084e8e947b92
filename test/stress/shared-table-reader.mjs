/**
 * A thread that reads the owner's table and checks every answer by itself.
 *
 *   control words   0 inserted   hashes 0 … inserted - 1 are in for sure (the owner's atomic store)
 *                   1 stop       set at the end
 *   word(i)         hash of number i: a bijection, so that numbers ≥ 2³¹ name hashes never inserted
 */
import { parentPort, workerData } from "node:worker_threads";
import { xorshift } from "./xorshift.mjs";

/** TABLE_CLAIMED: inserted, and no value written yet. */
const CLAIMED = 0x7ffffffe;

const { module, memory, table, scratch, control, seed, hashMask } = workerData;
const env = {
  memory,
  abort: () => {
    throw new Error("abort");
  },
};
const { exports } = new WebAssembly.Instance(module, { env });
const words = new Int32Array(control);
const BATCH = 128;
const counters = { rounds: 0, asked: 0, falseSeen: 0, missed: 0, wrongValue: 0 };
const random = xorshift(seed);
const mix = (x) => {
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
};

parentPort.postMessage("reading");
while (Atomics.load(words, 1) === 0) {
  const inserted = Atomics.load(words, 0);
  if (inserted === 0) continue;
  const u32 = new Uint32Array(memory.buffer);
  const asked = new Array(BATCH);
  for (let i = 0; i < BATCH; i++) {
    const isOld = (i & 3) !== 0;
    const number = isOld ? random() % inserted : (random() | 0x80000000) >>> 0;
    asked[i] = number;
    u32[scratch / 4 + 2 * i] = (mix(number ^ 0x9e3779b9) | 2) >>> 0;
    u32[scratch / 4 + 2 * i + 1] = (mix(number) & hashMask) >>> 0;
    u32[scratch / 4 + 2 * BATCH + i] = 0;
  }
  exports.tableFindShared(table, scratch, BATCH, scratch + 8 * BATCH);
  for (let i = 0; i < BATCH; i++) {
    const value = u32[scratch / 4 + 2 * BATCH + i];
    const number = asked[i];
    if (number >= 0x80000000) {
      if (value !== 0) counters.falseSeen++;
    } else if (value === 0) counters.missed++;
    else if (value !== CLAIMED && value !== number + 1) counters.wrongValue++;
  }
  counters.rounds++;
  counters.asked += BATCH;
}
parentPort.postMessage(counters);
