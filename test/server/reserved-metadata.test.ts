/** Reserved metadata: priority, milliseconds, failures and fencing, which the protocol itself cannot say. */
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createVirtualClock, openFrontier } from "../../src/index.ts";
import type { ServeOptions, Server } from "../../src/server.ts";
import { type Client, connect, found, type Info, known, serving } from "./client.ts";
import { storeOptions } from "./stores.ts";

const START = 1_800_000_000_000;

const told = (words: Record<string, string>) => ({
  metadata: Object.fromEntries(
    Object.entries(words).map(([key, value]) => [`outrider.${key}`, { values: [value] }]),
  ),
});

const PLACES = [
  "a crawl in memory",
  "a crawl on Redis",
  "a frontier of the program's own",
] as const;

describe.each(PLACES)("%s", (place) => {
  let options: ServeOptions = {};
  beforeEach(async (context) => {
    options = place === "a crawl on Redis" ? await storeOptions("Redis", context) : {};
  });

  async function begin(): Promise<{ client: Client; server: Server; pass: (ms: number) => void }> {
    const clock = createVirtualClock(START);
    const frontier = place.startsWith("a crawl")
      ? undefined
      : await openFrontier({ name: "DEFAULT", clock, keepOpen: true });
    if (frontier !== undefined) onTestFinished(() => frontier.close());
    const server = await serving({ ...options, clock, ...(frontier && { frontier }) });
    return { client: connect(server.port), server, pass: (ms) => clock.advance(ms) };
  }

  const all = { max_urls_per_queue: 10, max_queues: 10, delay_requestable: 60 };

  it("hands the highest priority of a queue out first", async () => {
    const { client } = await begin();
    const statuses = await client.put(
      found("http://a.test/low", told({ priority: "-5" })),
      found("http://a.test/plain"),
      found("http://a.test/high", told({ priority: "9007199254740991" })),
      found("http://a.test/wrong", told({ priority: "1e3" })),
      found("http://a.test/beyond", told({ priority: "9007199254740993" })),
    );
    expect(statuses).toEqual(["OK", "OK", "OK", "SKIPPED", "SKIPPED"]);
    const paths = (await client.get(all)).map((url) => new URL(url).pathname);
    expect(paths).toEqual(["/high", "/plain", "/low"]);
  });

  it("takes times beyond all that a frontier has as the last one, and what came with them", async () => {
    const { client } = await begin();
    const last = String(Number.MAX_SAFE_INTEGER);
    const statuses = await client.put(
      found("http://a.test/never", told({ "not-before": last })),
      found("http://a.test/now"),
      found("http://a.test/wrong", told({ "not-before": "99999999999999999999" })),
      known("http://a.test/late", 1, told({ "refetch-at": last })),
    );
    expect(statuses).toEqual(["OK", "OK", "SKIPPED", "OK"]);
    expect(await client.get(all)).toEqual(["http://a.test/now"]);
  });

  it("keeps times in milliseconds", async () => {
    const { client, pass } = await begin();
    await client.put(found("http://a.test/1", told({ "not-before": String(START + 1_500) })));
    pass(1_499);
    expect(await client.get(all)).toEqual([]);
    pass(1);
    expect(await client.get(all)).toEqual(["http://a.test/1"]);
    const again = told({ "refetch-at": String(START + 9_750) });
    expect(await client.put(known("http://a.test/1", 0, again))).toEqual(["OK"]);
    pass(START + 9_749 - (START + 1_500));
    expect(await client.get(all)).toEqual([]);
    pass(1);
    expect(await client.get(all)).toEqual(["http://a.test/1"]);
  });

  it("lets a URL fail for good", async () => {
    const { client, server, pass } = await begin();
    await client.put(found("http://a.test/1"));
    await client.get(all);
    const failed = known("http://a.test/1", 0, told({ failure: "status 410" }));
    expect(await client.put(failed)).toEqual(["OK"]);
    pass(600_000);
    expect(await client.get(all)).toEqual([]);
    expect(await client.put(found("http://a.test/1"))).toEqual(["SKIPPED"]);
    const counts = { size: 1, inProcess: 0, counts: { completed: 0 } };
    expect(await client.stats("DEFAULT", "a.test")).toMatchObject(counts);
    // The page's button makes it pending again.
    const { httpPort, token } = server;
    const answer = await fetch(`http://127.0.0.1:${httpPort}/api/requeue`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ frontier: "DEFAULT" }),
    });
    expect(await answer.json()).toEqual({ count: 1 });
    expect(await client.stats("DEFAULT", "a.test")).toMatchObject(counts);
    expect(await client.get(all)).toEqual(["http://a.test/1"]);
    expect(await client.put(known("http://a.test/1", 0))).toEqual(["OK"]);
    expect(await client.stats("DEFAULT", "a.test")).toMatchObject({
      ...{ size: 0, inProcess: 0, counts: { completed: 1 } },
    });
  });

  it("takes no result of a hand-out that is over", async () => {
    const { client, pass } = await begin();
    await client.put(found("http://a.test/1", told({ fenced: "yes" })), found("http://b.test/1"));
    const lease = async (): Promise<string | undefined> => {
      const infos = await client.list<Info>("GetURLs", all);
      const mine = infos.find(({ url }) => url === "http://a.test/1");
      for (const { url, metadata } of infos) {
        if (url === "http://b.test/1") expect(metadata).toEqual({});
      }
      return mine?.metadata["outrider.lease"]?.values[0];
    };
    const first = await lease();
    pass(61_000);
    const second = await lease();
    expect([first, second]).toEqual([expect.any(String), expect.any(String)]);
    expect(second).not.toBe(first);
    const ended = (name = "") => known("http://a.test/1", 0, told({ lease: name, fenced: "yes" }));
    expect(await client.put(ended(first))).toEqual(["SKIPPED"]);
    expect(
      (await client.status("http://a.test/1", "a.test")).known?.refetchable_from_date,
    ).not.toBe(0);
    expect(await client.put(ended(second))).toEqual(["OK"]);
    expect((await client.status("http://a.test/1", "a.test")).known?.refetchable_from_date).toBe(0);
    expect(await client.put(ended(second))).toEqual(["SKIPPED"]);
  });
});
