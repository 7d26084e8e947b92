import { describe, expect, it } from "vitest";
import { openTrapSite } from "../../../../bench/cases/crawl/trap-webs.ts";
import type { Download, Downloader } from "../../../../src/crawl/module-registry.ts";
import { createTextDigest } from "../../../../src/crawl/page/text-digest.ts";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import type { CrawlOptions } from "../../../../src/crawl/run/crawl-options.ts";
import { createTrapWatch } from "../../../../src/crawl/traps/trap-watch.ts";
import { shapeOf } from "../../../../src/crawl/traps/url-shape.ts";
import { openSyntheticWeb } from "../../../../src/testing.ts";
import { testSeed } from "../../../support/seed.ts";

const PLAIN = { delayMs: 0, perHost: 4, robots: false, progressMs: 0 } as const;

function pageOf(url: string, text: string, links: readonly string[]) {
  const digest = createTextDigest(true);
  digest.add(text);
  return { url, digest, links, isNew: () => true };
}

describe("the shape of a URL", () => {
  it("is what it has in common with others of its site", () => {
    const { families, variables, names } =
      shapeOf("https://a.example/shop/red-42/7?size=9&color=red") ?? {};
    expect(families).toEqual([
      "a.example/shop/red-#/#?color&size",
      "a.example/shop/red-#/#?",
      "a.example/shop/red-#/*",
      "a.example/shop/**",
    ]);
    expect(names).toEqual(["color", "size"]);
    expect(variables).toEqual([
      { name: "a.example/shop/red-#", rest: "a.example/shop/red-#/7?color=red&size=9" },
      { name: "a.example/shop/red-#/#", rest: "a.example/shop/red-42/#?color=red&size=9" },
      { name: "a.example?color", rest: "a.example/shop/red-42/7?size=9" },
      { name: "a.example?size", rest: "a.example/shop/red-42/7?color=red" },
    ]);
  });

  it("is none for what is no URL or a very long one, and bounded for any", () => {
    for (const url of ["", "x", "http://", `http://a.example/${"x".repeat(1e6)}`])
      expect(shapeOf(url)).toBeUndefined();
    const many = Array.from({ length: 200 }, (_, n) => `p${n}=${n}`).join("&");
    expect(shapeOf(`http://a.example/1/2/3?${many}`)?.variables).toHaveLength(8);
  });
});

describe("a site with traps", () => {
  it.each(["tuning", "held", "fresh"] as const)("(%s) loses no good page to them", async (set) => {
    const site = openTrapSite(set, 1 + (testSeed(`traps ${set}`) % 100_000), 400);
    const options = { ...PLAIN, seeds: site.seed, downloaders: [site], maxPages: 2_000 };
    const { traps, trapped } = await crawl({ ...options, traps: true }).finished;
    expect(site.good() / site.goodCount).toBeGreaterThanOrEqual(0.95);
    const most = 0.05 * (site.good() + site.trapped()) + 30 * site.trapCount;
    expect(site.trapped()).toBeLessThanOrEqual(most);
    expect([traps.length > 0, trapped > 0]).toEqual([true, true]);
    for (const trap of traps) {
      expect(trap.empty).toBeGreaterThanOrEqual(8);
      expect(trap.visits).toBeGreaterThanOrEqual(trap.empty);
    }
  });

  it("is followed everywhere without the option, and under the rules that are named", async () => {
    const visits = async (options: CrawlOptions): Promise<number> => {
      const site = openTrapSite("tuning", 1, 50);
      const all = { ...PLAIN, seeds: site.seed, downloaders: [site], maxPages: 400 };
      await crawl({ ...all, ...options }).finished;
      return site.trapped();
    };
    const rules = [{ id: "all" }];
    const found = [await visits({}), await visits({ rules, traps: { exceptRules: ["all"] } })];
    expect(found).toEqual([350, 350]);
    expect(await visits({ rules, traps: { exceptRules: ["other"] } })).toBeLessThan(150);
  });
});

describe("with worker threads", () => {
  it("each option that needs all links is refused by its name", () => {
    const options = { traps: true, maxPathUrls: { "/a": 1 }, maxQueryUrls: 1 } as const;
    for (const [name, value] of Object.entries(options)) {
      const given = { seeds: "http://a.example/", threads: 1, [name]: value };
      expect(() => crawl(given)).toThrow(new RegExp(`${name}.*together with threads`));
    }
  });
});

describe("a site without traps", () => {
  it("loses no page of a synthetic web", async () => {
    const seed = testSeed("traps of a synthetic web");
    await using web = await openSyntheticWeb({ seed, hosts: 5, pages: 400, traps: false });
    const visited = async (traps: boolean): Promise<string[]> => {
      const urls: string[] = [];
      const base = { seeds: web.seed, dial: web.dial, allowPrivate: true, delayMs: 0 };
      const run = crawl({ ...base, robots: { retryMs: 10 }, perHost: 8, traps });
      run.on("page", ({ url }) => urls.push(url));
      await run.finished;
      return urls.sort();
    };
    expect(await visited(true)).toEqual(await visited(false));
  });

  it("keeps articles that only lead on to each other, and pages that share their frame", async () => {
    const frame = "home news about contact imprint privacy search archive ".repeat(2);
    const textOf = (n: number): string =>
      Array.from({ length: 60 }, (_, at) => `w${(n * 7_919 + at * 104_729) % 9_973}x`).join(" ");
    const site: Downloader = {
      async download({ url }): Promise<Download> {
        const n = Number(/post\/(\d+)/.exec(url)?.[1] ?? 0);
        const next = n < 200 ? `<a href="/post/${n + 1}">next</a>` : "";
        const words = textOf(n).replaceAll(/\d/g, (d) => "abcdefghij"[Number(d)] ?? "");
        const body = Buffer.from(`${frame}<p>${words}</p>${next}`);
        const headers = { "content-type": "text/html" };
        return { url, status: 200, headers, body, bytes: body.length, latencyMs: 1 };
      },
    };
    const options = { ...PLAIN, seeds: "http://blog.example/post/0", downloaders: [site] };
    const { pages, traps } = await crawl({ ...options, maxDepth: 300, traps: true }).finished;
    expect([pages, traps]).toEqual([201, []]);
  });
});

describe("a family that was taken for a trap", () => {
  const text = (n: number): string =>
    `nothing here on day ${n} of a calendar that has no events at all`;

  it("is looked at ever more rarely, and followed again once it gives something", () => {
    const watch = createTrapWatch();
    const url = (n: number): string => `http://a.example/day/${n}`;
    for (let n = 0; n < 25; n++) watch.visited(pageOf(url(n), text(n), [url(n + 1)]));
    expect(watch.report()).toMatchObject([{ kind: "grows", active: true }, { active: true }]);
    const probes: number[] = [];
    for (let n = 100; n < 1_100; n++) if (!watch.isLeft(url(n))) probes.push(n - 99);
    expect(probes).toEqual([50, 100, 200, 400, 800]);
    for (const n of [1, 2, 3]) {
      const rich = `day ${n} ${String.fromCharCode(96 + n).repeat(3)} concert in the town hall with music by ${"xyz"[n - 1]} and friends`;
      watch.visited(pageOf(url(5_000 + n), rich, [`http://a.example/concert-${"abc"[n - 1]}`]));
    }
    expect(watch.isLeft(url(9_000))).toBe(false);
    for (const { active } of watch.report()) expect(active).toBe(false);
  });

  it("does not hold a page against itself that is visited again and again", () => {
    const watch = createTrapWatch();
    const url = "http://a.example/news/1?from=home";
    for (let n = 0; n < 100; n++) watch.visited(pageOf(url, text(1), [`${url}&n=${n}`]));
    expect([watch.report(), watch.isLeft(url)]).toEqual([[], false]);
  });

  it("is one of a bounded number, whatever a site does", () => {
    const watch = createTrapWatch();
    for (let n = 0; n < 20_000; n++) {
      const name = n.toString(26).replaceAll(/\d/g, (digit) => "qrstuvwxyz"[Number(digit)] ?? "");
      watch.visited(pageOf(`http://${name}.example/${name}?${name}=1&b=2`, name, []));
    }
    expect(watch.report()).toEqual([]);
  });
});
