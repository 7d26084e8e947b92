import { describe, expect, test } from "vitest";
import { createRandom } from "../../../src/base/random.ts";
import { regionTake } from "../../../src/memory/region.ts";
import {
  createShardedTable,
  shardedClear,
  shardedFind,
  shardedFindBatch,
  shardedInsert,
  shardedInsertBatch,
  shardedRemove,
  shardedStats,
  shardIndexOf,
  verifyShardedTable,
} from "../../../src/structures/sharded-table.ts";
import { openTestKernel } from "../../support/kernels.ts";
import { testSeed } from "../../support/seed.ts";
import { CLAIMED, NEW, randomHash, SKIP } from "../../support/table-driver.ts";

const BATCH = 2000;
const lo = (hash: bigint): number => Number(hash & 0xffffffffn);
const hi = (hash: bigint): number => Number(hash >> 32n);

function open(pageCountMax?: number) {
  const kernels = [0, 1, 2, 3].map((i) =>
    openTestKernel("release", i === 3 ? pageCountMax : undefined),
  );
  const [kernel] = kernels;
  if (kernel === undefined) throw new Error("no kernel");
  const hashes = regionTake(kernel.region, 1);
  const table = createShardedTable(kernels, { valued: true });
  return { kernels, kernel, table, hashes, values: hashes + 8 * BATCH, slots: hashes + 12 * BATCH };
}

describe("a sharded table", () => {
  test("gives the answers of a Map, with each row's slot in its own shard", () => {
    const random = createRandom(testSeed("sharded-table"));
    const { kernels, kernel, table, hashes, values, slots } = open();
    const model = new Map<bigint, number>();
    for (let round = 0; round < 20; round++) {
      const known = [...model.keys()];
      const rows = Array.from({ length: BATCH }, () =>
        known.length > 0 && random.below(3) === 0
          ? (known[random.below(known.length)] as bigint)
          : randomHash(random),
      );
      const { u32, buffer } = kernel.region.views;
      for (const [i, hash] of rows.entries()) buffer.writeBigUInt64LE(hash, hashes + 8 * i);
      const skip = rows.map(() => random.below(10) === 0);
      for (let i = 0; i < BATCH; i++) u32[values / 4 + i] = skip[i] ? SKIP : 0;
      const before = model.size;
      const expected = rows.map((hash, i) => {
        if (skip[i]) return SKIP;
        const found = model.get(hash);
        if (found === undefined) model.set(hash, CLAIMED);
        return found ?? NEW;
      });
      const inserted = shardedInsertBatch(table, hashes, BATCH, values, slots);
      expect(inserted).toBe(model.size - before);
      const after = kernel.region.views.u32;
      expect([...after.subarray(values / 4, values / 4 + BATCH)]).toEqual(expected);
      for (const [i, hash] of rows.entries()) {
        if (skip[i]) continue;
        const own = kernels[shardIndexOf(table, lo(hash))]?.region.views.u32 as Uint32Array;
        own[(after[slots / 4 + i] as number) / 4] = i + 1;
        model.set(hash, i + 1);
      }
      after.fill(0, values / 4, values / 4 + BATCH);
      shardedFindBatch(table, hashes, BATCH, values);
      const found = rows.map((hash) => model.get(hash) ?? 0);
      expect([...after.subarray(values / 4, values / 4 + BATCH)]).toEqual(found);
    }
    verifyShardedTable(table);
    expect(shardedStats(table).count).toBe(model.size);
    const hash = [...model.keys()][0] as bigint;
    expect(shardedFind(table, lo(hash), hi(hash))).not.toBe(0);
    expect(shardedRemove(table, lo(hash), hi(hash))).toBe(true);
    expect(shardedFind(table, lo(hash), hi(hash))).toBe(0);
    expect(shardedInsert(table, lo(hash), hi(hash))).not.toBe(0);
    shardedClear(table);
    expect(shardedStats(table).count).toBe(0);
  });

  test("takes back what other shards took when one shard is exhausted", () => {
    const random = createRandom(testSeed("sharded-table"));
    const { kernel, table, hashes, values, slots } = open(6);
    for (let round = 0; ; round++) {
      expect(round).toBeLessThan(100);
      const { u32, buffer } = kernel.region.views;
      for (let i = 0; i < BATCH; i++) buffer.writeBigUInt64LE(randomHash(random), hashes + 8 * i);
      u32.fill(0, values / 4, values / 4 + BATCH);
      const { count } = shardedStats(table);
      if (shardedInsertBatch(table, hashes, BATCH, values, slots) >= 0) continue;
      expect(shardedStats(table).count).toBe(count);
      verifyShardedTable(table);
      return;
    }
  });
});

test("a sharded table takes a power of two of kernels only", () => {
  expect(() => createShardedTable([], { valued: false })).toThrow(/kernels/);
});
