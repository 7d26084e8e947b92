/** What the calls of the protocol mean: the same as to URLFrontier's own service. */
import * as grpc from "@grpc/grpc-js";
import { beforeEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/index.ts";
import type { ServeOptions, Server } from "../../src/server.ts";
import {
  type Ack,
  type Client,
  connect,
  found,
  type Info,
  type Item,
  known,
  serving,
} from "./client.ts";
import { STORES, storeOptions } from "./stores.ts";

const START_SECOND = 1_800_000_000;
const CRAWL = "crawl_id";
const MINE = { key: "queue_mysite", crawlID: CRAWL };

describe.each(STORES)("a crawl in %s", (store) => {
  const clock = { current: createVirtualClock(START_SECOND * 1_000) };
  let options: ServeOptions;
  let client: Client;
  let server: Server;

  const pass = (seconds: number): void => clock.current.advance(seconds * 1_000);
  const seconds = (): number => Math.floor(clock.current.now() / 1_000);

  beforeEach(async (context) => {
    clock.current = createVirtualClock(START_SECOND * 1_000);
    options = { clock: clock.current, ...(await storeOptions(store, context)) };
    server = await serving(options);
    client = connect(server.port);
  });

  /** The URLs with which the reference's own tests begin. */
  async function fill(): Promise<void> {
    const later = seconds() + 3_600;
    const statuses = await client.put(
      found("https://www.mysite.com/discovered", {
        ...MINE,
        metadata: { meta1: { values: ["md1"] } },
      }),
      found("https://www.mysite.com/completed", {
        ...MINE,
        metadata: { meta1: { values: ["md2"] } },
      }),
      known("https://www.mysite.com/completed", 0, {
        ...MINE,
        metadata: { meta1: { values: ["md2"] } },
      }),
      known("https://www.mysite.com/knowntorefetch", later, MINE),
      known("https://www.mysite.com/secondqueue", later, { key: "another_queue", crawlID: CRAWL }),
      known("https://www.delete.me/tobedeleted", later, { key: "delete_queue", crawlID: CRAWL }),
    );
    expect(statuses).toEqual(Array(6).fill("OK"));
  }

  it("acknowledges each URL by the ID that came with it, or by the URL, in order", async () => {
    const acks = await client.stream<Ack>("PutURLs", [
      found("http://a.com/1", { ID: "first" }),
      found("http://a.com/2"),
      found("http://a.com/1", { ID: "again" }),
      known("http://a.com/2", 0, { ID: "done" }),
      found("", { ID: "empty" }),
      found("mailto:x@a.com", { ID: "no page" }),
      found("http://a.com/3", { ID: "long", key: "k".repeat(256) }),
      { ID: "nothing" },
    ]);
    expect(acks.map(({ ID, status }) => [ID, status])).toEqual([
      ["first", "OK"],
      ["http://a.com/2", "OK"],
      ["again", "SKIPPED"],
      ["done", "OK"],
      ["empty", "SKIPPED"],
      ["no page", "OK"],
      ["long", "SKIPPED"],
      ["nothing", "SKIPPED"],
    ]);
  });

  it("shows discovered, finished and due URLs as known items, with their dates", async () => {
    await fill();
    const at = (path: string): Promise<Item> =>
      client.status(`https://www.mysite.com/${path}`, MINE.key, CRAWL);
    const [discovered, completed, later] = [
      await at("discovered"),
      await at("completed"),
      await at("knowntorefetch"),
    ];
    expect(discovered.known?.refetchable_from_date).toBe(START_SECOND);
    expect(discovered.known?.info).toEqual({
      url: "https://www.mysite.com/discovered",
      ...MINE,
      metadata: { meta1: { values: ["md1"] } },
    });
    expect(completed.known?.refetchable_from_date).toBe(0);
    expect(completed.known?.info.metadata).toEqual({ meta1: { values: ["md2"] } });
    expect(later.known?.refetchable_from_date).toBe(START_SECOND + 3_600);
    for (const item of [discovered, completed, later])
      expect(item.creation_date).toBe(START_SECOND);
  });

  it("answers NOT_FOUND for a URL that it does not know, and INVALID_ARGUMENT for none", async () => {
    await fill();
    const code = (url: string, key: string): Promise<number> =>
      client.status(url, key, CRAWL).then(
        () => 0,
        (cause) => (cause as grpc.ServiceError).code,
      );
    expect(await code("https://www.example3.com", "queue_3")).toBe(grpc.status.NOT_FOUND);
    expect(await code("https://www.example3.com", MINE.key)).toBe(grpc.status.NOT_FOUND);
    expect(await code("", "")).toBe(grpc.status.INVALID_ARGUMENT);
  });

  it("lists and counts URLs of a crawl, of a queue and by a filter", async () => {
    await fill();
    const list = async (params: object): Promise<number> =>
      (await client.list("ListURLs", { crawlID: CRAWL, ...params })).length;
    expect(await list({ size: 100 })).toBe(5);
    expect(await list({ key: "another_queue" })).toBe(1);
    expect(await list({ start: 3 })).toBe(2);
    expect(await list({ size: 2 })).toBe(2);
    expect(await list({ filter: "mysite" })).toBe(4);
    expect(await list({ filter: "MYSITE", ignoreCase: true, key: MINE.key })).toBe(3);
    const count = async (params: object): Promise<unknown> =>
      (await client.call("CountURLs", { crawlID: CRAWL, ...params })).value;
    expect(await count({})).toBe(5);
    expect(await count({ key: MINE.key })).toBe(3);
    expect(await count({ key: MINE.key, filter: "COMPLETED", ignoreCase: false })).toBe(0);
    expect(await count({ key: MINE.key, filter: "COMPLETED", ignoreCase: true })).toBe(1);
    expect(await count({ crawlID: "other" })).toBe(0);
  });

  it("does not discover again what is finished or due, and updates what is known", async () => {
    await fill();
    pass(100);
    expect(
      await client.put(
        found("https://www.mysite.com/completed", MINE),
        found("https://www.mysite.com/knowntorefetch", MINE),
        known("https://www.mysite.com/knowntorefetch", 2_943_003_600, {
          ...MINE,
          metadata: { updated: { values: ["a", ""] } },
        }),
      ),
    ).toEqual(["SKIPPED", "SKIPPED", "OK"]);
    const item = await client.status("https://www.mysite.com/knowntorefetch", MINE.key, CRAWL);
    expect(item.known?.refetchable_from_date).toBe(2_943_003_600);
    expect(item.known?.info.metadata).toEqual({ updated: { values: ["a", ""] } });
    expect(item.creation_date).toBe(START_SECOND);
  });

  it("keeps a URL once for each queue and each crawl, exactly as it was sent", async () => {
    const url = "HTTP://A.com:80/x/../ä?q=a b#part";
    expect(
      await client.put(
        found(url, { key: "one" }),
        found(url, { key: "two" }),
        found(url, { key: "one", crawlID: "other" }),
        found(url, { key: "one" }),
        found(url),
      ),
    ).toEqual(["OK", "OK", "OK", "SKIPPED", "OK"]);
    pass(2);
    const infos = await client.list<Info>("GetURLs", { crawlID: "DEFAULT" });
    expect(infos.map((info) => [info.url, info.key, info.crawlID])).toEqual([
      [url, "one", "DEFAULT"],
      [url, "two", "DEFAULT"],
      [url, "A.com", "DEFAULT"],
    ]);
    expect((await client.call("ListCrawls")).values).toEqual(["DEFAULT", "other"]);
  });

  it("names the queue of a URL without a key by its host as it stands, without the port", async () => {
    await client.put(
      found("http://a.com:8080/x"),
      found("https://B.com?x=1"),
      found("http://c.com&d"),
      found("http://a.com/y"),
    );
    const { values } = await client.call("ListQueues");
    expect(values).toEqual(["a.com", "B.com", "c.com"]);
  });

  it("hands out at most so many URLs of so many queues, each queue in its turn", async () => {
    for (const host of ["a", "b", "c"]) {
      await client.put(...[1, 2, 3].map((n) => found(`http://${host}.com/${n}`)));
    }
    expect(await client.get({ max_queues: 2, max_urls_per_queue: 2 })).toEqual([
      ...["http://a.com/1", "http://a.com/2", "http://b.com/1", "http://b.com/2"],
    ]);
    expect(await client.get({ max_queues: 2, max_urls_per_queue: 2 })).toEqual([
      ...["http://c.com/1", "http://c.com/2"],
    ]);
    expect(await client.get()).toEqual([]);
    pass(2);
    expect((await client.get()).sort()).toEqual(
      ["a", "b", "c"].map((host) => `http://${host}.com/3`),
    );
  });

  it("gives a queue again only after its delay, the default or its own", async () => {
    const urls = [1, 2, 3, 4, 5, 6].map((n) => `http://a.com/${n}`);
    await client.put(...urls.map((url) => found(url)));
    // More is asked for each time, so that the number in process keeps nothing.
    expect(await client.get({ max_urls_per_queue: 1 })).toHaveLength(1);
    pass(1);
    expect(await client.get()).toEqual([]); // one second has to pass whole
    pass(1);
    expect((await client.get({ max_urls_per_queue: 2 })).length).toBe(2);
    await client.call("SetDelay", { key: "a.com", delay_requestable: 10 });
    pass(10);
    expect(await client.get()).toEqual([]);
    pass(1);
    expect(
      (await client.get({ key: "a.com", crawlID: "DEFAULT", max_urls_per_queue: 4 })).length,
    ).toBe(3);
  });

  it("takes a default delay for all queues, also of later crawls", async () => {
    await client.call("SetDelay", { delay_requestable: 100 });
    await client.put(found("http://a.com/1"), found("http://a.com/2"));
    expect(await client.get({ max_urls_per_queue: 1 })).toEqual(["http://a.com/1"]);
    pass(100);
    expect(await client.get({ max_urls_per_queue: 1 })).toEqual([]);
    pass(1);
    expect(await client.get({ max_urls_per_queue: 2 })).toEqual([
      "http://a.com/1",
      "http://a.com/2",
    ]);
  });

  it("holds a URL for the time that was asked for, then hands it out again in its place", async () => {
    await client.put(found("http://a.com/1"), found("http://a.com/2"));
    expect(await client.get({ max_urls_per_queue: 1, delay_requestable: 60 })).toEqual([
      "http://a.com/1",
    ]);
    expect((await client.stats()).inProcess).toBe(1);
    pass(59);
    expect((await client.stats()).inProcess).toBe(1);
    pass(1);
    expect((await client.stats()).inProcess).toBe(0);
    expect(await client.get()).toEqual(["http://a.com/1", "http://a.com/2"]);
    pass(29);
    expect((await client.stats()).inProcess).toBe(2); // 30 seconds when nothing is asked for
    pass(1);
    expect((await client.stats()).inProcess).toBe(0);
  });

  it("gives no more of a queue while as many are in process as are asked for", async () => {
    await client.put(...[1, 2, 3, 4].map((n) => found(`http://a.com/${n}`)));
    const one = { max_urls_per_queue: 1, delay_requestable: 100 };
    expect(await client.get(one)).toEqual(["http://a.com/1"]);
    pass(10);
    expect(await client.get(one)).toEqual([]);
    expect(await client.get({ ...one, key: "a.com", crawlID: "" })).toEqual([]);
    expect(await client.get({ ...one, max_urls_per_queue: 2 })).toEqual([
      "http://a.com/2",
      "http://a.com/3",
    ]);
    pass(10);
    expect(await client.put(known("http://a.com/1", 0), known("http://a.com/2", 0))).toEqual([
      "OK",
      "OK",
    ]);
    expect(await client.get(one)).toEqual([]);
    await client.put(known("http://a.com/3", 0));
    expect(await client.get(one)).toEqual(["http://a.com/4"]);
  });

  it("makes a URL due again at its date, not before", async () => {
    await client.put(found("http://a.com/1"));
    await client.get();
    await client.put(known("http://a.com/1", seconds() + 500));
    pass(499);
    expect(await client.get()).toEqual([]);
    pass(1);
    expect(await client.get()).toEqual(["http://a.com/1"]);
    await client.put(known("http://a.com/1", 0));
    pass(100_000);
    expect(await client.get()).toEqual([]);
    expect(await client.stats()).toMatchObject({
      size: 0,
      counts: { completed: 1, active_queues: 0 },
    });
  });

  it("updates a URL that no client holds, and one that is new", async () => {
    await client.put(found("http://a.com/1"), known("http://a.com/new", 0));
    expect(await client.put(known("http://a.com/1", 0))).toEqual(["OK"]);
    expect(await client.get()).toEqual([]);
    expect(await client.put(known("http://a.com/1", seconds()))).toEqual(["OK"]);
    expect(await client.get()).toEqual(["http://a.com/1"]);
    expect(await client.stats()).toMatchObject({ size: 1, inProcess: 1, counts: { completed: 1 } });
  });

  it("takes the result of a URL whose hold ran out", async () => {
    await client.put(found("http://a.com/1"));
    await client.get({ delay_requestable: 5 });
    pass(6);
    expect(await client.put(known("http://a.com/1", 0))).toEqual(["OK"]);
    pass(60);
    expect(await client.get()).toEqual([]);
  });

  it("blocks a queue until a time, also by key, and unblocks it with 0", async () => {
    await client.put(found("http://a.com/1"), found("http://b.com/1"));
    const block = (time: number): Promise<unknown> =>
      client.call("BlockQueueUntil", { key: "a.com", time });
    await block(seconds() + 100);
    expect((await client.call("ListQueues")).values).toEqual(["b.com"]);
    expect((await client.call("ListQueues", { include_inactive: true })).values).toEqual([
      "a.com",
      "b.com",
    ]);
    expect(await client.get()).toEqual(["http://b.com/1"]);
    expect(await client.get({ key: "a.com", crawlID: "DEFAULT" })).toEqual([]);
    await block(0);
    expect(await client.get({ max_urls_per_queue: 1 })).toEqual(["http://a.com/1"]);
    await client.call("BlockQueueUntil", { key: "a.com", time: seconds() + 50 });
    pass(50);
    expect(await client.get()).toEqual(["http://b.com/1"]);
    pass(1);
    expect(await client.get()).toEqual(["http://a.com/1"]);
    await client.call("BlockQueueUntil", { key: "unknown", time: 5 });
    expect((await client.call("ListQueues", { include_inactive: true })).values).toEqual([
      "a.com",
      "b.com",
    ]);
  });

  it("gives no more of a queue that has finished as many as its limit", async () => {
    await client.put(...[1, 2, 3].map((n) => found(`http://a.com/${n}`)));
    await client.call("SetCrawlLimit", { key: "a.com", limit: 1 });
    expect(await client.get({ max_urls_per_queue: 1 })).toEqual(["http://a.com/1"]);
    await client.put(known("http://a.com/1", 0));
    pass(10);
    expect(await client.get()).toEqual([]);
    expect(await client.get({ key: "a.com", crawlID: "DEFAULT" })).toEqual([]);
    await client.call("SetCrawlLimit", { key: "a.com", limit: 0 });
    expect(await client.get()).toEqual(["http://a.com/2", "http://a.com/3"]);
    await expect(client.call("SetCrawlLimit", { key: "none", limit: 1 })).rejects.toMatchObject({
      details: "CrawlId and Queue combination is not found.",
    });
  });

  it("gives nothing while it is not active, and takes what comes", async () => {
    await client.call("SetActive", { state: false });
    expect(await client.call("GetActive")).toEqual({ state: false });
    expect(await client.put(found("http://a.com/1"))).toEqual(["OK"]);
    expect(await client.get()).toEqual([]);
    await client.call("SetActive", { state: true });
    expect(await client.call("GetActive")).toEqual({ state: true });
    expect(await client.get()).toEqual(["http://a.com/1"]);
  });

  it("pages through the queues of one crawl, the finished ones on demand", async () => {
    for (let n = 0; n < 6; n++) {
      await client.put(
        found(`https://a${n}.example.com/`, { key: `queue_a${n}`, crawlID: "crawl_a" }),
        found(`https://b${n}.example.com/`, { key: `queue_b${n}`, crawlID: "crawl_b" }),
      );
      if (n % 2 === 1) {
        await client.put(
          known(`https://a${n}.example.com/`, 0, { key: `queue_a${n}`, crawlID: "crawl_a" }),
        );
      }
    }
    const pages = async (params: {
      size: number;
      include_inactive: boolean;
    }): Promise<string[]> => {
      const keys: string[] = [];
      for (;;) {
        const page = await client.call<{
          values: string[];
          size: number;
          start: number;
          crawlID: string;
        }>("ListQueues", { ...params, crawlID: "crawl_a", start: keys.length });
        expect(page).toMatchObject({
          start: keys.length,
          size: page.values.length,
          crawlID: "crawl_a",
        });
        if (page.values.length === 0) return keys;
        keys.push(...page.values);
      }
    };
    expect(await pages({ size: 1, include_inactive: false })).toEqual([
      "queue_a0",
      "queue_a2",
      "queue_a4",
    ]);
    expect(await pages({ size: 4, include_inactive: true })).toEqual(
      [0, 1, 2, 3, 4, 5].map((n) => `queue_a${n}`),
    );
  });

  it("counts a queue, a crawl, and none of another", async () => {
    await fill();
    expect(await client.stats(CRAWL)).toEqual({
      size: 4,
      inProcess: 0,
      counts: { completed: 1, active_queues: 3 },
      numberOfQueues: 3,
      crawlID: CRAWL,
    });
    await client.get({ key: MINE.key, crawlID: CRAWL });
    expect(await client.stats(CRAWL, MINE.key)).toMatchObject({
      size: 2,
      inProcess: 1,
      numberOfQueues: 1,
    });
    expect(await client.stats(CRAWL, "none")).toMatchObject({ size: 0, numberOfQueues: 0 });
    expect(await client.stats()).toMatchObject({ size: 0, numberOfQueues: 0, crawlID: "DEFAULT" });
  });

  it("deletes a queue or a crawl, and both may be discovered anew", async () => {
    await fill();
    await client.put(found("https://www.mysite.com/discovered", { ...MINE, crawlID: "other" }));
    await client.get({ key: MINE.key, crawlID: CRAWL });
    expect(await client.call("DeleteQueue", MINE)).toEqual({ value: 3 });
    expect(await client.call("DeleteQueue", MINE)).toEqual({ value: 0 });
    expect(await client.put(found("https://www.mysite.com/completed", MINE))).toEqual(["OK"]);
    expect(await client.get({ crawlID: CRAWL })).toEqual(["https://www.mysite.com/completed"]);
    expect(await client.call("DeleteCrawl", { value: CRAWL })).toEqual({ value: 3 });
    expect(await client.call("DeleteCrawl", { value: CRAWL })).toEqual({ value: 0 });
    expect((await client.call("ListCrawls")).values).toEqual(["other"]);
    await fill();
    expect((await client.stats("other")).size).toBe(1);
  });

  it("purges URLs that came so many days ago, in any state", async () => {
    await fill();
    await client.get({ crawlID: CRAWL });
    pass(3 * 86_400);
    await client.put(
      found("http://young.com/", { crawlID: CRAWL }),
      known("https://www.mysite.com/knowntorefetch", 0, MINE), // keeps the day of its coming
    );
    const purge = async (params: object): Promise<unknown> =>
      (await client.call("PurgeURLs", { crawlID: CRAWL, ...params })).value;
    expect(await purge({ days: 4 })).toBe(0);
    expect(await purge({ days: 2, key: "another_queue" })).toBe(1);
    expect(await purge({ days: 2 })).toBe(4);
    expect(await client.stats(CRAWL)).toMatchObject({ size: 1, counts: { completed: 0 } });
    expect(await client.put(found("https://www.mysite.com/completed", MINE))).toEqual(["OK"]);
  });

  it("takes batches of discovered URLs, with a status for each", async () => {
    const batch = (ID: string, ...urls: string[]): object => ({
      ID,
      items: urls.map((url) => ({ url })),
    });
    const acks = await client.stream("PutDiscovered", [
      batch("b1", "http://a.com/1", "http://b.com/1", "http://a.com/1", ""),
      batch("probe"),
      { ID: "", items: [{ url: "http://a.com/1" }, { url: "http://a.com/1", crawlID: "other" }] },
    ] as never);
    expect(acks).toEqual([
      { ID: "b1", statuses: ["OK", "OK", "SKIPPED", "SKIPPED"] },
      { ID: "probe", statuses: [] },
      { ID: "", statuses: ["SKIPPED", "OK"] },
    ]);
    expect((await client.call("ListQueues")).values).toEqual(["a.com", "b.com"]);
  });

  it("gives URLs of any crawl where none is named, and none of a queue without a crawl", async () => {
    await client.put(
      found("http://a.com/1", { crawlID: "x" }),
      found("http://a.com/1", { crawlID: "y" }),
    );
    expect(await client.get({ key: "a.com" })).toEqual([]);
    expect(await client.get({ crawlID: "z" })).toEqual([]);
    expect(await client.get({ crawlID: "x" })).toEqual(["http://a.com/1"]);
    expect(await client.get({ anyCrawlID: {} })).toEqual(["http://a.com/1"]);
  });

  it("answers to what changes nothing here", async () => {
    expect(await client.call("SetLogLevel", { package: "a.b", level: "DEBUG" })).toEqual({});
    const { values } = await client.call<{ values: string[] }>("ListNodes");
    expect(values).toHaveLength(1);
    expect(values[0]).toMatch(/^127\.0\.0\.1:\d+$/);
  });
});
