/**
 * Real threads probe a bloom in shared memory while its owner inserts and adds layers.
 *
 *   owner ── inserts members 0, 1, 2 … in batches ──▶ shared region ◀── probes ── readers
 *         └─ Atomics.store(published, count) ───────▶ control       ◀── Atomics.load
 *
 * Member i's hash is a function of i, so that readers know all of them. A reader loads `published`, then asks for members below
 * it (each must be "maybe") and for strangers (their rate must stay near the configured one).
 */
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { loadKernelModule } from "../../src/engine/kernel-file.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { regionTake } from "../../src/memory/region.ts";
import { bloomInsertBatch, createBloom } from "../../src/structures/bloom.ts";
import { bloomStats, verifyBloom } from "../../src/structures/bloom-stats.ts";

const ROWS = 512;
const READERS = 2;
/** A hundred thousand strangers: at 1 % a rate of 1.2 % is six standard deviations off, however little time a reader gets. */
const ROUNDS_LEAST = 400;
const MEMBERS = 1_500_000 * Math.max(1, Number(process.env.STRESS_SECONDS ?? 0));

/** Runs in the worker; plain JavaScript, since workers of Node 20 load no TypeScript. */
const READER = `
const { workerData: data, parentPort } = require("node:worker_threads");
const { exports } = new WebAssembly.Instance(data.module, {
  env: { memory: data.memory, abort() { throw new Error("abort"); } },
});
const control = new Int32Array(data.control);
const mix = (word) => {
  let z = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return (z ^ (z >>> 15)) >>> 0;
};
let state = data.seed;
const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0);
let missed = 0, asked = 0, strangers = 0, maybes = 0, rounds = 0;
Atomics.add(control, 2, 1);
Atomics.notify(control, 2);
do {
  const published = Atomics.load(control, 0); // pairs with the owner's store behind its inserts
  const words = new Uint32Array(data.memory.buffer, data.hashes, ${ROWS} * 2);
  for (let row = 0; row < ${ROWS}; row++) {
    // Even rows: members, mostly the newest ones. Odd rows: strangers, from the other half of the numbers.
    const back = next() % 4 === 0 ? published : Math.min(published, 2000);
    const member = published - 1 - (next() % Math.max(1, back));
    const at = row % 2 === 0 ? member : 0x40000000 + (next() & 0x3fffffff);
    words[row * 2] = mix(at * 2);
    words[row * 2 + 1] = mix(at * 2 + 1);
  }
  if (published === 0) continue;
  exports.bloomProbeBatch(data.bloom, data.hashes, ${ROWS}, data.results);
  const results = new Uint32Array(data.memory.buffer, data.results, ${ROWS});
  for (let row = 0; row < ${ROWS}; row += 2) {
    asked += 1;
    if (results[row] !== 1) missed += 1;
    strangers += 1;
    maybes += results[row + 1];
  }
  rounds += 1;
} while (Atomics.load(control, 1) === 0 || rounds < ${ROUNDS_LEAST});
parentPort.postMessage({ missed, asked, strangers, maybes });
`;

interface Report {
  readonly missed: number;
  readonly asked: number;
  readonly strangers: number;
  readonly maybes: number;
}

it("threads that probe while the owner inserts miss no member and invent none", async () => {
  const module = loadKernelModule("shared");
  const kernel = createKernel(module, { shared: true });
  const scratch = regionTake(kernel.region, 2);
  const control = new SharedArrayBuffer(16);
  const words = new Int32Array(control);
  const bloom = createBloom(kernel, { capacity: 4000, falsePositiveRate: 0.01 });
  const readers = Array.from({ length: READERS }, (_, reader) => {
    const hashes = regionTake(kernel.region, 1);
    const workerData = {
      ...{ module, memory: kernel.memory, control, bloom: bloom.offset, hashes },
      ...{ results: hashes + ROWS * 8, seed: 77 + reader },
    };
    const worker = new Worker(READER, { eval: true, workerData });
    return new Promise<Report>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
  });
  for (let ready = 0; ready < READERS; ready = Atomics.load(words, 2))
    await Atomics.waitAsync(words, 2, ready).value;
  for (let count = 0; count < MEMBERS; count += ROWS) {
    const { u32 } = kernel.region.views;
    for (let row = 0; row < ROWS; row++) {
      u32[scratch / 4 + row * 2] = mixed((count + row) * 2);
      u32[scratch / 4 + row * 2 + 1] = mixed((count + row) * 2 + 1);
    }
    bloomInsertBatch(bloom, scratch, ROWS, scratch + ROWS * 8);
    Atomics.store(words, 0, count + ROWS); // publish: pairs with the readers' load
  }
  Atomics.store(words, 1, 1);
  for (const report of await Promise.all(readers)) {
    console.log(report);
    expect(report.missed).toBe(0);
    expect(report.asked).toBeGreaterThan(1000);
    expect(report.maybes / report.strangers).toBeLessThan(0.012);
  }
  expect(bloomStats(bloom).layers).toBeGreaterThan(6);
  verifyBloom(bloom);
});

function mixed(word: number): number {
  let z = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return (z ^ (z >>> 15)) >>> 0;
}
