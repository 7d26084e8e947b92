import { expect, test } from "vitest";
import { createRandom, type Random } from "../../../../src/base/random.ts";
import { createRecordList, appendKey } from "../../../../src/frontier/records/record-list.ts";
import { sortByKey } from "../../../../src/frontier/records/sort-records.ts";
import { PART_COUNT } from "../../../../src/layout/calls/place-records.ts";
import { testSeed } from "../../../support/seed.ts";

const COUNT = 20_000;

interface Row {
  readonly key: number;
  readonly part: number;
}

/** Distinct keys, of which one in `gap` is taken, in a random order. */
function rowsOf(random: Random, low: number, gap: number): Row[] {
  const rows = Array.from({ length: COUNT }, (_, at) => ({
    key: low + at * gap + random.below(gap),
    part: random.below(PART_COUNT),
  }));
  for (let at = COUNT - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [rows[at], rows[other]] = [rows[other] as Row, rows[at] as Row];
  }
  return rows;
}

function sorted(rows: readonly Row[], isDivided: boolean) {
  const list = createRecordList(0, isDivided);
  rows.forEach(({ key, part }, at) => {
    appendKey(list, at + 1, key);
    if (list.parts !== undefined) list.parts[at] = part;
  });
  const same: number[] = [];
  const order = [...sortByKey(list, same)].map((handle) => rows[handle - 1] as Row);
  return { order, same };
}

test.each([
  ["dense", -5_000, 1],
  ["with few gaps", 7, 2],
  ["too far apart for places of their own", -(2 ** 40), 1_000_003],
])("keys that are %s come in order, part by part where the list is divided", (_, low, gap) => {
  const random = createRandom(testSeed("sort-records"));
  const rows = rowsOf(random, low, gap);
  const byKey = [...rows].sort((a, b) => a.key - b.key);
  expect(sorted(rows, false)).toEqual({ order: byKey, same: [] });
  const byPart = [...byKey].sort((a, b) => a.part - b.part);
  expect(sorted(rows, true)).toEqual({ order: byPart, same: [] });
});

test("where two have one key, the order is that of the keys alone, and the later one is named", () => {
  const random = createRandom(testSeed("sort-records"));
  const rows = rowsOf(random, 1, 1);
  const twin = { key: (rows[0] as Row).key, part: 3 };
  const { order, same } = sorted([...rows, twin], true);
  expect(order.map(({ key }) => key)).toEqual(
    [...rows, twin].map(({ key }) => key).sort((a, b) => a - b),
  );
  expect(same).toEqual([COUNT + 1]);
});
