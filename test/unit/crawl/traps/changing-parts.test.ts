import { describe, expect, it } from "vitest";
import { ChangingParts, type Run } from "../../../../src/crawl/traps/changing-parts.ts";
import { ShownTexts } from "../../../../src/crawl/traps/shown-texts.ts";

const HOST = "a.example";
const TITLE = [1, 2] as const;
const FOOT = [3, 4] as const;

const run = ([before, after]: readonly [number, number], length: number): Run => ({
  ...{ before, after, shingles: Array.from({ length }, (_, at) => at) },
});

/** So many pages with a text of 40 and a run of `length` in the footer. */
function pages(parts: ChangingParts, count: number, length = 5): void {
  for (let n = 0; n < count; n++) parts.ownOf(HOST, [run(TITLE, 40), run(FOOT, length)]);
}

const countOf = (runs: readonly Run[]): number => runs.length;

describe("a place of a site", () => {
  it("changes once twelve pages have a short run there beside a longer one", () => {
    const parts = new ChangingParts();
    pages(parts, 11);
    expect(countOf(parts.ownOf(HOST, [run(TITLE, 40), run(FOOT, 5)]))).toBe(1);
    expect(countOf(parts.ownOf(HOST, [run(FOOT, 5)]))).toBe(0);
    expect(countOf(parts.ownOf("b.example", [run(FOOT, 5)]))).toBe(1);
    const early = new ChangingParts();
    pages(early, 10);
    expect(countOf(early.ownOf(HOST, [run(TITLE, 40), run(FOOT, 5)]))).toBe(2);
  });

  it("is known by what stands before and after it", () => {
    const parts = new ChangingParts();
    pages(parts, 20);
    expect(countOf(parts.ownOf(HOST, [run([3, 5], 5)]))).toBe(1);
    expect(countOf(parts.ownOf(HOST, [run([6, 4], 5)]))).toBe(1);
    expect(countOf(parts.ownOf(HOST, [run(FOOT, 5)]))).toBe(0);
  });

  it("does not change where runs are long, or stand alone", () => {
    const long = new ChangingParts();
    pages(long, 20, 17);
    expect(countOf(long.ownOf(HOST, [run(FOOT, 5)]))).toBe(1);
    const alone = new ChangingParts();
    for (let n = 0; n < 20; n++) alone.ownOf(HOST, [run(FOOT, 5)]);
    expect(countOf(alone.ownOf(HOST, [run(FOOT, 5)]))).toBe(1);
  });

  it("does not change where a fifth of the pages has none", () => {
    const parts = new ChangingParts();
    for (let n = 0; n < 40; n++) {
      pages(parts, 3);
      parts.ownOf(HOST, [run(TITLE, 40)]);
    }
    expect(countOf(parts.ownOf(HOST, [run(FOOT, 5)]))).toBe(1);
  });

  it("stays one on pages that show nothing else, and no longer than that", () => {
    const parts = new ChangingParts();
    pages(parts, 12);
    for (let n = 0; n < 100; n++) expect(countOf(parts.ownOf(HOST, [run(FOOT, 5)]))).toBe(0);
    for (let n = 0; n < 40; n++) parts.ownOf(HOST, [run(FOOT, 30)]);
    expect(countOf(parts.ownOf(HOST, [run(FOOT, 5)]))).toBe(1);
  });
});

describe("a page under words that change", () => {
  const FRAME = [11, 12, 13, 14];
  let last = 1_000;
  const fresh = (count: number): number[] => Array.from({ length: count }, () => ++last * 7_919);
  const page = (text: readonly number[]): Set<number> =>
    new Set([...FRAME.slice(0, 2), ...text, 12_345, ...fresh(5), ...FRAME.slice(2)]);

  it("shows what its text shows", () => {
    const shown = new ShownTexts();
    for (let n = 0; n < 20; n++) shown.take(HOST, page(fresh(30)), `http://${HOST}/${n}`);
    expect(shown.take(HOST, page(fresh(30)), `http://${HOST}/a`).count).toBe(30);
    const nothing = shown.take(HOST, page([]), `http://${HOST}/b`);
    expect([nothing.count, nothing.marks]).toEqual([0, []]);
    // Without a URL all counts: numbers have no places.
    expect(shown.take(HOST, page([])).count).toBe(5);
  });
});
