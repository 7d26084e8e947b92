/** A partition of many identities, and a host of many pages: what the scripts change by single bytes of their texts. */
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { openRedisFrontier, type RedisFrontier } from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

async function open(name: string): Promise<RedisFrontier> {
  const frontier = await openRedisFrontier({
    ...{ redis: server?.socket as string, name, partitions: 1 },
    defaults: { politeness: { delayMs: 1 } },
  });
  onTestFinished(() => frontier.close());
  return frontier;
}

/** Beyond 256 buckets another byte of a hash decides where an entry goes. */
const MANY = 4_000;

it("knows every identity, however often its bucket has split", async () => {
  const first = await open("split");
  const second = await open("split");
  const urls = Array.from({ length: MANY }, (_, at) => `http://h${at % 40}.org/${at}`);
  expect(await first.pushMany(urls)).toMatchObject({ accepted: MANY, duplicate: 0 });
  expect(await second.pushMany(urls)).toMatchObject({ accepted: 0, duplicate: MANY });
});

/** The last byte of a count overflows on the way, at a push that adds to the 14 numbers in the host's text. */
const PAGES = 300;
const CALL = 2;

it("hands out a host's pages in their order, when some hundred of them came a few at a time", async () => {
  const frontier = await open("pages");
  const urls = Array.from({ length: PAGES }, (_, at) => `http://a.org/${at}`);
  for (let at = 0; at < PAGES; at += CALL) await frontier.pushMany(urls.slice(at, at + CALL));
  expect(await frontier.report()).toMatchObject({ pending: PAGES, accepted: PAGES });
  const visited: string[] = [];
  while (visited.length < PAGES) {
    const [lease] = await frontier.take({ max: 1, timeoutMs: 5_000 });
    if (lease === undefined) break;
    visited.push(lease.url);
    expect(await lease.done()).toMatchObject({ late: false });
  }
  expect(visited).toEqual(urls);
  expect(await frontier.report()).toMatchObject({ pending: 0, leased: 0, done: PAGES });
});
