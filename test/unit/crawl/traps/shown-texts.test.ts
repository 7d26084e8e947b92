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
