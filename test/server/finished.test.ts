/** Known URLs that were handed out and are finished: they stay, with the metadata that came last. */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/index.ts";
import type { ServeOptions } from "../../src/server.ts";
import { type Client, connect, found, known, serving } from "./client.ts";
import { STORES, storeOptions } from "./stores.ts";

const CRAWL = "crawl";
const first = { crawlID: CRAWL, key: "queue", metadata: { depth: { values: ["1"] } } };
const other = { ...first, metadata: { depth: { values: ["2"] } } };
const bare = { crawlID: CRAWL, key: "queue" };
const urlOf = (name: string): string => `http://a.com/${name}`;

/** How each URL is found, and how it comes back as finished. */
const CASES = {
  same: [first, first],
  changed: [first, other],
  cleared: [first, bare],
  added: [bare, first],
  bare: [bare, bare],
} as const;
const NAMES = Object.keys(CASES) as Array<keyof typeof CASES>;

async function expectFinished(client: Client): Promise<void> {
  for (const name of NAMES) {
    const [, end] = CASES[name];
    const status = await client.status(urlOf(name), "queue", CRAWL);
    const { refetchable_from_date: due, info } = status.known ?? {};
    const metadata = "metadata" in end ? end.metadata : {};
    expect([name, due, info?.metadata]).toEqual([name, 0, metadata]);
  }
  const { size, inProcess, numberOfQueues } = await client.stats(CRAWL);
  expect([size, inProcess, numberOfQueues]).toEqual([0, 0, 1]);
  const again = await client.put(...NAMES.map((name) => found(urlOf(name), bare)));
  expect(again).toEqual(NAMES.map(() => "SKIPPED"));
}

describe.each(STORES)("URLs that are finished, in %s", (store) => {
  it("stay finished under what was sent last, and after a restart", async (context) => {
    const clock = createVirtualClock(1_800_000_000_000);
    const options: ServeOptions = { clock, ...(await storeOptions(store, context)) };
    const server = await serving(options);
    const client = connect(server.port);
    await client.put(...NAMES.map((name) => found(urlOf(name), CASES[name][0])));
    expect(await client.get({ crawlID: CRAWL })).toEqual(NAMES.map(urlOf));
    const ends = NAMES.map((name) => known(urlOf(name), 0, CASES[name][1]));
    expect(await client.put(...ends)).toEqual(NAMES.map(() => "OK"));
    await expectFinished(client);
    expect(await client.put(...ends)).toEqual(NAMES.map(() => "OK"));
    await expectFinished(client);
    if (store === "memory") return;
    client.raw.close();
    await server.close();
    await expectFinished(connect((await serving(options)).port));
  });

  it("are finished so too where they were never handed out", async (context) => {
    const clock = createVirtualClock(1_800_000_000_000);
    const client = connect(
      (await serving({ clock, ...(await storeOptions(store, context)) })).port,
    );
    await client.put(...NAMES.map((name) => found(urlOf(name), CASES[name][0])));
    const ends = NAMES.map((name) => known(urlOf(name), 0, CASES[name][1]));
    expect(await client.put(...ends)).toEqual(NAMES.map(() => "OK"));
    expect(await client.get({ crawlID: CRAWL })).toEqual([]);
    await expectFinished(client);
  });

  it("go with their queue while they are held, and with no other queue of their host", async (context) => {
    const client = connect((await serving(await storeOptions(store, context))).port);
    const asked = { crawlID: CRAWL, max_queues: 2, delay_requestable: 600 };
    await client.put(found(urlOf("one"), bare), found(urlOf("two"), { crawlID: CRAWL }));
    expect((await client.get(asked)).sort()).toEqual([urlOf("one"), urlOf("two")]);
    for (const [key, left] of [
      ["a.com", 1],
      ["queue", 0],
    ] as const) {
      const { value } = await client.call("DeleteQueue", { crawlID: CRAWL, key });
      const { size, inProcess } = await client.stats(CRAWL);
      expect([key, Number(value), size, inProcess]).toEqual([key, 1, left, left]);
    }
  });

  it("may be fetched again at a date, limited and purged", async (context) => {
    const clock = createVirtualClock(1_800_000_000_000);
    const server = await serving({ clock, ...(await storeOptions(store, context)) });
    const client = connect(server.port);
    await client.put(found(urlOf("one"), first), found(urlOf("two"), first));
    await client.call("SetCrawlLimit", { crawlID: CRAWL, key: "queue", limit: 1 });
    await client.get({ crawlID: CRAWL, max_urls_per_queue: 1 });
    await client.put(known(urlOf("one"), 0, first));
    clock.advance(60_000);
    expect(await client.get({ crawlID: CRAWL })).toEqual([]);
    await client.call("SetCrawlLimit", { crawlID: CRAWL, key: "queue", limit: 0 });
    expect(await client.get({ crawlID: CRAWL })).toEqual([urlOf("two")]);
    await client.put(known(urlOf("one"), 1_800_000_100, first));
    clock.advance(60_000);
    expect(await client.get({ crawlID: CRAWL })).toEqual([urlOf("two"), urlOf("one")]);
    await client.put(known(urlOf("one"), 0, first), known(urlOf("two"), 0, first));
    const { value } = await client.call("DeleteQueue", { crawlID: CRAWL, key: "queue" });
    expect(Number(value)).toBe(2);
    expect(await client.put(found(urlOf("one"), first))).toEqual(["OK"]);
  });
});
