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
      last.ended(`url ${n}`, "nothing");
      return verdict;
    });
    expect(verdicts.join(" ")).toBe("visit visit visit visit visit visit leave leave leave");
    const kinds = new LastVisits();
    const other = trap();
    const one = Array.from({ length: 4 }, (_, n) => {
      const verdict = kinds.take(other, "one", `url ${n}`);
      kinds.ended(`url ${n}`, "nothing");
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
    let [ofTrap, ofKind, ended] = [6, 3, 0];
    for (let n = 0; n < 2_000; n++) {
      if (out.length > 0 && random.below(2) === 0) {
        const gain = Math.max(random.below(4) - 1, 0);
        const url = out.shift() as string;
        for (const each of [url, url, `never begun ${n}`])
          last.ended(each, (["nothing", "no visit", "something"] as const)[gain] ?? "nothing");
        [ofTrap, ofKind] = [Math.min(ofTrap + gain, 8), Math.min(ofKind + gain, 8)];
        ended++;
        continue;
      }
      const isOpen = ofTrap > 0 && ofKind > 0;
      const expected = isOpen ? "visit" : out.length > 0 ? "wait" : "leave";
      expect([seed, n, last.take(given, `kind ${kind}`, `url ${n}`)]).toEqual([seed, n, expected]);
      if (expected === "leave") {
        [given, kind] = [trap(), kind + 1];
        [ofTrap, ofKind] = [6, 3];
      }
      if (!isOpen) continue;
      [ofTrap, ofKind] = [ofTrap - 1, ofKind - 1];
      out.push(`url ${n}`);
      expect(last.trapOf(`url ${n}`)).toBe(given);
    }
    expect([ended > 100, kind > 5]).toEqual([true, true]);
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
  const open = () => {
    const known = new Set<string>();
    const watch = createTrapWatch({ isKnown: (url) => known.has(url) });
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
      expect(watch.leaseOf({ url: day(900), isRedirected: true })).toBe("leave");
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
    const site = openSoftwareSite(1, 400, false);
    const options = { ...PLAIN, directory, seeds: site.seed, downloaders: [site] };
    await crawl({ ...options, maxPages: 290 }).finished;
    const frontier = await openFrontier({ directory });
    const pending = [...frontier.records({ state: "pending" })];
    const aside = pending.filter(({ priority }) => priority === -2_000_000);
    await frontier.close();
    expect(aside.length).toBeGreaterThan(50);
    const { reason } = await crawl(options).finished;
    expect([reason, site.good() / site.goodCount >= 0.995]).toEqual(["finished", true]);
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
