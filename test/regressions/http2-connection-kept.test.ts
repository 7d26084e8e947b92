/**
 * A connection of HTTP/2 was never closed: not one that had been idle for keepAliveMs, so that a crawl of many hosts kept a socket to each;
 * not one whose server sent on behind a body that was cut; and not one that did not answer, on which all later requests failed.
 */
import type { Socket } from "node:net";
import { expect, it } from "vitest";
import { createDownloader } from "../../src/crawl/http/downloader.ts";
import type { DownloaderOptions } from "../../src/crawl/http/downloader-options.ts";
import type { Downloader } from "../../src/crawl/module-registry.ts";
import {
  type Answer,
  DATA,
  END_HEADERS,
  frame,
  type FrameServer,
  HEADERS,
  openFrameServer,
  PAGE,
  whole,
} from "../support/http2-frames.ts";
import { closeAfter, faultOf } from "../support/listening.ts";

async function openBoth(
  answer: Answer,
  options: DownloaderOptions,
): Promise<{ server: FrameServer; downloader: Downloader }> {
  const server = await openFrameServer(answer);
  const downloader = createDownloader({ allowPrivate: true, ca: server.ca, ...options });
  closeAfter(() => downloader.close());
  return { server, downloader };
}

it("an idle connection is closed after keepAliveMs", async () => {
  const answer: Answer = (socket, stream) => socket.write(whole(stream));
  const { server, downloader } = await openBoth(answer, { keepAliveMs: 20 });
  expect((await downloader.download({ url: server.url })).status).toBe(200);
  await expect.poll(() => server.sockets.size).toBe(0);
});

it("an idle connection is closed also where an answer took longer than keepAliveMs", async () => {
  const answer: Answer = (socket, stream) => {
    setTimeout(() => socket.write(whole(stream)), 200);
  };
  const { server, downloader } = await openBoth(answer, { keepAliveMs: 20 });
  for (let time = 0; time < 2; time++)
    expect((await downloader.download({ url: server.url })).status).toBe(200);
  await expect.poll(() => server.sockets.size).toBe(0);
});

it("nothing is read behind a body that was cut", async () => {
  const more = (socket: Socket, stream: number): void => {
    while (!socket.destroyed && socket.write(frame(DATA, 0, stream, Buffer.alloc(16_000))));
    if (!socket.destroyed) socket.once("drain", () => more(socket, stream));
  };
  const answer: Answer = (socket, stream) => {
    socket.write(frame(HEADERS, END_HEADERS, stream, PAGE));
    more(socket, stream);
  };
  const { server, downloader } = await openBoth(answer, { maxBytes: 20_000, keepAliveMs: 60_000 });
  const { isTruncated, body } = await downloader.download({ url: server.url });
  expect([isTruncated, body.length]).toEqual([true, 20_000]);
  await expect.poll(() => server.sockets.size).toBe(0);
});

it("a connection that gives no answer is replaced", async () => {
  const deaf = new WeakSet<Socket>();
  const answer: Answer = (socket, stream, before) => {
    if (before === 0) deaf.add(socket);
    if (!deaf.has(socket)) socket.write(whole(stream));
  };
  const { server, downloader } = await openBoth(answer, { headersMs: 20_000, totalMs: 50 });
  expect(await faultOf(downloader.download({ url: server.url }))).toBe("timeout");
  await expect.poll(() => server.sockets.size).toBe(0);
});
