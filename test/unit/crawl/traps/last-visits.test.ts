/** Families that were taken for traps are visited to their end, behind all others; endless ones are not. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openSoftwareSite } from "../../../../bench/cases/crawl/trap-software/site.ts";
import { createRandom } from "../../../../src/base/random.ts";
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
      last.ended(`url ${n}`, false);
      return verdict;
    });
    expect(verdicts.join(" ")).toBe("visit visit visit visit visit visit leave leave leave");
    const kinds = new LastVisits();
    const other = trap();
    const one = Array.from({ length: 4 }, (_, n) => {
      const verdict = kinds.take(other, "one", `url ${n}`);
      kinds.ended(`url ${n}`, false);
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
    const given = trap();
    const out: string[] = [];
    // The model: what is left of six and three, two more for each that gave something, at most eight.
    let [ofTrap, ofKind, ended] = [6, 3, 0];
    for (let n = 0; n < 2_000; n++) {
      if (out.length > 0 && random.below(2) === 0) {
        const gave = random.below(3) > 0;
        last.ended(out.shift() as string, gave);
        if (gave) [ofTrap, ofKind] = [Math.min(ofTrap + 2, 8), Math.min(ofKind + 2, 8)];
        last.ended(`never begun ${n}`, true);
        ended++;
        continue;
      }
      const isOpen = ofTrap > 0 && ofKind > 0;
      const expected = isOpen ? "visit" : out.length > 0 ? "wait" : "leave";
      expect([seed, n, last.take(given, "kind", `url ${n}`)]).toEqual([seed, n, expected]);
      if (!isOpen) continue;
      [ofTrap, ofKind] = [ofTrap - 1, ofKind - 1];
      out.push(`url ${n}`);
      expect(last.trapOf(`url ${n}`)).toBe(given);
    }
    expect(ended).toBeGreaterThan(100);
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
      expect(watch.linkOf(day(900))).toBe("aside");
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
      watch.ended(day(n));
    }
    expect(ends.filter((end) => end === "visit")).toHaveLength(8);
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
    expect(aside.length).toBeGreaterThan(10);
    const { reason } = await crawl(options).finished;
    expect([reason, site.good() / site.goodCount >= 0.995]).toEqual(["finished", true]);
  });
});
