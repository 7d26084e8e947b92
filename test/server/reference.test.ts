/** What URLFrontier's own tests expect of a service, test by test, where `meanings` does not hold it. */
import { beforeEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/index.ts";
import {
  type Ack,
  type Client,
  connect,
  found,
  type Info,
  type Item,
  known,
  type Message,
  serving,
} from "./client.ts";
import { STORES, storeOptions } from "./stores.ts";

const START_SECOND = 1_800_000_000;
const KEYED = { key: "key1.com", crawlID: "DEFAULT" };

describe.each(STORES)("a service in %s", (store) => {
  const clock = { current: createVirtualClock(START_SECOND * 1_000) };
  let client: Client;

  const pass = (seconds: number): void => clock.current.advance(seconds * 1_000);

  beforeEach(async (context) => {
    clock.current = createVirtualClock(START_SECOND * 1_000);
    const options = { clock: clock.current, ...(await storeOptions(store, context)) };
    client = connect((await serving(options)).port);
  });

  const deleteAll = async (): Promise<void> => {
    const { values } = await client.call<{ values: string[] }>("ListCrawls", { local: true });
    for (const value of values) await client.call("DeleteCrawl", { value });
  };

  it("never hands out a URL that came as finished", async () => {
    await client.put(known("http://key1.com/", 0, { key: "key1.com" }));
    expect(await client.get({ ...KEYED, max_urls_per_queue: 1, delay_requestable: 2 })).toEqual([]);
    expect(await client.get()).toEqual([]);
    expect(await client.stats("", "key1.com")).toMatchObject({ size: 0, counts: { completed: 1 } });
  });

  it("hands out URLs whose dates passed before the crawl began in the order of their dates", async () => {
    await client.put(
      known("http://key1.com/later", START_SECOND),
      known("http://key1.com/sooner", START_SECOND - 10_000),
    );
    await client.put(
      known("http://key1.com/soonest", START_SECOND - 20_000),
      found("http://key1.com/found"),
      known("http://key1.com/soon", START_SECOND - 1),
    );
    const places = ["soonest", "sooner", "soon", "later", "found"];
    expect(await client.get({ ...KEYED, max_urls_per_queue: 9 })).toEqual(
      places.map((place) => `http://key1.com/${place}`),
    );
  });

  it("hands out due URLs that stand behind others that are not due, in the order of their dates", async () => {
    const at = (after: number): Message => known(`http://key1.com/${after}`, START_SECOND + after);
    await client.put(...[-100, 300, -50, 400, 100, 0].map(at));
    expect(await client.get({ ...KEYED, max_urls_per_queue: 2 })).toEqual([
      "http://key1.com/-100",
      "http://key1.com/-50",
    ]);
    pass(1_000);
    await client.put(found("http://key1.com/1000"));
    expect(await client.get(KEYED)).toEqual(
      [-100, -50, 0, 100, 300, 400, 1_000].map((after) => `http://key1.com/${after}`),
    );
  });

  it("hands out a URL whose date passed after the crawl began behind those that were due before it", async () => {
    await client.put(found("http://key1.com/first"));
    pass(100);
    await client.put(known("http://key1.com/second", START_SECOND + 50));
    expect(await client.get()).toEqual(["http://key1.com/first", "http://key1.com/second"]);
  });

  it("hands out a URL that is due, however many of other queues became due before it", async () => {
    const at = (n: number): Message => known(`http://site${n}.com/`, START_SECOND + 10 + n);
    await client.put(
      ...Array.from({ length: 100 }, (_, n) => at(n)),
      known("http://key1.com/", START_SECOND + 200),
    );
    pass(300);
    expect(await client.get(KEYED)).toEqual(["http://key1.com/"]);
  });

  it("forgets the old date of a URL that is put with a new one", async () => {
    await client.put(
      known("http://key1.com/old", START_SECOND - 100),
      found("http://key1.com/found"),
      known("http://key1.com/old", START_SECOND),
    );
    expect(await client.get(KEYED)).toEqual(["http://key1.com/found", "http://key1.com/old"]);
  });

  it("holds a URL of a queue, frees it after its time, and deletes the queue", async () => {
    const url = "http://key1.com/";
    const twice = [found(url, { key: "key1.com" }), found(url, { key: "key1.com" })];
    expect(await client.put(...twice)).toEqual(["OK", "SKIPPED"]);
    expect((await client.call("ListQueues")).values).toEqual(["key1.com"]);
    const asked = { ...KEYED, max_urls_per_queue: 1, delay_requestable: 2 };
    expect(await client.get(asked)).toEqual([url]);
    expect(await client.stats("", "key1.com")).toMatchObject({ numberOfQueues: 1, inProcess: 1 });
    expect(await client.get(asked)).toEqual([]);
    pass(2);
    expect(await client.stats("", "key1.com")).toMatchObject({ numberOfQueues: 1, inProcess: 0 });
    expect(await client.call("DeleteQueue", { key: "key1.com" })).toEqual({ value: 1 });
    expect(await client.stats("", "key1.com")).toMatchObject({ numberOfQueues: 0, size: 0 });
  });

  it("keeps the crawls apart, an empty ID being the default's", async () => {
    expect((await client.call("ListCrawls")).values).toEqual([]);
    const url = "http://urlfrontier.net/";
    await client.put(found(url, { crawlID: "BESPOKE" }), found(url));
    expect(await client.put(found(url, { crawlID: "DEFAULT" }))).toEqual(["SKIPPED"]);
    for (const crawlID of ["", "BESPOKE"]) {
      const named = { size: 1, numberOfQueues: 1, crawlID: crawlID || "DEFAULT" };
      expect(await client.stats(crawlID)).toMatchObject(named);
    }
    await client.call("DeleteCrawl", { value: "BESPOKE" });
    expect(await client.stats("BESPOKE")).toMatchObject({ size: 0, crawlID: "BESPOKE" });
    await client.call("DeleteCrawl");
    expect(await client.stats()).toMatchObject({ size: 0, numberOfQueues: 0 });
    expect((await client.call("ListCrawls")).values).toEqual([]);
  });

  it("takes back what it listed, each item as it stood", async () => {
    const later = START_SECOND + 3_600;
    const metadata = { source: { values: ["seed"] } };
    await client.put(
      found("http://example.com/discovered", { key: "example.com", metadata }),
      known("http://example.com/done", 0, { key: "example.com" }),
      known("http://example.com/later", later, { key: "example.com" }),
      found("http://bespoke.com/", { key: "bespoke.com", crawlID: "BESPOKE" }),
    );
    const dumped: Item[] = [];
    for (const crawlID of ["DEFAULT", "BESPOKE"]) {
      dumped.push(...(await client.list<Item>("ListURLs", { crawlID, size: 2 ** 31 - 1 })));
    }
    expect(dumped).toHaveLength(4);
    await deleteAll();
    expect((await client.call("ListCrawls")).values).toEqual([]);
    expect(await client.put(...(dumped as unknown as Message[]))).toEqual(Array(4).fill("OK"));
    const status = (path: string): Promise<Item> =>
      client.status(`http://example.com/${path}`, "example.com", "DEFAULT");
    expect((await status("done")).known?.refetchable_from_date).toBe(0);
    expect((await status("later")).known?.refetchable_from_date).toBe(later);
    expect((await status("discovered")).known?.info.metadata).toEqual(metadata);
    expect(await client.call("CountURLs", { crawlID: "BESPOKE" })).toEqual({ value: 1 });
  });

  it("lists the queues of a crawl, and the URLs of each, without a gap", async () => {
    const url = (n: number): string => `http://site${n % 10}.com/page${n}`;
    await client.put(...Array.from({ length: 20 }, (_, n) => found(url(n))));
    const page = { include_inactive: true, local: true, size: 10_000 };
    const { values } = await client.call<{ values: string[] }>("ListQueues", page);
    expect(values).toHaveLength(10);
    const urls: string[] = [];
    for (const key of values) {
      const items = await client.list<Item>("ListURLs", { key, size: 2 ** 31 - 1 });
      urls.push(...items.map(({ known }) => known?.info.url ?? ""));
    }
    expect(urls.sort()).toEqual(Array.from({ length: 20 }, (_, n) => url(n)).sort());
  });

  it("changes nothing for a queue that is not there, and makes none", async () => {
    const calls = [
      client.call("SetDelay", { key: "none", delay_requestable: 55 }),
      client.call("BlockQueueUntil", { key: "none", time: 9_999_999_999 }),
      client.call("BlockQueueUntil", { time: 9_999_999_999 }),
    ];
    expect(await Promise.all(calls)).toEqual([{}, {}, {}]);
    expect(await client.call("DeleteQueue", { key: "none" })).toEqual({ value: 0 });
    expect((await client.call("ListQueues", { include_inactive: true })).values).toEqual([]);
    expect((await client.call("ListCrawls")).values).toEqual([]);
  });

  it("keeps a date of creation for each queue and each crawl", async () => {
    const url = "https://www.mysite.com/shared";
    const inQueue = { key: "queue", crawlID: "crawlA" };
    const created = async (key: string, crawlID: string): Promise<number> =>
      (await client.status(url, key, crawlID)).creation_date;
    await client.put(found(url, inQueue));
    pass(10);
    await client.put(found(url, { ...inQueue, crawlID: "crawlB" }));
    await client.put(found(url, { ...inQueue, key: "another" }));
    pass(10);
    await client.put(known(url, START_SECOND + 3_600, inQueue));
    expect(await created("queue", "crawlA")).toBe(START_SECOND);
    await client.put(known(url, 0, inQueue));
    expect(await created("queue", "crawlA")).toBe(START_SECOND);
    await client.call("DeleteQueue", inQueue);
    expect(await created("another", "crawlA")).toBe(START_SECOND + 10);
    expect(await created("queue", "crawlB")).toBe(START_SECOND + 10);
  });

  it("makes one queue for URLs that come at the same time", async () => {
    const streams = Array.from({ length: 8 }, (_, n) =>
      client.stream<Ack>("PutURLs", [found(`https://a.com/${n}`), found("https://a.com/same")]),
    );
    const acks = (await Promise.all(streams)).flat();
    expect(acks.filter(({ status }) => status === "OK")).toHaveLength(9);
    expect(await client.stats()).toMatchObject({ size: 9, numberOfQueues: 1 });
  });

  it.each([{}, KEYED])(
    "serves a queue once in its delay, however many ask at once: %j",
    async (by) => {
      await client.put(found("http://key1.com/a"), found("http://key1.com/b"));
      await client.call("SetDelay", { key: "key1.com", delay_requestable: 300 });
      const asked = { ...by, max_urls_per_queue: 1, delay_requestable: 30 };
      const answers = await Promise.all(Array.from({ length: 8 }, () => client.get(asked)));
      expect(answers.flat()).toEqual(["http://key1.com/a"]);
      pass(300);
      expect(await client.get({ ...asked, max_urls_per_queue: 2 })).toEqual([]);
      pass(1);
      expect(await client.get({ ...asked, max_urls_per_queue: 2 })).toHaveLength(2);
    },
  );

  it("takes URLs of any scheme, and texts that are none, as they are", async () => {
    const queues = {
      "mailto:x@a.com": "mailto",
      "ftp://a.com/x": "a.com",
      "ftp://a.com/%5F_y z": "a.com",
      "urn:isbn:1": "urn",
      "http://exa mple.com/": "exa mple.com",
      "http://1.2.3.999/": "1.2.3.999",
      "http://xn--a/": "xn--a",
      "plain text": "plain text",
      " http://b.com/": "b.com",
      "été://ü\n": "ü\n",
      "https:c.com": "https",
    };
    const urls = Object.keys(queues);
    const named = found("file:///etc/hosts", { key: "files", metadata: { a: { values: ["b"] } } });
    expect(await client.put(...urls.map((url) => found(url)), named)).toEqual(Array(12).fill("OK"));
    expect(await client.put(...urls.map((url) => found(url)), named)).toEqual(
      Array(12).fill("SKIPPED"),
    );
    // No queue is named by these.
    expect(
      await client.put(found("file:///etc/hosts"), found("", { key: "a" }), found("://")),
    ).toEqual(Array(3).fill("SKIPPED"));
    const { values } = await client.call<{ values: string[] }>("ListQueues");
    expect(new Set(values)).toEqual(new Set([...Object.values(queues), "files"]));
    const infos = await client.list<Info>("GetURLs", { delay_requestable: 600 });
    expect(Object.fromEntries(infos.map(({ key, url }) => [url, key]))).toEqual({
      ...queues,
      "file:///etc/hosts": "files",
    });
    expect(infos.find(({ key }) => key === "files")?.metadata).toEqual({ a: { values: ["b"] } });
    const [mail = "", file = ""] = urls;
    expect(await client.put(known(mail, 0), known(file, START_SECOND + 60))).toEqual(["OK", "OK"]);
    expect((await client.status(mail, "mailto")).known?.refetchable_from_date).toBe(0);
    const later = (await client.status(file, "")).known;
    expect(later).toMatchObject({
      info: { url: file, key: "a.com" },
      refetchable_from_date: START_SECOND + 60,
    });
    expect(await client.stats()).toMatchObject({ size: 11, inProcess: 10 });
    const items = await client.list<Item>("ListURLs", { size: 100 });
    expect(items.map(({ known }) => known?.info.url).sort()).toEqual(
      [...urls, "file:///etc/hosts"].sort(),
    );
    expect(await client.call("DeleteQueue", { key: "files" })).toEqual({ value: 1 });
    pass(1);
    expect(await client.call("PurgeURLs", { days: 0 })).toEqual({ value: 11 });
    expect(await client.put(found(mail))).toEqual(["OK"]);
  });

  it("keeps URLs apart by every character", async () => {
    const urls = [
      ...["http://a.com", "http://a.com/", "http://A.com/", "http://a.com:80/", "http://a.com/#a"],
      ...["http://a.com/?", "http://a.com/%41", "http://a.com/A", "http://a.com/./A"],
    ].map((url) => found(url, { key: "a" }));
    expect(await client.put(...urls)).toEqual(Array(urls.length).fill("OK"));
    expect(await client.put(...urls)).toEqual(Array(urls.length).fill("SKIPPED"));
    expect(await client.call("CountURLs", { key: "a" })).toEqual({ value: urls.length });
  });
});
