/** A call whose answer was lost is made again: the second answer must be what the first one was. */
import { Redis } from "ioredis";
import { afterAll, beforeEach, expect, it } from "vitest";
import type { AsyncLease } from "../../src/index.ts";
import { openRedisFrontier, type RedisCommands } from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

/** Commands whose every script is carried out twice: its first answer is lost on the way. */
function losingCommands(own: Redis): RedisCommands {
  const lost = new Set<string>();
  return {
    async call(_key, name, args) {
      const answer = await own.callBuffer(name, ...(args as string[]));
      const batch = args.map(String).join(" ");
      if (name !== "EVALSHA" || lost.has(batch)) return answer;
      lost.add(batch);
      throw new Error("Connection is closed.");
    },
    subscribe: async () => async () => undefined,
    nodes: async () => [(name, args) => own.call(name, ...args)],
    close: async () => undefined,
  };
}

it("leases, ends and pushes whose answers are lost are the same when they are asked for again", async () => {
  const own = new Redis(server?.socket as string);
  const defaults = { politeness: { delayMs: 0 } };
  const redis = losingCommands(own);
  const frontier = await openRedisFrontier({ redis, name: "lost", partitions: 1, defaults });
  const urls = Array.from({ length: 5 }, (_, at) => `http://h${at}.org/`);
  expect((await frontier.pushMany(urls)).accepted).toBe(5);
  const first = await frontier.pollMany(5);
  const shown = ({ url, host, deliveries, attempt }: AsyncLease) => [
    url,
    host,
    deliveries,
    attempt,
  ];
  expect(first.map(shown)).toEqual(urls.map((url, at) => [url, `h${at}.org`, 1, 1]));
  for (const { deadlineMs } of first) expect(deadlineMs).toBe(first[0]?.deadlineMs);
  await first[0]?.release();
  await first[1]?.done();
  const [again] = await frontier.pollMany(5);
  expect([again?.url, again?.deliveries]).toEqual([urls[0], 2]);
  await again?.done();
  expect(await frontier.done(first.slice(2))).toBe(3);
  const { pushed, accepted, done, leased, pending, lateResults } = await frontier.report();
  const counts = { pushed, accepted, done, leased, pending, lateResults };
  expect(counts).toEqual({
    ...{ pushed: 5, accepted: 5, done: 5, leased: 0, pending: 0, lateResults: 0 },
  });
  await frontier.close();
  own.disconnect();
});

/** Commands whose every call, and every subscription, fails once as over a link that breaks, before it reaches the server. */
function breakingCommands(own: Redis): RedisCommands {
  const broken = new Set<string>();
  const breakOnce = (what: string): void => {
    if (broken.has(what)) return;
    broken.add(what);
    throw new Error("Reached the max retries per request limit (which is 1).");
  };
  return {
    async call(_key, name, args) {
      breakOnce([name, ...args].map((each) => Buffer.from(each).toString("hex")).join(" "));
      return await own.callBuffer(name, ...(args as string[]));
    },
    subscribe: async () => {
      breakOnce("subscribe");
      return async () => undefined;
    },
    nodes: async () => [(name, args) => own.call(name, ...args)],
    close: async () => undefined,
  };
}

it("every call is made again where the link breaks before it", async () => {
  const own = new Redis(server?.socket as string);
  const redis = breakingCommands(own);
  const frontier = await openRedisFrontier({ redis, name: "broken", partitions: 2 });
  const epochs: string[] = [];
  await frontier.pushMany(["http://a.org/1", { url: "http://b.org/", epoch: "v1" }]);
  for await (const { name } of frontier.epochs()) epochs.push(name);
  expect(epochs).toEqual(["v1"]);
  await frontier.setState({ at: 1 });
  expect(await frontier.state()).toEqual({ at: 1 });
  expect(await frontier.done(await frontier.pollMany(2))).toBe(2);
  await frontier.setRules([{ id: "all", depthPriority: 1 }]);
  expect(await frontier.forget({ epoch: "v1" })).toBe(1);
  await frontier.pause();
  await frontier.resume();
  await frontier.clear();
  expect((await frontier.push("http://a.org/1")).status).toBe("accepted");
  await frontier.drop();
  own.disconnect();
});
