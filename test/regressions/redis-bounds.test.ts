/** Calls and values of unusual size on Redis: each ended otherwise than in one process. */
import { Redis } from "ioredis";
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { type AsyncLease, openFrontier } from "../../src/index.ts";
import { openRedisFrontier, type RedisCommands } from "../../src/redis.ts";
import { createVirtualClock } from "../../src/base/clock.ts";
import { commandsOver } from "../support/redis-calls.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";
import { steeredClient } from "../support/steered-client.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

let count = 0;
type Options = Omit<Parameters<typeof openRedisFrontier>[0], "redis">;
async function open(options: Options = {}, redis: unknown = server?.socket) {
  const frontier = await openRedisFrontier({
    redis: redis as never,
    name: `b${++count}`,
    ...options,
  });
  onTestFinished(() => frontier.close());
  return frontier;
}

it("many leases of one host come with one poll", async () => {
  const polite = { politeness: { delayMs: 0, perHost: 1_000 } };
  const frontier = await open({ partitions: 2, defaults: polite });
  const urls = Array.from({ length: 700 }, (_, at) => `http://one.org/${at}`);
  await frontier.pushMany([...urls, "http://other.org/"]);
  const leases = await frontier.pollMany(650, { host: "one.org", leaseMs: 60_000 });
  expect(leases.map(({ url }) => url)).toEqual(urls.slice(0, 650));
  const rest = await frontier.pollMany(650, { host: "one.org" });
  expect(rest.map(({ url }) => url)).toEqual(urls.slice(650));
  expect(await frontier.done([...leases, ...rest])).toBe(700);
});

it("leases that some partitions gave reach their caller where another partition fails", async () => {
  const own = new Redis(server?.socket as string);
  onTestFinished(() => void own.disconnect());
  let failing = "";
  const redis: RedisCommands = {
    async call(key, name, args) {
      if (failing !== "" && key.includes(failing)) throw new Error("ERR broken");
      return await own.callBuffer(name, ...(args as string[]));
    },
    subscribe: async () => async () => undefined,
    nodes: async () => [(name, args) => own.call(name, ...args)],
    close: async () => undefined,
  };
  const frontier = await open({ partitions: 4, giveUpMs: 1_000 }, redis);
  const urls = Array.from({ length: 400 }, (_, at) => `http://h${at}.org/`);
  await frontier.pushMany(urls);
  failing = `.2}`;
  const leases: AsyncLease[] = [];
  const pollAll = async (): Promise<void> => {
    for (
      let list = await frontier.pollMany(400);
      list.length > 0;
      list = await frontier.pollMany(400)
    )
      leases.push(...list);
  };
  await expect(pollAll()).rejects.toThrow("broken");
  expect(leases.length).toBeGreaterThan(200);
  failing = "";
  await pollAll();
  expect(new Set(leases.map(({ url }) => url)).size).toBe(400);
});

it("a partition that fails while others give leases is seen by an event, one until it answers", async () => {
  const own = new Redis(server?.socket as string);
  onTestFinished(() => void own.disconnect());
  let failing = "";
  const redis = {
    ...commandsOver(own, (_, answer) => answer),
    async call(key: string, name: string, args: readonly unknown[]) {
      if (failing !== "" && key.includes(failing)) throw new Error("ERR broken");
      return await own.callBuffer(name, ...(args as string[]));
    },
  };
  const frontier = await open({ partitions: 4, giveUpMs: 1_000 }, redis);
  const faults: unknown[] = [];
  frontier.on("error", ({ kind, stage }) => faults.push([kind, stage]));
  await frontier.pushMany(Array.from({ length: 400 }, (_, at) => `http://h${at}.org/`));
  failing = ".2}";
  // However much the others have left.
  for (let polls = 0; polls < 3; polls++) expect(await frontier.pollMany(20)).not.toEqual([]);
  expect(faults).toEqual([["server", "partition 2"]]);
  failing = "";
  for (let polls = 0; polls < 3; polls++) expect(await frontier.pollMany(20)).toHaveLength(20);
  failing = ".2}";
  expect(await frontier.pollMany(20)).not.toEqual([]);
  expect(faults).toHaveLength(2);
  failing = "";
});

it("an outbox that cannot be read or forwarded is seen by an event, once until its partition answers", async () => {
  const client = steeredClient(server?.socket as string);
  onTestFinished(() => client.end());
  const clock = createVirtualClock(1_700_000_000_000);
  const frontier = await open({ partitions: 4, clock }, client);
  const faults: unknown[] = [];
  frontier.on("error", ({ kind, stage, cause }) => faults.push([kind, stage, String(cause)]));
  await frontier.push("http://a.org/");
  client.divert("outbox", () => Promise.reject(new Error("ERR broken")));
  expect(await frontier.pollMany(5)).toHaveLength(1);
  const expected = [0, 1, 2, 3].map((at) => ["server", `partition ${at}`, "Error: ERR broken"]);
  expect(faults).toEqual(expected);
  expect(await frontier.pollMany(5)).toEqual([]);
  expect(faults).toHaveLength(4);
});

it("calls that fail, retry or requeue take few records each, since each takes the server as long as five pages that are done", async () => {
  const client = steeredClient(server?.socket as string);
  onTestFinished(() => client.end());
  const clock = createVirtualClock(1_700_000_000_000);
  const frontier = await open({ partitions: 1, clock }, client);
  const sizes: number[] = [];
  client.divert("settle", (answer) => {
    sizes.push(String((answer as unknown[])[1]).length);
    return answer;
  });
  client.divert("edit", (answer) => {
    sizes.push(Number((answer as unknown[])[1]));
    return answer;
  });
  await frontier.pushMany(Array.from({ length: 200 }, (_, at) => `http://h${at}.org/`));
  const leases = await frontier.pollMany(200);
  await Promise.all(leases.map((lease) => lease.fail("broken")));
  expect(await frontier.requeue({ all: true })).toBe(200);
  const again = await frontier.pollMany(200);
  await Promise.all(again.map((lease) => lease.retry({ delayMs: 1_000 })));
  expect(sizes.reduce((all, size) => all + size, 0)).toBe(600);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(24);
});

it("a slice of what forgets takes few identities", async () => {
  const client = steeredClient(server?.socket as string);
  onTestFinished(() => client.end());
  const clock = createVirtualClock(1_700_000_000_000);
  const frontier = await open({ partitions: 1, clock }, client);
  await frontier.pushMany(Array.from({ length: 3_000 }, (_, at) => `http://h${at}.org/`));
  expect(await frontier.done(await frontier.pollMany(3_000))).toBe(3_000);
  const sizes: number[] = [];
  client.divert("forget", (answer) => {
    sizes.push(Number((answer as unknown[])[2]));
    return answer;
  });
  expect(await frontier.forget({})).toBe(3_000);
  // Buckets of six as a rule, twenty of them or a few more.
  expect(Math.max(...sizes)).toBeLessThanOrEqual(185);
});

it("an address that is longer than any is not kept", async () => {
  const frontier = await open({ partitions: 1 });
  await frontier.pushMany(["http://a.org/1", "http://a.org/2"]);
  const [lease] = await frontier.pollMany(1);
  await lease?.done({ outcome: { status: 200, address: "x".repeat(70_000) } });
  expect((await frontier.host("a.org").view()).address).toBeUndefined();
  const [next] = await frontier.pollMany(1);
  expect(next?.url).toBe("http://a.org/2");
});

it("a host whose name is longer than its place in a record is too long", async () => {
  const frontier = await open({ partitions: 1, maxUrlBytes: 200_000 });
  const name = `${"a".repeat(70_000)}.org`;
  const pushed = await frontier.pushMany([
    `http://user@${name}/`,
    `http://${name}/`,
    "http://b.org/",
  ]);
  expect(pushed).toMatchObject({ accepted: 2, rejected: 1 });
  expect(pushed.verdict(0).reason).toBe("too-long");
  expect((await frontier.pollMany(9)).map(({ url }) => url.length)).toEqual([70_012, 13]);
});

it("a depth beyond 32 bits is the deepest there is", async () => {
  const url = "http://a.org/";
  const sides = [await open({ partitions: 1 }), await openFrontier()] as const;
  onTestFinished(() => sides[1].close());
  for (const side of sides) {
    await side.push({ url, depth: 2 ** 32 });
    await side.push({ url, depth: 7 });
    expect((await side.record(url))?.depth).toBe(7);
  }
});

it("an epoch that has no number any more is refused, and takes no other's identities", async () => {
  const frontier = await open({ partitions: 1 });
  await frontier.push("http://a.org/");
  const own = new Redis(server?.socket as string);
  onTestFinished(() => void own.disconnect());
  const key = (await own.keys(`outrider:{${frontier.name}.0}:m`))[0] as string;
  const counters = (await own.hgetBuffer(key, "k")) as Buffer;
  counters.writeDoubleBE(65_534, 32 * 8); // FAMILIES
  await own.hset(key, "k", counters);
  const requests = ["x", "y", "z", "x", "z"].map((epoch) => ({ url: "http://a.org/", epoch }));
  const pushed = await frontier.pushMany(requests);
  const verdicts = requests.map((_, at) => pushed.verdict(at).status);
  expect(verdicts).toEqual(["accepted", "full", "full", "duplicate", "full"]);
  // Which does not pass by itself, so that nothing waits for it.
  const slow = AbortSignal.timeout(20_000);
  const source = await frontier.pushFrom([...requests, "http://c.org/"], { signal: slow });
  expect(source).toMatchObject({ accepted: 1, full: 3, duplicate: 2 });
  expect(source.verdict(1)).toMatchObject({ status: "full", reason: "epochs" });
  expect(await frontier.pushMany(["http://b.org/", "http://a.org/"])).toMatchObject({
    accepted: 1,
  });
});

it.each([
  ["without", undefined],
  ["with", { delayMs: 0, perHost: 1_000 }],
])("a host has URLs of more than 255 priorities, %s politeness", async (_, politeness) => {
  const frontier = await open({ partitions: 1, defaults: { politeness } });
  const urls = Array.from({ length: 700 }, (_, at) => ({
    url: `http://a.org/${at}`,
    priority: at,
  }));
  await frontier.pushMany(urls);
  await frontier.host("a.org").set({ delayMs: 0 });
  const leases = await frontier.pollMany(100);
  const falling = Array.from({ length: 700 }, (_, at) => 699 - at);
  expect(leases.map(({ priority }) => priority)).toEqual(falling.slice(0, 100));
  await frontier.done(leases);
  const rest = await frontier.pollMany(700);
  expect(rest.map(({ priority }) => priority)).toEqual(falling.slice(100));
  await frontier.done(rest);
  expect(await frontier.report()).toMatchObject({ pending: 0, done: 700, leased: 0 });
});
