/**
 * warc: what an archive costs beside the two things that it cannot do without.
 *
 *   exchange ─┬─ outrider          createWarcFile: SHA-1, records, three gzip members, one write, index; TOGETHER in flight
 *             ├─ zlib and SHA-1    one gzipSync at level 6 over the bytes of the same records, one SHA-1 over the body
 *             └─ one stream        one gzipSync at level 6 over the bytes of all records, as `gzip -6` compresses a file; SHA-1 as above
 *
 * CPU time of the process, its other threads included: a body beyond 128 KiB is compressed on one of those.
 *
 * archive: a crawl of some 500 pages a second, with an archive and without.
 *
 * Estimate: deflate compresses 40 to 60 MB/s of text, so a page of 8 KiB costs 150 to 200 µs; heads of records, write and index 25 µs.
 */
import { hash } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { createRandom } from "../../../src/base/random.ts";
import { createWarcFile, crawl as startCrawl, type Exchange } from "../../../src/crawl.ts";
import { dateOf, exchangeRecords, piecesOf } from "../../../src/crawl/archive/warc-records.ts";
import { type BenchCase, type Job, nowNs, numberOf, type Params } from "../../harness/case.ts";
import { openWebProcess } from "./web.ts";

const LEVEL = 6;
/** Exchanges in flight, as in a crawl. */
const TOGETHER = 16;
/** Pages before the clock runs: a crawl's archive is not new for long. */
const WARM = 500;

export const warc: BenchCase = {
  name: "warc",
  suite: "crawl",
  about: "CPU time of an archive, against zlib level 6 and SHA-1 over the same bytes",
  question: "What does an archive cost?",
  unit: "page",
  process: "fresh",
  pairs: [
    ["outrider", "zlib and SHA-1"],
    ["outrider", "one stream"],
  ],
  target: "≥ 0.83 ×: at most 1.2 × their time",
  sizes: {
    smoke: [{ pages: 20, kilobytes: 4 }],
    real: [
      { pages: 4_000, kilobytes: 4 },
      { pages: 2_000, kilobytes: 16 },
      { pages: 500, kilobytes: 64 },
      { pages: 200, kilobytes: 512 },
    ],
  },
  setup: (side, params) => setupWarc(side, params),
};

async function setupWarc(side: string, params: Params): Promise<Job> {
  const count = numberOf(params, "pages");
  const exchanges = exchangesOf(count, 1024 * numberOf(params, "kilobytes"));
  const records = side === "outrider" ? [] : exchanges.map(recordsOf);
  const folder = mkdtempSync(join(tmpdir(), "outrider-bench-warc-"));
  const work = (some: readonly Exchange[]): number | Promise<number> =>
    side === "outrider"
      ? archived(some, mkdtempSync(join(folder, "run-")))
      : compressed(some, records, side === "one stream");
  await work(exchanges.slice(0, WARM));
  return {
    async run() {
      const before = process.cpuUsage();
      const bytes = await work(exchanges);
      const { user, system } = process.cpuUsage(before);
      return {
        times: { cpu: ((user + system) * 1000) / count },
        facts: { "bytes/page": bytes / count },
      };
    },
    checksum: () => `${count} pages, ${exchanges.reduce((sum, { body }) => sum + body.length, 0)}`,
    close: () => rmSync(folder, { recursive: true }),
  };
}

/** Bytes of the file that was written. */
async function archived(exchanges: readonly Exchange[], folder: string): Promise<number> {
  const path = join(folder, "crawl.warc.gz");
  const file = createWarcFile(path, { level: LEVEL });
  for (let at = 0; at < exchanges.length; at += TOGETHER)
    await Promise.all(exchanges.slice(at, at + TOGETHER).map((each) => file.archive(each)));
  file.close();
  return statSync(path).size;
}

function compressed(
  exchanges: readonly Exchange[],
  records: readonly Buffer[],
  isOneStream: boolean,
): number {
  for (const { body } of exchanges) hash("sha1", body, "hex");
  const members = isOneStream ? [Buffer.concat(records)] : records.slice(0, exchanges.length);
  return members.reduce((sum, bytes) => sum + gzipSync(bytes, { level: LEVEL }).length, 0);
}

/** All bytes of an exchange's records. */
function recordsOf(exchange: Exchange): Buffer {
  const digest = `sha1:${"A".repeat(32)}`;
  return Buffer.concat(
    exchangeRecords(exchange, { digest, date: dateOf(exchange), known: undefined }).flatMap(
      piecesOf,
    ),
  );
}

const WORDS = 4_000;
const TAGS = ["<p>", "</p>\n", '<a href="/wiki/', '">', "</a>", "<li>", "</li>\n", "<em>", "</em>"];

/** Pages of words of which some are frequent, between tags: they shrink to about a third, as real ones do. */
function exchangesOf(count: number, bytes: number): Exchange[] {
  const random = createRandom(30);
  const words = Array.from({ length: WORDS }, () =>
    Array.from({ length: 2 + random.below(8) }, () =>
      String.fromCharCode(97 + random.below(26)),
    ).join(""),
  );
  const wordOf = (): string => words[Math.floor(WORDS * random.unit() ** 3)] as string;
  return Array.from({ length: count }, (_, at) => {
    let text = `<!doctype html><html><head><title>${at}</title></head><body>`;
    while (text.length < bytes) {
      text += random.below(5) === 0 ? (TAGS[random.below(TAGS.length)] as string) : `${wordOf()} `;
    }
    return {
      ...{ url: `https://www.example.org/wiki/${wordOf()}/${at}`, atMs: 1_790_000_000_000 + at },
      ...{ address: "192.0.2.1", method: "GET", status: 200, statusText: "OK", latencyMs: 21 },
      requestHeaders: [
        ["host", "www.example.org"],
        ["connection", "keep-alive"],
        ["user-agent", "Outrider/0.1 (+https://example.org/bot)"],
        ["accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5"],
        ["accept-encoding", "gzip, deflate, br"],
      ],
      responseHeaders: [
        ["Date", "Tue, 24 Nov 2026 04:00:00 GMT"],
        ["Server", "nginx/1.22.1"],
        ["Content-Type", "text/html; charset=utf-8"],
        ["Content-Length", String(bytes)],
        ["Last-Modified", "Mon, 23 Nov 2026 10:20:30 GMT"],
        ["ETag", `"${at.toString(16)}-5f0"`],
        ["Connection", "keep-alive"],
      ],
      body: Buffer.from(text),
    };
  });
}

export const archive: BenchCase = {
  name: "archive",
  suite: "crawl",
  about: "a crawl of some 500 pages a second, with a WARC file and without",
  unit: "page",
  process: "fresh",
  pairs: [["with WARC", "without"]],
  target: "≥ 0.87 ×: at most 15 % slower",
  sizes: {
    smoke: [{ pages: 40, delayMs: 0 }],
    real: [
      { pages: 2_000, delayMs: 2 },
      { pages: 5_000, delayMs: 0 },
    ],
    suite: [{ pages: 2_000, delayMs: 2 }],
  },
  setup: (side, params) => setupArchive(side, params),
};

async function setupArchive(side: string, params: Params): Promise<Job> {
  const pages = numberOf(params, "pages");
  const delayMs = numberOf(params, "delayMs");
  const shape = { hosts: 1, pages, mishaps: 0, traps: false, seed: 1 };
  const web = await openWebProcess({ ...shape, keepLog: false });
  const folder = mkdtempSync(join(tmpdir(), "outrider-bench-archive-"));
  let count = 0;
  return {
    async run() {
      const path = join(mkdtempSync(join(folder, "run-")), "crawl.warc.gz");
      const begin = nowNs();
      const run = startCrawl({
        ...{ seeds: `http://127.0.0.1:${web.port}/`, allowPrivate: true },
        ...{ delayMs, perHost: 64, concurrency: 64, sitemaps: false, progressMs: 0 },
        ...(side === "without" ? {} : { warc: path }),
      });
      const summary = await run.finished;
      count = summary.pages;
      const ns = nowNs() - begin;
      const written = side === "without" ? 0 : statSync(path).size;
      return {
        times: { page: ns / count },
        facts: { "pages/s": (count * 1e9) / ns, "bytes/page": written / count },
      };
    },
    checksum: () => `${count} pages`,
    async close() {
      await web.close();
      rmSync(folder, { recursive: true });
    },
  };
}
