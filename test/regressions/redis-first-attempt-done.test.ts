/** A page that is done at its first attempt leaves no mark on its identity: what asks about it must find that its record is gone. */
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { openRedisFrontier, type RedisFrontier } from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

const URL_A = "http://a.org/";

async function opened(name: string): Promise<RedisFrontier> {
  const frontier = await openRedisFrontier({
    ...{ redis: server?.socket as string, name, partitions: 1 },
    defaults: { politeness: { delayMs: 1 } },
  });
  onTestFinished(() => frontier.close());
  return frontier;
}

it("a page that is forgotten while its lease is out is forgotten again once it is done", async () => {
  const frontier = await opened("forgotten");
  await frontier.push(URL_A);
  const [lease] = await frontier.take({ max: 1 });
  await frontier.forget();
  expect(await lease?.done()).toMatchObject({ late: false });
  expect(await frontier.report()).toMatchObject({ done: 1, forgotten: 0 });
  expect(await frontier.forget()).toBe(1);
  expect(await frontier.report()).toMatchObject({ done: 0, forgotten: 1 });
});

it("a page that finds itself, to be recorded, has its identity again in the same step", async () => {
  const frontier = await opened("again");
  await frontier.push(URL_A);
  const [lease] = await frontier.take({ max: 1 });
  const found = [{ url: URL_A, dedup: "record" as const }];
  expect(await lease?.done({ found })).toMatchObject({ late: false, accepted: 1 });
  expect(await frontier.record(URL_A)).toMatchObject({ state: "pending", url: URL_A });
  expect(await frontier.report()).toMatchObject({ done: 1, pending: 1, seen: 1 });
});

it("a page that is done at a later attempt keeps how many it took", async () => {
  const frontier = await opened("later");
  await frontier.push(URL_A);
  const [first] = await frontier.take({ max: 1 });
  expect(await first?.retry({ delayMs: 0 })).toBe("requeued");
  const [second] = await frontier.take({ max: 1 });
  await second?.done();
  expect(await frontier.record(URL_A)).toMatchObject({ state: "done", attempts: 2 });
});
