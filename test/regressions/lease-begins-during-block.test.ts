/** After a 429 with Retry-After, a lease that stood in a worker's ring was visited at once: it had been handed out before. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import type { crawl } from "../../src/crawl.ts";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRobots } from "../../src/crawl/robots/robots-txt.ts";
import { listen } from "../support/listening.ts";
import { packageRoot } from "../support/package.ts";

/** Threads load files that Node reads by itself. */
const built = (await import(`${packageRoot}build/plain/crawl.js`)) as { crawl: typeof crawl };

it("once a host asks for a pause none of its leases begins before that is over", async () => {
  const early: number[] = [];
  let answeredAt = Number.POSITIVE_INFINITY;
  const server = await listen(
    createServer((request, response) => {
      const now = performance.now();
      if (now - answeredAt >= 0 && now - answeredAt < 999) early.push(now - answeredAt);
      if (request.url === "/robots.txt") return void response.writeHead(404).end();
      if (request.url === "/p0" && answeredAt === Number.POSITIVE_INFINITY) {
        answeredAt = performance.now();
        return void response.writeHead(429, { "retry-after": "1" }).end();
      }
      const links = Array.from({ length: 8 }, (_, at) => `<a href=/p${at}>`);
      response.writeHead(200, { "content-type": "text/html" }).end(links.join(""));
    }),
  );
  const { port } = server.address() as AddressInfo;
  const run = built.crawl({
    seeds: [`http://127.0.0.1:${port}/`],
    ...{ allowPrivate: true, delayMs: 0, perHost: 4, threads: 1, concurrency: 1 },
  });
  const { pages, failed } = await run.finished;
  expect([early, pages, failed]).toEqual([[], 9, 0]);
});

it("robots.txt is not asked for again before its Retry-After is over", async () => {
  const clock = createVirtualClock(0);
  const robots = createRobots({
    ...{ userAgent: "x", clock, expiryMs: 99_000, retryMs: 10, attempts: 3, maxCrawlDelayMs: 1 },
    fetch: async ({ url }) => ({
      ...{ url, status: 429, headers: { "retry-after": "7" }, bytes: 0, latencyMs: 0 },
      body: Buffer.alloc(0),
    }),
  });
  expect((await robots.fetch("http://a.example")).untilMs).toBe(7_000);
});
