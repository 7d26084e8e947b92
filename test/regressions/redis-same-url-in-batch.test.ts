/** A URL that comes twice in one batch: the second is about a record whose number stands in no queue yet. */
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { openRedisService } from "../../src/integrations/redis/service/redis-service.ts";
import type { KnownRequest, RedisQueues } from "../../src/integrations/redis/service/queues.ts";
import type { AsyncLease, FrontierOptions } from "../../src/index.ts";
import { createRedis } from "../support/conformance/redis.ts";
import type { Rig } from "../support/conformance/implementations.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { type Skipper, skipUnless } from "../support/skip.ts";

const START_MS = 1_700_000_000_000;
const ANY_HAND_OUT = { token: "", reason: "" };

const { implementation, close } = createRedis();
const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(close);
afterAll(async () => await server?.close());
let context: Skipper;
beforeEach((given) => {
  context = given;
});

function open(options: FrontierOptions = {}): Promise<Rig> {
  return implementation.open(context, options);
}

const urlsOf = (leases: readonly AsyncLease[]): string[] => leases.map(({ url }) => url);

describe("a URL twice in one batch", () => {
  it("is handed out once, where the second sighting is shallower and has another priority", async () => {
    const { frontier } = await open({ defaults: { depthPriority: 10 } });
    await frontier.pushMany([
      { url: "http://a.org/1", depth: 3 },
      { url: "http://a.org/1", depth: 1 },
    ]);
    expect(urlsOf(await frontier.pollMany(5))).toEqual(["http://a.org/1"]);
    const { pending, leased } = await frontier.report();
    expect({ pending, leased }).toEqual({ pending: 0, leased: 1 });
  });

  it("takes nothing else out of the queue that it leaves", async () => {
    const { frontier } = await open({ defaults: { depthPriority: 10 } });
    await frontier.push({ url: "http://a.org/0", depth: 3 });
    await frontier.pushMany([
      { url: "http://a.org/1", depth: 3 },
      { url: "http://a.org/1", depth: 1 },
      { url: "http://a.org/2", depth: 3 },
    ]);
    const urls = ["http://a.org/1", "http://a.org/0", "http://a.org/2"];
    expect(urlsOf(await frontier.pollMany(5))).toEqual(urls);
  });

  it("is shallower on the page of another lease that ends in the same call", async () => {
    const { frontier } = await open({
      defaults: { depthPriority: 10, politeness: { perHost: 5 } },
    });
    await frontier.pushMany([
      { url: "http://a.org/deep", depth: 4 },
      { url: "http://a.org/shallow", depth: 0 },
    ]);
    const leases = await frontier.pollMany(2);
    const deepFirst = leases.toSorted((a, b) => b.depth - a.depth);
    await Promise.all(deepFirst.map((lease) => lease.done({ found: ["http://a.org/both"] })));
    expect(urlsOf(await frontier.pollMany(5))).toEqual(["http://a.org/both"]);
  });
});

describe("a URL that a server's client names twice in one call", () => {
  const clock = createVirtualClock(START_MS);
  let names = 0;

  async function openQueues(): Promise<RedisQueues> {
    skipUnless(context, server !== undefined, WITHOUT_REDIS ?? "");
    const redis = server?.socket as string;
    const service = await openRedisService({ redis, name: `s${names++}`, partitions: 1, clock });
    onTestFinished(() => service.close());
    return await service.open((await service.nameOf("c", 10)) as string);
  }

  function known(page: string, dueInMs?: number): KnownRequest {
    const dueAt = dueInMs === undefined ? undefined : clock.now() + dueInMs;
    return { request: { url: `http://a.org/${page}`, hostKey: "a.org" }, dueAt, ...ANY_HAND_OUT };
  }

  async function handOut(queues: RedisQueues): Promise<string[]> {
    const urls: string[] = [];
    for await (const leases of queues.serve({ queues: 9, urls: 9, leaseMs: 60_000, gap: 0 }))
      urls.push(...leases.map(({ url }) => url));
    return urls;
  }

  it.each([
    [50, 70],
    [50, undefined],
    [50, 0],
    [0, 50],
    [0, 0],
    [0, undefined],
    [undefined, 0],
    [undefined, 50],
    [undefined, undefined],
  ])("is counted once, due after %s ms and then after %s ms", async (first, second) => {
    const queues = await openQueues();
    expect(await queues.putKnown([known("0", 0)])).toEqual(["kept"]);
    expect(await queues.putKnown([known("1", first), known("1", second)])).toEqual([
      "kept",
      "kept",
    ]);
    const isDone = second === undefined;
    expect(await queues.view("a.org")).toMatchObject({
      active: isDone ? 1 : 2,
      completed: isDone ? 1 : 0,
    });
    clock.advance(1_000);
    const urls = isDone ? ["http://a.org/0"] : ["http://a.org/0", "http://a.org/1"];
    expect(await handOut(queues)).toEqual(urls);
    const { pending, waiting, leased } = await queues.frontier.report();
    expect({ pending, waiting, leased }).toEqual({ pending: 0, waiting: 0, leased: urls.length });
  });
});
