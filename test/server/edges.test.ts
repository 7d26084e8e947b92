/** Calls at the edges of what they take: empty keys, long names, the present second. */
import { beforeEach, describe, expect, it } from "vitest";
import { createVirtualClock, openFrontier } from "../../src/index.ts";
import type { ServeOptions, Server } from "../../src/server.ts";
import { type Client, connect, found, known, type Message, serving } from "./client.ts";
import { STORES, storeOptions } from "./stores.ts";

const START_SECOND = 1_800_000_000;
const URLS = ["http://a.com/1", "http://a.com/2", "http://b.com/1"] as const;

/** Calls about one queue, without its key. */
async function callWithoutKey(client: Client): Promise<unknown> {
  const limit = client.call("SetCrawlLimit", { limit: 1 }).then(
    () => "set",
    (cause: Message) => cause.details,
  );
  return {
    deleted: (await client.call("DeleteQueue")).value,
    blocked: await client.call("BlockQueueUntil", { time: 9_999_999_999 }),
    limit: await limit,
    given: await client.get(),
  };
}

const NONE_CHANGED = {
  deleted: 0,
  blocked: {},
  limit: "CrawlId and Queue combination is not found.",
  given: URLS,
};

describe.each(STORES)("a service in %s", (store) => {
  const clock = { current: createVirtualClock(START_SECOND * 1_000) };
  let options: ServeOptions;
  let server: Server;
  let client: Client;

  beforeEach(async (context) => {
    clock.current = createVirtualClock(START_SECOND * 1_000);
    options = { clock: clock.current, ...(await storeOptions(store, context)) };
    server = await serving(options);
    client = connect(server.port);
  });

  it("changes and deletes nothing for a queue without a key", async () => {
    await client.put(...URLS.map((url) => found(url)));
    expect(await callWithoutKey(client)).toEqual(NONE_CHANGED);
    expect(await client.call("CountURLs")).toEqual({ value: 3 });
  });

  it("purges what came in this very second where no day is to pass", async () => {
    clock.current.advance(300);
    await client.put(...URLS.map((url) => found(url)), known("http://c.com/1", 0));
    clock.current.advance(200);
    expect(await client.call("PurgeURLs", { days: 1 })).toEqual({ value: 0 });
    expect(await client.call("PurgeURLs", { days: 0 })).toEqual({ value: 4 });
    expect(await client.call("CountURLs")).toEqual({ value: 0 });
  });

  it("has crawls of any name of at most 255 characters, after a restart too", async () => {
    const names = [
      "c".repeat(255),
      "ü".repeat(255),
      `${"ü".repeat(254)}!`,
      "../..",
      "a/b\nc",
      " x",
    ];
    for (const crawlID of names) {
      expect(await client.put(found("http://a.com/1", { crawlID }))).toEqual(["OK"]);
    }
    const tooLong = { crawlID: "c".repeat(256) };
    const acks = client.put(found("http://a.com/1", tooLong), known("http://a.com/1", 0, tooLong));
    expect(await acks).toEqual(["SKIPPED", "SKIPPED"]);
    if (store !== "memory") {
      client.raw.close();
      await server.close();
      client = connect((await serving(options)).port);
    }
    expect((await client.call("ListCrawls")).values).toEqual(names);
    for (const crawlID of names) {
      expect(await client.get({ crawlID })).toEqual(["http://a.com/1"]);
      expect(await client.call("DeleteCrawl", { value: crawlID })).toEqual({ value: 1 });
    }
    expect((await client.call("ListCrawls")).values).toEqual([]);
  });

  it("keeps crawls apart of which one has the name that the other's bytes spell", async () => {
    for (const [at, crawlID] of ["ä", "xc3a4"].entries()) {
      await client.put(found(`http://${at}.com/`, { crawlID }));
      expect(await client.call("CountURLs", { crawlID })).toEqual({ value: 1 });
    }
  });
});

it("a frontier that is given loses nothing for a queue without a key", async () => {
  await using frontier = await openFrontier({ name: "mine", keepOpen: true });
  const client = connect((await serving({ frontier })).port);
  await client.put(...URLS.map((url) => found(url)));
  expect(await callWithoutKey(client)).toEqual(NONE_CHANGED);
});
