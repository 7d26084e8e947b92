/** A take on Redis that waited in a pause, or while its frontier closed, kept its thread busy for half a minute. */
import { afterAll, beforeEach, expect, it } from "vitest";
import { openRedisFrontier } from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

/** Below the half minute after which the thread was free for a moment. */
const DEADLINE_MS = 20_000;

const open = (name: string) =>
  openRedisFrontier({ redis: server?.socket as string, name, partitions: 1 });

it("a take in a pause lets other calls through", { timeout: DEADLINE_MS }, async () => {
  const frontier = await open("pause");
  await frontier.push("http://a.org/");
  await frontier.pause();
  expect(await frontier.take({ timeoutMs: 0 })).toEqual([]);
  const waiting = frontier.take();
  await frontier.push("http://b.org/");
  await frontier.resume();
  expect((await waiting).map(({ url }) => url)).toEqual(["http://a.org/"]);
  await frontier.close();
});

it("a take that began before close ends with it", { timeout: DEADLINE_MS }, async () => {
  const frontier = await open("take");
  await frontier.push("http://a.org/");
  await frontier.poll();
  const waiting = frontier.take();
  await frontier.close();
  expect(await waiting).toEqual([]);
});

it("a drain whose calls are under way resolves at close", async () => {
  const frontier = await open("drain");
  await frontier.push("http://a.org/");
  await frontier.poll();
  const drained = frontier.drain();
  await frontier.close();
  expect(await drained).toBeUndefined();
});
