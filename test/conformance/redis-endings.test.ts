/** The end of a frontier on Redis, whatever the server and the client do: nothing waits for good, nothing is left behind. */
import { Redis } from "ioredis";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import type { RedisFrontier } from "../../src/integrations/redis/frontier/redis-types.ts";
import type { RedisFrontierOptions } from "../../src/integrations/redis/redis-options.ts";
import { ServerLink } from "../../src/integrations/redis/server/server-link.ts";
import { openRedisService } from "../../src/integrations/redis/service/redis-service.ts";
import { openRedisFrontier } from "../../src/redis.ts";
import { openRedisRegistry } from "../../src/server/crawls/redis-registry.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";
import { deferred, type SteeredClient, steeredClient } from "../support/steered-client.ts";

beforeEach((context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
});

interface Rig {
  readonly client: SteeredClient;
  readonly socket: string;
  open(options?: Partial<RedisFrontierOptions>): Promise<RedisFrontier>;
}

async function rig(): Promise<Rig> {
  const server = await startRedis();
  onTestFinished(() => server.close());
  const client = steeredClient(server.socket);
  onTestFinished(() => client.end());
  const given = { redis: client, name: "e", partitions: 2 };
  const open = (options = {}): Promise<RedisFrontier> =>
    openRedisFrontier({ ...given, ...options });
  return { client, open, socket: server.socket };
}

/** Longer than any test may last. */
const LONG_MS = 3_600_000;

describe("the end of a frontier whose client settles nothing", () => {
  it("ends calls that wait at once, where nothing is to be returned", async () => {
    const { client, open } = await rig();
    const frontier = await open({ giveUpMs: LONG_MS, keepOpen: true });
    client.mute();
    const pushing = frontier.push("http://a.test/");
    const closed = expect(pushing).rejects.toMatchObject({ code: "FRONTIER_CLOSED" });
    const taking = frontier.take();
    const iterating = frontier[Symbol.asyncIterator]().next();
    const closing = frontier.close({ discard: true });
    await closed;
    expect(await taking).toEqual([]);
    expect(await iterating).toMatchObject({ done: true });
    void closing;
  });

  it("rejects where leases cannot be returned, and is closed", async () => {
    const { client, open } = await rig();
    const frontier = await open({ giveUpMs: 1_000, keepOpen: true });
    await frontier.push("http://a.test/");
    expect(await frontier.take()).toHaveLength(1);
    const { calls } = client.counts;
    const taking = frontier.take();
    await expect.poll(() => client.counts.calls > calls && client.counts.underWay === 0).toBe(true);
    client.mute();
    await expect(frontier.close()).rejects.toMatchObject({ code: "SERVER_GONE" });
    expect(await taking).toEqual([]);
    expect(await frontier.status()).toBe("stopped");
    expect(client.counts.closes).toBe(1);
  });

  it("is closed also where its keys cannot be dropped", async () => {
    const { client, open } = await rig();
    const frontier = await open({ giveUpMs: 1_000 });
    client.mute();
    await expect(frontier.drop()).rejects.toMatchObject({ code: "SERVER_GONE" });
    expect(await frontier.status()).toBe("stopped");
    expect(client.counts.closes).toBe(1);
  });

  it("leaves no timer, neither of a call nor of a wait between two tries", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    let calls = 0;
    const call = (): Promise<unknown> =>
      calls++ === 0 ? Promise.reject(new Error("LOADING")) : new Promise(() => undefined);
    const commands = { call, nodes: async () => [], subscribe: call, close: async () => undefined };
    const given = { keys: [["k"]], now: () => "", giveUpMs: LONG_MS };
    const link = new ServerLink({ commands: commands as never, ...given });
    const paused = expect(link.ask(0, "HGET")).rejects.toMatchObject({ code: "FRONTIER_CLOSED" });
    const waiting = expect(link.ask(0, "HGET")).rejects.toMatchObject({ code: "FRONTIER_CLOSED" });
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    expect([calls, vi.getTimerCount()]).toEqual([2, 2]);
    await link.close(commands.close);
    await Promise.all([paused, waiting]);
    expect(vi.getTimerCount()).toBe(0);
    await expect(link.ask(0, "HGET")).rejects.toMatchObject({ code: "FRONTIER_CLOSED" });
    expect(calls).toBe(2);
  });
});

describe("the end of a frontier", () => {
  it("comes after pushes that a caller has not awaited", async () => {
    const { open } = await rig();
    const frontier = await open();
    const verdicts = Array.from({ length: 3_000 }, (_, at) => frontier.push(`http://a.test/${at}`));
    await frontier.close();
    expect(new Set((await Promise.all(verdicts)).map(({ status }) => status))).toEqual(
      new Set(["accepted"]),
    );
    const other = await open();
    expect(await other.report()).toMatchObject({ pending: 3_000 });
  });

  it("returns leases that were on their way to this process", async () => {
    const { client, open } = await rig();
    const frontier = await open({ partitions: 2, leaseMs: LONG_MS });
    await frontier.push("http://a.test/");
    const { promise: held, resolve: answer } = deferred<void>();
    const { promise: polled, resolve: arrive } = deferred<void>();
    client.divert("poll", async () => {
      arrive();
      await held;
    });
    const taking = frontier.take();
    await polled;
    const closing = frontier.close();
    client.divert("poll", undefined);
    answer();
    await closing;
    await taking;
    const other = await open();
    expect((await other.poll())?.attempt).toBe(1);
  });

  it("returns leases that last, and none that their deadlines have ended", async () => {
    const { open } = await rig();
    const clock = createVirtualClock(1_000_000);
    const frontier = await open({ clock, leaseMs: 1_000 });
    const urls = Array.from({ length: 3_000 }, (_, at) => `http://h${at}.test/`);
    await frontier.pushMany(urls);
    expect(await frontier.pollMany(2_000)).toHaveLength(2_000);
    clock.advance(1_000);
    expect(await frontier.pollMany(10)).toHaveLength(10);
    await frontier.close();
    const other = await open({ clock });
    expect(await other.report()).toMatchObject({ leased: 0, lateResults: 0, expired: 2_000 });
  });

  it("leaves no subscription on a connection that others go on with", async () => {
    const { socket } = await rig();
    const service = await openRedisService({
      ...{ redis: socket, name: "s", partitions: 1, clock: undefined },
    });
    onTestFinished(() => service.close());
    const control = new Redis(socket);
    onTestFinished(() => control.disconnect());
    const queues = await service.open("s:one");
    const other = await service.open("s:two");
    await queues.frontier.close({ discard: true });
    await expect.poll(() => control.pubsub("CHANNELS")).toEqual(["outrider:{s:two}:wake"]);
    await other.frontier.close({ discard: true });
    await expect.poll(() => control.pubsub("CHANNELS")).toEqual([]);
  });
});

describe("what a caller does not await", () => {
  it("is sent in large batches, a few at a time, in order", async () => {
    const { client, open } = await rig();
    // Under a test's clock calls have their full size, however slow the machine is.
    const frontier = await open({ partitions: 2, clock: createVirtualClock(1_700_000_000_000) });
    const before = client.counts.calls;
    client.counts.most = 0;
    const urls = Array.from({ length: 5_000 }, (_, at) => `http://a.test/${at}`);
    const pushes = urls.map((url) => frontier.push(url));
    await Promise.all(pushes);
    expect(client.counts.most).toBeLessThanOrEqual(2);
    expect(client.counts.calls - before).toBeLessThan(60);
    const leases = await frontier.pollMany(urls.length);
    expect(leases.map(({ url }) => url)).toEqual(urls);
    client.counts.most = 0;
    await Promise.all(urls.map((url) => frontier.pushMany([`${url}/b`])));
    expect(client.counts.most).toBeLessThanOrEqual(8);
    await frontier.close({ discard: true });
  });
});

describe("a server of the protocol", () => {
  const given = { name: "r", partitions: 1, crawlsMax: 4, clock: undefined };

  it("goes on when its heartbeat fails before it has an address", async () => {
    const { client } = await rig();
    const { promise: fault, resolve } = deferred<unknown>();
    const onFault = (_: string, cause: unknown): void => resolve(cause);
    const registry = await openRedisRegistry({ ...given, redis: client, onFault });
    client.divert("service", () => Promise.reject(new Error("broken")));
    expect(await fault).toMatchObject({ message: "broken" });
    client.divert("service", undefined);
    expect(await registry.isActive()).toBe(true);
    await registry.close();
    expect(client.counts.closes).toBe(1);
  });

  it("ends its connection where it cannot begin", async () => {
    const { client } = await rig();
    let calls = 0;
    client.divert("service", (answer) =>
      ++calls === 2 ? Promise.reject(new Error("broken")) : answer,
    );
    const opening = openRedisRegistry({ ...given, redis: client, onFault: () => undefined });
    await expect(opening).rejects.toThrow("broken");
    expect(client.counts.closes).toBe(1);
  });
});
