import { describe, expect, it } from "vitest";
import { FrontierError } from "../../../../src/base/errors.ts";
import { expandSeed } from "../../../../src/url/parsing/seed-templates.ts";

const all = (template: string): string[] => [...expandSeed(template)];

describe("expandSeed", () => {
  it("counts from min to max in steps, both inclusive", () => {
    const urls = all("http://www.sovxin.com/t_xiuxianyule_#.html#1#300#1");
    expect(urls).toHaveLength(300);
    expect(urls[0]).toBe("http://www.sovxin.com/t_xiuxianyule_1.html");
    expect(urls[299]).toBe("http://www.sovxin.com/t_xiuxianyule_300.html");
    expect(all("http://x/##5#12#3")).toEqual(["http://x/5", "http://x/8", "http://x/11"]);
  });

  it("expands ranges in brackets, several of them to every combination", () => {
    expect(all("http://x/[1-3]")).toEqual(["http://x/1", "http://x/2", "http://x/3"]);
    expect(all("http://x/[1-2]/[8-9]?p")).toEqual([
      "http://x/1/8?p",
      "http://x/1/9?p",
      "http://x/2/8?p",
      "http://x/2/9?p",
    ]);
    expect(all("http://[1-2].x/#/[3-3]#1#2#1")).toEqual([
      "http://1.x/1/3",
      "http://1.x/2/3",
      "http://2.x/1/3",
      "http://2.x/2/3",
    ]);
  });

  it("gives nothing for a range from more to less", () => {
    expect(all("http://x/[3-1]")).toEqual([]);
    expect(all("http://x/[1-9]/[3-1]")).toEqual([]);
    expect(all("http://x/##3#1#1")).toEqual([]);
  });

  it("keeps the width of a number with zeros in front", () => {
    expect(all("http://x/[08-10]")).toEqual(["http://x/08", "http://x/09", "http://x/10"]);
    expect(all("http://x/##00#1#1")).toEqual(["http://x/00", "http://x/01"]);
    expect(all("http://x/[0-1]")).toEqual(["http://x/0", "http://x/1"]);
  });

  it("takes everything else as it is", () => {
    for (const text of [
      "http://x/",
      "",
      "http://x/#a",
      "http://x/#1",
      "http://[::1]/",
      "http://x/?a[]=1&b[0]=2",
      "http://x/[1-2-3]",
      "http://x/[a-b]",
      "http://x/#!/a#b",
    ])
      expect(all(text)).toEqual([text]);
  });

  it("is lazy, and can be walked again", () => {
    const seeds = expandSeed("http://x/[1-999999999]");
    for (let walk = 0; walk < 2; walk++) {
      let count = 0;
      for (const url of seeds) {
        expect(url).toBe(`http://x/${++count}`);
        if (count === 3) break;
      }
    }
  });

  const BAD: unknown[] = [
    undefined,
    5,
    "a".repeat(65_537),
    "http://x/_#.html#1#300",
    "http://x/_#.html#1#300#1#1",
    "http://x/_#.html#1#b#1",
    "http://x/_#.html##300#1",
    "http://x/_#.html#1#300#x",
    "http://x/_#.html#1#300#0",
    "http://x/_#.html#-1#300#1",
    "http://x/_#.html#1.5#300#1",
    "http://x/[1-99999999999999999999]",
    "http://x/[0-1000000000]",
    "http://x/[1-100000]/[1-100000]",
  ];
  it("is empty with an empty range, however many the others would make", () => {
    const many = `http://x/${"[0-9]".repeat(400)}`;
    expect([...expandSeed(`${many}[2-1]`)]).toEqual([]);
    expect(() => expandSeed(many)).toThrow("at most 1000000000 URLs, not Infinity");
  });

  for (const template of BAD) {
    it(`refuses ${String(template).slice(0, 40)} at the call`, () => {
      expect(() => expandSeed(template as string)).toThrow(FrontierError);
      expect(() => expandSeed(template as string)).toThrow(/^template: .*\(expected: /);
    });
  }
});
