import { describe, expect, test } from "vitest";
import { createRandom, type Random } from "../../../../src/base/random.ts";
import {
  TABLE_COUNT_WORD,
  TABLE_EACH_MIN,
  TABLE_HEADER_BYTES,
} from "../../../../src/layout/seen/table.ts";
import { regionTake, verifyRegion } from "../../../../src/memory/region.ts";
import {
  createTable,
  tableClear,
  tableDrop,
  tableEach,
  tableFind,
  tableInsert,
  tableInsertBatch,
  tableStats,
  tryCreateTable,
} from "../../../../src/structures/table/fingerprint-table.ts";
import { unitsOf } from "../../../../src/structures/table/table-growth.ts";
import { verifyTable } from "../../../../src/structures/table/verify-table.ts";
import { openTestKernel } from "../../../support/kernels.ts";
import { testSeed } from "../../../support/seed.ts";
import {
  CLAIMED,
  type Driver,
  findBoth,
  insertBoth,
  insertOneBoth,
  openDriver,
  putHashes,
  randomHash,
  removeBoth,
} from "../../../support/table-driver.ts";

type HashSource = (random: Random) => bigint;

const SOURCES: Record<string, HashSource> = {
  uniform: randomHash,
  "few distinct": (random) =>
    (BigInt(random.below(4000)) * 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn,
  "one segment": (random) => (0xabc4n << 48n) | (randomHash(random) >> 16n),
  "few lines": (random) =>
    (BigInt(random.below(16)) << 60n) | (0x7ffn << 40n) | BigInt(random.below(700)),
  "the last lines": (random) => (0xffffffn << 40n) | BigInt(random.below(3000)),
  "words of zero": (random) =>
    [
      0n,
      1n,
      1n << 32n,
      1n << 63n,
      ~0n & 0xffffffffffffffffn,
      BigInt(random.word()),
      BigInt(random.word()) << 32n,
    ][random.below(7)] as bigint,
};

function hashesOf(random: Random, count: number): bigint[] {
  return Array.from({ length: count }, () => randomHash(random));
}

function knownOrNew(driver: Driver, random: Random, source: HashSource, count: number): bigint[] {
  const known = [...driver.model.keys()];
  return Array.from({ length: count }, () =>
    known.length > 0 && random.below(2) === 0
      ? (known[random.below(known.length)] as bigint)
      : source(random),
  );
}

function step(driver: Driver, random: Random, source: HashSource): void {
  const kind = random.below(10);
  if (kind < 5) {
    const hashes = knownOrNew(driver, random, source, 1 + random.below(700));
    const skip = new Set([...hashes.keys()].filter(() => random.below(8) === 0));
    insertBoth(driver, hashes, skip);
  } else if (kind < 7) {
    findBoth(driver, knownOrNew(driver, random, source, 1 + random.below(300)));
  } else if (kind < 8) {
    for (const hash of knownOrNew(driver, random, source, 40)) insertOneBoth(driver, hash);
  } else {
    for (const hash of knownOrNew(driver, random, source, 150)) removeBoth(driver, hash);
  }
}

describe.each([true, false])("a table (valued: %s) against a Map", (valued) => {
  test.each(Object.keys(SOURCES))(
    "gives the same answers for %s hashes, and stays valid",
    (name) => {
      const random = createRandom(testSeed("fingerprint-table"));
      const driver = openDriver(openTestKernel("debug"), valued);
      for (let i = 0; i < 60; i++) {
        step(driver, random, SOURCES[name] as HashSource);
        if (i % 6 === 0) verifyTable(driver.table);
      }
      verifyTable(driver.table);
      verifyRegion(driver.kernel.region);
      expect(tableStats(driver.table).count).toBe(driver.model.size);
    },
  );
});

describe.each([true, false])("a table (valued: %s)", (valued) => {
  test("takes a batch that is far larger than itself, and finds it all again", () => {
    const random = createRandom(testSeed("fingerprint-table"));
    const driver = openDriver(openTestKernel(), valued);
    for (let i = 0; i < 12; i++) insertBoth(driver, hashesOf(random, 8000));
    verifyTable(driver.table);
    const known = [...driver.model.keys()];
    for (let at = 0; at < known.length; at += 8000) findBoth(driver, known.slice(at, at + 8000));
    expect(tableStats(driver.table).segments).toBeGreaterThan(1);
  });

  test("reclaims the slots of removed entries: coming and going does not make it grow", () => {
    const random = createRandom(testSeed("fingerprint-table"));
    const driver = openDriver(openTestKernel(), valued);
    for (let i = 0; i < 60; i++) {
      const hashes = hashesOf(random, 1000);
      insertBoth(driver, hashes);
      for (const hash of hashes) removeBoth(driver, hash);
    }
    verifyTable(driver.table);
    expect(tableStats(driver.table).bytes).toBeLessThanOrEqual(5 * 65536);
  });

  test("says exhausted when the region is, has inserted nothing then, and stays valid", () => {
    const random = createRandom(testSeed("fingerprint-table"));
    const driver = openDriver(openTestKernel("debug", 12), valued);
    const { kernel, table } = driver;
    for (;;) {
      const hashes = hashesOf(random, 500);
      putHashes(driver, hashes);
      kernel.region.views.u32.fill(0, driver.values / 4, driver.values / 4 + 500);
      const { count } = tableStats(table);
      if (tableInsertBatch(table, driver.hashes, 500, driver.values, driver.slots) < 0) {
        expect(tableStats(table).count).toBe(count);
        break;
      }
      for (const hash of hashes) driver.model.set(hash, valued ? CLAIMED : 1);
    }
    verifyTable(table);
    verifyRegion(kernel.region);
    expect(tableStats(table).load).toBeGreaterThan(0.8);
    findBoth(driver, [...driver.model.keys()].slice(0, 8000));
    let singles = 0;
    for (; tableInsert(table, random.word(), random.word()) !== 0; singles++);
    verifyTable(table);
    expect(singles).toBeLessThan(600);
    for (const hash of [...driver.model.keys()].slice(0, 2000)) removeBoth(driver, hash);
    // Removed slots are reclaimed by a sweep, which takes pages; what was removed may come back at
    // once.
  });

  test("gives its pages back when it is cleared or dropped, and works again", () => {
    const random = createRandom(testSeed("fingerprint-table"));
    const driver = openDriver(openTestKernel(), valued);
    const { table, kernel } = driver;
    const pages = kernel.region.pagesUsed;
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 10; i++) insertBoth(driver, [0n, 1n, ...hashesOf(random, 6000)]);
      expect(kernel.region.pagesUsed).toBeGreaterThan(pages);
      const before = [...driver.model.keys()].slice(0, 5000);
      tableClear(table);
      driver.model.clear();
      verifyTable(table);
      findBoth(driver, before);
      expect(kernel.region.pagesUsed).toBe(pages);
    }
    tableDrop(table);
    verifyRegion(kernel.region);
    expect(kernel.region.pagesUsed).toBe(pages - 3);
  });

  test("gives out each live entry once, also when it grows in between", () => {
    const random = createRandom(testSeed("fingerprint-table"));
    const driver = openDriver(openTestKernel(), valued);
    insertBoth(driver, [0n, 1n, 2n]);
    for (let i = 0; i < 20; i++) insertBoth(driver, hashesOf(random, 8000));
    const old = [...driver.model];
    const out = regionTake(driver.kernel.region, 16);
    const seen = new Map<bigint, number>();
    for (let from = 0; from >= 0; ) {
      const { count, next } = tableEach(driver.table, from, TABLE_EACH_MIN, out);
      const { buffer } = driver.kernel.region.views;
      for (let i = 0; i < count; i++) {
        const hash = buffer.readBigUInt64LE(out + 8 * i);
        if (seen.has(hash)) expect.fail(`twice: ${hash}`);
        seen.set(hash, buffer.readUInt32LE(out + 8 * TABLE_EACH_MIN + 4 * i));
      }
      from = next;
      insertBoth(driver, hashesOf(random, 8000));
    }
    for (const [hash, value] of old) if (seen.get(hash) !== value) expect.fail(`${hash}`);
    expect([...seen.keys()].every((hash) => driver.model.has(hash))).toBe(true);
  });

  test("has the same bytes in the debug and release kernels", () => {
    const seed = testSeed("fingerprint-table");
    const bytes = (["debug", "release"] as const).map((flavour) => {
      const random = createRandom(seed);
      const driver = openDriver(openTestKernel(flavour), valued);
      for (let i = 0; i < 12; i++) {
        insertBoth(driver, hashesOf(random, 3000));
        const known = [...driver.model.keys()];
        for (let k = 0; k < 200; k++)
          removeBoth(driver, known[random.below(known.length)] as bigint);
      }
      return Buffer.from(driver.kernel.region.views.u8.slice(65536, driver.kernel.region.end));
    });
    expect(bytes[1]?.equals(bytes[0] as Buffer)).toBe(true);
  });
});

test("values never pass for a hash", () => {
  const { kernel, table } = openDriver(openTestKernel(), true);
  const top = 0x12345678;
  const first = tableInsert(table, 77, top);
  const second = tableInsert(table, 78, top);
  expect(second).toBe(first + 4);
  kernel.region.views.u32[first / 4] = 0x0badcafe;
  kernel.region.views.u32[second / 4] = top;
  expect(tableFind(table, 0x0badcafe, top)).toBe(0);
  expect(tableInsert(table, 0x0badcafe, top)).toBe(first + 8);
});

test("a new table costs at most 256 KiB, and none is made when there are no pages", () => {
  const kernel = openTestKernel();
  expect(tableStats(createTable(kernel, { valued: true })).bytes).toBeLessThanOrEqual(262_144);
  const tight = openTestKernel("release", 3);
  expect(tryCreateTable(tight, { valued: true })).toBeUndefined();
  expect(tight.region.pagesUsed).toBe(0);
  expect(() => createTable(tight, { valued: false })).toThrow(/memory: "exhausted"/);
});

describe("verifyTable catches a table that is", () => {
  const breakages: Record<string, (driver: Driver, words: number[]) => void> = {
    "missing an entry": ({ kernel }, [slot]) => {
      const { u32 } = kernel.region.views;
      u32.fill(0, slot as number, (slot as number) + 2);
    },
    "holding an entry in the wrong place": ({ kernel }, [slot]) => {
      const { u32 } = kernel.region.views;
      u32[(slot as number) + 1] = ~(u32[(slot as number) + 1] as number);
    },
    "holding a hash twice": ({ kernel }, [slot, other]) => {
      const { u32 } = kernel.region.views;
      u32.copyWithin(other as number, slot as number, (slot as number) + 2);
    },
    "counting wrongly": ({ kernel, table }) => {
      const { u32 } = kernel.region.views;
      const word = table.offset / 4 + TABLE_COUNT_WORD;
      u32[word] = (u32[word] as number) + 1;
    },
    "pointing elsewhere": ({ kernel, table }) => {
      const { u32 } = kernel.region.views;
      u32[(table.offset + 65536) / 4 + 5] = table.offset + TABLE_HEADER_BYTES + 64;
    },
  };

  test.each(Object.keys(breakages))("%s", (name) => {
    const driver = openDriver(openTestKernel(), false);
    insertBoth(driver, hashesOf(createRandom(testSeed("fingerprint-table")), 2000));
    verifyTable(driver.table);
    const unit = unitsOf(driver.table, driver.table.offset + TABLE_HEADER_BYTES)[0] as number;
    const { u32 } = driver.kernel.region.views;
    const words: number[] = [];
    for (let word = unit / 4; words.length < 2; word += 16)
      if (u32[word + 2] !== 0) words.push(word);
    breakages[name]?.(driver, words);
    expect(() => verifyTable(driver.table)).toThrow(/broken invariant/);
  });
});
