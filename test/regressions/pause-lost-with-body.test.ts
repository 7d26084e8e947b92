/** A 429 with Retry-After whose body broke off was a failed download: what its headers had asked for was forgotten. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { crawl } from "../../src/crawl.ts";
import { listen } from "../support/listening.ts";

it("a host that asks for a pause in an answer that breaks off is left alone", async () => {
  const asked: number[] = [];
  let pausedMs = 0;
  const server = await listen(
    createServer((_, response) => {
      asked.push(performance.now());
      if (asked.length > 1) return void response.end("ok");
      response.writeHead(429, { "retry-after": "1", "content-length": "10" }).write("half");
      pausedMs = performance.now();
      setImmediate(() => response.destroy());
    }),
  );
  const { port } = server.address() as AddressInfo;
  const seeds = `http://127.0.0.1:${port}/`;
  const { pages, failed } = await crawl({
    ...{ seeds, robots: false, allowPrivate: true, delayMs: 0, threads: 0 },
  }).finished;
  expect([pages, failed, asked.length]).toEqual([1, 0, 2]);
  expect(asked.slice(1).filter((atMs) => atMs - pausedMs < 999)).toEqual([]);
});
