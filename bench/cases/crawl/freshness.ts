/**
 * freshness: how many pages are fetched for each change that is found, over pages that change at known rates.
 *
 *   pages, each a Poisson process of its own rate ── a visit sees whether it has changed since the last one ─▶ when to come again
 *
 *   outrider     epoch { adaptive }: learns each page's rate from what its visits show
 *   fixed        epoch { every }: one period for all, as many visits as outrider makes
 *   best         visits in proportion to the rates, which it knows, as many as outrider makes: no other way finds more changes by as many visits
 *   sitemap      a sitemap with true dates, read every six hours: what is due by it is visited (the sitemap's own fetches count)
 *
 * The clock is virtual, and nothing is measured in time: a page fetched counts as a millisecond, so that ratios are those of fetches for each change.
 * The first third of the days, in which rates are learned, is a fact of its own. Facts: the share of time in which the copy of a page is up to
 * date, and the best share that as many visits could have (the pages' marginal gains made equal, Cho and Garcia-Molina, 2003).
 *
 * Best: a visit of a page of rate λ, visited f times a day, finds a change with probability 1 − e^(−λ/f). The sum of f (1 − e^(−λ/f)) at a given sum of
 * f is greatest where λ/f is the same for all: 1 / (1 − e^(−Λ/F)) fetches for each change.
 *
 * Estimate: one visit for each mean time between changes finds one with probability 1 − 1/e: 1.58 fetches, and best at as many visits 1.55, since
 * the period strays by a factor of 1.5 around its mean. Rates spread evenly in their logarithm from 4 a day to one in 60 days leave a fixed period at 2.4.
 * A sitemap needs 1.0, and its own fetches. The copies of a fixed period are up to date for longer: half of its visits go to pages that hardly change.
 */
import { createRandom, type Random } from "../../../src/base/random.ts";
import { createSitemapTimes } from "../../../src/crawl/robots/sitemap-times.ts";
import { createVirtualClock, type EpochPolicy, openFrontier } from "../../../src/index.ts";
import { type BenchCase, type Job, numberOf, type Params } from "../../harness/case.ts";

const DAY_MS = 86_400_000;
const START_MS = 1_790_000_000_000;
const RATE_MAX = 4;
const RATE_MIN = 1 / 60;
const LEARNED = 1 / 3;
const SITEMAP_MS = DAY_MS / 4;
const SITEMAP = "https://www.example.org/sitemap.xml";

export const freshness: BenchCase = {
  name: "freshness",
  suite: "crawl",
  about: "pages fetched for each change found, a fetch counted as a millisecond",
  question: "What does it cost to stay fresh?",
  unit: "change",
  process: "shared",
  pairs: [
    ["outrider", "fixed"],
    ["outrider", "best"],
    ["outrider", "sitemap"],
  ],
  isSameWork: false,
  target: "≥ 1.3 × fixed; ≥ 0.9 × best",
  sizes: {
    smoke: [{ pages: 50, days: 30 }],
    real: [{ pages: 500, days: 120 }],
    large: [{ pages: 2_000, days: 180 }],
  },
  rounds: 3,
  setup,
};

function setup(side: string, params: Params): Job {
  const pages = numberOf(params, "pages");
  const days = numberOf(params, "days");
  let told = "";
  return {
    async run() {
      const web = createWeb(pages);
      const { fetches, found, fresh, learning } = await result(side, web, days);
      told = `${fetches} ${found}`;
      return {
        times: { "fetches, 1 ms each": (1e6 * fetches) / found },
        facts: {
          ...{ "fetches per change": fetches / found, "share of time up to date": fresh },
          ...(learning === undefined ? {} : { "fetches per change while learning": learning }),
        },
      };
    },
    checksum: () => told,
  };
}

interface Result {
  /** After the days in which rates are learned. */
  readonly fetches: number;
  readonly found: number;
  /** Share of time in which a copy is up to date, over all pages. */
  readonly fresh: number;
  readonly learning?: number;
}

async function result(side: string, web: Web, days: number): Promise<Result> {
  if (side === "sitemap") return listed(web, days);
  const ours = await visited(web, days, { adaptive: { min: "1h", max: "120d" } });
  if (side === "outrider") return ours;
  const perDay = ours.fetches / (days * (1 - LEARNED));
  if (side === "best") return best(web.rates, perDay, ours.fetches);
  return visited(createWeb(web.rates.length), days, {
    every: Math.round((web.rates.length * DAY_MS) / perDay),
  });
}

interface Web {
  readonly rates: readonly number[];
  /** When a page changed last, no later than a time that never goes back. */
  changedAt(page: number, atMs: number): number;
}

/** Rates in changes a day, spread evenly in their logarithm. */
function createWeb(pages: number): Web {
  const random = createRandom(30);
  const rates = Array.from(
    { length: pages },
    (_, n) => RATE_MIN * (RATE_MAX / RATE_MIN) ** ((n + 0.5) / pages),
  );
  const last = new Float64Array(pages).fill(START_MS);
  const next = Float64Array.from(rates, (rate) => START_MS + waitMs(random, rate));
  return {
    rates,
    changedAt(page, atMs) {
      while ((next[page] as number) <= atMs) {
        last[page] = next[page] as number;
        next[page] = (next[page] as number) + waitMs(random, rates[page] as number);
      }
      return last[page] as number;
    },
  };
}

function waitMs(random: Random, rate: number): number {
  return (-Math.log(1 - random.unit()) / rate) * DAY_MS;
}

const urlOf = (page: number): string => `https://www.example.org/${page}`;
const pageOf = (url: string): number => Number(url.slice(urlOf(0).length - 1));

/** What visits have seen. */
function createWatch(web: Web, days: number) {
  const seenAt = new Float64Array(web.rates.length).fill(START_MS);
  const fromMs = START_MS + days * DAY_MS * LEARNED;
  const endMs = START_MS + days * DAY_MS;
  let staleMs = 0;
  const counts = { fetches: 0, found: 0, earlyFetches: 0, earlyFound: 0 };
  return {
    counts,
    /** A visit; whether it found a change. The copy was old from the first change on that it had not seen. */
    see(page: number, atMs: number, firstMissed: number | undefined): boolean {
      const changed = web.changedAt(page, atMs) > (seenAt[page] as number);
      seenAt[page] = atMs;
      if (atMs < fromMs) {
        counts.earlyFetches++;
        if (changed) counts.earlyFound++;
        return changed;
      }
      counts.fetches++;
      if (changed) counts.found++;
      if (changed) staleMs += atMs - Math.max(firstMissed ?? atMs, fromMs);
      return changed;
    },
    result(): Result {
      const { fetches, found, earlyFetches, earlyFound } = counts;
      const fresh = 1 - staleMs / (web.rates.length * (endMs - fromMs));
      return { fetches, found, fresh, learning: earlyFetches / Math.max(earlyFound, 1) };
    },
  };
}

async function visited(web: Web, days: number, epoch: EpochPolicy): Promise<Result> {
  const clock = createVirtualClock(START_MS);
  const frontier = await openFrontier({ clock, keepOpen: true, defaults: { epoch } });
  frontier.pushMany(web.rates.map((_, page) => urlOf(page)));
  const watch = createWatch(web, days);
  const first = new Float64Array(web.rates.length);
  const endMs = START_MS + days * DAY_MS;
  for (;;) {
    for (const lease of frontier.pollMany(1_000)) {
      const page = pageOf(lease.url);
      const missed = firstMissed(web, page, first[page] as number, clock.now());
      lease.done({ outcome: { changed: watch.see(page, clock.now(), missed) } });
      first[page] = clock.now();
    }
    const dueAt = frontier.nextDueAt() ?? endMs;
    if (dueAt >= endMs) break;
    clock.advance(Math.max(dueAt - clock.now(), 0));
  }
  await frontier.close();
  return watch.result();
}

/** The mean time of the first change since a visit, where there was one: of a Poisson process it is a function of its rate. */
function firstMissed(web: Web, page: number, sinceMs: number, atMs: number): number {
  const gap = (atMs - sinceMs) / DAY_MS;
  const rate = web.rates[page] as number;
  const mean = 1 / rate - gap / Math.expm1(rate * gap);
  return sinceMs + mean * DAY_MS;
}

async function listed(web: Web, days: number): Promise<Result> {
  const clock = createVirtualClock(START_MS);
  const frontier = await openFrontier({ clock, keepOpen: true });
  const times = createSitemapTimes({ clock, frontier, file: undefined, onDue: () => {} });
  const watch = createWatch(web, days);
  const first = new Float64Array(web.rates.length).fill(START_MS);
  let readings = 0;
  for (; clock.now() < START_MS + days * DAY_MS; clock.advance(SITEMAP_MS)) {
    const found = web.rates.map((_, page) => {
      const lastmod = new Date(web.changedAt(page, clock.now())).toISOString();
      return { url: urlOf(page), data: { lastmod } };
    });
    frontier.pushMany(await times.take({ url: SITEMAP, data: undefined, found }));
    if (clock.now() >= START_MS + days * DAY_MS * LEARNED) readings++;
    for (const lease of frontier.pollMany(found.length)) {
      const page = pageOf(lease.url);
      const missed = firstMissed(web, page, clock.now() - SITEMAP_MS, clock.now());
      watch.see(page, clock.now(), Math.max(missed, first[page] as number));
      times.visited(lease.url, clock.now());
      lease.done();
    }
  }
  await frontier.close();
  const { fetches, found, fresh } = watch.result();
  return { fetches: fetches + readings, found, fresh };
}

/** Visits in proportion to the rates; the share of time is that of the allocation that is best for it. */
function best(rates: readonly number[], perDay: number, fetches: number): Result {
  const sum = rates.reduce((total, rate) => total + rate, 0);
  const found = fetches * -Math.expm1(-sum / perDay);
  return { fetches, found, fresh: bestFresh(rates, perDay) };
}

/** The marginal gain μ at which the visits of all pages add up, by bisection; of one page as well. */
function bestFresh(rates: readonly number[], perDay: number): number {
  const visitsAt = (gain: number): number[] => rates.map((rate) => visitsOf(rate, gain));
  const total = (gain: number): number => visitsAt(gain).reduce((sum, each) => sum + each, 0);
  const gain = bisected(1e-9, 1 / RATE_MIN, (at) => total(at) > perDay);
  const shares = visitsAt(gain).map((visits, page) => {
    const ratio = (rates[page] as number) / visits;
    return visits === 0 ? 0 : -Math.expm1(-ratio) / ratio;
  });
  return shares.reduce((sum, share) => sum + share, 0) / rates.length;
}

/** Visits a day at which one more gains so much: (1 − e^(−r) − r e^(−r)) / λ, r = λ/f. A page that changes too often gets none. */
function visitsOf(rate: number, gain: number): number {
  if (gain * rate >= 1) return 0;
  const ratio = bisected(1e-9, 1e3, (r) => 1 - Math.exp(-r) - r * Math.exp(-r) < gain * rate);
  return rate / ratio;
}

/** The largest of an interval, in its logarithm, for which something holds. */
function bisected(least: number, most: number, holds: (at: number) => boolean): number {
  let [low, high] = [Math.log(least), Math.log(most)];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (holds(Math.exp(middle))) low = middle;
    else high = middle;
  }
  return Math.exp(low);
}
