import { describe, expect, it } from "vitest";
import { normalizeOptions } from "../../../../src/engine/options/normalize-options.ts";
import { presets } from "../../../../src/engine/options/presets.ts";
import { thrownBy } from "../../../support/bench-frontier.ts";

const NAMES = ["webmagic", "vscrawler", "scrapy", "gopcp", "neocrawler"] as const;

describe("presets", () => {
  it.each(NAMES)(
    "%s gives options that a frontier takes, in memory, new with each call",
    (name) => {
      const options = presets[name]();
      normalizeOptions(options);
      expect(options).not.toHaveProperty("directory");
      expect(presets[name]()).toEqual(options);
      expect(presets[name]()).not.toBe(options);
      expect(presets[name]().defaults).not.toBe(options.defaults);
    },
  );

  it.each(NAMES)("%s lets what is passed in stand over it, field by field", (name) => {
    const base = presets[name]();
    const given = { capacity: 7, defaults: { maxAttempts: 9, key: { headers: ["a"] } } };
    const { defaults, ...options } = presets[name](given);
    expect(options).toEqual({ ...base, capacity: 7, defaults: undefined });
    expect(defaults).toEqual({
      ...base.defaults,
      maxAttempts: 9,
      key: { ...base.defaults?.key, headers: ["a"] },
    });
    expect(given).toEqual({ capacity: 7, defaults: { maxAttempts: 9, key: { headers: ["a"] } } });
  });

  it("take what is their own, and hand on what no frontier knows", () => {
    expect(presets.gopcp({ maxDepth: 3 }).defaults?.maxDepth).toBe(3);
    expect(presets.gopcp({ domains: ["a.com"] }).rules).toEqual([
      { id: "accepted", match: { domains: ["a.com"] } },
    ]);
    expect(presets.neocrawler({ interval: "2h" }).defaults?.epoch).toEqual({ every: "2h" });
    const wrong = presets.scrapy({ capcity: 5 } as object);
    expect(thrownBy(() => normalizeOptions(wrong))).toMatchObject({ code: "OPTION_INVALID" });
  });
});
