/** What a server keeps in its directory. */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/index.ts";
import type { ServeOptions } from "../../src/server.ts";
import { connect, found, known, serving } from "./client.ts";
import { storeOptions } from "./stores.ts";

const START_SECOND = 1_800_000_000;
const CRAWL = "crawl_id";
const MINE = { key: "queue_mysite", crawlID: CRAWL };

describe.each(["directory", "Redis"] as const)("a server on a %s", (store) => {
  const clock = createVirtualClock(START_SECOND * 1_000);
  const pass = (seconds: number): void => clock.advance(seconds * 1_000);
  const seconds = (): number => Math.floor(clock.now() / 1_000);

  it("keeps the settings of a queue of any key", async (context) => {
    const options: ServeOptions = { clock, ...(await storeOptions(store, context)) };
    const server = await serving(options);
    let client = connect(server.port);
    const keys = ["__proto__", "constructor", "plain"];
    for (const key of keys) {
      await client.put(found("http://a.com/1", { key }), known("http://a.com/2", 0, { key }));
      await client.call("SetCrawlLimit", { key, limit: 1 });
    }
    client.raw.close();
    await server.close();
    client = connect((await serving(options)).port);
    expect(await client.get()).toEqual([]);
    await client.call("DeleteQueue", { key: "__proto__" });
    await client.put(found("http://a.com/1", { key: "__proto__" }));
    expect(await client.get()).toEqual(["http://a.com/1"]);
  });

  it("continues after a restart: URLs, finished ones, blocks, delays, limits, counts", async (context) => {
    const options: ServeOptions = { clock, ...(await storeOptions(store, context)) };
    const server = await serving(options);
    let client = connect(server.port);
    const later = seconds() + 3_600;
    const md2 = { ...MINE, metadata: { meta1: { values: ["md2"] } } };
    await client.put(
      found("https://www.mysite.com/completed", MINE),
      known("https://www.mysite.com/completed", 0, md2),
      known("https://www.mysite.com/knowntorefetch", later, MINE),
      known("https://www.mysite.com/secondqueue", later, { key: "another_queue", crawlID: CRAWL }),
      known("https://www.delete.me/tobedeleted", later, { key: "delete_queue", crawlID: CRAWL }),
    );
    await client.put(...[1, 2].map((n) => found(`http://a.com/${n}`, { crawlID: "ä/∂" })));
    await client.call("SetDelay", { delay_requestable: 7 });
    await client.call("BlockQueueUntil", {
      key: "another_queue",
      crawlID: CRAWL,
      time: seconds() + 9_000,
    });
    await client.call("SetCrawlLimit", { ...MINE, limit: 1 });
    const held = { crawlID: "ä/∂", max_urls_per_queue: 1, delay_requestable: 5 };
    expect(await client.get(held)).toEqual(["http://a.com/1"]);
    const before = await client.stats(CRAWL);
    client.raw.close();
    await server.close();
    client = connect((await serving(options)).port);
    expect(await client.stats(CRAWL)).toEqual(before);
    expect((await client.call("ListCrawls")).values).toEqual([CRAWL, "ä/∂"]);
    expect(await client.get({ crawlID: "ä/∂" })).toEqual([]); // a.com was asked just now
    pass(8);
    expect(await client.get({ crawlID: "ä/∂" })).toEqual(["http://a.com/1", "http://a.com/2"]);
    pass(3_600);
    expect(await client.get({ crawlID: CRAWL })).toEqual(["https://www.delete.me/tobedeleted"]);
    expect(
      (await client.status("https://www.mysite.com/completed", MINE.key, CRAWL)).known,
    ).toMatchObject({
      refetchable_from_date: 0,
      info: { metadata: { meta1: { values: ["md2"] } } },
    });
  });

  it("keeps what is set for a queue whose URLs are all purged", async (context) => {
    const options: ServeOptions = { clock, ...(await storeOptions(store, context)) };
    const server = await serving(options);
    let client = connect(server.port);
    await client.put(found("http://a.com/1"), found("http://b.com/1"));
    await client.call("SetCrawlLimit", { key: "a.com", limit: 1 });
    pass(1);
    expect((await client.call("PurgeURLs", { key: "a.com" })).value).toBe(1);
    client.raw.close();
    await server.close();
    client = connect((await serving(options)).port);
    await client.put(found("http://a.com/1"), known("http://a.com/2", 0));
    expect(await client.get()).toEqual(["http://b.com/1"]);
  });

  it("waits for a queue's delay that changes after the restart from when it was asked", async (context) => {
    const options: ServeOptions = { clock, ...(await storeOptions(store, context)) };
    const server = await serving(options);
    let client = connect(server.port);
    const keys = ["http://a.com/1", "http://b.com/1"];
    await client.call("SetDelay", { delay_requestable: 20 });
    await client.put(...keys.map((url) => found(url)));
    expect(await client.get({ delay_requestable: 1 })).toEqual(keys);
    client.raw.close();
    await server.close();
    client = connect((await serving(options)).port);
    pass(4);
    await client.call("SetDelay", { key: "a.com", delay_requestable: 5 });
    await client.call("SetDelay", { delay_requestable: 7 });
    expect(await client.get({ delay_requestable: 1 })).toEqual([]);
    pass(2);
    expect(await client.get()).toEqual(keys.slice(0, 1));
    pass(2);
    expect(await client.get()).toEqual(keys.slice(1));
  });
});
