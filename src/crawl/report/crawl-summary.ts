/**
 * Room `src/crawl/report`: what a crawl reports: counters, percentiles, samples, faults. Bounded; it never delays the crawl.
 */

/**
 * What a crawl reports: counters, percentiles, and samples over time for plots.
 *
 *   I1  Samples are bounded: when SAMPLE_COUNT_MAX are there, every other one goes and the step doubles.
 */
import type { TrapReport } from "../traps/trap-watch.ts";
import type { HostHealth, SickHost } from "./host-health.ts";
import {
  createLatencyHistogram,
  latencyAt,
  type LatencyHistogram,
  latencyOctaves,
  recordLatency,
} from "../../base/time/latency-histogram.ts";
import type { Frontier, Report } from "../../index.ts";
import type { FaultHub } from "./fault-stream.ts";
import type { ModuleCounts, ModuleKind, ModuleRegistry } from "../module-registry.ts";
import type { HostPages, NamedCounts } from "./named-counts.ts";
import type { FailedUrl, SlowHost, SlowPage, VisitStatistics } from "./visit-statistics.ts";

/** Where a crawl stands. */
export type CrawlStatus = "opening" | "running" | "paused" | "draining" | "stopping" | "stopped";
/** Why a crawl ended. */
export type CrawlReason = "finished" | "max-pages" | "max-time" | "stopped" | "fault";

/** One moment of a crawl. */
export interface CrawlSample {
  /** Time since the beginning in milliseconds. */
  readonly elapsedMs: number;
  /** Pages worked on. */
  readonly pages: number;
  /** Bytes of bodies as they came. */
  readonly bytes: number;
  /** URLs left to visit. */
  readonly pending: number;
  /** Visits under way. */
  readonly leased: number;
  /** URLs that failed for good. */
  readonly failed: number;
  /** Faults so far. */
  readonly errors: number;
  /** Links that were known. */
  readonly duplicate: number;
  /** Links that were new. */
  readonly accepted: number;
  /** Resident memory of the whole process in bytes. */
  readonly residentBytes: number;
}

/** What a crawl did. */
export interface CrawlSummary {
  /** Where the crawl stands. */
  readonly status: CrawlStatus;
  /** Why it ended; undefined: it has not. */
  readonly reason?: CrawlReason;
  /** Answers of the 2xx kind that were worked on. */
  readonly pages: number;
  /** Bytes of bodies as they came. */
  readonly bytes: number;
  /** Items that the last step of their pipeline has accepted; without a pipeline, those that analyzers returned. */
  readonly items: number;
  /** Answers of the 3xx kind that led on. */
  readonly redirects: number;
  /** Answers 304. */
  readonly notModified: number;
  /** Sitemaps and feeds that were read. */
  readonly sitemaps: number;
  /** URLs that came due again by their date in a sitemap or feed. */
  readonly renewed: number;
  /** Pages that robots.txt forbids. */
  readonly disallowed: number;
  /** URLs that failed for good, in all runs of the frontier, including those that robots.txt forbids. */
  readonly failed: number;
  /** URLs that failed in this run, by reason (`robots`, `status 404`, `timeout` …), the most frequent first. */
  readonly failures: Record<string, number>;
  /**
   * Pages by what their site declares about their use: `train-ai=disallow`, `ai-train=no`, `noindex`, `nofollow` …, the most frequent
   * first.
   */
  readonly policies: Record<string, number>;
  /** Attempts after the first. */
  readonly retried: number;
  /** Bodies that were cut. */
  readonly truncated: number;
  /** Links with the form of a trap, which were not followed. */
  readonly trapped: number;
  /** Links that were known. */
  readonly duplicate: number;
  /** Links that were refused, by reason. */
  readonly rejected: Record<string, number>;
  /** URLs left to visit. */
  readonly pending: number;
  /** Hosts. */
  readonly hosts: number;
  /** Requests for robots.txt. */
  readonly robotsFetched: number;
  /** Answers by status. */
  readonly statuses: Record<string, number>;
  /** Faults by stage, and those that streams dropped. */
  readonly errors: Record<"downloader" | "analyzer" | "pipeline" | "scheduler" | "dropped", number>;
  /** Time since the beginning in milliseconds. */
  readonly elapsedMs: number;
  /** Pages divided by that time. */
  readonly pagesPerSecond: number;
  /** Times to the first byte in milliseconds. */
  readonly latencyMs: {
    /** Half of them took no longer. */
    p50: number;
    /** 90 % of them took no longer. */
    p90: number;
    /** 99 % of them took no longer. */
    p99: number;
    /** 99.9 % of them took no longer. */
    p999: number;
    /** The longest. */
    max: number;
  };
  /** Answers by time to the first byte: index i counts those above 2^(i − 1) ms and up to 2^i ms. */
  readonly latencies: number[];
  /** Admitted URLs by depth. */
  readonly depths: number[];
  /** Hosts by pages: index i counts those with 2^i pages and up to twice as many; of at most 20,000 hosts. */
  readonly hostPages: number[];
  /**
   * The last 100 URLs that failed in this run, oldest first; `failures` counts all. `frontier.records({ state: "failed" })`
   * and `outrider failed` list the last 10,000 of a directory.
   */
  readonly failing: FailedUrl[];
  /** Pages that took longest to their first byte, at most ten. */
  readonly slowest: SlowPage[];
  /** Hosts by the mean time to their first byte, the slowest ten of at most 20,000. */
  readonly slowestHosts: SlowHost[];
  /** Hosts that answer badly, by their score, the lowest ten; a host without a fault is not among them. */
  readonly sickest: SickHost[];
  /** Families of URLs that were recognised as traps, the most left first; at most twenty. Empty without the option `traps`. */
  readonly traps: TrapReport[];
  /** Answers by status and depth: `statusDepths["404"][2]` counts those two links from a seed. */
  readonly statusDepths: Record<string, number[]>;
  /** Hosts with the most pages, at most ten. */
  readonly busiest: HostPages[];
  /** How much each module has worked. */
  readonly modules: Record<ModuleKind, ModuleCounts[]>;
  /** Memory of the process. */
  readonly memory: {
    /** JavaScript heap in bytes. */
    heapBytes: number;
    /** Memory of the frontier outside the heap in bytes. */
    offHeapBytes: number;
    /** Resident memory in bytes. */
    residentBytes: number;
  };
  /** Where the frontier lives on disk. */
  readonly directory?: string;
  /** The summary as lines of text. */
  toString(): string;
}

/** What visits step. */
const COUNTED = [
  ...(["pages", "bytes", "items", "redirects", "notModified", "sitemaps", "renewed"] as const),
  ...(["disallowed", "truncated", "trapped"] as const),
  // Links that the built-in analyzer left, as too long for a URL or beyond the bound of a page.
  ...(["tooLong", "tooMany"] as const),
  // Links that `include` and `exclude` left, and those beyond `maxPathUrls` and `maxQueryUrls`.
  ...(["excluded", "overBudget"] as const),
];

type Counted = (typeof COUNTED)[number];

export interface CrawlCounters extends Record<Counted, number> {
  readonly statuses: Record<string, number>;
  readonly latency: { record(ms: number): void; readonly histogram: LatencyHistogram };
}

export function createCounters(): CrawlCounters {
  const histogram = createLatencyHistogram();
  return {
    ...(Object.fromEntries(COUNTED.map((name) => [name, 0])) as Record<Counted, number>),
    statuses: {},
    latency: { histogram, record: (ms) => recordLatency(histogram, ms) },
  };
}

interface SummaryParts {
  readonly frontier: Frontier;
  readonly counters: CrawlCounters;
  readonly namedCounts: NamedCounts;
  readonly visits: VisitStatistics;
  readonly health: HostHealth;
  readonly traps: TrapReport[];
  readonly faults: FaultHub;
  readonly modules: ModuleRegistry;
  readonly status: CrawlStatus;
  readonly reason: CrawlReason | undefined;
  readonly elapsedMs: number;
  readonly robotsFetched: number;
  readonly directory: string | undefined;
}

const BUSIEST_MAX = 10;

export function summarize(parts: SummaryParts): CrawlSummary {
  const { counters, faults, namedCounts } = parts;
  const report = parts.frontier.report();
  const { latency, statuses, tooLong, tooMany, excluded, overBudget, ...counts } = counters;
  const at = (share: number): number => Math.round(latencyAt(latency.histogram, share) * 10) / 10;
  const seconds = Math.max(parts.elapsedMs, 1) / 1000;
  const summary = {
    status: parts.status,
    ...(parts.reason === undefined ? {} : { reason: parts.reason }),
    ...counts,
    failed: report.failed,
    failures: namedCounts.failures(),
    policies: namedCounts.policies(),
    retried: report.retried,
    duplicate: report.duplicate,
    rejected: rejectedOf(report, { tooLong, tooMany, excluded, overBudget }),
    pending: report.pending + report.waiting + report.leased,
    hosts: report.hosts,
    robotsFetched: parts.robotsFetched,
    statuses: { ...statuses },
    errors: { ...faults.counts, dropped: faults.dropped },
    elapsedMs: Math.round(parts.elapsedMs),
    pagesPerSecond: Math.round((counters.pages / seconds) * 10) / 10,
    latencyMs: { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: at(1) },
    latencies: latencyOctaves(latency.histogram),
    depths: [...report.depths],
    hostPages: namedCounts.hostPages(),
    failing: [...parts.visits.failing],
    slowest: parts.visits.slowest(),
    slowestHosts: parts.visits.slowestHosts(),
    sickest: parts.health.sickest(),
    traps: parts.traps,
    statusDepths: parts.visits.statusDepths(),
    busiest: namedCounts.busiest(BUSIEST_MAX),
    modules: parts.modules.counts(),
    memory: memoryOf(report),
    ...(parts.directory === undefined ? {} : { directory: parts.directory }),
  };
  const hidden = { enumerable: false, value: () => JSON.stringify(summary, null, 2) };
  return Object.defineProperty(summary, "toString", hidden) as CrawlSummary;
}

/** By the frontier, and by the analyzer before it. */
function rejectedOf(
  { rejected }: Report,
  counts: Pick<CrawlCounters, "tooLong" | "tooMany" | "excluded" | "overBudget">,
): Record<string, number> {
  const { tooLong, tooMany, excluded, overBudget } = counts;
  const budget = overBudget + (rejected.budget ?? 0);
  const longer = tooLong + (rejected["too-long"] ?? 0);
  return {
    ...rejected,
    ...(longer === 0 ? {} : { "too-long": longer }),
    ...(tooMany === 0 ? {} : { "too-many": tooMany }),
    ...(excluded === 0 ? {} : { excluded }),
    ...(budget === 0 ? {} : { budget }),
  };
}

function memoryOf(report: Report): CrawlSummary["memory"] {
  const { heapBytes, offHeapBytes } = report.memory;
  return { heapBytes, offHeapBytes, residentBytes: process.memoryUsage.rss() };
}

const SAMPLE_COUNT_MAX = 512;

/** Samples at a step that grows with the crawl, so that their number does not. */
export function createSampler() {
  const samples: CrawlSample[] = [];
  let stepMs = 0;
  return {
    samples,
    add(sample: CrawlSample): void {
      const last = samples.at(-1);
      if (last !== undefined && sample.elapsedMs - last.elapsedMs < stepMs) return;
      samples.push(sample);
      if (samples.length < SAMPLE_COUNT_MAX) return;
      const kept = samples.filter((_, index) => index % 2 === 0);
      samples.splice(0, samples.length, ...kept);
      stepMs = (2 * sample.elapsedMs) / SAMPLE_COUNT_MAX;
    },
  };
}
