/**
 * SitemapTimes: compares the dates of pages in sitemaps and feeds with their last visits.
 *
 *   sitemap read ─▶ each entry ─ unknown to the frontier ──────────────▶ pushed, as any link
 *                             ├─ done or failed, changed since its visit ─▶ put: due now
 *                             └─ else ─────────────────────────────────▶ rests
 *
 *   I1  A page comes due only where its lastmod is newer than all before, and its last visit is no later than what it may mean. A date
 *       that is invalid, older than the web, or more than a day ahead is ignored. So a sitemap brings a page back at most once each time
 *       it is read.
 *   I2  A sitemap that others name comes due at most once for each reading of the one at their top: `since` in its data is the time of that
 *       reading, and what was read after it rests. Sitemaps that name each other in a circle end there.
 *
 * Crash: entries of the last moments are missing; pages that they made due may come due once more.
 */
import type { Clock } from "../../base/clock.ts";
import { type Lastmod, readLastmod } from "../../base/time/lastmod.ts";
import type { LineFile } from "../files.ts";
import type { AsyncFrontier, Frontier, RequestInput } from "../../index.ts";
import { createUrlTimes } from "../notes/url-times.ts";
import { SITEMAP_HANDLER } from "./sitemap.ts";

/** A sitemap that is being read, and what it lists. */
export interface SitemapReading {
  readonly url: string;
  /** The data of its request. */
  readonly data: unknown;
  readonly found: readonly RequestInput[];
}

export type SitemapTimes = ReturnType<typeof createSitemapTimes>;

/** Records of a frontier, in this thread or elsewhere. */
type Records = Pick<Frontier, "record" | "put"> | Pick<AsyncFrontier, "record" | "put">;

interface SitemapTimesOptions {
  readonly clock: Clock;
  readonly frontier: Pick<Frontier, "report"> & Records;
  /** The file in which they outlive the process. */
  readonly file: LineFile | undefined;
  /** Called for each URL that comes due. */
  readonly onDue: () => void;
  /** Most URLs that are remembered. */
  readonly countMax?: number;
}

const DAY_MS = 86_400_000;
/** Entries between two turns of the event loop: some milliseconds. */
const SLICE = 500;

export function createSitemapTimes(options: SitemapTimesOptions) {
  const { clock, frontier, file, onDue, countMax } = options;
  const times = createUrlTimes({ clock, file, countMax });

  /** Whether a page has changed since its last visit; notes its date. `finishedAt` undefined: it is not done, or not known. */
  const hasChanged = (url: string, date: Lastmod, finishedAt: number | undefined): boolean => {
    const before = times.of(url);
    if (before !== undefined && date.from <= before.lastmod) return false;
    const visitedAt = before?.visitedAt ?? finishedAt ?? clock.now();
    times.note(url, { lastmod: date.from, visitedAt });
    if (finishedAt === undefined) return false;
    // The first date of a page counts from the beginning of its day.
    return (before === undefined ? date.from : date.until) > visitedAt;
  };

  /** Whether a sitemap that another one names is to be read again. */
  const isStale = (url: string, date: Lastmod | undefined, from: number): boolean => {
    const { visitedAt } = times.of(url) ?? { visitedAt: times.since };
    return visitedAt < from && (date === undefined || date.until > visitedAt);
  };

  const isDue = async (request: RequestInput, from: number): Promise<boolean> => {
    const { url, handler, data } = request;
    const record = await frontier.record(request);
    const isKnown = record?.state === "done" || record?.state === "failed";
    const read = readLastmod((data as { lastmod?: unknown } | undefined)?.lastmod);
    const date = read !== undefined && read.from <= clock.now() + DAY_MS ? read : undefined;
    if (handler === SITEMAP_HANDLER) return isKnown && isStale(url, date, from);
    if (date === undefined || record?.state === "removed") return false;
    const finishedAt = record?.times?.finishedAt ?? times.since;
    return hasChanged(url, date, isKnown ? finishedAt : undefined);
  };

  return {
    /** Makes what has changed due, and returns what is to be pushed. */
    async take({ url, data, found }: SitemapReading): Promise<RequestInput[]> {
      // A bloom filter keeps no record of visits.
      if (frontier.report().seenSet.mode === "bloom") return [...found];
      const { lastmod, visitedAt } = times.of(url) ?? { lastmod: 0, visitedAt: 0 };
      const nowMs = clock.now();
      const asked = Number((data as { since?: unknown } | null | undefined)?.since);
      // Where it was read since, it comes again by itself, and is the first to be read.
      const from = asked > visitedAt ? asked : nowMs;
      times.note(url, { lastmod, visitedAt: nowMs });
      const pushed: RequestInput[] = [];
      for (const one of found) {
        if (pushed.length % SLICE === SLICE - 1)
          await new Promise((resolve) => setImmediate(resolve));
        const isSitemap = one.handler === SITEMAP_HANDLER;
        const request = isSitemap ? { ...one, data: { ...dataOf(one), since: from } } : one;
        pushed.push(request);
        if (!(await isDue(request, from))) continue;
        const { status } = await frontier.put(await withKnownData(request, frontier), {
          dueAt: nowMs,
        });
        if (status === "pending") onDue();
      }
      return pushed;
    },
    /** A visit of a page was done. */
    visited(url: string, atMs: number): void {
      if (times.size === 0) return;
      const before = times.of(url);
      if (before !== undefined && atMs > before.visitedAt)
        times.note(url, { ...before, visitedAt: atMs });
    },
    /** A flush ended at that time; Infinity: everything is durable. */
    flushed: (atMs: number): void => times.flushed(atMs),
  };
}

/** Data of the user's own program are kept beside the new date. */
async function withKnownData(request: RequestInput, frontier: Records): Promise<RequestInput> {
  const data = (await frontier.record(request))?.data;
  if (data === undefined || data === null) return request;
  if (Object.getPrototypeOf(data) === Object.prototype)
    return { ...request, data: { ...data, ...dataOf(request) } };
  const { data: _, ...rest } = request;
  return rest;
}

function dataOf({ data }: RequestInput): object {
  return (data ?? {}) as object;
}
