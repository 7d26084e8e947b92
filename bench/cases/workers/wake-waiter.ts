/** The waiter's thread of `wake`: parks, and answers each wake-up by the time it saw. */
import { workerData } from "node:worker_threads";
import { parkBegin, parkWait } from "../../../src/memory/parking.ts";

const { words: buffer, times: timesBuffer, rounds, kind } = workerData;
const words = new Int32Array(buffer as SharedArrayBuffer);
const times = new Float64Array(timesBuffer as SharedArrayBuffer);
const now = (): number => performance.timeOrigin + performance.now();

for (let round = 0; round < rounds; round++) {
  parkBegin(words, 0);
  Atomics.store(words, 1, round + 1);
  if (kind === "sleep") parkWait(words, 0, Number.POSITIVE_INFINITY);
  else {
    const { value } = Atomics.waitAsync(words, 0, 1);
    const hold = setInterval(() => undefined, 1_000);
    await value;
    clearInterval(hold);
  }
  times[round] = now();
  Atomics.store(words, 2, round + 1);
}
