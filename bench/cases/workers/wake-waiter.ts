/**
 * The waiter's thread of `wake`: parks, and answers each wake-up by the time it saw and by what it stood in the run queue.
 * Between the wake and the time nothing of its own is done.
 */
import { workerData } from "node:worker_threads";
import { parkBegin, parkWait } from "../../../src/memory/parking.ts";
import { openThreadWait } from "../../harness/thread-wait.ts";

const { words: buffer, times: timesBuffer, waits: waitsBuffer, rounds, kind } = workerData;
const words = new Int32Array(buffer as SharedArrayBuffer);
const times = new Float64Array(timesBuffer as SharedArrayBuffer);
const waits = new Float64Array(waitsBuffer as SharedArrayBuffer);
const now = (): number => performance.timeOrigin + performance.now();
const waited = openThreadWait() ?? ((): number => 0);

// A wait by Atomics.waitAsync keeps no event loop alive by itself.
const hold = setInterval(() => undefined, 1_000);
for (let round = 0; round < rounds; round++) {
  const before = waited();
  parkBegin(words, 0);
  if (kind === "sleep") {
    Atomics.store(words, 1, round + 1);
    parkWait(words, 0, Number.POSITIVE_INFINITY);
  } else {
    const { value } = Atomics.waitAsync(words, 0, 1);
    Atomics.store(words, 1, round + 1);
    await value;
  }
  times[round] = now();
  waits[round] = waited() - before;
  Atomics.store(words, 2, round + 1);
}
clearInterval(hold);
