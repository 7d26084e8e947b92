/**
 * After a 429 with Retry-After a request to the host came early: its connection was being made while another visit got the 429, and once it
 * was there the request was sent. Another way to the same end is in host-turn.test.ts: a turn for robots.txt took the pause back.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { crawl } from "../../src/crawl.ts";
import { closeAfter, listen } from "../support/listening.ts";
import { openFrontier } from "../../src/index.ts";

it("what waits for its connection while its host asks for a pause is not sent before that is over", async () => {
  const asked: { url: string | undefined; atMs: number }[] = [];
  let pausedMs = Number.POSITIVE_INFINITY;
  const server = await listen(
    createServer((request, response) => {
      asked.push({ url: request.url, atMs: performance.now() });
      if (pausedMs < Number.POSITIVE_INFINITY) return void response.end("ok");
      response.writeHead(429, { "retry-after": "1" }).end();
      pausedMs = performance.now();
    }),
  );
  const { port } = server.address() as AddressInfo;
  const key = `a.test:${port}`;
  const frontier = await openFrontier();
  closeAfter(() => frontier.close());
  let looks = 0;
  // The second connection is there when the frontier knows of the pause.
  const lookup = (_: string, __: unknown, callback: (...answer: unknown[]) => void): void => {
    const answer = (): void => callback(null, [{ address: "127.0.0.1", family: 4 }]);
    const later = (): void => {
      if (frontier.host(key).blockedUntil > Date.now()) answer();
      else setImmediate(later);
    };
    if (++looks === 2) later();
    else answer();
  };
  const seeds = [1, 2].map((page) => `http://a.test:${port}/${page}`);
  const { pages, failed } = await crawl({
    ...{ frontier, seeds, lookup: lookup as never, robots: false, allowPrivate: true },
    ...{ delayMs: 0, perHost: 2, concurrency: 2, threads: 0 },
  }).finished;
  expect([pages, failed, asked.length]).toEqual([2, 0, 3]);
  expect(asked.slice(1).filter(({ atMs }) => atMs - pausedMs < 999)).toEqual([]);
});
