import { describe, expect, it } from "vitest";
import { openTrapSite } from "../../../../bench/cases/crawl/trap-webs.ts";
import { openMixedSite } from "../../../../bench/cases/crawl/trap-shapes/site.ts";
import { createRandom } from "../../../../src/base/random.ts";
import type { Download, Downloader } from "../../../../src/crawl/module-registry.ts";
import { createTextDigest } from "../../../../src/crawl/page/text-digest.ts";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import type { CrawlOptions } from "../../../../src/crawl/run/crawl-options.ts";
import type { TrapWatch } from "../../../../src/crawl/traps/trap-types.ts";
import { createTrapWatch } from "../../../../src/crawl/traps/trap-watch.ts";
import { shapeOf, urlWithout } from "../../../../src/crawl/traps/url-shape.ts";
import { openSyntheticWeb } from "../../../../src/testing.ts";
import { testSeed } from "../../../support/seed.ts";

const PLAIN = { delayMs: 0, perHost: 4, robots: false, progressMs: 0 } as const;

function pageOf(url: string, text: string, links: readonly string[]) {
  const digest = createTextDigest(url);
  digest.add(text);
  return { url, digest, links, isNew: () => true };
}

const isLeft = (watch: TrapWatch, url: string): boolean => watch.linkOf(url) !== "follow";

describe("the shape of a URL", () => {
  it("is what it has in common with others of its site", () => {
    const { families, variables, isMixed } =
      shapeOf("https://a.example/shop/red-42/7?size=9&color=red") ?? {};
    expect(families).toEqual([
      "a.example/shop/red-#/#?color&size",
      "a.example/shop/red-#/#?",
      "a.example/shop/red-#/*",
      "a.example/shop/**",
    ]);
    expect(isMixed).toBe(true);
    const withoutShop = "a.example/red-42/7?color=red&size=9";
    const withoutRed = "a.example/shop/7?color=red&size=9";
    expect(variables).toEqual([
      { name: "a.example?color", rest: "a.example/shop/red-42/7?size=9", part: "color" },
      { name: "a.example?size", rest: "a.example/shop/red-42/7?color=red", part: "size" },
      { name: "a.example?color&size", rest: "a.example/shop/red-42/7?", part: ["color", "size"] },
      ...["{A-Z}", "{//}", "{/}"].map((way) => {
        const name = `a.example/${way}`;
        const rest = `${name} a.example/shop/red-42/7?color=red&size=9`;
        return { name, rest, isSpelling: true, ...(way === "{/}" ? {} : { isPlain: true }) };
      }),
      { name: "a.example/{shop}/…", rest: withoutShop, part: 0 },
      { name: "a.example/{0}/…", rest: withoutShop, part: 0, isGuess: true },
      { name: "a.example/{0}/……", rest: `a.example/{0}/… ${withoutShop}` },
      { name: "a.example/shop/{red-#}/…", rest: withoutRed, part: 1 },
      { name: "a.example/{1}/…", rest: withoutRed, part: 1, isGuess: true },
      { name: "a.example/shop/red-{#}", rest: "a.example/shop/red-#/7?color=red&size=9" },
      { name: "a.example/shop/red-#/{#}", rest: "a.example/shop/red-42/#?color=red&size=9" },
    ]);
  });

  it("is that of other spellings, and of names in its query that others have alone", () => {
    const parts = () => ({ sets: [["a", "b"]], main: "a.example" });
    const { variables = [] } = shapeOf("https://a.example//News//X?c=3&b=2&a=1", parts) ?? {};
    const named = (name: string) => variables.find((each) => each.name === `a.example${name}`);
    expect(named("/{A-Z}")?.part).toEqual({ path: "//news//x" });
    expect(named("/{//}")?.part).toEqual({ path: "/News/X" });
    expect(named("/{/}")?.part).toBeUndefined();
    const ways = ["/a/", "/a", "/a/index.html", "//a/Default.aspx"].map((path) =>
      shapeOf(`https://a.example${path}`)?.variables.filter((each) => each.isSpelling),
    );
    expect(ways.map((way) => way?.[1]?.part)).toEqual([
      ...[undefined, undefined, { path: "/a/" }, { path: "/a/" }],
    ]);
    expect(ways[0]?.[2]?.rest).toBe(ways[1]?.[2]?.rest);
    expect(named("?a&b")?.rest).toBe("a.example//News//X?c=3");
    expect(named("?a&b&c")?.rest).toBe("a.example//News//X?");
    expect(shapeOf("https://a.example/x/offer-abc-def")?.families).toContain("a.example/x/offer-*");
  });

  it("without one of its parts is another URL, or none", () => {
    const url = "https://a.example/(S(x1))/shop;v=1;w=2/7?size=9&color=r%20d&size=8";
    const without = (part: string | number | undefined): string | undefined =>
      urlWithout(url, { name: "", rest: "", ...(part === undefined ? {} : { part }) });
    expect(["size", ";v", 0, undefined].map(without)).toEqual([
      "https://a.example/(S(x1))/shop;v=1;w=2/7?color=r%20d",
      "https://a.example/(S(x1))/shop;w=2/7?size=9&color=r%20d&size=8",
      "https://a.example/shop;v=1;w=2/7?size=9&color=r%20d&size=8",
      undefined,
    ]);
  });

  it("is none for what is no URL or a very long one, and bounded for any", () => {
    for (const url of ["", "x", "http://", `http://a.example/${"x".repeat(1e6)}`])
      expect(shapeOf(url)).toBeUndefined();
    const many = Array.from({ length: 200 }, (_, n) => `p${n}=${n}`).join("&");
    expect(shapeOf(`http://a.example/1/2/3?${many}`)?.variables).toHaveLength(16);
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
      // Four pages in the very words of another trap are enough.
      expect(trap.empty).toBeGreaterThanOrEqual(4);
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
    const textOf = (n: number): string => {
      const random = createRandom(n);
      return Array.from({ length: 60 }, () => `w${random.below(9_973)}x`).join(" ");
    };
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

describe("sites drawn from many shapes", () => {
  it.each(["tuned", "unseen"] as const)("(%s) keep their good pages", async (pool) => {
    const seed = testSeed(`shapes ${pool}`) % 100_000;
    for (const each of [seed, seed + 1]) {
      const site = openMixedSite(pool, each, { goodCount: 300 });
      const options = { ...PLAIN, seeds: site.seed, downloaders: [site], maxPages: 3_000 };
      await crawl({ ...options, maxDepth: 1_000, traps: true }).finished;
      expect([each, site.good() / site.goodCount >= 0.95]).toEqual([each, true]);
      // A shape that shows new text on each page costs more; the case `traps` counts by shape.
      expect(site.trapped()).toBeLessThan(100 * site.trapCount);
    }
  });

  it("without traps lose nothing", async () => {
    const seed = testSeed("shapes without traps") % 100_000;
    const site = openMixedSite("none", seed, { goodCount: 600 });
    const options = { ...PLAIN, seeds: site.seed, downloaders: [site], maxDepth: 1_000 };
    await crawl({ ...options, traps: true }).finished;
    expect(site.good()).toBe(site.goodCount);
  });
});

describe("a URL with a part that means nothing", () => {
  const text = (n: number): string =>
    Array.from(
      { length: 30 },
      (_, at) => `w${"abcdefghij"[n]}${"klmnopqrst"[at % 10]}${"uvw"[Math.floor(at / 10)]}`,
    ).join(" ");

  it("gives way to the one without, which is visited in its place", () => {
    const watch = createTrapWatch({ exceptRules: ["kept"], ruleOf: () => "other" });
    const url = (n: number): string => `http://a.example/page-${"abcdefghij"[n]}`;
    for (let n = 0; n < 9; n++) {
      expect(watch.plainOf(`${url(9)}?sid=x`)).toBe(n < 8 ? undefined : url(9));
      watch.visited(pageOf(url(n), text(n), []));
      watch.visited(pageOf(`${url(n)}?sid=${n}`, text(n), []));
    }
    expect(isLeft(watch, `${url(0)}?sid=y`)).toBe(true);
    expect(isLeft(watch, `${url(9)}?sid=y`)).toBe(false);
    // One page that differs undoes it.
    watch.visited(pageOf(`${url(0)}?sid=z`, text(9), []));
    expect(watch.plainOf(`${url(9)}?sid=x`)).toBeUndefined();
  });
});

describe("a family that was taken for a trap", () => {
  const text = (n: number): string =>
    `nothing here on day ${n} of a calendar that has no events at all`;

  it("is looked at ever more rarely, and followed again once it gives something", () => {
    const watch = createTrapWatch();
    const url = (n: number): string => `http://a.example/day/${n}`;
    for (let n = 0; n < 25; n++) watch.visited(pageOf(url(n), text(n), [url(n + 1)]));
    const shapes = ["day/{#}", "day/#", "day/*"].map((shape) => ({ shape: `a.example/${shape}` }));
    expect(watch.report()).toMatchObject(shapes);
    for (const trap of watch.report())
      expect(trap).toMatchObject({ kind: "same-text", active: true });
    const probes: number[] = [];
    for (let n = 100; n < 1_100; n++) if (!isLeft(watch, url(n))) probes.push(n - 99);
    expect(probes).toEqual([200, 400, 800]);
    for (const n of [1, 2, 3]) {
      const rich = `day ${n} ${String.fromCharCode(96 + n).repeat(3)} concert in the town hall with music by ${"xyz"[n - 1]} and friends`;
      watch.visited(pageOf(url(5_000 + n), rich, [`http://a.example/concert-${"abc"[n - 1]}`]));
    }
    expect(isLeft(watch, url(9_000))).toBe(false);
    for (const { active } of watch.report()) expect(active).toBe(false);
  });

  it("does not hold a page against itself that is visited again and again", () => {
    const watch = createTrapWatch();
    const url = "http://a.example/news/1?from=home";
    for (let n = 0; n < 100; n++) watch.visited(pageOf(url, text(1), [`${url}&n=${n}`]));
    expect([watch.report(), isLeft(watch, url)]).toEqual([[], false]);
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

describe("a family of a site", () => {
  const wordsOf = (name: number, count: number): string => {
    const random = createRandom(name);
    const word = (): string =>
      Array.from({ length: 6 }, () => random.below(16))
        .map(letter)
        .join("");
    return Array.from({ length: count }, word).join(" ");
  };
  const letter = (n: number): string => String.fromCharCode(97 + n);

  it("is left where its pages are copies, and kept where they are what others copied", () => {
    const traps = createTrapWatch();
    for (let n = 0; n < 40; n++) {
      const text = wordsOf(n, 60);
      const name = wordsOf(1_000 + n, 1);
      // The copies are visited first.
      traps.visited(pageOf(`http://a.example/print.php?url=x-${name}`, `print ${text}`, []));
      traps.visited(pageOf(`http://a.example/news/${name}`, text, []));
    }
    expect(isLeft(traps, "http://a.example/news/another")).toBe(false);
    for (let n = 0; n < 40; n++)
      traps.visited(pageOf(`http://a.example/print.php?url=y-${n}`, wordsOf(n, 60), []));
    expect(isLeft(traps, "http://a.example/print.php?url=another")).toBe(true);
  });

  it("is kept where its pages hold numbers of their own in the same words", () => {
    const traps = createTrapWatch();
    const rows = (n: number): string =>
      Array.from({ length: 12 }, (_, at) => `row ${(n * 7_919 + at * 104_729) % 10_007}`).join(" ");
    for (let n = 0; n < 60; n++) {
      const next = `http://a.example/data/place/${n + 1}`;
      traps.visited(pageOf(`http://a.example/data/place/${n}`, `heads of all ${rows(n)}`, [next]));
    }
    expect(isLeft(traps, "http://a.example/data/place/99")).toBe(false);
  });

  it("is left for names in its query that mean nothing together", () => {
    const traps = createTrapWatch({ isKnown: () => true });
    for (let n = 0; n < 20; n++) {
      const page = `http://a.example/page-${letter(n)}`;
      traps.visited(pageOf(page, wordsOf(n, 60), []));
      traps.visited(pageOf(`${page}?from=${n}&medium=${n + 7}`, wordsOf(n, 60), []));
    }
    expect(isLeft(traps, "http://a.example/page-z?from=99&medium=98")).toBe(true);
    expect(traps.plainOf("http://a.example/page-z?from=99&medium=98")).toBe(
      "http://a.example/page-z",
    );
    expect(traps.plainOf("http://a.example/page-z?from=99&medium=98&tab=2")).toBe(
      "http://a.example/page-z?tab=2",
    );
    expect(isLeft(traps, "http://a.example/page-z?to=99")).toBe(false);
  });

  it("is doubtful where it shows no words of its own, and left where its redirects lead nowhere new", () => {
    const traps = createTrapWatch();
    const isNew = (url: string): boolean => url.endsWith("/new");
    for (let n = 0; n < 6; n++)
      traps.missed(`http://a.example/go/${n}`, "http://a.example/", isNew);
    expect(traps.doubtOf("http://a.example/go/9")).toBe(1);
    expect(traps.doubtOf("http://a.example/news/9")).toBe(0);
    expect(isLeft(traps, "http://a.example/go/9")).toBe(false);
    for (let n = 0; n < 4; n++)
      traps.missed(`http://a.example/go/${n}`, "http://a.example/", isNew);
    expect(isLeft(traps, "http://a.example/go/9")).toBe(true);
    for (let n = 0; n < 2; n++)
      traps.missed(`http://a.example/go/${n}`, "http://a.example/new", isNew);
    expect(isLeft(traps, "http://a.example/go/9")).toBe(false);
  });

  it("is left later where its pages are missing: some may be there", () => {
    const traps = createTrapWatch();
    const miss = (n: number): void =>
      traps.missed(`http://a.example/gone/${n}`, undefined, () => true);
    for (let n = 0; n < 19; n++) miss(n);
    expect(isLeft(traps, "http://a.example/gone/x")).toBe(false);
    miss(20);
    expect(isLeft(traps, "http://a.example/gone/x")).toBe(true);
  });

  it.each([
    ["where its links are found one by one", 1],
    ["where all its links wait already", 41],
  ])("is visited behind the others while it is doubtful, %s", async (_, atOnce) => {
    const order: string[] = [];
    const linksOf = (path: string): string[] => {
      const first = Array.from({ length: atOnce }, (_, n) => `/go/${n}`);
      if (path === "/") return [...first, "/page/0"];
      const [, kind, n = "0"] = path.split("/");
      if (kind !== "page" || Number(n) >= 40) return [];
      return [`/go/${Number(n) + 1}`, `/page/${Number(n) + 1}`];
    };
    const site: Downloader = {
      async download({ url }): Promise<Download> {
        const { pathname } = new URL(url);
        order.push(pathname);
        const isHop = pathname.startsWith("/go/");
        const links = linksOf(pathname).map((to) => `<a href="${to}">x</a>`);
        const body = Buffer.from(`<p>${wordsOf(order.length, 60)}</p>${links.join("")}`);
        const headers = { "content-type": "text/html", ...(isHop && { location: "/" }) };
        const status = isHop ? 302 : 200;
        return { url, status, headers, body, bytes: body.length, latencyMs: 1 };
      },
    };
    const options = { ...PLAIN, perHost: 1, seeds: "http://hops.example/", downloaders: [site] };
    await crawl({ ...options, traps: true }).finished;
    const hops = order.flatMap((path, at) => (path.startsWith("/go/") ? [at] : []));
    const lastPage = order.lastIndexOf("/page/40");
    // Six show what they are; none after them goes before a page.
    expect(hops.filter((at) => at < lastPage)).toHaveLength(6);
    // Ten are enough to set them aside, and three of those show no end.
    expect(hops).toHaveLength(13);
  });
});

describe("a part of a URL that means nothing", () => {
  const SITE = "http://www.a.example";
  const letter = (n: number): string => String.fromCharCode(97 + n);
  /** Words of a page that no other one has. */
  const words = (n: number, count = 30): string =>
    Array.from({ length: count }, (_, at) => letter(n) + letter(at % 26) + letter(n + at)).join(
      " ",
    );
  const visit = (watch: TrapWatch, url: string, text: string, links: readonly string[] = []) =>
    watch.visited(pageOf(url, text, links));

  it("is found beside one that means something", () => {
    const watch = createTrapWatch();
    for (let n = 0; n < 9; n++) {
      const path = `${SITE}/${letter(n)}`;
      visit(watch, `${path};s=${n}a`, words(n));
      visit(watch, `${path};s=${n}b?page=2`, words(n + 10));
      visit(watch, `${path};s=${n}c`, words(n));
    }
    expect(isLeft(watch, `${SITE}/a;s=z`)).toBe(true);
    expect(isLeft(watch, `${SITE}/a;s=z?page=7`)).toBe(false);
  });

  it("may be the host: a mirror of the first one of its domain", () => {
    const watch = createTrapWatch({ domainOf: () => "a.example" });
    const mirrored = "http://m.a.example/new";
    for (let n = 0; n < 8; n++) {
      expect(watch.plainOf(mirrored)).toBeUndefined();
      visit(watch, `${SITE}/${letter(n)}`, words(n));
      visit(watch, `http://m.a.example/${letter(n)}`, `${words(n)} full version`);
    }
    expect(watch.plainOf(mirrored)).toBe(`${SITE}/new`);
    expect(isLeft(watch, "http://m.a.example/a")).toBe(true);
    expect(isLeft(watch, `${SITE}/new`)).toBe(false);
  });

  it("may be a filter, whose pages show a part of others and multiply", () => {
    const watch = createTrapWatch();
    for (let n = 0; n < 9; n++) visit(watch, `${SITE}/${letter(n)}`, words(n));
    for (let n = 0; n < 8; n++) {
      const url = `${SITE}/${letter(n)}?color=red`;
      expect(isLeft(watch, `${SITE}/i?color=blue`)).toBe(false);
      visit(watch, url, `${words(n, 15)} ${words(n + 1, 15)}`, [`${url}&size=s`, `${url}&size=m`]);
    }
    expect(isLeft(watch, `${SITE}/i?color=blue`)).toBe(true);
  });
});
