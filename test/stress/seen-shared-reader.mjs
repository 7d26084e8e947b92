/**
 * A thread that asks the owner's tiered seen-set, by the package's own reader.
 *
 *   control words   0 published   numbers 0 … published − 1 are in, and not forgotten, for sure (the owner's atomic store)
 *                   1 stop        set at the end
 *                   2 generation  changed before the owner forgets, and again behind it
 */
import { parentPort, workerData } from "node:worker_threads";
import { attachKernel } from "../../build/plain/kernel/kernel.js";
import { attachSeen, sharedSeenFind } from "../../build/plain/structures/seen-shared.js";
import { xorshift } from "./xorshift.mjs";

const { module, memory, place, scratch, control, seed } = workerData;
const seen = attachSeen(attachKernel(module, memory), place);
const words = new Int32Array(control);
const BATCH = 256;
const UNKNOWN = 0x80000000;
const counters = {
  asked: 0,
  hot: 0,
  maybe: 0,
  missed: 0,
  wrongValue: 0,
  strangers: 0,
  maybeNew: 0,
};
const random = xorshift(seed);
const mixed = (word) => {
  let z = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return (z ^ (z >>> 15)) >>> 0;
};

parentPort.postMessage("reading");
while (Atomics.load(words, 1) === 0) {
  const generation = Atomics.load(words, 2);
  const published = Atomics.load(words, 0);
  if (published === 0 || generation % 2 === 1) continue;
  const numbers = Array.from({ length: BATCH }, (_, row) => {
    if (row % 2 === 1) return 0x40000000 + (random() % 0x3fffffff);
    const back = random() % 2 === 0 ? published : Math.min(published, 3000);
    return published - 1 - (random() % back);
  });
  const u32 = new Uint32Array(memory.buffer);
  for (const [row, number] of numbers.entries()) {
    // Each generation has hashes of its own, so that one that is over shows.
    const at = (number ^ Math.imul(generation, 0x01234567)) >>> 0;
    u32[scratch / 4 + row * 2] = mixed(at);
    u32[scratch / 4 + row * 2 + 1] = mixed(at ^ 0x5bd1e995);
  }
  const values = scratch + BATCH * 8;
  sharedSeenFind(seen, scratch, BATCH, values);
  // What was forgotten meanwhile is nobody's fault.
  if (Atomics.load(words, 2) !== generation) continue;
  for (const [row, number] of numbers.entries()) {
    const value = u32[values / 4 + row];
    if (row % 2 === 1) {
      counters.strangers++;
      if (value === UNKNOWN) counters.maybeNew++;
      else if (value !== 0) counters.wrongValue++;
      continue;
    }
    counters.asked++;
    if (value === 0) counters.missed++;
    else if (value === UNKNOWN) counters.maybe++;
    else if (value === UNKNOWN + 1 + (number & 0xfffff)) counters.hot++;
    else counters.wrongValue++;
  }
}
parentPort.postMessage(counters);
