import { describe, expect, it } from "vitest";
import type { Random } from "../../../../src/base/random.ts";
import {
  COLD_BLOCK_ENTRIES_MAX,
  COLD_BLOCK_HASHES_WORD,
  COLD_BLOCK_VALUES_WORD,
  COLD_BLOCK_WORDS,
} from "../../../../src/layout/files/cold-run.ts";
import { openColdWalk } from "../../../../src/persistence/cold/cold-read.ts";
import { sealColdBlock } from "../../../../src/persistence/cold/cold-run.ts";
import { coldWalkRows } from "../../../../src/persistence/cold/cold-walk.ts";
import { COLD_REMOVED } from "../../../../src/structures/storage-tiers.ts";
import {
  addToCold,
  COLD_IDENTITY,
  type ColdModel,
  coldBatchFrom,
  openColdTier,
} from "../../../support/cold-model.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../support/memory-files.ts";
import { testRandom } from "../../../support/seed.ts";

const DIRECTORY = "/cold";
const HASH = COLD_BLOCK_HASHES_WORD;
const VALUE = COLD_BLOCK_VALUES_WORD;

/** Runs from oldest to newest, and what the newest of them say. */
function written(random: Random, runs: number, size: number): [MemoryFiles, ColdModel, number] {
  const files = createMemoryFiles();
  const tier = openColdTier(files);
  const model: ColdModel = new Map();
  let entries = 0;
  for (let run = 0; run < runs; run++) {
    const batch = coldBatchFrom(random, 1 + random.below(size), 2 * size);
    addToCold(tier, batch);
    for (const [key, entry] of batch) model.set(key, entry);
    entries += batch.size;
  }
  tier.close();
  return [files, model, entries];
}

function walkOf(files: MemoryFiles) {
  return openColdWalk({ files, directory: DIRECTORY, identity: COLD_IDENTITY });
}

/** All rows, in steps of random sizes, and the entries that the steps passed. */
function rowsOf(files: MemoryFiles, random: Random): [rows: string[], handled: number] {
  const { walk, close } = walkOf(files);
  const rows: string[] = [];
  let handled = 0;
  try {
    for (;;) {
      const count = coldWalkRows(walk, 1 + random.below(3000));
      if (count === 0) return [rows, handled];
      handled += walk.handled;
      for (let row = 0; row < count; row++) {
        const [lo, hi] = walk.hashes.subarray(row * 2, row * 2 + 2);
        rows.push(`${hi}:${lo}=${walk.values[row]}`);
      }
    }
  } finally {
    close();
  }
}

describe("a walk over cold runs", () => {
  it("shows every hash once, ascending, with the value of the newest run, and counts each entry that it passes", () => {
    const random = testRandom("cold walk");
    for (let round = 0; round < 30; round++) {
      const [files, model, entries] = written(random, 1 + random.below(3), 1500);
      const sorted = [...model.values()].sort((a, b) => a.hi - b.hi || a.lo - b.lo);
      const [rows, handled] = rowsOf(files, random);
      expect(rows).toEqual(sorted.map(({ lo, hi, value }) => `${hi}:${lo}=${value}`));
      expect(handled).toBe(entries);
    }
  });

  const BROKEN: ReadonlyArray<readonly [string, number, (block: Uint32Array) => void]> = [
    ["a hash twice", 1, (w) => w.copyWithin(HASH + 6, HASH + 4, HASH + 6)],
    ["two hashes out of order", 2, (w) => w.copyWithin(HASH + 40, HASH + 4, HASH + 6)],
    ["a first hash below the last one before", 2, (w) => w.fill(0, HASH, HASH + 2)],
    ["the handle of a live record", 2, (w) => w.set([1], VALUE + 9)],
    ["an answer of the hot table", 1, (w) => w.set([COLD_REMOVED + 1], VALUE)],
  ];

  it.each(BROKEN)("refuses %s, and names file and block", (_rule, index, change) => {
    const random = testRandom("cold walk, broken");
    const files = createMemoryFiles();
    const tier = openColdTier(files);
    addToCold(tier, coldBatchFrom(random, 3 * COLD_BLOCK_ENTRIES_MAX, 3000));
    tier.close();
    const path = files.names().find((name) => name.endsWith(".cold")) as string;
    const words = new Uint32Array(files.bytesOf(path).slice().buffer);
    const block = words.subarray(index * COLD_BLOCK_WORDS, (index + 1) * COLD_BLOCK_WORDS);
    change(block);
    sealColdBlock(block);
    files.setBytes(path, new Uint8Array(words.buffer));
    const refused = { code: "SNAPSHOT_CORRUPT", details: expect.objectContaining({ path }) };
    expect(() => rowsOf(files, random)).toThrow(expect.objectContaining(refused));
    expect(() => rowsOf(files, random)).toThrow(`block ${index}`);
    expect(files.openCount()).toBe(0);
  });
});
