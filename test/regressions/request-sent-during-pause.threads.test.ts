/**
 * On worker threads a request to a host came early after a 429 with Retry-After: its connection was being made while another visit got the
 * 429, and its thread could not ask the frontier.
 */
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { expect, it } from "vitest";
import type { crawl as crawlOfSource } from "../../src/crawl.ts";
import { certificateOf } from "../support/certificate.ts";
import { closeAfter } from "../support/listening.ts";
import { packageRoot } from "../support/package.ts";

const { crawl } = (await import(`${packageRoot}dist/crawl.js`)) as { crawl: typeof crawlOfSource };

/** Longest body that is read. */
const BYTES_MAX = 64;

it("what waits for its connection on a thread while its host asks for a pause is not sent before that is over", async () => {
  const made = certificateOf("a.example");
  const context = createSecureContext(made);
  const asked: { url: string | undefined; atMs: number }[] = [];
  const sockets = new Set<Socket>();
  const waiting: Array<() => void> = [];
  let pausedMs = Number.POSITIVE_INFINITY;
  let handshakes = 0;
  // The second connection is there once the first visit has read more of its answer than it may, and has left.
  const SNICallback = (_: string, done: (error: null, given: typeof context) => void): void => {
    const isLater = ++handshakes === 2 && pausedMs === Number.POSITIVE_INFINITY;
    if (isLater) waiting.push(() => done(null, context));
    else done(null, context);
  };
  const server = createServer({ ...made, SNICallback }, (request, response) => {
    asked.push({ url: request.url, atMs: performance.now() });
    response.setHeader("content-type", "text/html");
    if (asked.length > 1) return void response.end("ok");
    request.socket.once("close", () => {
      for (const go of waiting.splice(0)) go();
    });
    const answer = (): void => {
      if (waiting.length === 0) return void setImmediate(answer);
      pausedMs = performance.now();
      response.writeHead(429, { "retry-after": "1" }).write("x".repeat(2 * BYTES_MAX));
    };
    answer();
  });
  server.on("connection", (socket: Socket) => void sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closeAfter(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const { pages, failed } = await crawl({
    seeds: [1, 2].map((page) => `https://a.example:${port}/${page}`),
    ...{ dial: { address: "127.0.0.1", port }, ca: made.cert, http2: false, robots: false },
    ...{ allowPrivate: true, delayMs: 0, perHost: 2, concurrency: 4, threads: 2, rampMs: 1 },
    maxBytes: BYTES_MAX,
  }).finished;
  expect([pages, failed, asked.length]).toEqual([2, 0, 3]);
  expect(asked.slice(1).filter(({ atMs }) => atMs - pausedMs < 999)).toEqual([]);
});
