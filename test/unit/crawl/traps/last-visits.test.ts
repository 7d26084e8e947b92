/** Families that were taken for traps are visited to their end, behind all others; endless ones are not. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openSoftwareSite } from "../../../../bench/cases/crawl/trap-software/site.ts";
import { createRandom } from "../../../../src/base/random.ts";
import type { Downloader } from "../../../../src/crawl/module-registry.ts";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import { createTextDigest } from "../../../../src/crawl/page/text-digest.ts";
import { LastVisits } from "../../../../src/crawl/traps/last-visits.ts";
import { evidenceOf } from "../../../../src/crawl/traps/trap-evidence.ts";
import { createTrapWatch } from "../../../../src/crawl/traps/trap-watch.ts";
import { openFrontier } from "../../../../src/index.ts";
import { createVirtualClock } from "../../../../src/testing.ts";
import { testSeed } from "../../../support/seed.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-last-visits-"));
afterAll(() => rmSync(folder, { recursive: true }));

const PLAIN = { delayMs: 0, perHost: 4, robots: false, progressMs: 0, traps: true } as const;
const trap = () => evidenceOf("a.example/*", "grows", "http://a.example/1");

describe("visits on credit", () => {
  it("are six for a trap and three for a kind of its URLs, while none gives anything", () => {
    const last = new LastVisits();
    const given = trap();
    const verdicts = Array.from({ length: 9 }, (_, n) => {
      const verdict = last.take(given, `kind ${n % 2}`, `url ${n}`);
      last.ended(`url ${n}`, "empty");
      return verdict;
    });
    expect(verdicts.join(" ")).toBe("visit visit visit visit visit visit leave leave leave");
    const kinds = new LastVisits();
    const other = trap();
    const one = Array.from({ length: 4 }, (_, n) => {
      const verdict = kinds.take(other, "one", `url ${n}`);
      kinds.ended(`url ${n}`, "empty");
      return verdict;
    });
    expect([...one, kinds.take(other, "two", "url")].join(" ")).toBe(
      "visit visit visit leave visit",
    );
  });

  it("wait for those under way, and go on as long as these give something", () => {
    const seed = testSeed("visits on credit");
    const random = createRandom(seed);
    const last = new LastVisits();
    let [given, kind] = [trap(), 0];
    const out: string[] = [];
    // The model: what is left of six and three, two more for each that gave something, one where there was no visit, at most eight.
    // One by one until the first of them was useful.
    let [ofTrap, ofKind, ended, wasUseful] = [6, 3, 0, false];
    for (let n = 0; n < 2_000; n++) {
      if (out.length > 0 && random.below(2) === 0) {
        const gain = Math.max(random.below(4) - 1, 0);
        const url = out.shift() as string;
        for (const each of [url, url, `never begun ${n}`])
          last.ended(each, (["empty", "no visit", "useful"] as const)[gain] ?? "empty");
        [ofTrap, ofKind] = [Math.min(ofTrap + gain, 8), Math.min(ofKind + gain, 8)];
        wasUseful ||= gain === 2;
        ended++;
        continue;
      }
      const hasCredit = ofTrap > 0 && ofKind > 0;
      // A fourth of the credit at once.
      const isOpen = hasCredit && out.length <= (wasUseful ? ofTrap >> 2 : 0);
      const expected = isOpen ? "visit" : out.length > 0 ? "wait" : "leave";
      expect([seed, n, last.take(given, `kind ${kind}`, `url ${n}`)]).toEqual([seed, n, expected]);
      if (expected === "leave") {
        [given, kind] = [trap(), kind + 1];
        [ofTrap, ofKind, wasUseful] = [6, 3, false];
      }
      if (!isOpen) continue;
      [ofTrap, ofKind] = [ofTrap - 1, ofKind - 1];
      out.push(`url ${n}`);
      expect(last.trapOf(`url ${n}`)).toBe(given);
    }
    expect([ended > 100, kind > 5]).toEqual([true, true]);
  });

  it("are returned to a list once four pages were useful, which it may have led to", () => {
    const last = new LastVisits();
    const given = trap();
    const visit = (kind: string, n: number, visited: "leads on" | "useful"): string => {
      const verdict = last.take(given, kind, `${kind} ${n}`);
      last.ended(`${kind} ${n}`, visited);
      return verdict;
    };
    for (let n = 0; n < 3; n++) expect(visit("list", n, "leads on")).toBe("visit");
    for (let n = 0; n < 3; n++) visit("page", n, "useful");
    expect(visit("list", 3, "leads on")).toBe("leave");
    visit("page", 3, "useful");
    expect([visit("list", 4, "leads on"), visit("list", 5, "leads on")].join(" ")).toBe(
      "visit leave",
    );
  });

  it("of orphans are two for a kind, so that one that leads nowhere leaves some to the others", () => {
    const last = new LastVisits();
    const orphans = evidenceOf("a.example **", "grows", "http://a.example/1");
    const verdicts = Array.from({ length: 11 }, (_, n) => {
      const verdict = last.take(orphans, `kind ${Math.floor(n / 3)}`, `url ${n}`);
      last.ended(`url ${n}`, "leads on");
      return verdict;
    });
    expect(verdicts.join(" ")).toBe(
      "visit visit leave visit visit leave visit visit leave visit visit",
    );
  });

  it("are one at a time of a URL whose lease ran out, so that none waits for a visit that has ended", async () => {
    const last = new LastVisits();
    const given = trap();
    const take = (n: number): string => last.take(given, `kind ${n}`, `url ${n}`);
    let isOver = false;
    expect([take(0), take(0)]).toEqual(["visit", "wait"]);
    const end = last.nextEnd().then(() => {
      isOver = true;
    });
    last.ended("url 1", "empty");
    await Promise.resolve();
    expect(isOver).toBe(false);
    last.ended("url 0", "empty");
    await end;
    const verdicts = Array.from({ length: 6 }, (_, n) => {
      const verdict = take(n);
      last.ended(`url ${n}`, "empty");
      return verdict;
    });
    expect(verdicts.join(" ")).toBe("visit visit visit visit visit leave");
  });

  it("are of ten thousand URLs of a trap at most", () => {
    const last = new LastVisits();
    const given = trap();
    let count = 0;
    for (let n = 0; n < 20_000; n++) if (last.setAside(given)) count++;
    expect(count).toBe(10_000);
  });
});

describe("a calendar", () => {
  const day = (n: number): string => `http://a.example/day/${n}`;
  const open = (isNew?: (url: string) => boolean) => {
    const known = new Set<string>();
    const isKnown = (url: string): boolean => known.has(url);
    const watch = createTrapWatch({ isKnown, ...(isNew && { isNew }) });
    const visit = (n: number, text: string, links: readonly string[]): void => {
      const digest = createTextDigest(day(n));
      digest.add(text);
      known.add(day(n));
      watch.visited({ url: day(n), digest, links, isNew: (url) => !known.has(url) });
      for (const link of links) known.add(link);
    };
    for (let n = 0; n < 25; n++)
      visit(n, `nothing on day ${n} of a calendar without any events at all`, [day(n + 1)]);
    const lease = (n: number) => watch.leaseOf({ url: day(n), isAside: () => true });
    return { watch, visit, lease };
  };
  const own = (n: number): string => `${createRandom(n).below(1e9)} `.repeat(2);

  it("is set aside, and left where its days lead on to others or are copies", () => {
    for (const leadsOn of [true, false]) {
      const { watch, visit, lease } = open();
      expect([watch.linkOf(day(3)), watch.linkOf(day(900))]).toEqual(["leave", "aside"]);
      expect(watch.leaseOf({ url: day(900) })).toBe("aside");
      expect(watch.leaseOf({ url: day(900), isRedirected: true })).toBe("aside");
      const verdicts: string[] = [];
      for (let n = 1_000; n < 1_006; n++) {
        verdicts.push(lease(n));
        if (verdicts.at(-1) !== "visit") continue;
        if (leadsOn) visit(n, `rows ${own(n)}`, [day(n + 5_000)]);
        else visit(n, `nothing on day ${n} of a calendar without any events at all`, []);
      }
      expect(verdicts.join(" ")).toBe("visit visit visit leave leave leave");
    }
  });

  it("is visited where they end, and credit is spent by visits without a page", () => {
    const { watch, visit, lease } = open();
    for (let n = 1_000; n < 1_100; n++) {
      expect([n, lease(n)]).toEqual([n, "visit"]);
      visit(n, `rows ${own(n)}`, [day(n - 1)]);
    }
    const ends: string[] = [];
    for (let n = 2_000; n < 2_009; n++) {
      ends.push(lease(n));
      watch.ended(day(n), true);
    }
    expect(ends.filter((end) => end === "visit")).toHaveLength(8);
  });

  it("counts no URL toward the ten thousand that failed before", () => {
    const failed = new Set<string>();
    const { watch } = open((url) => !failed.has(url));
    for (let n = 800; n < 900; n++) {
      expect(watch.linkOf(day(n))).toBe("aside");
      failed.add(day(n));
    }
    for (let n = 0; n < 11_000; n++) watch.linkOf(day(800 + (n % 100)));
    expect([watch.linkOf(day(899)), watch.linkOf(day(901))]).toEqual(["leave", "aside"]);
  });

  it("keeps its credit for leases that are given back", () => {
    const { watch, lease } = open();
    for (let n = 1_000; n < 1_050; n++) {
      expect([n, lease(n)]).toEqual([n, "visit"]);
      watch.ended(day(n), false);
    }
  });
});

describe("sites whose lists come before what they list", () => {
  it.each([1, 5, 9])("(%i) are visited to their end", async (seed) => {
    const site = openSoftwareSite(seed, 400, false);
    await crawl({ ...PLAIN, seeds: site.seed, downloaders: [site] }).finished;
    expect(site.good() / site.goodCount).toBeGreaterThanOrEqual(0.995);
  });

  it("are so after another process has set URLs aside", async () => {
    const directory = join(folder, "frontier");
    const site = openSoftwareSite(9, 400, false);
    const options = { ...PLAIN, directory, seeds: site.seed, downloaders: [site] };
    await crawl({ ...options, maxPages: 290 }).finished;
    const frontier = await openFrontier({ directory });
    const pending = [...frontier.records({ state: "pending" })];
    const aside = pending.filter(({ priority }) => (priority ?? 0) <= -2e15);
    await frontier.close();
    expect(aside.length).toBeGreaterThan(50);
    const { reason } = await crawl(options).finished;
    expect([reason, site.good() / site.goodCount >= 0.995]).toEqual(["finished", true]);
  });

  it("are visited to their end however long a visit takes: those that wait for it keep their leases", async () => {
    const clock = createVirtualClock(1_000);
    const defaults = { politeness: { delayMs: 0, perHost: 4 } };
    await using frontier = await openFrontier({ clock, defaults, leaseMs: 1e9 });
    const slow: Array<() => void> = [];
    let visits = 0;
    const site: Downloader = {
      async download({ url }) {
        const n = Number(/day\/(\d+)/.exec(url)?.[1] ?? 0);
        const days = Array.from({ length: 30 }, (_, by) => `<a href="/day/${n + by + 1}">`);
        const isLast = ++visits > 11;
        if (isLast) await new Promise<void>((resolve) => void slow.push(resolve));
        const own = Array.from(
          { length: 40 },
          (_, at) => `w${createRandom(41 * n + at).below(1e9)}`,
        );
        const text = isLast ? own.join(" ") : `Nothing is planned for day ${n} ${days.join("")}`;
        const body = Buffer.from(text);
        const headers = { "content-type": "text/html" };
        return { url, status: 200, headers, body, bytes: body.length, latencyMs: 1 };
      },
    };
    const seeds = "http://calendar.example/day/1";
    const options = { ...PLAIN, maxDepth: 1_000, clock, frontier, seeds, downloaders: [site] };
    let isOver = false;
    const finished = crawl(options).finished.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      // Each of them takes two seconds.
      for (let turn = 0; turn < 20; turn++) {
        await new Promise(setImmediate);
        clock.advance(100);
      }
      slow.shift()?.();
    }
    const { pages } = await finished;
    expect(frontier.report()).toMatchObject({ done: pages, failed: 0 });
    expect(pages).toBeGreaterThan(30);
  });

  it("end where the last visits find no page", async () => {
    await using frontier = await openFrontier({ defaults: { politeness: { delayMs: 0 } } });
    let [visits, given, released] = [0, 0, 0];
    frontier.on("released", ({ length }) => {
      released += length;
    });
    const site: Downloader = {
      async download({ url }) {
        const n = Number(/day\/(\d+)/.exec(url)?.[1] ?? 0);
        const status = ++visits > 11 ? 404 : 200;
        if (status === 404) given++;
        const days = Array.from({ length: 30 }, (_, by) => `<a href="/day/${n + by + 1}">`);
        const body = Buffer.from(`Nothing is planned for day ${n} ${days.join("")}`);
        const headers = { "content-type": "text/html" };
        return { url, status, headers, body, bytes: body.length, latencyMs: 1 };
      },
    };
    const options = { ...PLAIN, perHost: 1, concurrency: 1, maxDepth: 1_000, frontier };
    const seeds = "http://calendar.example/day/1";
    const { reason } = await crawl({ ...options, seeds, downloaders: [site] }).finished;
    const failed = [...frontier.records({ state: "failed" })].length;
    expect([reason, given > 0, failed > 20]).toEqual(["finished", true, true]);
    // Some 60 give way to others; none waits for a visit that has ended.
    expect(released).toBeLessThan(100);
  });
});
