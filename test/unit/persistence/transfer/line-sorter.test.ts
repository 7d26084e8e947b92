import { expect, it } from "vitest";
import { LineSorter } from "../../../../src/persistence/transfer/line-sorter.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";
import { testRandom } from "../../../support/seed.ts";

const WIDE = "\u{1f600}".repeat(40_000);

it("returns lines in the order of their keys, each once, however many are on disk", () => {
  const random = testRandom("sort lines");
  for (const runBytes of [1, 50, 3_000, 1e9]) {
    const files = createMemoryFiles();
    const sorter = new LineSorter(files, "/export", runBytes);
    const model = new Map<number, Set<string>>();
    for (let at = 0; at < 400; at++) {
      const key = random.below(300) - 20;
      const long = at === 250 ? "x".repeat(1_500_000) : random.below(100) === 0 ? WIDE : "ä\n";
      const line = `${key} ${random.below(2)} ${long}`;
      model.set(key, (model.get(key) ?? new Set()).add(line));
      sorter.add(key, line);
    }
    const lines = [...sorter.lines()];
    const keys = lines.map((line) => Number.parseInt(line, 10));
    expect(keys).toEqual([...keys].sort((one, other) => one - other));
    const expected = [...model.values()].flatMap((same) => [...same]);
    expect(lines.length).toBe(expected.length);
    expect([...lines].sort()).toEqual(expected.sort());
    expect(files.openCount()).toBe(runBytes < 1e9 ? 2 : 0); // regardless of the number of runs
    sorter.close();
    expect(files.openCount()).toBe(0);
  }
});

it("returns nothing when nothing was added", () => {
  expect([...new LineSorter(createMemoryFiles(), "/export").lines()]).toEqual([]);
});
