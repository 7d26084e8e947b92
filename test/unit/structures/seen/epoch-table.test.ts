import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import { loadKernelModule } from "../../../../src/engine/kernel-file.ts";
import { createKernel } from "../../../../src/kernel/kernel.ts";
import {
  createEpochTable,
  epochAdd,
  epochClear,
  epochDrop,
  epochEach,
  epochFind,
  epochMembers,
  epochName,
  epochNext,
  epochOpen,
  epochSalt,
  type EpochTable,
  verifyEpochs,
} from "../../../../src/structures/seen/epoch-table.ts";
import { createStore, usedBytes, verifyStore } from "../../../../src/structures/store.ts";
import { arenaUsedBytes } from "../../../../src/memory/arena.ts";
import { testSeed } from "../../../support/seed.ts";

function world(pages = 4096): EpochTable {
  const kernel = createKernel(loadKernelModule(), { initialPages: pages, pageCountMax: pages });
  return createEpochTable(createStore(kernel, Uint32Array.of(1, 2, 3, 4)));
}

function membersOf(table: EpochTable, epoch: number): string[] {
  const members: string[] = [];
  epochEach(table, epoch, (lo, hi) => members.push(`${hi}:${lo}`));
  return members.sort();
}

describe("the table of epochs", () => {
  it("holds what a map of lists holds, through openings, members and drops", () => {
    const random = createRandom(testSeed("epochs"));
    const table = world();
    const model = new Map<string, string[]>();
    const names = Array.from({ length: 40 }, (_, index) => `e${index}${"é".repeat(index)}`);
    for (let step = 0; step < 20_000; step++) {
      const name = names[random.below(names.length)] as string;
      if (random.below(400) === 0) {
        const epoch = epochFind(table, name);
        expect(epoch !== 0).toBe(model.has(name));
        if (epoch !== 0) epochDrop(table, epoch);
        model.delete(name);
      } else {
        const epoch = epochOpen(table, name);
        const [lo, hi] = [random.word(), random.word()];
        expect(epochAdd(table, epoch, lo, hi)).toBe(true);
        model.set(name, [...(model.get(name) ?? []), `${hi}:${lo}`]);
      }
      if (step % 1000 === 0) verifyEpochs(table);
    }
    let count = 0;
    for (let epoch = epochNext(table, 0); epoch !== 0; epoch = epochNext(table, epoch)) {
      const expected = model.get(epochName(table.store, epoch)) as string[];
      expect(epochMembers(table.store, epoch)).toBe(expected.length);
      expect(membersOf(table, epoch)).toEqual(expected.sort());
      count++;
    }
    expect([count, table.count]).toEqual([model.size, model.size]);
    epochClear(table);
    verifyEpochs(table);
    verifyStore(table.store);
    expect(arenaUsedBytes(table.store.arena)).toBe(0);
  });

  it("keeps 100,000 epochs of one URL each in 120 bytes or less apiece", () => {
    const table = world();
    const before = usedBytes(table.store);
    for (let index = 0; index < 100_000; index++) {
      epochAdd(table, epochOpen(table, `2026-11-${index}`), index, index);
    }
    expect((usedBytes(table.store) - before) / 100_000).toBeLessThan(120);
    verifyEpochs(table);
  });

  it("gives different names different salts, and one name always the same", () => {
    const table = world();
    const salts = new Set<string>();
    const saltOf = (name: string): string => {
      const { hi, lo } = epochSalt(table, name);
      return `${lo} ${hi}`;
    };
    for (let index = 0; index < 10_000; index++) salts.add(saltOf(`n${index}`));
    expect(salts.size).toBe(10_000);
    expect(salts.has(saltOf("n7"))).toBe(true);
    expect(salts.has(saltOf("n8"))).toBe(true);
  });

  it("answers 0 and stays whole when memory is exhausted", () => {
    const table = world(64);
    let made = 0;
    for (; made < 1_000_000; made++) {
      const epoch = epochOpen(table, `${made}${"x".repeat(500)}`);
      if (epoch === 0 || !epochAdd(table, epoch, made, made)) break;
    }
    expect(made).toBeLessThan(10_000);
    verifyEpochs(table);
    verifyStore(table.store);
    epochClear(table);
    expect(epochOpen(table, "again")).not.toBe(0);
  });
});
