/**
 * The lane on real threads: records certify themselves, cursors wrap on the way, rings of one, two and four slots and of
 * the size that workers have. 10⁷ records at CI size, ten times as many, round by round, with STRESS_SECONDS=300 or more.
 */
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { stressSeconds, testSeed } from "../support/seed.ts";

const SEED = testSeed("spsc-lane stress");
const ROUNDS = stressSeconds() >= 300 ? 10 : 1;
const ROUND_RECORDS = 1e7;
/** Most time that one round may take on the slowest machine. */
const ROUND_MS = 600_000;
let certified = 0;
const nap = new Int32Array(new SharedArrayBuffer(4));

interface Run {
  readonly capacity: number;
  readonly start: number;
  readonly count: number;
  readonly longest: number;
}

/** The built lane, as the other thread loads it; the suite sets OUTRIDER_VERIFY. */
const built = new URL("../../build/plain/structures/threads/spsc-lane.js", import.meta.url).href;

async function run({ capacity, start, count, longest }: Run): Promise<void> {
  const {
    attachConsumer,
    createSpscLane,
    laneDrop,
    laneFree,
    laneNext,
    spscBytes,
    verifySpscLane,
  } = (await import(built)) as typeof import("../../src/structures/threads/spsc-lane.ts");
  const offset = 128;
  const size = spscBytes(capacity);
  const memory = new SharedArrayBuffer(offset + size + 128);
  new Uint8Array(memory).fill(0xa5);
  new Uint8Array(memory, offset, size).fill(0);
  createSpscLane({ buffer: memory, offset }, capacity, start);
  const lane = attachConsumer({ buffer: memory, offset });
  const workerData = { memory, offset, count, longest, seed: SEED };
  const worker = new Worker(new URL("./spsc-lane-producer.mjs", import.meta.url), { workerData });
  try {
    let faults = 0;
    for (let serial = 0, idle = 0; serial < count; ) {
      if (!laneNext(lane)) {
        if (++idle > 200) Atomics.wait(nap, 0, 0, 0.02);
        if (idle > 1_000_000) throw new Error(`nothing comes after record ${serial}`);
        continue;
      }
      idle = 0;
      faults += faultsOf(lane.source, lane.start, lane.size, serial);
      serial++;
      laneDrop(lane);
      if ((serial & 3) === 0 || capacity < 8) laneFree(lane);
    }
    laneFree(lane);
    verifySpscLane(lane);
    expect(faults).toBe(0);
    const bytes = new Uint8Array(memory);
    expect(bytes.subarray(0, offset).every((byte) => byte === 0xa5)).toBe(true);
    expect(bytes.subarray(offset + size).every((byte) => byte === 0xa5)).toBe(true);
  } finally {
    await worker.terminate();
  }
}

/** Returns 1 for a record that does not belong at its place. */
function faultsOf(bytes: Buffer, start: number, size: number, serial: number): number {
  if (bytes.readUInt32LE(start) !== serial) return 1;
  if (bytes.readUInt32LE(start + 4) !== (Math.imul(serial, 0x9e3779b1) + size) >>> 0) return 1;
  for (let at = 8; at < size; at++) if (bytes[start + at] !== ((serial + at) & 255)) return 1;
  return 0;
}

/** Rings of a few slots, one of the size of a lane outward, and as many of the size of an inbound ring as make up the sum. */
const SMALL: readonly Run[] = [
  { capacity: 1, start: 0x7fff_ff00, count: 5_000, longest: 200 },
  { capacity: 2, start: 0x7fff_ff00, count: 15_000, longest: 200 },
  { capacity: 4, start: -500, count: 30_000, longest: 300 },
  { capacity: 512, start: 0x7fff_0000, count: 1_000_000, longest: 90 },
];
const SMALL_RECORDS = SMALL.reduce((all, { count }) => all + count, 0);
const LARGE = Array.from({ length: ROUNDS }, (_, round): Run => {
  const count = ROUND_RECORDS - (round === 0 ? SMALL_RECORDS : 0);
  return { capacity: 8_192, start: 0x7fff_0000 - round * 4_099, count, longest: 40 };
});

describe("a lane on real threads", () => {
  it.each([...SMALL, ...LARGE])(
    "keeps $count records whole and in order in $capacity slots from cursor $start",
    async (one) => {
      await run(one);
      certified += one.count;
      console.log(`records certified so far: ${certified}`);
    },
    ROUND_MS,
  );
});
