/** Growth of a fingerprint table under hashes that are anything but uniform. */
import { describe, expect, test } from "vitest";
import { createRandom, type Random } from "../../../../src/base/random.ts";
import {
  SEGMENT_DEPTH_WORD,
  SEGMENT_UNITS_EVEN,
  TABLE_EACH_MIN,
} from "../../../../src/layout/seen/table.ts";
import { regionTake, verifyRegion } from "../../../../src/memory/region.ts";
import {
  tableEach,
  tableFind,
  tableInsert,
  tableInsertBatch,
  tableStats,
} from "../../../../src/structures/table/fingerprint-table.ts";
import { growAhead, segmentsOf, unitsOf } from "../../../../src/structures/table/table-growth.ts";
import { verifyTable } from "../../../../src/structures/table/verify-table.ts";
import { openTestKernel } from "../../../support/kernels.ts";
import { testSeed } from "../../../support/seed.ts";
import {
  BATCH_MAX,
  CLAIMED,
  type Driver,
  findBoth,
  insertBoth,
  openDriver,
  putHashes,
  randomHash,
  removeBoth,
} from "../../../support/table-driver.ts";

const ALL_BITS = (1n << 64n) - 1n;

function hashesOf(count: number, make: (i: number) => bigint): bigint[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

/** Inserts batches until the table refuses one, which must then have changed nothing. */
function fillUp(driver: Driver, rows: number, make: () => bigint): number {
  const { table, model, kernel } = driver;
  for (;;) {
    const hashes = hashesOf(rows, make);
    putHashes(driver, hashes);
    kernel.region.views.u32.fill(0, driver.values / 4, driver.values / 4 + rows);
    const { count } = tableStats(table);
    if (tableInsertBatch(table, driver.hashes, rows, driver.values, driver.slots) < 0) {
      expect(tableStats(table).count).toBe(count);
      return count;
    }
    for (const hash of hashes) if (!model.has(hash)) model.set(hash, table.isValued ? CLAIMED : 1);
  }
}

function findAll(driver: Driver): void {
  const known = [...driver.model.keys()];
  for (let at = 0; at < known.length; at += BATCH_MAX) {
    findBoth(driver, known.slice(at, at + BATCH_MAX));
  }
}

/** Random hashes within one range: those that share the given top bits. */
function within(random: Random, prefix: bigint, bits: bigint): bigint {
  return (prefix << (64n - bits)) | (randomHash(random) >> bits);
}

describe.each([true, false])("a table (valued: %s)", (valued) => {
  test.each([200, 1000, 8000])(
    "splits a segment of which half was removed and refilled, %s rows a batch",
    (rows) => {
      const random = createRandom(testSeed("table-growth"));
      const driver = openDriver(openTestKernel(), valued);
      // To just before the first split; then the lower half goes and the upper half comes again.
      const most = valued ? 30_000 : 42_000;
      const uniform = hashesOf(most, () => randomHash(random));
      for (let at = 0; at < most; at += 1000) insertBoth(driver, uniform.slice(at, at + 1000));
      for (const hash of uniform) if (hash >> 63n === 0n) removeBoth(driver, hash);
      for (let done = 0; done < most; done += rows) {
        insertBoth(
          driver,
          hashesOf(rows, () => within(random, 1n, 1n)),
        );
      }
      verifyTable(driver.table);
      verifyRegion(driver.kernel.region);
      findAll(driver);
    },
  );

  test("grows under ranges of every width, in batches of every size", () => {
    const random = createRandom(testSeed("table-growth"));
    const driver = openDriver(openTestKernel(), valued);
    for (let i = 0; i < 24; i++) {
      const bits = BigInt(1 + random.below(17));
      const prefix = randomHash(random) >> (64n - bits);
      const rows = 1 + random.below(BATCH_MAX);
      insertBoth(
        driver,
        hashesOf(rows, () => within(random, prefix, bits)),
      );
      if (random.below(4) > 0) continue;
      const start = randomHash(random);
      for (const hash of driver.model.keys()) if (hash >= start) removeBoth(driver, hash);
    }
    verifyTable(driver.table);
    verifyRegion(driver.kernel.region);
    findAll(driver);
  });

  test("takes a rising and a falling sequence of hashes", () => {
    const driver = openDriver(openTestKernel(), valued);
    for (const start of [1n << 33n, ALL_BITS - (1n << 33n)]) {
      const sign = start < 1n << 63n ? 1n : -1n;
      for (let i = 0; i < 7; i++) {
        insertBoth(
          driver,
          hashesOf(4000, (at) => start + sign * BigInt(i * 4000 + at) * (1n << 44n)),
        );
      }
    }
    verifyTable(driver.table);
    findAll(driver);
  });

  test.each([700, 9000, 150_000])(
    "takes %s sorted hashes into room made ahead, and hardly grows for it",
    (count) => {
      const random = createRandom(testSeed("table-growth"));
      const driver = openDriver(openTestKernel(), valued);
      growAhead(driver.table, count);
      verifyTable(driver.table);
      const { bytes } = tableStats(driver.table);
      const sorted = hashesOf(count, () => randomHash(random)).sort((a, b) => (a < b ? -1 : 1));
      for (let at = 0; at < count; at += BATCH_MAX) {
        insertBoth(driver, sorted.slice(at, at + BATCH_MAX));
      }
      verifyTable(driver.table);
      verifyRegion(driver.kernel.region);
      findAll(driver);
      const after = tableStats(driver.table);
      expect(after.bytes - bytes).toBeLessThanOrEqual(65_536 + bytes / 20);
      expect(after.bytes).toBeLessThan(count * (valued ? 17 : 12) + 6 * 65_536);
    },
  );

  test("makes room ahead as far as there are pages, and in an empty table alone", () => {
    const driver = openDriver(openTestKernel("debug", 40), valued);
    expect(growAhead(driver.table, 1_000_000)).toBe(false);
    verifyTable(driver.table);
    verifyRegion(driver.kernel.region);
    insertBoth(driver, [5n << 32n, 7n]);
    const { bytes } = tableStats(driver.table);
    expect(growAhead(driver.table, 10_000)).toBe(true);
    expect(tableStats(driver.table).bytes).toBe(bytes);
    findAll(driver);
  });

  test.each([1000, 8000])(
    "refuses as exhausted more hashes of equal top bits than one segment holds, %s a batch",
    (rows) => {
      const driver = openDriver(openTestKernel(), valued);
      let next = 0xdeadbeefn << 32n;
      const count = fillUp(driver, rows, () => next++);
      expect(count).toBeGreaterThan(7 * 1024 * (valued ? 5 : 8) - 2 * rows);
      // One by one the last places go too, and then it says so.
      let singles = 0;
      for (; singles <= 2 * rows; singles++) {
        const hash = next++;
        if (tableInsert(driver.table, Number(hash & 0xffffffffn), Number(hash >> 32n)) === 0) break;
        driver.model.set(hash, valued ? CLAIMED : 1);
      }
      expect(tableStats(driver.table).count).toBe(7 * 1024 * (valued ? 5 : 8) - 1);
      findBoth(driver, [...driver.model.keys()].slice(-2000));
      // Others still come in.
      const random = createRandom(testSeed("table-growth"));
      insertBoth(
        driver,
        hashesOf(3000, () => randomHash(random) & (ALL_BITS >> 1n)),
      );
      verifyRegion(driver.kernel.region);
    },
  );
});

describe("one call of 256 rows does bounded work:", () => {
  test.each([true, false])("it sweeps one segment at most (valued: %s)", (valued) => {
    const real = openTestKernel();
    let swept = 0;
    const tableGrow = (table: number, segment: number, other: number): number => {
      swept += unitsOf(driver.table, segment).length;
      return real.exports.tableGrow(table, segment, other);
    };
    const kernel = { ...real, exports: { ...real.exports, tableGrow } };
    const driver = openDriver(kernel, valued);
    const random = createRandom(testSeed(`table work ${valued}`));
    let most = 0;
    let calls = 0;
    while (tableStats(driver.table).count < 2_300_000) {
      const { u32 } = kernel.region.views;
      for (let word = 0; word < 512; word++) u32[driver.hashes / 4 + word] = random.word();
      u32.fill(0, driver.values / 4, driver.values / 4 + 256);
      swept = 0;
      tableInsertBatch(driver.table, driver.hashes, 256, driver.values, driver.slots);
      most = Math.max(most, swept);
      calls++;
    }
    expect(calls).toBeGreaterThan(2_000);
    // Even hashes: no segment has more units, and GROW_PER_CALL is one.
    expect(most).toBe(SEGMENT_UNITS_EVEN);
  });
});

test("a small table doubles: few sweeps, and nothing is lost where the room ends", () => {
  const driver = openDriver(openTestKernel("release", 60), true);
  const random = createRandom(testSeed("small table"));
  const count = fillUp(driver, BATCH_MAX, () => randomHash(random));
  // By single pages it would be as many entries, by twice as many sweeps.
  expect(count).toBeGreaterThan(230_000);
  expect(driver.table.sweeps).toBeLessThan(30);
  verifyTable(driver.table);
});

describe("a broken table leads nobody round for ever:", () => {
  test.each([true, false])("a segment without an empty slot (valued: %s)", (valued) => {
    const { kernel, table } = openDriver(openTestKernel(), valued);
    const [segment] = segmentsOf(table);
    const [page] = unitsOf(table, segment as number);
    kernel.region.views.u8.fill(7, page as number, (page as number) + 65536);
    expect(() => tableFind(table, 1, 1)).toThrow(/unreachable/);
    expect(() => tableInsert(table, 1, 1)).toThrow(/unreachable/);
  });

  test("a descriptor of a depth that there is not", () => {
    const { kernel, table } = openDriver(openTestKernel(), true);
    const [segment] = segmentsOf(table);
    kernel.region.views.u32[(segment as number) / 4 + SEGMENT_DEPTH_WORD] = 46;
    const out = regionTake(kernel.region, 16);
    expect(() => tableEach(table, 0, TABLE_EACH_MIN, out)).toThrow(/unreachable/);
    expect(() => segmentsOf(table)).toThrow(/depth/);
  });
});
