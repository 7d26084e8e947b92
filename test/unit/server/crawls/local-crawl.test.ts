/** A crawl over a frontier in this process: what a batch of one kind and a mixed one answer, and turns of other calls. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type Frontier, openFrontier } from "../../../../src/index.ts";
import type { FoundUrl } from "../../../../src/server/crawls/crawl.ts";
import { LocalCrawl } from "../../../../src/server/crawls/local-crawl.ts";
import { missingKey } from "../../../../src/server/crawls/missing-key.ts";
import { metadataFields, OK } from "../../../../src/server/grpc/messages.ts";
import { hostEndOf } from "../../../../src/server/crawls/url-data.ts";
import { testRandom } from "../../../support/seed.ts";

const SECOND = 1_700_000_000;
const MANY = 2 ** 31 - 1;

async function openCrawl(
  clock = { seconds: SECOND },
): Promise<LocalCrawl & { frontier: Frontier }> {
  const frontier = await openFrontier({
    name: "crawl",
    keepOpen: true,
    leaseMs: 1_000,
    maxDeliveries: MANY,
    defaults: { key: { profile: "url" }, maxAttempts: MANY, politeness: { perHost: MANY } },
  });
  onTestFinished(() => frontier.close());
  const now = (): number => clock.seconds * 1_000;
  const crawl = new LocalCrawl("crawl", { frontier, now, delayDefault: () => 1 });
  return Object.assign(crawl, { frontier });
}

/** Two hosts whose names have one hash in the table of queues. */
const SAME_HASH = ["h10wzx.com", "h1f6cd.com"] as const;

/** As a message brings it. */
const plain = (url: string): FoundUrl => ({
  ...found(url),
  hostEnd: hostEndOf({ url }),
});

const found = (url: string, key = "", metadata?: Uint8Array): FoundUrl => ({ url, key, metadata });

/** What stands in the crawl, with all that a client can see of it. */
async function contents(crawl: LocalCrawl): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const url of crawl.urls({ key: "", text: "", ignoreCase: false })) {
    all.push({ ...url, metadata: url.metadata && Buffer.from(url.metadata).toString("hex") });
  }
  return all.map((one) => JSON.stringify(one)).sort();
}

describe("LocalCrawl", () => {
  it("answers a batch as it answers its URLs one by one, and keeps the same of them", async () => {
    const random = testRandom("batches");
    const pick = <T>(list: readonly T[]): T => list[random.below(list.length)] as T;
    const priority = metadataFields([["outrider.priority", ["7"]]]);
    const wrong = metadataFields([["outrider.priority", ["seven"]]]);
    const some = metadataFields([["a", ["1", "2"]]]);
    const urls = ["/", "/a", "/a?b=c", "/../x", "/%7Euser", "/é", "/.hidden", "/a#b"];
    for (let round = 0; round < 25; round++) {
      const [whole, single] = [await openCrawl(), await openCrawl()];
      const isPlain = random.unit() < 0.5;
      for (let batch = 0; batch < 3; batch++) {
        const list = Array.from({ length: 20 }, () => {
          const host = pick(["a.example", "b.example", "A.example:80", "no host", ""]);
          const url = `http://${host}${pick(urls)}`;
          if (isPlain) return found(`http://${pick(["a", "b"])}.example/${pick(["", "x", "y"])}`);
          return found(
            url,
            pick(["", "", "a.example", "own"]),
            pick([undefined, some, priority, wrong]),
          );
        });
        const one = list.map((url) => single.discover([url])[0]);
        expect([...whole.discover(list)]).toEqual(one);
        for (const [at, { url, key, metadata }] of list.entries()) {
          if (one[at] !== OK) continue;
          const queue = key === "" ? (missingKey(url) as string) : key;
          expect(whole.status(url, queue)).toMatchObject({ url, key: queue, createdAt: SECOND });
          expect(whole.status(url, queue)?.metadata).toEqual(metadata);
        }
      }
      expect(await contents(whole)).toEqual(await contents(single));
      expect(whole.counts("")).toEqual(single.counts(""));
    }
  });

  it("finds the queue of a host by any URL of it, where it was deleted anew, and of two with one hash each", async () => {
    const crawl = await openCrawl();
    const hosts = SAME_HASH;
    const url = (host: string, page: number): FoundUrl => plain(`http://${host}/${page}`);
    const counts = (): unknown[] => hosts.map((host) => crawl.counts(host).active);
    for (const page of [1, 2])
      expect([...crawl.discover(hosts.map((host) => url(host, page)))]).toEqual([OK, OK]);
    expect(counts()).toEqual([2, 2]);
    expect(crawl.deleteQueue(hosts[1])).toBe(2);
    expect([...crawl.discover(hosts.map((host) => url(host, 3)))]).toEqual([OK, OK]);
    expect(counts()).toEqual([3, 1]);
    expect(crawl.deleteAll()).toBe(4);
    expect([...crawl.discover(hosts.map((host) => url(host, 1)))]).toEqual([OK, OK]);
    expect(counts()).toEqual([1, 1]);
  });

  it("lets other calls have their turn while it seeks a queue that may go (I3)", async () => {
    const clock = { seconds: SECOND };
    const crawl = await openCrawl(clock);
    const urls = Array.from({ length: 200 }, (_, n) => found(`http://h${n}.example/`));
    const asked = { urlsMax: 1, delay: 600, isGone: () => false };
    crawl.discover(urls);
    expect(await crawl.serveQueues(200, asked, () => undefined)).toBe(200);
    crawl.discover(urls.map(({ url }) => found(`${url}b`)));
    clock.seconds += 10; // each may go again, but for the URL that it has out
    let turns = 0;
    const count = (): void => {
      turns++;
      if (turns < 1_000) setImmediate(count);
    };
    setImmediate(count);
    expect(await crawl.serveQueues(200, asked, () => undefined)).toBe(0);
    expect(turns).toBeGreaterThan(2);
    turns = 1_000;
  });

  it("does not take up a queue while it has as many in process as a caller takes", async () => {
    const clock = { seconds: SECOND };
    const crawl = await openCrawl(clock);
    const { frontier } = crawl;
    const pages = (page: number): FoundUrl[] =>
      Array.from({ length: 50 }, (_, n) => found(`http://h${n}.example/${page}`));
    for (const page of [1, 2, 3]) crawl.discover(pages(page));
    const sent: string[] = [];
    const serve = (urlsMax: number): Promise<number> =>
      crawl.serveQueues(50, { urlsMax, delay: 600, isGone: () => false }, (urls) => {
        for (const { url } of urls) sent.push(url);
      });
    expect(await serve(2)).toBe(50);
    clock.seconds += 10;
    expect(await serve(2)).toBe(0);
    expect(await serve(1)).toBe(0);
    const waiting = [...frontier.records({ state: "pending" })];
    expect(waiting.map(({ deliveries }) => deliveries)).toEqual(Array(50).fill(0));
    sent.length = 0;
    crawl.putKnown([{ ...found("http://h7.example/1"), refetchAt: 0 }]);
    expect(await serve(2)).toBe(1);
    expect(sent).toEqual(["http://h7.example/3"]);
    expect(await serve(3)).toBe(49); // of one that takes more
    expect(sent).toHaveLength(50);
    expect(frontier.report()).toMatchObject({ leased: 149, pending: 0 });
  });

  it("changes nothing of a queue where its frontier cannot", async () => {
    const frontier = await openFrontier({ keepOpen: true });
    onTestFinished(() => frontier.close());
    const now = (): number => SECOND * 1_000;
    const crawl = new LocalCrawl("crawl", { frontier, now, delayDefault: () => 1 });
    crawl.discover([found("http://a.example/")]);
    const host = vi.spyOn(frontier, "host").mockImplementation(() => {
      throw new Error("no room");
    });
    expect(() => crawl.change("a.example", { blockedUntil: SECOND + 60 })).toThrow("no room");
    host.mockRestore();
    expect([...crawl.queues(false)]).toEqual(["a.example"]);
    expect(frontier.state).toEqual({ queues: {} });
  });
});
