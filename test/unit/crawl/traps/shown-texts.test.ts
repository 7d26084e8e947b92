import { describe, expect, it } from "vitest";
import { ShownTexts } from "../../../../src/crawl/traps/shown-texts.ts";

const HOST = "a.example";
const A = "http://a.example/a";

const range = (from: number, count: number): Set<number> =>
  new Set(Array.from({ length: count }, (_, at) => (from + at) * 7_919 + 13));

describe("a copy", () => {
  it("has three quarters of what a page was the first to show", () => {
    const copyOf = (count: number): string | undefined => {
      const shown = new ShownTexts();
      shown.take(HOST, range(0, 40), A);
      const { firstOn, copyOf: found } = shown.take(HOST, range(0, count), `${A}2`);
      expect(firstOn).toBe(A);
      return found;
    };
    expect([copyOf(29), copyOf(30)]).toEqual([undefined, A]);
  });

  it("consists of it for three quarters", () => {
    const firstOn = (others: number): string | undefined => {
      const shown = new ShownTexts();
      shown.take(HOST, range(0, 30), A);
      const novelty = shown.take(HOST, range(0, 30 + others), `${A}2`);
      expect(novelty.copyOf).toBe(novelty.firstOn);
      return novelty.firstOn;
    };
    expect([firstOn(10), firstOn(11)]).toEqual([A, undefined]);
  });
});

describe("a part of a longer page", () => {
  const openShown = (): ShownTexts => {
    const shown = new ShownTexts();
    shown.take(HOST, range(0, 200), A);
    return shown;
  };
  const isPart = (shown: ShownTexts, shingles: Set<number>): boolean =>
    shown.take(HOST, shingles, `${A}2`).isPart;

  it("is one when it is shown by itself for the first time, and no more", () => {
    const shown = openShown();
    expect(isPart(shown, range(0, 20))).toBe(true);
    expect(isPart(shown, range(20, 20))).toBe(true);
    expect(isPart(shown, range(0, 20))).toBe(false);
  });

  it("is for three quarters what no third page shows", () => {
    const shown = openShown();
    shown.take(HOST, range(0, 20), `${A}1`);
    expect(isPart(shown, range(15, 20))).toBe(true);
    shown.take(HOST, range(40, 20), `${A}1`);
    expect(isPart(shown, range(54, 20))).toBe(false);
  });

  it("is none where it is all of that page, or of no page, or new", () => {
    expect(isPart(openShown(), range(0, 200))).toBe(false);
    expect(isPart(openShown(), range(900, 20))).toBe(false);
    const shown = new ShownTexts();
    for (let n = 0; n < 20; n++) shown.take(HOST, range(n * 10, 10), `${A}${n}`);
    expect(isPart(shown, range(0, 40))).toBe(false);
  });
});
