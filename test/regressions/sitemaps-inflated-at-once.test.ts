/** Forty packed sitemaps of 49 MiB took 1.3 GB: each was inflated as soon as it had come, and held until it was read. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { createDownloader } from "../../src/crawl/http/downloader.ts";
import {
  createInflateRoom,
  INFLATE_ROOM_BYTES,
} from "../../src/crawl/http/decoding/inflate-room.ts";
import { createPausedHosts } from "../../src/crawl/threads/paused-hosts.ts";
import { visit } from "../../src/crawl/run/visit.ts";
import { crawl } from "../../src/crawl.ts";
import { closeAfter, listen } from "../support/listening.ts";

const SITEMAPS = 8;
const urls = Array.from(
  { length: 20_000 },
  (_, at) => `<url><loc>http://127.0.0.1/p${at}</loc></url>`,
);
const packed = gzipSync(Buffer.from(`<urlset>${urls.join("")}</urlset>`));

it.each([
  ["as files that are packed", {}],
  ["by the coding of the answer", { "content-encoding": "gzip" }],
])("what is inflated for sitemaps, %s, has one bound over all visits", async (_, headers) => {
  const server = await listen(
    createServer((request, response) => {
      if (request.url !== "/robots.txt") return void response.writeHead(200, headers).end(packed);
      const lines = Array.from({ length: SITEMAPS }, (_, at) => `Sitemap: ${own}/s${at}.xml.gz\n`);
      response.end(lines.join(""));
    }),
  );
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const room = createInflateRoom();
  let most = 0;
  let taken = 0;
  const watched = {
    get heldBytes() {
      return room.heldBytes;
    },
    share() {
      const share = room.share();
      return {
        ...share,
        async take(bytes: number, signal?: AbortSignal) {
          await share.take(bytes, signal);
          taken++;
          most = Math.max(most, room.heldBytes);
        },
      };
    },
  };
  const downloader = createDownloader({ allowPrivate: true, room: watched, connections: SITEMAPS });
  closeAfter(() => downloader.close());
  let reading = 0;
  let readingMost = 0;
  const ends: string[] = [];
  const leases = Array.from({ length: SITEMAPS }, (_, at) => ({
    url: `${own}/s${at}.xml.gz`,
    host: new URL(own).host,
    method: "GET",
    handler: "sitemap",
    done: ({ found }: { found: unknown[] }) => void ends.push(`done ${found.length}`),
    fail: (why: string) => void ends.push(why),
    retry: (why: object) => void ends.push(JSON.stringify(why)),
  }));
  const chosen = { module: downloader, id: "d", accepted: () => {}, ended: () => {} };
  const context = {
    clock: { now: () => 0 },
    modules: { choose: () => chosen },
    faults: { report: (fault: { what: string }) => void ends.push(fault.what) },
    counters: { statuses: {}, bytes: 0, sitemaps: 0, latency: { record: () => {} } },
    validators: { isWanted: () => false, headersFor: () => ({}) },
    sitemapTimes: { take: async ({ found }: { found: unknown[] }) => found },
    limits: { maxRedirects: 0, maxRetryAfterMs: 0 },
    paused: createPausedHosts(),
    room: watched,
    onEnding: () => undefined,
    onVisit: () => undefined,
    signal: new AbortController().signal,
  };
  await Promise.all(
    leases.map(async (lease) => {
      readingMost = Math.max(readingMost, ++reading);
      await visit(lease as never, context as never);
      reading--;
    }),
  );
  expect(readingMost).toBe(SITEMAPS);
  expect(ends).toEqual(Array(SITEMAPS).fill("done 20000"));
  expect(taken).toBeGreaterThanOrEqual(SITEMAPS);
  expect(most).toBeLessThanOrEqual(INFLATE_ROOM_BYTES);
  expect(room.heldBytes).toBe(0);
});

it("a crawl reads all of them, one after the other where they are large", async () => {
  const server = await listen(
    createServer((request, response) => {
      const { url } = request;
      if (url === "/robots.txt") {
        const lines = Array.from({ length: SITEMAPS }, (_, at) => `Sitemap: ${own}/s${at}.gz\n`);
        response.end(lines.join(""));
      } else if (url?.endsWith(".gz")) {
        response.end(gzipSync(`<urlset><url><loc>${own}/page${url}</loc></url></urlset>`));
      } else response.writeHead(200, { "content-type": "text/html" }).end("<p>x");
    }),
  );
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const run = crawl({ seeds: [`${own}/`], allowPrivate: true, delayMs: 0, perHost: SITEMAPS });
  const { sitemaps, pages } = await run.finished;
  expect([sitemaps, pages]).toEqual([SITEMAPS, SITEMAPS + 1]);
});
