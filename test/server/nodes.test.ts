/** Several servers on one Redis: any of them answers any call, controls hold for all, and one that dies takes nothing with it. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createVirtualClock } from "../../src/index.ts";
import { openRedisFrontier } from "../../src/redis.ts";
import type { ServeOptions, Server } from "../../src/server.ts";
import { openRedisService } from "../../src/integrations/redis/service/redis-service.ts";
import { type RedisServer, startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { createFakeIo } from "../support/fake-io.ts";
import { runCommand } from "../../src/cli/run-command.ts";
import { skipUnless } from "../support/skip.ts";
import { type Client, connect, found, type Info, known, serving } from "./client.ts";
import { storeOptions } from "./stores.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const START_SECOND = 1_800_000_000;
const NAME = "news";
const MINE = { crawlID: NAME };

beforeEach((context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
});

interface Nodes {
  readonly clients: [Client, Client, Client];
  readonly servers: Server[];
  readonly redis: RedisServer;
  pass(seconds: number): void;
}

/** Three servers of one service, all by one clock of the test's. */
async function startNodes(more: ServeOptions = {}): Promise<Nodes> {
  const clock = createVirtualClock(START_SECOND * 1_000);
  const redis = await startRedis();
  onTestFinished(() => redis.close());
  const options = { clock, redis: redis.socket, partitions: 4, ...more };
  const servers = [await serving(options), await serving(options), await serving(options)];
  const clients = servers.map(({ port }) => connect(port)) as Nodes["clients"];
  return { clients, servers, redis, pass: (seconds) => clock.advance(seconds * 1_000) };
}

const URLS = Array.from({ length: 60 }, (_, at) => `http://h${at % 20}.com/${at}`);

describe("three servers on one Redis", () => {
  it("answer any call about what another one has taken or handed out", async () => {
    const { clients, pass } = await startNodes();
    const [first, second, third] = clients;
    await first.put(...URLS.map((url) => found(url, MINE)));
    expect(await second.put(found(URLS[0] as string, MINE))).toEqual(["SKIPPED"]);
    for (const client of clients) {
      expect(await client.stats(NAME)).toMatchObject({ size: 60, numberOfQueues: 20 });
      expect((await client.call("ListCrawls")).values).toEqual([NAME]);
    }
    const held = await second.get({ ...MINE, max_urls_per_queue: 2, delay_requestable: 60 });
    expect(held).toHaveLength(40);
    expect(await third.put(...held.map((url) => known(url, 0, MINE)))).toEqual(
      held.map(() => "OK"),
    );
    expect(await first.stats(NAME)).toMatchObject({
      ...{ size: 20, inProcess: 0 },
      counts: { completed: 40, active_queues: 20 },
    });
    pass(2);
    expect((await third.get({ ...MINE, max_queues: 7 })).length).toBe(7);
    expect((await first.get(MINE)).length).toBe(13);
    expect(await second.get(MINE)).toEqual([]);
    const { known: item } = await first.status(
      held[0] as string,
      new URL(held[0] as string).hostname,
      NAME,
    );
    expect(item?.refetchable_from_date).toBe(0);
  });

  it("hand a URL out once and keep each queue to its delay, however many ask at once", async () => {
    const { clients, pass } = await startNodes();
    await clients[0].put(...URLS.map((url) => found(url, MINE)));
    const given: string[] = [];
    for (let round = 0; round < 3; round++) {
      const asked = { ...MINE, max_queues: 3, max_urls_per_queue: 1, delay_requestable: 1 };
      const lists = await Promise.all(
        [...clients, ...clients, ...clients].map((client) => client.list<Info>("GetURLs", asked)),
      );
      const infos = lists.flat();
      expect(new Set(infos.map(({ key }) => key)).size).toBe(infos.length);
      expect(infos.length).toBe(20);
      const done = infos.map(({ url }) => known(url, 0, MINE));
      expect(new Set(await clients[round as 0].put(...done))).toEqual(new Set(["OK"]));
      given.push(...infos.map(({ url }) => url));
      pass(2);
    }
    expect(given.sort()).toEqual([...URLS].sort());
    expect(await clients[1].stats(NAME)).toMatchObject({ size: 0, counts: { completed: 60 } });
  });

  it("hold a block, a delay, a limit and a pause that was set on one of them", async () => {
    const { clients, pass } = await startNodes();
    const [first, second, third] = clients;
    await first.put(
      ...["a", "b", "c"].flatMap((h) => [1, 2, 3].map((n) => found(`http://${h}.com/${n}`, MINE))),
    );
    const one = { ...MINE, max_urls_per_queue: 1, delay_requestable: 1 };
    const block = (client: Client, time: number): Promise<unknown> =>
      client.call("BlockQueueUntil", { ...MINE, key: "a.com", time });
    await block(first, START_SECOND + 10_000);
    expect((await second.get(one)).sort()).toEqual(["http://b.com/1", "http://c.com/1"]);
    expect((await third.call("ListQueues", MINE)).values).toHaveLength(2);
    await block(third, 0);
    expect(await first.get({ ...one, key: "a.com" })).toEqual(["http://a.com/1"]);
    await second.call("SetDelay", { delay_requestable: 50 });
    await third.call("SetDelay", { ...MINE, key: "b.com", delay_requestable: 5 });
    pass(6);
    expect(await first.get(one)).toEqual(["http://b.com/1"]); // its hold ran out
    pass(45);
    await third.put(known("http://c.com/1", 0, MINE));
    await second.call("SetCrawlLimit", { ...MINE, key: "c.com", limit: 1 });
    await first.call("SetActive", { state: false });
    for (const client of clients) {
      expect(await client.get(one)).toEqual([]);
      expect(await client.call("GetActive")).toEqual({ state: false });
    }
    await third.call("SetActive", { state: true });
    expect((await second.get(one)).sort()).toEqual(["http://a.com/1", "http://b.com/1"]);
    await first.call("SetCrawlLimit", { ...MINE, key: "c.com", limit: 0 });
    expect(await third.get(one)).toEqual(["http://c.com/2"]);
    await first.call("SetDelay", { delay_requestable: 0 });
    pass(1);
    expect((await third.get(one)).sort()).toEqual(["http://a.com/1", "http://c.com/2"]);
  });

  it("pause one of them alone where it is asked for, until all are set again", async () => {
    const { clients } = await startNodes();
    const [first, second, third] = clients;
    await first.put(found("http://a.com/1", MINE));
    const states = (): Promise<unknown[]> =>
      Promise.all(clients.map((client) => client.call("GetActive", { local: true })));
    await first.call("SetActive", { state: false, local: true });
    expect(await states()).toEqual([{ state: false }, { state: true }, { state: true }]);
    expect(await first.get(MINE)).toEqual([]);
    expect(await second.get(MINE)).toEqual(["http://a.com/1"]);
    await third.call("SetActive", { state: true });
    expect(await states()).toEqual(Array(3).fill({ state: true }));
    await third.call("SetActive", { state: false });
    await first.call("SetActive", { state: true, local: true });
    expect(await states()).toEqual([{ state: true }, { state: false }, { state: false }]);
    await first.call("SetActive", { state: false });
    expect(await states()).toEqual(Array(3).fill({ state: false }));
  });

  it("delete a queue or a crawl for all, each with its own keys and no others", async () => {
    const { clients, redis } = await startNodes();
    const [first, second, third] = clients;
    const other = await openRedisFrontier({ redis: redis.socket, name: "server", partitions: 1 });
    await other.push("http://mine.com/");
    const urls = URLS.map((url) => found(url, MINE));
    for (const client of clients)
      await client.put(...urls, found("http://x.com/", { crawlID: "b" }));
    const held = await second.get(MINE);
    expect(held).toHaveLength(60);
    expect(await third.call("DeleteQueue", { ...MINE, key: "h1.com" })).toEqual({ value: 3 });
    expect(await first.put(found("http://h1.com/1", MINE))).toEqual(["OK"]);
    expect(await second.call("DeleteCrawl", { value: NAME })).toEqual({ value: 58 });
    for (const client of clients) {
      expect(await client.stats(NAME)).toMatchObject({ size: 0, numberOfQueues: 0 });
      expect((await client.call("ListCrawls")).values).toEqual(["b"]);
    }
    // What was held is new to the crawl that is made now.
    expect(await first.put(...held.slice(0, 2).map((url) => found(url, MINE)))).toEqual([
      "OK",
      "OK",
    ]);
    expect(await third.put(found(held[0] as string, MINE))).toEqual(["SKIPPED"]);
    expect(await second.stats(NAME)).toMatchObject({ size: 2 });
    for (const value of [NAME, "b"]) await third.call("DeleteCrawl", { value });
    expect(await other.peek()).toMatchObject([{ url: "http://mine.com/" }]);
    const [call] = await keysOf(redis);
    expect(call.filter((key) => !key.startsWith("outrider:{server.0}:"))).toEqual([
      "outrider:{server}:service",
    ]);
    await other.close();
  });

  it("are listed while they live: one that leaves goes at once, one that is silent when its time is over", async () => {
    const { clients, servers, redis, pass } = await startNodes();
    const nodes = async (): Promise<unknown> => (await clients[0].call("ListNodes")).values;
    const addresses = servers.map(({ port }) => `127.0.0.1:${port}`).sort();
    expect(await nodes()).toEqual(addresses);
    const clock = { now: () => START_SECOND * 1_000 } as never;
    const dead = await openRedisService({
      redis: redis.socket,
      name: "server",
      partitions: 1,
      clock,
    });
    await dead.join("10.0.0.9:7071", 7_000);
    expect(await nodes()).toEqual(["10.0.0.9:7071", ...addresses]);
    await dead.close(); // as a process that was killed: it does not leave
    pass(6);
    for (const client of clients) await client.call("ListNodes");
    pass(2);
    expect(await nodes()).toEqual(addresses);
    clients[2].raw.close();
    await servers[2]?.close();
    expect(await nodes()).toHaveLength(2);
  });

  it("serve crawls that were there before, also those whose deletion another one did not finish", async () => {
    const { clients, redis } = await startNodes();
    await clients[0].put(
      found("http://a.com/1", MINE),
      found("http://b.com/1", { crawlID: "ä{}" }),
    );
    const dying = await openRedisService({
      ...{ redis: redis.socket, name: "server", partitions: 4, clock: undefined },
    });
    await dying.delete(NAME); // and no more than that
    await dying.close();
    expect(await clients[1].stats(NAME)).toMatchObject({ size: 0 });
    const later = connect((await serving({ redis: redis.socket })).port);
    expect((await later.call("ListCrawls")).values).toEqual(["ä{}"]);
    expect((await keysOf(redis)).flat().filter((key) => key.includes("news"))).toEqual([]);
    expect(await later.get({ crawlID: "ä{}" })).toEqual(["http://b.com/1"]);
  });

  it("takes no more crawls than it may have, of all servers together", async () => {
    const { clients } = await startNodes({ crawlsMax: 2 });
    const put = (client: Client, crawlID: string): Promise<string[]> =>
      client.put(found("http://a.com/", { crawlID }));
    expect(await put(clients[0], "one")).toEqual(["OK"]);
    expect(await put(clients[1], "two")).toEqual(["OK"]);
    expect(await put(clients[2], "three")).toEqual(["FAIL"]);
    expect(await put(clients[2], "one")).toEqual(["SKIPPED"]);
  });
});

describe("the queues of a crawl on Redis", () => {
  it("are given whole in slices, and what a client does not take goes back with the queue's clock", async (context) => {
    const { redis } = await storeOptions("Redis", context);
    const clock = createVirtualClock(START_SECOND * 1_000);
    const service = await openRedisService({
      ...{ redis: redis as string, name: "s", partitions: 2, clock },
    });
    onTestFinished(() => service.close());
    const queues = await service.open((await service.nameOf("x", 9)) as string);
    onTestFinished(() => queues.frontier.close());
    const urls = Array.from({ length: 150 }, (_, at) => `http://a.com/${at}`);
    await queues.frontier.pushMany(urls.map((url) => ({ url, hostKey: "a.com" })));
    await queues.frontier.pushMany([{ url: "http://b.com/", hostKey: "b.com" }]);
    const asked = { queues: 9, urls: 140, leaseMs: 60_000, gap: 100 };
    const given: string[] = [];
    for await (const leases of queues.serve(asked)) {
      expect(leases.length).toBeLessThanOrEqual(2 * 64);
      await queues.leases.giveBack(leases, new Set(), asked.gap);
      given.push(...leases.map(({ url }) => url));
      break; // as for a client that has gone
    }
    expect(given).toContain("http://a.com/0");
    expect(await queues.view("a.com")).toMatchObject({ active: 150, inProcess: 0 });
    const taken: string[] = [];
    for await (const leases of queues.serve(asked)) taken.push(...leases.map(({ url }) => url));
    expect(taken.filter((url) => url.includes("a.com"))).toEqual(urls.slice(0, 140));
    expect(taken).toContain("http://b.com/");
    for (const seconds of [0, 100, 1]) {
      clock.advance(seconds * 1_000);
      const rest: string[] = [];
      const one = { ...asked, urls: 2 ** 31 };
      for await (const leases of queues.serve(one)) rest.push(...leases.map(({ url }) => url));
      // Held URLs have come back meanwhile.
      expect(rest).toHaveLength(seconds === 1 ? 151 : 0);
    }
  });
});

async function keysOf(redis: RedisServer): Promise<[string[]]> {
  const { Redis } = await import("ioredis");
  const client = new Redis(redis.socket);
  const keys = await client.keys("*");
  client.disconnect();
  return [keys.sort()];
}

/** A server as a process of its own, by the command line. */
async function startProcess(redis: RedisServer): Promise<{ child: ChildProcess; port: number }> {
  const flags = [
    "--redis",
    redis.socket,
    "--partitions",
    "4",
    "--port",
    "0",
    "--no-http",
    "--json",
  ];
  const child = spawn(process.execPath, [PROGRAM, "serve", ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  for await (const line of lines) return { child, port: JSON.parse(line).port };
  throw new Error("outrider serve: no line");
}

describe("three processes on one Redis", () => {
  it("lose nothing with one that is killed: what it handed out is finished elsewhere, or comes back at its deadline", async (context) => {
    const { redis: socket } = await storeOptions("Redis", context);
    const redis = { socket } as RedisServer;
    const nodes = await Promise.all([1, 2, 3].map(() => startProcess(redis)));
    const [first, second, third] = nodes.map(({ port }) => connect(port)) as Nodes["clients"];
    await second.call("SetDelay", { delay_requestable: 0 });
    await first.put(...URLS.slice(0, 30).map((url) => found(url, MINE)));
    await third.put(...URLS.slice(30).map((url) => found(url, MINE)));
    const asked = { ...MINE, max_queues: 10, max_urls_per_queue: 2, delay_requestable: 2 };
    const held = await first.get(asked);
    expect(held).toHaveLength(20);
    const [dying] = nodes as [{ child: ChildProcess; port: number }];
    const gone = new Promise((resolve) => dying.child.once("exit", resolve));
    dying.child.kill("SIGKILL");
    await gone;
    // Half of what it handed out is reported to another one; the client of the rest has died with it.
    const reported = held.slice(0, 10);
    expect(await second.put(...reported.map((url) => known(url, 0, MINE)))).toEqual(
      reported.map(() => "OK"),
    );
    const given: string[] = [];
    await expect
      .poll(
        async () => {
          for (const client of [second, third]) {
            const urls = await client.get({ ...MINE, delay_requestable: 60 });
            given.push(...urls);
            await (client === second ? third : second).put(
              ...urls.map((url) => known(url, 0, MINE)),
            );
          }
          return (await third.stats(NAME)).size;
        },
        { interval: 50 },
      )
      .toBe(0);
    expect(given.sort()).toEqual(URLS.filter((url) => !reported.includes(url)).sort());
    expect(await second.stats(NAME)).toMatchObject({ counts: { completed: 60 } });
    await expect
      .poll(async () => (await third.call("ListNodes")).values, { interval: 100 })
      .toEqual(
        nodes
          .slice(1)
          .map(({ port }) => `127.0.0.1:${port}`)
          .sort(),
      );
  });
});

describe("serve on Redis", () => {
  it("refuses what belongs to another place, and a name that is none", async () => {
    const refused = (options: ServeOptions): Promise<unknown> =>
      serving(options).then(
        () => "served",
        (cause) => String(cause),
      );
    expect(await refused({ redis: "x", directory: "y" })).toContain("options.directory");
    expect(await refused({ redis: "x", durability: "sync" })).toContain("options.durability");
    expect(await refused({ name: "x" })).toContain("options.name");
    expect(await refused({ partitions: 2 })).toContain("options.partitions");
    expect(await refused({ redis: "x", name: "a{b}" })).toContain("options.name");
    const io = createFakeIo(undefined);
    expect(await runCommand(["serve", "--redis", "x", "--dir", "y"], io)).toBe(2);
    expect(await runCommand(["serve", "--partitions", "4"], io)).toBe(2);
    expect(io.text.err).toContain("--dir: not with --redis");
    expect(io.text.err).toContain("--partitions: only with --redis");
  });
});
