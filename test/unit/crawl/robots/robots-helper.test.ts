/** robots.txt for a loop of one's own, over a frontier here and on its own thread. */
import { expect, it } from "vitest";
import { createRobotsGate, DownloadError, type Downloader } from "../../../../src/crawl.ts";
import {
  createVirtualClock,
  type Lease,
  openFrontier,
  openFrontierThread,
} from "../../../../src/index.ts";

const TEXT =
  "User-agent: mine\nDisallow: /private\nCrawl-delay: 5\nSitemap: http://a.test/map.xml\n";

/** A web of one robots.txt per host. */
function web(texts: Record<string, string | number>): Downloader & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async download({ url }) {
      asked.push(url);
      const said = texts[new URL(url).host];
      if (said === undefined) throw new DownloadError("connect", `${url}: refused`);
      const status = typeof said === "number" ? said : 200;
      const body = Buffer.from(typeof said === "number" ? "" : said);
      return { url, status, headers: {}, body, bytes: body.length, latencyMs: 1 };
    },
  };
}

it("lets allowed pages through once robots.txt is known, fails the others, and keeps the delay", async () => {
  const clock = createVirtualClock(1_000_000);
  const frontier = await openFrontier({ clock });
  const downloader = web({ "a.test": TEXT });
  await using gate = createRobotsGate({ frontier, userAgent: "mine/1.0", downloader, clock });
  frontier.pushMany(["http://a.test/page", "http://a.test/private/x", "http://a.test/other"]);
  const visited: string[] = [];
  for (let at = 0; at < 20; at++) {
    const lease = frontier.poll();
    if (lease === undefined) clock.advance(1_000);
    else if (await gate.admit(lease)) {
      visited.push(`${new URL(lease.url).pathname} ${clock.now() - 1_000_000}`);
      lease.done();
    }
  }
  expect(visited).toEqual(["/page 5000", "/other 10000"]);
  expect(frontier.record("http://a.test/private/x")?.failure?.reason).toBe("robots");
  expect(frontier.host("a.test").delayMs).toBe(5_000);
  expect(downloader.asked).toEqual(["http://a.test/robots.txt"]);
  expect(gate.sitemaps("http://a.test/any")).toEqual(["http://a.test/map.xml"]);
  expect(gate.sitemaps("http://b.test/")).toEqual([]);
  expect(frontier.report()).toMatchObject({ done: 2, failed: 1, retried: 0 });
  await frontier.close();
});

it("allows all where there is none, and asks once for several at a time", async () => {
  const frontier = await openFrontier();
  const downloader = web({ "a.test": 404 });
  const gate = createRobotsGate({ frontier, userAgent: "mine/1.0", downloader });
  const urls = ["http://a.test/1", "http://a.test/2", "http://a.test/3"];
  expect(await Promise.all(urls.map((url) => gate.ask(url)))).toEqual(urls.map(() => "allowed"));
  expect(downloader.asked).toHaveLength(1);
  await gate.close();
  await frontier.close();
});

it("allows nothing where robots.txt can not be reached, after some attempts", async () => {
  const clock = createVirtualClock(0);
  const frontier = await openFrontier({ clock });
  const downloader = web({ "a.test": 503 });
  const options = { frontier, userAgent: "mine/1.0", downloader, clock, attempts: 2, retryMs: 50 };
  const gate = createRobotsGate(options);
  frontier.push("http://a.test/");
  const answers: boolean[] = [];
  for (let at = 0; at < 10 && frontier.report().failed === 0; at++) {
    const lease = frontier.poll();
    if (lease === undefined) clock.advance(50);
    else answers.push(await gate.admit(lease));
  }
  expect(answers).toEqual([false, false]);
  expect(frontier.record("http://a.test/")?.failure?.reason).toBe("robots-unreachable");
  expect(downloader.asked).toHaveLength(2);
  await frontier.close();
});

it("works over a frontier of another thread", async () => {
  const frontier = await openFrontierThread();
  const text = "User-agent: *\nDisallow: /no\n";
  const downloader = web({ "a.test": text });
  const gate = createRobotsGate({ frontier, userAgent: "mine/1.0", downloader, delayMs: 1 });
  await frontier.pushMany(["http://a.test/yes", "http://a.test/no"]);
  const visited: string[] = [];
  for await (const lease of frontier) {
    if (!(await gate.admit(lease))) continue;
    visited.push(lease.url);
    await lease.done();
  }
  expect(visited).toEqual(["http://a.test/yes"]);
  expect((await frontier.record("http://a.test/no"))?.failure?.reason).toBe("robots");
  await frontier.close();
});

it("refuses options without a frontier, or without a name, and a private address of its own accord", async () => {
  const frontier = await openFrontier();
  expect(() => createRobotsGate({ frontier, userAgent: " " })).toThrow("options.userAgent");
  expect(() => createRobotsGate({ frontier: {} as never, userAgent: "x" })).toThrow(
    "options.frontier",
  );
  await using gate = createRobotsGate({ frontier, userAgent: "mine/1.0", delayMs: 0 });
  expect(await gate.ask("http://127.0.0.1:1/")).toBe("unreachable");
  frontier.push("http://127.0.0.1:1/");
  expect(await gate.admit(frontier.poll() as Lease)).toBe(false);
  // As its downloader would have refused the page.
  expect(frontier.record("http://127.0.0.1:1/")?.failure?.reason).toBe("address");
  await frontier.close();
});
