import { describe, expect, it } from "vitest";
import { compareRows, readRows, readTitles, titlesOf } from "../../tools/rows.mjs";

describe("the table of the ancestors", () => {
  it("has a test for every row that does not name what it waits for, and no test without a row", () => {
    const { missing, unknown } = compareRows(readRows(), readTitles());
    expect({ missing, unknown }).toEqual({ missing: [], unknown: [] });
  });

  it("notices a row without a test, a test without a row, and a title that names none", () => {
    const rows = { W1: "", W2: "", "W-B1": "disk", "W-B2": "disk" };
    const titles = titlesOf(
      "x.test.ts",
      `it("W1: a", () => {}); it.each([1])("W-B1: b %d", () => {}); it("W9: c", f); it("d", f);`,
    );
    expect(compareRows(rows, titles)).toEqual({
      tested: ["W1", "W-B1"],
      missing: ["W2"],
      waiting: [["W-B2", "disk"]],
      unknown: ["W9: c", "d"],
    });
  });
});
