/** A server over a frontier that the program opened itself: one crawl, shared with the program. */
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import {
  type AsyncFrontier,
  type Clock,
  createVirtualClock,
  type Frontier,
  type FrontierOptions,
  openFrontier,
  openFrontierThread,
} from "../../src/index.ts";
import { openRedisFrontier, type RedisFrontierOptions } from "../../src/redis.ts";
import type { ServeFault } from "../../src/server.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";
import { connect, found, type Info, type Item, known, serving } from "./client.ts";

type Given = Frontier | AsyncFrontier;
const NAME = "mine";
const MINE = { crawlID: NAME };
const LATER_SECONDS = 3_600;

const OPENERS: ReadonlyArray<[string, (options: FrontierOptions) => Promise<Given>]> = [
  ["in this thread", (options) => openFrontier(options)],
  ["in a thread of its own", (options) => openFrontierThread(options)],
  ["on Redis", openOnRedis],
];

async function openOnRedis({ name = NAME, ...options }: FrontierOptions): Promise<Given> {
  const server = await startRedis();
  onTestFinished(() => server.close());
  // Order, and URLs found without their key, are those of one partition.
  const redis = { redis: server.socket, partitions: 1 };
  return await openRedisFrontier({ ...options, ...redis, name } as RedisFrontierOptions);
}

describe.each(OPENERS)("a server over a frontier %s", (place, open) => {
  beforeEach((context) => {
    const isThere = place !== "on Redis" || WITHOUT_REDIS === undefined;
    skipUnless(context, isThere, WITHOUT_REDIS ?? "");
  });

  async function opened(options: FrontierOptions = {}): Promise<Given> {
    const frontier = await open({ name: NAME, keepOpen: true, ...options });
    onTestFinished(() => frontier.close());
    return frontier;
  }

  it("shows in the frontier what came over the wire, and over the wire what the program pushed", async () => {
    const frontier = await opened();
    const client = connect((await serving({ frontier })).port);
    await frontier.push("http://a.com/program", { data: { note: "ours" } });
    const metadata = { from: { values: ["wire"] } };
    expect(
      await client.put(
        found("http://a.com/wire", { ...MINE, metadata }),
        found("http://a.com/program", MINE),
        found("http://b.com/x", { ...MINE, key: "queue" }),
        known("http://b.com/done", 0, MINE),
      ),
    ).toEqual(["OK", "SKIPPED", "OK", "OK"]);
    expect((await frontier.record("http://a.com/wire"))?.state).toBe("pending");
    expect((await frontier.record("http://b.com/x"))?.hostKey).toBe("queue");
    expect((await frontier.record("http://b.com/done"))?.state).toBe("done");
    const infos = await client.list<Info>("GetURLs", MINE);
    expect(infos.map(({ url, key, crawlID }) => [url, key, crawlID])).toEqual([
      ["http://a.com/program", "a.com", NAME],
      ["http://a.com/wire", "a.com", NAME],
      ["http://b.com/x", "queue", NAME],
    ]);
    expect(infos[1]?.metadata).toEqual(metadata);
    expect((await frontier.report()).leased).toBe(3);
    const later = Math.floor(Date.now() / 1_000) + LATER_SECONDS;
    expect(
      await client.put(
        known("http://a.com/program", later, MINE),
        known("http://a.com/wire", 0, MINE),
      ),
    ).toEqual(["OK", "OK"]);
    expect(await frontier.record("http://a.com/program")).toMatchObject({
      state: "waiting",
      untilMs: later * 1_000,
      data: { note: "ours" },
    });
    expect((await frontier.record("http://a.com/wire"))?.state).toBe("done");
    const item = await client.status("http://a.com/program", "a.com", NAME);
    expect(item.known?.refetchable_from_date).toBe(later);
  });

  it("answers for the crawl of its name alone, and takes it where none is named", async () => {
    const faults: ServeFault[] = [];
    const frontier = await opened();
    const server = await serving({ frontier, onFault: (fault) => faults.push(fault) });
    const client = connect(server.port);
    const other = { crawlID: "other" };
    expect(await client.put(found("http://a.com/1", other), found("http://a.com/2"))).toEqual([
      "FAIL",
      "OK",
    ]);
    expect(String(faults[0]?.cause)).toContain("crawlID: 'other' (expected: 'mine'");
    expect((await client.call("ListCrawls")).values).toEqual([NAME]);
    expect(await client.get(other)).toEqual([]);
    expect((await client.stats("other")).size).toBe(0);
    expect(await client.call("DeleteCrawl", { value: "other" })).toEqual({ value: 0 });
    expect(await client.get()).toEqual(["http://a.com/2"]);
    expect((await frontier.report()).pushed).toBe(1);
  });

  it("reports what failed here, and not what a client sent wrong", async () => {
    const faults: string[] = [];
    const frontier = await opened();
    const server = await serving({ frontier, onFault: ({ place }) => faults.push(place) });
    const client = connect(server.port);
    const answers = ["GetStats", "SetLogLevel", "GetURLs", "ListURLs"].map((name) => {
      const path = `/urlfrontier.URLFrontier/${name}`;
      const asItIs = (bytes: Buffer): Buffer => bytes;
      return new Promise((resolve) =>
        client.raw.makeUnaryRequest(path, asItIs, asItIs, Buffer.from([0x0a, 0x7f]), (cause) =>
          resolve(cause?.code),
        ),
      );
    });
    expect(await Promise.all(answers)).toEqual([3, 3, 3, 3]);
    expect(faults).toEqual([]);
    await frontier.close();
    for (const name of ["GetURLs", "ListURLs"]) {
      await expect(client.list(name, MINE)).rejects.toMatchObject({ code: 14 });
    }
    await expect(client.stats(NAME)).rejects.toMatchObject({ code: 14 });
    expect(faults).toEqual(["GetURLs", "ListURLs", "GetStats"]);
  });

  it("leaves the frontier open when it closes, and ends its calls when the frontier is closed first", async () => {
    const frontier = await opened();
    const first = await serving({ frontier });
    const client = connect(first.port);
    await client.put(found("http://a.com/1", MINE));
    client.raw.close();
    await first.close();
    expect(await frontier.push("http://a.com/2")).toMatchObject({ status: "accepted" });
    const again = connect((await serving({ frontier })).port);
    expect((await again.get(MINE)).sort()).toEqual(["http://a.com/1", "http://a.com/2"]);
    await frontier.close();
    expect(await again.put(found("http://a.com/3", MINE))).toEqual(["FAIL"]);
    await expect(again.get(MINE)).rejects.toMatchObject({ code: 14 });
  });

  it("counts, lists, limits, purges and deletes what both have brought", async () => {
    const frontier = await opened();
    const client = connect((await serving({ frontier })).port);
    await frontier.pushMany(["http://a.com/1", "http://a.com/2", "http://b.com/1"]);
    await client.put(
      found("http://c.com/1", MINE),
      known("http://c.com/2", 0, MINE),
      known("http://d.com/2", 0, MINE),
    );
    expect(await client.stats(NAME)).toEqual({
      ...{ size: 4, inProcess: 0, numberOfQueues: 4, crawlID: NAME },
      counts: { completed: 2, active_queues: 3 },
    });
    expect(await client.stats(NAME, "c.com")).toMatchObject({ size: 1, counts: { completed: 1 } });
    const queues = async (include_inactive: boolean): Promise<string[]> =>
      (await client.call<{ values: string[] }>("ListQueues", { ...MINE, include_inactive })).values;
    expect((await queues(false)).sort()).toEqual(["a.com", "b.com", "c.com"]);
    expect(await queues(true)).toHaveLength(4);
    expect(await client.list("ListURLs", { ...MINE, key: "a.com" })).toHaveLength(2);
    const count = async (filter: string): Promise<unknown> =>
      (await client.call("CountURLs", { ...MINE, filter })).value;
    expect([await count(""), await count("com/2")]).toEqual([6, 3]);
    await client.call("SetCrawlLimit", { ...MINE, key: "c.com", limit: 1 });
    await client.call("BlockQueueUntil", { ...MINE, key: "b.com", time: 4_000_000_000 });
    expect(await client.get(MINE)).toEqual(["http://a.com/1", "http://a.com/2"]);
    expect(await client.call("PurgeURLs", { ...MINE, key: "c.com", days: 1 })).toEqual({
      value: 0,
    });
    expect(await client.call("DeleteQueue", { ...MINE, key: "a.com" })).toEqual({ value: 2 });
    expect(await frontier.record("http://a.com/1")).toBeUndefined();
    expect(await client.call("DeleteCrawl", { value: NAME })).toEqual({ value: 4 });
    expect((await frontier.report()).pending).toBe(0);
    expect(await client.put(found("http://c.com/2", MINE))).toEqual(["OK"]);
  });

  it("keeps no block of a queue when its crawl is deleted", async () => {
    const frontier = await opened();
    const client = connect((await serving({ frontier })).port);
    const hosts = ["a.com", "b.com"];
    const urls = hosts.map((host) => `http://${host}/1`);
    const foundUrls = urls.map((url) => found(url, MINE));
    await client.put(...foundUrls);
    await client.call("SetDelay", { ...MINE, key: "a.com", delay_requestable: LATER_SECONDS });
    expect(await client.get({ ...MINE, key: "a.com" })).toEqual(urls.slice(0, 1));
    await client.call("BlockQueueUntil", { ...MINE, key: "b.com", time: 4_000_000_000 });
    expect(await client.call("DeleteCrawl", { value: NAME })).toEqual({ value: 2 });
    expect(await client.put(...foundUrls)).toEqual(["OK", "OK"]);
    expect((await client.get(MINE)).sort()).toEqual(urls);
  });

  it("lists and deletes the URLs of one queue, whatever hosts they have", async () => {
    const frontier = await opened();
    const client = connect((await serving({ frontier })).port);
    const inQueue = { ...MINE, key: "queue" };
    await client.put(
      ...[found("http://a.com/1", inQueue), found("http://a.com/2", inQueue)],
      ...[found("http://a.com/3", MINE), found("http://b.com/1", { ...MINE, key: "a.com" })],
    );
    const listed = async (key: string): Promise<string[]> => {
      const items = await client.list<Item>("ListURLs", { ...MINE, key });
      return items.map(({ known }) => String(known?.info.url)).sort();
    };
    expect(await listed("a.com")).toEqual(["http://a.com/3", "http://b.com/1"]);
    expect(await listed("b.com")).toEqual([]);
    const deleted = (key: string): Promise<unknown> => client.call("DeleteQueue", { ...MINE, key });
    expect(await deleted("a.com")).toEqual({ value: 2 });
    expect(await listed("")).toEqual(["http://a.com/1", "http://a.com/2"]);
    expect(await deleted("b.com")).toEqual({ value: 0 });
    expect(await deleted("queue")).toEqual({ value: 2 });
    expect(await listed("")).toEqual([]);
  });

  it("deletes with a queue what the program pushed under a key of its own", async () => {
    const frontier = await opened();
    await frontier.push({ url: "http://a.com/1", key: "own" });
    const client = connect((await serving({ frontier })).port);
    await client.put(found("http://a.com/2", MINE));
    expect(await client.call("DeleteQueue", { ...MINE, key: "a.com" })).toEqual({ value: 2 });
    expect((await frontier.report()).pending).toBe(0);
  });

  it("gives of each queue what was asked for, in the frontier's order and under its politeness", async () => {
    const urls = ["a", "b", "c"].flatMap((host) => [1, 2, 3].map((n) => `http://${host}.com/${n}`));
    const plain = await opened();
    await plain.pushMany(urls);
    const client = connect((await serving({ frontier: plain })).port);
    expect(await client.get({ ...MINE, max_queues: 2, max_urls_per_queue: 2 })).toEqual([
      ...["http://a.com/1", "http://a.com/2", "http://b.com/1", "http://b.com/2"],
    ]);
    expect(await client.get({ ...MINE, key: "c.com" })).toHaveLength(3);
    const polite = await opened({ name: "polite", defaults: { politeness: { delayMs: 60_000 } } });
    await polite.pushMany(urls);
    const other = connect((await serving({ frontier: polite })).port);
    expect(await other.get({ crawlID: "polite", key: "b.com" })).toEqual(["http://b.com/1"]);
    expect(await other.get({ crawlID: "polite" })).toEqual(["http://a.com/1", "http://c.com/1"]);
    expect(await other.get({ crawlID: "polite", key: "a.com" })).toEqual([]);
  });
});

describe("a server over a frontier with a clock of the test's", () => {
  async function serve(clock: Clock): Promise<ReturnType<typeof connect>> {
    const frontier = await openFrontier({ name: NAME, clock, keepOpen: true, maxDeliveries: 2 });
    onTestFinished(() => frontier.close());
    await frontier.pushMany([1, 2, 3, 4].map((n) => `http://a.com/${n}`));
    return connect((await serving({ frontier, clock })).port);
  }

  it("keeps queues to their delay and to what is in process, without handing out anything to look at it", async () => {
    const clock = createVirtualClock(1_800_000_000_000);
    const client = await serve(clock);
    const one = { ...MINE, max_urls_per_queue: 1, delay_requestable: 10_000 };
    expect(await client.get(one)).toEqual(["http://a.com/1"]);
    for (let second = 0; second < 20; second++) {
      clock.advance(1_000);
      expect(await client.get(one)).toEqual([]);
    }
    expect(await client.put(known("http://a.com/1", 0, MINE))).toEqual(["OK"]);
    clock.advance(1_000);
    expect(await client.get(one)).toEqual(["http://a.com/2"]);
    await client.call("SetDelay", { ...MINE, key: "a.com", delay_requestable: 100 });
    clock.advance(100_000);
    expect(await client.get({ ...one, max_urls_per_queue: 2 })).toEqual([]);
    clock.advance(1_000);
    expect(await client.get({ ...one, max_urls_per_queue: 2 })).toEqual([
      ...["http://a.com/3", "http://a.com/4"],
    ]);
  });

  it("hands a URL out again when its time is over, and takes a result that comes later", async () => {
    const clock = createVirtualClock(1_800_000_000_000);
    const client = await serve(clock);
    expect(await client.get({ ...MINE, delay_requestable: 5 })).toHaveLength(4);
    clock.advance(6_000);
    expect(await client.put(known("http://a.com/1", 0, MINE))).toEqual(["OK"]);
    expect(await client.get(MINE)).toHaveLength(3);
  });
});

it("refuses what is no frontier, one in mode bloom, and a directory beside one", async () => {
  const bloom = await openFrontier({ seen: { mode: "bloom", capacity: 1_000 } });
  onTestFinished(() => bloom.close());
  await expect(serving({ frontier: bloom })).rejects.toMatchObject({ code: "UNSUPPORTED" });
  const none = {} as Frontier;
  await expect(serving({ frontier: none })).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  const both = serving({ frontier: bloom, directory: "x" });
  await expect(both).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
});
