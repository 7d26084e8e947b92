/** The final report of a crawl, to read. */
import type { CrawlSummary } from "../crawl.ts";
import { bytes, duration, share, table, whole } from "./text.ts";

export function reportText(summary: CrawlSummary): string {
  const { latencyMs, errors, duplicate, memory, elapsedMs } = summary;
  const links = duplicate + sum(summary.depths);
  const speed = `${duration(elapsedMs)}, ${whole(summary.pagesPerSecond)}/s`;
  const faults = [
    `downloader ${whole(errors.downloader)}`,
    `analyzer ${whole(errors.analyzer)}`,
    `pipeline ${whole(errors.pipeline)}`,
    `scheduler ${whole(errors.scheduler)}`,
  ];
  const percentiles = [
    `p50 ${latencyMs.p50} ms`,
    `p90 ${latencyMs.p90} ms`,
    `p99 ${latencyMs.p99} ms`,
    `max ${latencyMs.max} ms`,
  ];
  const sizes = [
    `heap ${bytes(memory.heapBytes)}`,
    `off heap ${bytes(memory.offHeapBytes)}`,
    `resident ${bytes(memory.residentBytes)}`,
  ];
  return table([
    ["pages", `${whole(summary.pages)} in ${speed}`],
    ["read", bytes(summary.bytes)],
    ["items", whole(summary.items)],
    ["hosts", `${whole(summary.hosts)}, robots.txt asked ${whole(summary.robotsFetched)} times`],
    ["duplicates", `${whole(duplicate)}, ${share(duplicate, links)} of all links in scope`],
    ["redirects", whole(summary.redirects)],
    ["disallowed", `${whole(summary.disallowed)} by robots.txt`],
    ["failed", `${whole(summary.failed)} for good, ${whole(summary.retried)} tried again`],
    ["statuses", counts(summary.statuses)],
    ["errors", faults.join(", ")],
    ["refused", counts(summary.rejected)],
    [
      "bounded",
      `${whole(summary.truncated)} pages cut, ${whole(summary.trapped)} links left as traps`,
    ],
    ["latency", percentiles.join(", ")],
    ["memory", sizes.join(", ")],
    ["pending", whole(summary.pending)],
  ]);
}

function counts(record: Record<string, number>): string {
  const parts = Object.entries(record).map(([name, count]) => `${name} × ${whole(count)}`);
  return parts.length === 0 ? "none" : parts.join(", ");
}

function sum(values: readonly number[]): number {
  return values.reduce((total, each) => total + each, 0);
}
