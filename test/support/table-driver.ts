/** Drives a fingerprint table and a JavaScript Map through the same steps. */
import { expect } from "vitest";
import type { Random } from "../../src/base/random.ts";
import type { Kernel } from "../../src/kernel/kernel.ts";
import { TABLE_CLAIMED, TABLE_NEW, TABLE_SKIP } from "../../src/layout/seen/table.ts";
import { regionTake } from "../../src/memory/region.ts";
import {
  createTable,
  type FingerprintTable,
  tableFind,
  tableFindBatch,
  tableInsert,
  tableInsertBatch,
  tableRemove,
} from "../../src/structures/table/fingerprint-table.ts";

export const SKIP = TABLE_SKIP;
export const CLAIMED = TABLE_CLAIMED;
export const NEW = TABLE_NEW;

export interface Driver {
  readonly kernel: Kernel;
  readonly table: FingerprintTable;
  readonly model: Map<bigint, number>;
  readonly hashes: number;
  readonly values: number;
  readonly slots: number;
}

export const BATCH_MAX = 8192;

export function openDriver(kernel: Kernel, valued: boolean): Driver {
  const hashes = regionTake(kernel.region, 2);
  const table = createTable(kernel, { valued });
  return {
    kernel,
    table,
    model: new Map(),
    hashes,
    values: hashes + 8 * BATCH_MAX,
    slots: hashes + 12 * BATCH_MAX,
  };
}

export function randomHash(random: Random): bigint {
  return (BigInt(random.word()) << 32n) | BigInt(random.word());
}

export function putHashes(driver: Driver, hashes: readonly bigint[]): void {
  const { buffer } = driver.kernel.region.views;
  for (const [i, hash] of hashes.entries()) buffer.writeBigUInt64LE(hash, driver.hashes + 8 * i);
}

/** Inserts a batch in both; every third row of a valued table then gets a value of its own. */
export function insertBoth(driver: Driver, hashes: readonly bigint[], skip = new Set<number>()) {
  const { table, model, kernel } = driver;
  putHashes(driver, hashes);
  const valueWord = driver.values / 4;
  for (let i = 0; i < hashes.length; i++) {
    kernel.region.views.u32[valueWord + i] = skip.has(i) ? SKIP : 0xabcdef;
  }
  const before = model.size;
  const inserted = tableInsertBatch(
    table,
    driver.hashes,
    hashes.length,
    driver.values,
    driver.slots,
  );
  const { u32 } = kernel.region.views;
  const expected = hashes.map((hash, i) => {
    if (skip.has(i)) return SKIP;
    const found = model.get(hash);
    if (found === undefined) model.set(hash, table.isValued ? CLAIMED : 1);
    return found ?? NEW;
  });
  expectValues(u32.subarray(valueWord, valueWord + hashes.length), expected);
  expect(inserted).toBe(model.size - before);
  if (table.isValued) giveValues(driver, hashes, skip);
}

function giveValues(driver: Driver, hashes: readonly bigint[], skip: Set<number>): void {
  const { u32 } = driver.kernel.region.views;
  for (const [i, hash] of hashes.entries()) {
    if (skip.has(i)) continue;
    const slot = u32[driver.slots / 4 + i] as number;
    if (u32[slot / 4] !== driver.model.get(hash)) expect.fail(`slot of row ${i}`);
    if (i % 3 === 0) continue;
    const value = Number(hash & 0xffffffn) + 1;
    u32[slot / 4] = value;
    driver.model.set(hash, value);
  }
}

export function insertOneBoth(driver: Driver, hash: bigint): void {
  const { table, model, kernel } = driver;
  const found = model.get(hash);
  const place = tableInsert(table, Number(hash & 0xffffffffn), Number(hash >> 32n));
  if (!table.isValued) expect(place).toBe(found === undefined ? 2 : 1);
  else expect(kernel.region.views.u32[place / 4]).toBe(found ?? CLAIMED);
  if (found === undefined) model.set(hash, table.isValued ? CLAIMED : 1);
}

export function removeBoth(driver: Driver, hash: bigint): void {
  const { table, model } = driver;
  const lo = Number(hash & 0xffffffffn);
  const hi = Number(hash >> 32n);
  if (tableRemove(table, lo, hi) !== model.delete(hash)) expect.fail(`removing ${hash}`);
  if (tableFind(table, lo, hi) !== 0) expect.fail(`still there: ${hash}`);
}

/** Finds hashes in both, in a batch and one by one. */
export function findBoth(driver: Driver, hashes: readonly bigint[]): void {
  const { table, model, kernel } = driver;
  putHashes(driver, hashes);
  const { u32 } = kernel.region.views;
  const valueWord = driver.values / 4;
  u32.fill(0, valueWord, valueWord + hashes.length);
  const found = tableFindBatch(table, driver.hashes, hashes.length, driver.values);
  const expected = hashes.map((hash) => model.get(hash) ?? 0);
  expectValues(u32.subarray(valueWord, valueWord + hashes.length), expected);
  expect(found).toBe(expected.filter((value) => value !== 0).length);
  const hash = hashes[0] as bigint;
  const place = tableFind(table, Number(hash & 0xffffffffn), Number(hash >> 32n));
  const value = table.isValued && place !== 0 ? (u32[place / 4] as number) : place;
  expect(value).toBe(model.get(hash) ?? 0);
}

/** As toEqual, but quick while values agree. */
function expectValues(values: Uint32Array, expected: readonly number[]): void {
  if (expected.some((value, i) => value !== values[i])) expect([...values]).toEqual(expected);
}
