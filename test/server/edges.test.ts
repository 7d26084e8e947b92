/** Calls at the edges of what they take: empty keys, long names, the present second. */
import { once } from "node:events";
import { connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createVirtualClock, openFrontier } from "../../src/index.ts";
import type { ServeOptions, Server } from "../../src/server.ts";
import { type Client, connect, found, type Item, known, type Message, serving } from "./client.ts";
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

  it("lists, counts, deletes and purges the URLs of one queue, whatever hosts they have", async () => {
    const inQueue = { key: "queue" };
    const inHost = { key: "a.com" };
    await client.put(
      ...[found(URLS[0], inQueue), known(URLS[1], 0, inQueue), found(URLS[0], { key: "A.com" })],
      ...[found(URLS[0]), found("http://a.com/3"), found(URLS[2], inHost)],
    );
    const listed = async (key = ""): Promise<string[]> => {
      const items = await client.list<Item>("ListURLs", { key });
      return items.map(({ known }) => `${known?.info.key} ${known?.info.url}`).sort();
    };
    const others = [`A.com ${URLS[0]}`, `queue ${URLS[0]}`, `queue ${URLS[1]}`];
    expect(await listed("a.com")).toEqual(
      [URLS[0], "http://a.com/3", URLS[2]].map((url) => `a.com ${url}`),
    );
    expect(await listed("b.com")).toEqual([]);
    expect(await client.call("CountURLs", { ...inHost, filter: "/1" })).toEqual({ value: 2 });
    expect(await client.call("DeleteQueue", inHost)).toEqual({ value: 3 });
    expect(await listed()).toEqual(others);
    await client.put(found(URLS[0]));
    clock.current.advance(200);
    expect(await client.call("PurgeURLs", { key: "b.com" })).toEqual({ value: 0 });
    expect(await client.call("PurgeURLs", inHost)).toEqual({ value: 1 });
    expect(await listed()).toEqual(others);
    expect(await client.get()).toEqual([URLS[0], URLS[0]]);
  });

  it("keeps no block, limit or clock of a deleted crawl for the one that is made anew", async () => {
    const put = (): Promise<string[]> => client.put(...URLS.map((url) => found(url)));
    await put();
    expect(await client.get({ max_urls_per_queue: 1 })).toEqual([URLS[0], URLS[2]]);
    await client.call("BlockQueueUntil", { key: "b.com", time: START_SECOND * 2 });
    await client.call("SetCrawlLimit", { key: "a.com", limit: 1 });
    await client.put(known(URLS[0], 0));
    clock.current.advance(60_000);
    expect(await client.get()).toEqual([]);
    expect(await client.call("DeleteCrawl")).toEqual({ value: 3 });
    expect(await put()).toEqual(["OK", "OK", "OK"]);
    expect(await client.get()).toEqual(URLS);
    // Deleted and filled at once.
    const [, statuses] = await Promise.all([client.call("DeleteCrawl"), put()]);
    expect(statuses).toHaveLength(3);
    expect(statuses).not.toContain("FAIL");
  });

  it("gives back what was handed out of a deleted queue alone, whatever line breaks keys and URLs have", async () => {
    const url = "http://a.com/1";
    const keys = ["a", "a\n", "a\nb", "1\na"];
    await client.put(
      ...keys.map((key) => found(url, { key })),
      found("http://a.com/\n1", { key: "a" }),
    );
    const asked = { max_urls_per_queue: 1, delay_requestable: 600 };
    expect(await client.get(asked)).toHaveLength(4);
    expect(await client.call("DeleteQueue", { key: "a" })).toEqual({ value: 2 });
    expect(await client.stats()).toMatchObject({ size: 3, inProcess: 3 });
  });

  it("takes a filter of blanks for none", async () => {
    await client.put(...URLS.map((url) => found(url)), found("http://a.com/b c"));
    for (const filter of ["", "  ", "\t\n"]) {
      expect(await client.call("CountURLs", { filter })).toEqual({ value: 4 });
      expect(await client.list("ListURLs", { filter })).toHaveLength(4);
    }
    expect(await client.call("CountURLs", { filter: "b c" })).toEqual({ value: 1 });
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

it("sends a status without a message where it has none, so that clients find the plain one of its code", async () => {
  const { port } = await serving();
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  onTestFinished(() => session.destroy());
  /** What a call ends with: its only headers, or its trailers. */
  const endOf = async (call: string, message = ""): Promise<IncomingHttpHeaders> => {
    const path = `/urlfrontier.URLFrontier/${call}`;
    const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc" };
    const stream = session.request(headers);
    let last: IncomingHttpHeaders = {};
    stream.on("response", (given) => (last = given));
    stream.on("trailers", (given) => (last = given));
    stream.resume().end(Buffer.from(`\0\0\0\0${String.fromCharCode(message.length)}${message}`));
    await once(stream, "close");
    return last;
  };
  const active = await endOf("GetActive");
  expect(active["grpc-status"]).toBe("0");
  expect(active).not.toHaveProperty("grpc-message");
  const unknown = await endOf("GetURLStatus", "\n\u0005a.com");
  expect(unknown["grpc-status"]).toBe("5");
  expect(unknown).not.toHaveProperty("grpc-message");
  expect(await endOf("SetCrawlLimit")).toMatchObject({
    "grpc-status": "5",
    "grpc-message": "CrawlId%20and%20Queue%20combination%20is%20not%20found.",
  });
});
