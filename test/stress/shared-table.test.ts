/**
 * Real threads read a table while its owner inserts, grows and removes. A kernel whose reader does
 * not check the segment's sequence must be caught by the same run.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { compileKernel, createKernel } from "../../src/kernel/kernel.ts";
import { regionTake } from "../../src/memory/region.ts";
import {
  createTable,
  type FingerprintTable,
  tableClear,
  tableInsertBatch,
} from "../../src/structures/fingerprint-table.ts";
import { verifyTable } from "../../src/structures/table-verify.ts";

const SECONDS = Number(process.env.STRESS_SECONDS ?? 1);
/** What readers get to ask in a while is the machine's to say: a run goes on until it was enough. */
const ASKED_LEAST = 10_000;
/** A broken reader is caught by then. */
const CAUGHT_MS = 300_000;
const BATCH = 512;
const CYCLE = 120_000;
const HASH_MASK = 0xffffffff;
const root = fileURLToPath(new URL("../..", import.meta.url));

interface Counters {
  rounds: number;
  asked: number;
  falseSeen: number;
  missed: number;
  wrongValue: number;
}

const mix = (x: number): number => {
  let z = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
  return (z ^ (z >>> 16)) >>> 0;
};

interface Owner {
  readonly table: FingerprintTable;
  readonly buffer: number;
  readonly control: Int32Array;
}

/** Inserts numbers from `from` on and gives every other one its own value. */
function insertNumbers(owner: Owner, from: number): void {
  const { table, buffer, control } = owner;
  const word = buffer / 4;
  const first = table.kernel.region.views.u32;
  for (let i = 0; i < BATCH; i++) {
    first[word + 2 * i] = mix((from + i) ^ 0x9e3779b9) | 2;
    first[word + 2 * i + 1] = mix(from + i) & HASH_MASK;
  }
  first.fill(0, word + 2 * BATCH, word + 3 * BATCH);
  tableInsertBatch(table, buffer, BATCH, buffer + 8 * BATCH, buffer + 12 * BATCH);
  const { u32 } = table.kernel.region.views;
  for (let i = 0; i < BATCH; i += 2) {
    Atomics.store(u32, (u32[word + 3 * BATCH + i] as number) / 4, from + i + 1);
  }
  Atomics.store(control, 0, from + BATCH);
}

/** Runs owner and two readers for a while; the owner starts anew whenever the table is large. */
async function run(bytes: Uint8Array, seconds: number): Promise<Counters> {
  const module = compileKernel(bytes);
  const kernel = createKernel(module, { shared: true });
  const scratch = regionTake(kernel.region, 2);
  const buffer = regionTake(kernel.region, 1);
  const table = createTable(kernel, { valued: true, shared: true });
  const total: Counters = { rounds: 0, asked: 0, falseSeen: 0, missed: 0, wrongValue: 0 };
  const deadline = performance.now() + seconds * 1000;
  do {
    const control = new Int32Array(new SharedArrayBuffer(8));
    const workers = [0, 1].map((index) => {
      return new Worker(new URL("./shared-table-reader.mjs", import.meta.url), {
        workerData: {
          module,
          memory: kernel.memory,
          table: table.offset,
          scratch: scratch + index * 65536,
          control: control.buffer,
          seed: index + 77,
          hashMask: HASH_MASK,
        },
      });
    });
    await Promise.all(workers.map((worker) => once(worker, "message"))); // they read
    const results = workers.map((worker) => once(worker, "message") as Promise<[Counters]>);
    const owner: Owner = { table, buffer, control };
    for (let from = 0; from < CYCLE; from += BATCH) insertNumbers(owner, from);
    Atomics.store(control, 1, 1);
    for (const [counters] of await Promise.all(results)) {
      for (const key of Object.keys(total) as (keyof Counters)[]) total[key] += counters[key];
    }
    verifyTable(table);
    tableClear(table);
  } while (performance.now() < deadline || total.asked < ASKED_LEAST);
  return total;
}

/** The shared kernel, built with one line of its reader changed. */
function buildBroken(from: string, to: string): Uint8Array {
  const directory = mkdtempSync(join(tmpdir(), "broken-kernel-"));
  try {
    for (const part of ["assembly", "src/layout", "asconfig.json"]) {
      cpSync(join(root, part), join(directory, part), { recursive: true });
    }
    const file = join(directory, "assembly/table-shared.ts");
    const text = readFileSync(file, "utf8");
    expect(text.split(from).length).toBe(2);
    writeFileSync(file, text.replace(from, to));
    const asc = join(root, "node_modules/assemblyscript/bin/asc.js");
    const out = join(directory, "broken.wasm");
    const args = [asc, "--config", "asconfig.json", "--target", "shared", "--outFile", out];
    const result = spawnSync(process.execPath, args, { cwd: directory, encoding: "utf8" });
    expect(result.status, result.stderr).toBe(0);
    return readFileSync(out);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

describe("a table that other threads read while its owner inserts", () => {
  test("is never said to hold what it does not, and never misses what was there before", async () => {
    const bytes = readFileSync(join(root, "build/plain/kernel.shared.wasm"));
    const counters = await run(bytes, SECONDS);
    console.log(JSON.stringify(counters));
    expect(counters).toMatchObject({ falseSeen: 0, missed: 0, wrongValue: 0 });
  });

  test("misses entries when the reader does not check the segment's sequence", async () => {
    const broken = buildBroken("!== sequence) continue;", "=== 0x7fffffff) continue;");
    let missed = 0;
    let attempts = 0;
    // When the owner comes between a reader and its segment is the machine's to say, all the more where both have one core.
    for (const endMs = performance.now() + CAUGHT_MS; missed === 0 && performance.now() < endMs; ) {
      missed = (await run(broken, SECONDS / 3)).missed;
      attempts++;
    }
    console.log(`missed ${missed} after ${attempts} attempts`);
    expect(missed).toBeGreaterThan(0);
  });
});
