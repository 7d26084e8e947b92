import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import { readPage } from "../../../../src/crawl/page/extract-page.ts";
import { createTextDigest } from "../../../../src/crawl/page/text-digest.ts";
import type { TrapWatch } from "../../../../src/crawl/traps/trap-types.ts";
import { createTrapWatch } from "../../../../src/crawl/traps/trap-watch.ts";

const SITE = "http://a.example";

/** Words of letters alone; the same name, the same words. */
function wordsOf(name: number, count: number): string {
  const random = createRandom(name);
  const letter = (): string => String.fromCharCode(97 + random.below(26));
  const word = (): string => Array.from({ length: 6 }, letter).join("");
  return Array.from({ length: count }, word).join(" ");
}

/** A watch, and a visit of what is not left, for which is known what was linked before. */
function openWatch() {
  const [known, visited] = [new Set<string>(), new Set<string>()];
  const isPending = (url: string): boolean => known.has(url) && !visited.has(url);
  const watch: TrapWatch = createTrapWatch({ isPending });
  const isLeft = (url: string): boolean => watch.linkOf(url) !== "follow";
  const visit = (path: string, text: string, links: readonly string[] = []): void => {
    const url = SITE + path;
    if (isLeft(url)) return;
    known.add(url);
    visited.add(url);
    const digest = createTextDigest(url);
    for (const part of text.split("\n")) digest.add(part);
    const all = links.map((link) => SITE + link);
    watch.visited({ url, digest, links: all, isNew: (link) => !known.has(link) });
    for (const link of all) known.add(link);
  };
  return { watch, visit, isLeft: (path: string): boolean => isLeft(SITE + path) };
}

const FRAME = wordsOf(9, 20);
const LONG_FRAME = wordsOf(9, 100);

describe("a family", () => {
  it("of folders without text is kept for the pages below them", () => {
    const run = (by: number): boolean => {
      const { visit, isLeft } = openWatch();
      for (let n = 0; n < 40; n++) visit(`/2016/${n}/post-${n}`, wordsOf(n, 60));
      for (let n = 0; n < 39; n++) {
        const post = `/2016/${n + by}/post-${n + by}`;
        visit(`/2016/${n}/`, `archive of /2016/${n}/`, [post, `/2016/${n + 1}/`]);
      }
      return isLeft("/2016/99/");
    };
    expect([run(0), run(1)]).toEqual([false, true]);
  });

  it("that shows others' pages again and again is the copy, however short its URLs are", () => {
    const { visit, isLeft } = openWatch();
    const name = (n: number): string => wordsOf(5_000 + n, 1);
    for (let n = 0; n < 60; n++) {
      // Each page is shown here first, and every third twice.
      visit(`/any/${name(n)}`, wordsOf(n, 60), [`/any/${name(n + 1)}`]);
      if (n % 3 === 0) visit(`/any/again-${name(n)}`, wordsOf(n, 60), [`/any/${name(n + 2)}`]);
      visit(`/forum/topic?topic=${n}&page=2`, wordsOf(n, 60), [`/forum/topic?topic=${n + 1}`]);
    }
    const others = ["/forum/topic?topic=99&page=2", "/any/again-other"];
    expect(others.map(isLeft)).toEqual([false, true]);
  });

  it("is not to blame for its pages under a name that means nothing", () => {
    const { visit, isLeft } = openWatch();
    for (let n = 0; n < 12; n++) visit(`/news/all/${wordsOf(n, 1)}`, wordsOf(n, 60));
    for (const name of ["ref", "from", "via"])
      for (let n = 0; n < 12; n++) visit(`/news/all/${wordsOf(n, 1)}?${name}=${n}`, wordsOf(n, 60));
    expect([isLeft("/news/all/more"), isLeft(`/news/all/${wordsOf(1, 1)}?ref=7`)]).toEqual([
      false,
      true,
    ]);
  });

  it("of combinations is left where most of each page was shown", () => {
    const run = (kept: number, joint: string): boolean => {
      const { visit, isLeft } = openWatch();
      for (let n = 3; n < 40; n++) {
        const ids = [n, n - 1, n - 2].slice(0, kept + 1);
        const text = [FRAME, ...ids.map((id) => wordsOf(id, 25))].join("\n");
        visit(`/compare?ids=${ids.join(joint)}`, text, [`/compare?ids=${n + 1}${joint}${n}`]);
      }
      return isLeft("/compare?ids=98,99");
    };
    expect([run(2, ","), run(2, "-vs-"), run(0, ",")]).toEqual([true, true, false]);
  });

  it("is left where its pages hold known words alone, though they lead to no new ones", () => {
    const { visit, isLeft } = openWatch();
    const links = Array.from({ length: 60 }, (_, n) => `/list/${wordsOf(700 + n, 1)}`);
    const item = (n: number): string => wordsOf(n % 10, 12);
    const text = (n: number): string => [1, 2, 3, 4, 5].map((by) => item(n * by + by)).join("\n");
    visit("/list/all", Array.from({ length: 10 }, (_, n) => item(n)).join("\n"), links);
    for (const [n, link] of links.slice(0, 30).entries()) visit(link, text(n));
    expect(isLeft("/list/more")).toBe(true);
  });

  it("that multiplies is left though some words of each page are new", () => {
    const run = (fresh: number): boolean => {
      const { visit, isLeft } = openWatch();
      for (let n = 0; n < 120; n++) {
        // Every third shows nothing, others what a frame that changes has.
        const own = n % 3 === 0 ? "" : wordsOf(n, fresh);
        // The last of them is the first one of the next page.
        const links = Array.from({ length: 5 }, (_, at) => `/user/${n * 4 + at + 1}`);
        visit(`/user/${n}`, `${LONG_FRAME}\n${wordsOf(8, 100)}\n${own}`, links);
      }
      return isLeft("/user/9999");
    };
    expect([run(11), run(40)]).toEqual([true, false]);
  });

  it("of parts of one long page is kept as long as each is another part", () => {
    const run = (parts: number): boolean => {
      const { visit, isLeft } = openWatch();
      const chapter = (n: number): string => wordsOf(100 + (n % parts), 60);
      const all = Array.from({ length: parts }, (_, n) => chapter(n)).join("\n");
      visit("/manual.html", all, ["/manual/0.html"]);
      for (let n = 0; n < 60; n++) {
        const links = [`/manual/${n + 1}.html`, `/manual/${n + 2}.html`];
        visit(`/manual/${n}.html`, `${FRAME}\n${chapter(n)}`, links);
      }
      return isLeft("/manual/9999.html");
    };
    expect([run(60), run(8)]).toEqual([false, true]);
  });

  it("keeps short pages that a page of a worthless kind quoted before", () => {
    const { visit, isLeft } = openWatch();
    const caption = (n: number): string => wordsOf(n, 8);
    const tag = (n: number): string => `/tag/${wordsOf(3_000 + n, 1)}`;
    const quoted = (n: number): string => [0, 1, 2, 3].map((by) => caption(4 * n + by)).join("\n");
    for (let n = 0; n < 10; n++) visit(tag(n), `${LONG_FRAME}\n${quoted(n)}`, [tag(n + 1)]);
    for (let n = 10; n < 30; n++) visit(tag(n), `${LONG_FRAME}\n${quoted(100)}`, [tag(n + 1)]);
    expect(isLeft("/tag/x")).toBe(true);
    for (let n = 0; n < 40; n++)
      visit(`/photo/${n}`, `${LONG_FRAME}\n${caption(n)}`, [`/photo/${n + 1}`]);
    expect(isLeft("/photo/99")).toBe(false);
  });

  it("of many kinds takes more empty visits", () => {
    const run = (every: number): boolean => {
      const { visit, isLeft } = openWatch();
      for (let n = 0; n < 60; n++)
        visit(`/mix/${wordsOf(2_000 + n, 1)}`, wordsOf(n % every === 0 ? n : 1, 60));
      return isLeft("/mix/more");
    };
    expect([run(3), run(5)]).toEqual([false, true]);
  });

  it("goes behind others the more of its visits were empty", () => {
    const { watch, visit } = openWatch();
    const doubts: number[] = [];
    for (let n = 0; n < 16; n++) {
      visit(`/a/${n}`, n % 4 === 3 ? wordsOf(0, 40) : wordsOf(n, 40), []);
      doubts.push(watch.doubtOf(`${SITE}/a/99`));
    }
    expect([doubts[2], doubts[7], doubts[15]]).toEqual([0, 0.25, 0.25]);
    for (let n = 16; n < 40; n++) visit(`/a/${n}`, wordsOf(0, 40), []);
    expect(watch.doubtOf(`${SITE}/a/99`)).toBe(1);
  });
});

describe("a name in the query", () => {
  it("is not shown to mean something by pages alike that show nothing new", () => {
    const { visit, isLeft } = openWatch();
    const lines = (name: number): string => wordsOf(name, 5).replaceAll(" ", "\n");
    for (let n = 0; n < 10; n++) visit(`/all-${n}`, `${LONG_FRAME}\n${lines(n)}`);
    for (let n = 0; n < 10; n++) {
      const page = `/${wordsOf(300 + n, 1)}/${wordsOf(200 + n, 1)}`;
      const text = `${LONG_FRAME}\n${lines(100 + n)}`;
      visit(page, text);
      visit(`${page}?sid=${n}`, text);
      visit(`${page}?sid=9${n}`, `${LONG_FRAME}\n${lines(n)}`);
    }
    expect(isLeft(`/${wordsOf(301, 1)}/${wordsOf(201, 1)}?sid=777`)).toBe(true);
  });
});

describe("numbers", () => {
  it("of a link are those of the page that it leads to", async () => {
    const digest = createTextDigest(`${SITE}/`);
    digest.add("1234 and 5678");
    digest.add("9012", true);
    expect(digest.numbers().size).toBe(2);
    const body = Buffer.from("<p>13 14 <a>15 16</a> <a href=/x>17 <b>18</b></a> 19");
    await readPage({ url: `${SITE}/`, body, contentType: "text/html" }, digest);
    expect(digest.numbers().size).toBe(2 + 5);
  });

  it("count together with the word before them, whatever stands between their digits", () => {
    const numbersOf = (text: string): number[] => {
      const digest = createTextDigest(`${SITE}/`);
      for (const element of text.split("|")) digest.add(element);
      return [...digest.numbers()];
    };
    expect(numbersOf("5:41|6:02|-3.5|12,80€|2026-11-29|(1/2)").length).toBe(6);
    expect(numbersOf("5|:|a7|7th|x-12").length).toBe(0);
    expect(numbersOf("wind 12|sun 12").length).toBe(2);
    expect(numbersOf("wind 12|wind 12").length).toBe(1);
    expect(numbersOf("5:41|6:02")).not.toContain(numbersOf("5:55|6:02")[1]);
  });

  it("keep pages of times that each stop has in another order", () => {
    const { visit, isLeft } = openWatch();
    const random = createRandom(5);
    for (let n = 0; n < 60; n++) {
      const times = Array.from(
        { length: 12 },
        () => `${random.below(24)}:${10 + random.below(50)}`,
      );
      visit(`/stop-${n}`, `${LONG_FRAME}\n${times.join("\n")}`, [
        `/stop-${n + 1}`,
        `/stop-${n + 2}`,
      ]);
    }
    expect(isLeft("/stop-777")).toBe(false);
  });
});

const LINES = Array.from({ length: 60 }, (_, at) => wordsOf(700 + at, 12));

/** Some of the lines that the first page of a site has shown. */
function knownLines(n: number): string {
  return Array.from({ length: 5 }, (_, at) => LINES[(n * 7 + at * (n % 11) + at) % 60]).join("\n");
}

describe("a family of a few kinds", () => {
  const FILTERS = ["brand", "colour", "size", "price", "sort"];

  it("is kept for lists that lead to pages of another kind, until these show nothing", () => {
    const { visit, isLeft } = openWatch();
    visit("/", LINES.join("\n"));
    const days = ["monday", "saturday", "sunday"];
    const urlAt = (line: number, day: string): string => `/times.php?line=${line}&day=${day}`;
    const list = (n: number): void => {
      const links = days.map((day) => urlAt(n, day));
      visit(`/times.php?line=${n}`, knownLines(n), [`/times.php?line=${n + 1}`, ...links]);
    };
    for (let n = 0; n < 40; n++) list(n);
    expect(isLeft(urlAt(3, "sunday"))).toBe(false);
    for (let n = 0; n < 300; n++) {
      const more = [urlAt(n + 100, "monday"), urlAt(n, "friday")];
      visit(urlAt(n, "sunday"), knownLines(n + 500), more);
      list(n + 40);
    }
    expect(isLeft(urlAt(3, "monday"))).toBe(true);
    // One of them could be the link that is visited all the same.
    expect([1, 2].map((stop) => isLeft(`/times.php?stop=${stop}`))).toContain(true);
  });

  it("is not one of many kinds, such as filters that multiply", () => {
    const { visit, isLeft } = openWatch();
    visit("/", LINES.join("\n"));
    for (let n = 0; n < 40; n++) {
      const chosen = FILTERS.filter((_, at) => ((n + 1) >> at) & 1);
      const query = chosen.map((name) => `${name}=${n}`).join("&");
      const more = FILTERS.map((name) => `/shop?${query}&${name}=x${n}`);
      visit(`/shop?${query}`, knownLines(n), more);
    }
    expect(isLeft("/shop?brand=9&other=9")).toBe(true);
  });
});
