/**
 * Progress of a crawl: on a terminal a few lines that are redrawn in place, elsewhere one plain line now and then.
 *
 *   crawling  00:12   1,204 pages/s ▁▂▄▆█▇  eta 00:31
 *   pages 14,310   pending 37,120   leased 32   hosts 1,000
 *   failed 12   errors 3   duplicates 61 %   latency p50 3 ms, p99 41 ms
 *   read 31 MiB   heap 38 MiB   off heap 3.1 MiB   resident 140 MiB
 *
 *   I1  Only what this view drew is erased; the cursor is shown again at the end.
 *   I2  Off a terminal no escape sequence is written.
 */
import type { Crawl, CrawlSample } from "../crawl.ts";
import type { Io } from "./io.ts";
import { bytes, duration, cutTo, share, sparkline, whole } from "./text.ts";

export interface View {
  draw(run: Crawl, sample: CrawlSample): void;
  /** Words of the moment, above what is redrawn. */
  say(line: string): void;
  end(): void;
}

const PLAIN_EVERY_MS = 1_000;
const SPARK_COUNT = 24;

export function createView(io: Io, isLive: boolean): View {
  return isLive ? liveView(io) : plainView(io);
}

function plainView(io: Io): View {
  let toldAt = Number.NEGATIVE_INFINITY;
  let before: CrawlSample | undefined;
  return {
    draw(_, sample) {
      if (sample.elapsedMs - toldAt < PLAIN_EVERY_MS) return;
      const rate = rateOf(before, sample);
      toldAt = sample.elapsedMs;
      before = sample;
      const { pages, pending, failed, errors } = sample;
      const parts = [
        duration(sample.elapsedMs),
        `pages ${whole(pages)}`,
        `${whole(rate)}/s`,
        `pending ${whole(pending)}`,
        `failed ${whole(failed)}`,
        `errors ${whole(errors)}`,
      ];
      io.err(`${parts.join("  ")}\n`);
    },
    say: (line) => io.err(`${line}\n`),
    end: () => {},
  };
}

function liveView(io: Io): View {
  const rates: number[] = [];
  let before: CrawlSample | undefined;
  let drawn: string[] = [];
  const erase = (): string => (drawn.length === 0 ? "" : `\x1b[${drawn.length}A\r\x1b[J`);
  const strong = (text: string): string => (io.hasColor ? `\x1b[1m${text}\x1b[22m` : text);
  io.err("\x1b[?25l");
  const show = (lines: string[]): void => {
    const columns = io.columns();
    const cut = lines.map((line) => cutTo(line, columns - 1));
    const [first = "", ...rest] = cut;
    io.err(`${erase()}${[strong(first), ...rest].join("\n")}\n`);
    drawn = cut;
  };
  return {
    draw(run, sample) {
      if (before !== undefined && sample.elapsedMs > before.elapsedMs) {
        rates.push(rateOf(before, sample));
        if (rates.length > SPARK_COUNT) rates.shift();
      }
      before = sample;
      show(linesOf(run, sample, rates));
    },
    say(line) {
      const again = drawn;
      io.err(`${erase()}${line}\n`);
      drawn = [];
      if (again.length > 0) show(again);
    },
    end() {
      io.err(`${erase()}\x1b[?25h`);
      drawn = [];
    },
  };
}

function linesOf(run: Crawl, sample: CrawlSample, rates: readonly number[]): string[] {
  const { latencyMs, memory, hosts, duplicate } = run.report();
  const recent = rates.slice(-8);
  const rate = recent.reduce((sum, each) => sum + each, 0) / Math.max(recent.length, 1);
  const { pages, pending, leased, failed, errors, accepted } = sample;
  // What is pending takes at least this long; what it leads to is not known yet.
  const hasEta = rate >= 1 && pending > 0;
  const now = [
    `${run.status === "running" ? "crawling" : run.status}  ${duration(sample.elapsedMs)}`,
    `${whole(rate)} pages/s ${sparkline(rates)}`,
    ...(hasEta ? [`eta ≥ ${duration((pending / rate) * 1000)}`] : []),
  ];
  const counts = [
    `pages ${whole(pages)}`,
    `pending ${whole(pending)}`,
    `leased ${whole(leased)}`,
    `hosts ${whole(hosts)}`,
  ];
  const faults = [
    `failed ${whole(failed)}`,
    `errors ${whole(errors)}`,
    `duplicates ${share(duplicate, duplicate + accepted)}`,
    `latency p50 ${whole(latencyMs.p50)} ms, p99 ${whole(latencyMs.p99)} ms`,
  ];
  const sizes = [
    `read ${bytes(sample.bytes)}`,
    `heap ${bytes(memory.heapBytes)}`,
    `off heap ${bytes(memory.offHeapBytes)}`,
    `resident ${bytes(memory.residentBytes)}`,
  ];
  return [now, counts, faults, sizes].map((parts) => parts.join("   "));
}

function rateOf(before: CrawlSample | undefined, sample: CrawlSample): number {
  const from = before ?? { pages: 0, elapsedMs: 0 };
  const ms = sample.elapsedMs - from.elapsedMs;
  return ms <= 0 ? 0 : ((sample.pages - from.pages) * 1000) / ms;
}
