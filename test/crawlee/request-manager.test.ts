/** FrontierRequestManager as Crawlee's crawlers call it, with Crawlee's own class `Request`. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { FrontierRequestManager, type OpenManagerOptions } from "../../src/crawlee.ts";
import { createVirtualClock, openFrontier, openFrontierThread } from "../../src/index.ts";
import { type CrawlingContext, loadCrawlee } from "./crawlee-module.ts";

const crawlee = await loadCrawlee();
type Request = CrawlingContext["request"];

async function open(options: OpenManagerOptions = {}): Promise<FrontierRequestManager> {
  const manager = await FrontierRequestManager.open(options);
  onTestFinished(() => manager.close());
  return manager;
}

async function urlsOf(manager: FrontierRequestManager): Promise<string[]> {
  const urls: string[] = [];
  for await (const request of manager[Symbol.asyncIterator]<Request>()) {
    urls.push(request.url);
    await manager.markRequestHandled(request);
  }
  return urls;
}

const fetch = async (manager: FrontierRequestManager): Promise<Request> => {
  const request = await manager.fetchNextRequest<Request>();
  if (request === null) throw new Error("no request (expected: one)");
  return request;
};

describe("FrontierRequestManager", () => {
  it("returns a request as it was added, as an instance of Crawlee's class", async () => {
    const manager = await open();
    const options = {
      url: "https://Example.org/a?b=1&a=2#part",
      uniqueKey: "mine",
      method: "POST",
      payload: "x=1",
      headers: { accept: "text/html" },
      userData: { label: "LIST", deep: { at: [1, "2"] } },
      noRetry: true,
      maxRetries: 7,
      skipNavigation: true,
    };
    const added = new crawlee.Request(options);
    const { requestId, wasAlreadyPresent } = await manager.addRequest(added);
    const fetched = await fetch(manager);
    expect(fetched).toBeInstanceOf(crawlee.Request);
    expect([fetched.id, added.id, wasAlreadyPresent]).toEqual([requestId, requestId, false]);
    expect(JSON.parse(JSON.stringify(fetched))).toEqual(JSON.parse(JSON.stringify(added)));
    expect(JSON.stringify(fetched.userData)).toBe(JSON.stringify(added.userData));
  });

  it.each(["https://example.org", "https://example.org/ä?q=ö#x", "HTTP://EXAMPLE.org:80/a/../b"])(
    "keeps the spelling of %s",
    async (url) => {
      const manager = await open();
      await manager.addRequest({ url });
      expect((await fetch(manager)).url).toBe(url);
    },
  );

  it("adds what stands behind requestsFromUrl with the fields beside it, and nothing where no URL does", async () => {
    const lists: Record<string, string> = {
      "/two": "http://a.test/1\nhttp://a.test/2",
      "/none": "",
    };
    const server = createServer(({ url = "" }, response) => void response.end(lists[url]));
    server.listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const home = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const manager = await open();
    expect(await manager.addRequest({ requestsFromUrl: `${home}/none` })).toEqual({
      forefront: false,
    });
    expect(await manager.isFinished()).toBe(true);
    const more = { method: "POST", label: "of the list" };
    const { uniqueKey } = await manager.addRequest({ requestsFromUrl: `${home}/two`, ...more });
    expect(uniqueKey).toContain("http://a.test/1");
    const requests = [await fetch(manager), await fetch(manager)];
    expect(requests.map(({ url, method, userData }) => [url, method, userData.label])).toEqual([
      ["http://a.test/1", "POST", "of the list"],
      ["http://a.test/2", "POST", "of the list"],
    ]);
    expect(await manager.fetchNextRequest()).toBeNull();
  });

  it("keeps a binary payload", async () => {
    const manager = await open();
    const payload = Uint8Array.from([0, 255, 10, 13]);
    await manager.addRequest({ url: "http://a.test/", method: "PUT", payload });
    expect(Uint8Array.from((await fetch(manager)).payload as Uint8Array)).toEqual(payload);
  });

  it("takes the unique key, and nothing else, for what makes two requests one", async () => {
    const manager = await open();
    const first = await manager.addRequest({ url: "http://a.test/", uniqueKey: "k" });
    const other = await manager.addRequest({
      url: "http://b.test/",
      uniqueKey: "k",
      method: "POST",
    });
    const same = await manager.addRequest({ url: "http://a.test/", uniqueKey: "l" });
    expect([first, other, same].map((each) => each.wasAlreadyPresent)).toEqual([
      false,
      true,
      false,
    ]);
    expect(other.requestId).toBe(first.requestId);
    expect(manager.getTotalCount()).toBe(2);
  });

  it("serves in the order of adding, forefront before it and the last one first", async () => {
    const manager = await open();
    await manager.addRequests([1, 2, 3].map((each) => ({ url: `http://a.test/${each}` })));
    await manager.addRequest({ url: "http://a.test/4" }, { forefront: true });
    await manager.addRequest({ url: "http://a.test/5" }, { forefront: true });
    const order = (await urlsOf(manager)).map((url) => url.slice(-1));
    expect(order).toEqual(["5", "4", "1", "2", "3"]);
  });

  it("returns a reclaimed request with what the attempt changed, at the front or behind", async () => {
    const manager = await open();
    await manager.addRequests([{ url: "http://a.test/1" }, { url: "http://a.test/2" }]);
    const one = await fetch(manager);
    one.retryCount = 1;
    one.userData = { ...one.userData, seen: true };
    one.pushErrorMessage(new Error("reset"));
    expect((await manager.reclaimRequest(one))?.requestId).toBe(one.id);
    const two = await fetch(manager);
    expect(two.url).toBe("http://a.test/2");
    await manager.reclaimRequest(two, { forefront: true });
    expect((await fetch(manager)).url).toBe("http://a.test/2");
    const again = await fetch(manager);
    const { retryCount, userData, errorMessages } = again;
    expect({ retryCount, userData: { ...userData } }).toEqual({
      retryCount: 1,
      userData: { seen: true },
    });
    expect(errorMessages?.[0]).toContain("reset");
  });

  it("is empty or finished exactly when Crawlee's own queue would be", async () => {
    const manager = await open();
    const stands = async () => [await manager.isEmpty(), await manager.isFinished()];
    expect(await stands()).toEqual([true, true]);
    await manager.addRequest({ url: "http://a.test/" });
    expect(await stands()).toEqual([false, false]);
    const request = await fetch(manager);
    expect(await stands()).toEqual([true, false]);
    await manager.reclaimRequest(request);
    expect(await stands()).toEqual([false, false]);
    await manager.markRequestHandled(await fetch(manager));
    expect(await stands()).toEqual([true, true]);
    const { wasAlreadyHandled } = await manager.addRequest({ url: "http://a.test/" });
    expect([wasAlreadyHandled, await manager.handledCount()]).toEqual([true, 1]);
  });

  it("hands a request out again when its time is over, and ignores what comes too late", async () => {
    const clock = createVirtualClock(1e12);
    const manager = await open({ clock });
    manager.requestLockSecs = 60;
    await manager.addRequest({ url: "http://a.test/" });
    const first = await fetch(manager);
    clock.advance(59_999);
    expect(await manager.fetchNextRequest()).toBeNull();
    clock.advance(2);
    const frontierLease = (await openOther(manager)) as { done(): { late: boolean } };
    expect(await manager.markRequestHandled(first)).toBeNull();
    expect(frontierLease.done().late).toBe(false);
    expect(await manager.isFinished()).toBe(true);
  });

  it("adds batches in the background, and is not finished before they are in", async () => {
    const manager = await open();
    const urls = Array.from({ length: 95 }, (_, at) => `http://a.test/${at}`);
    const added = await manager.addRequestsBatched(urls, { batchSize: 10 });
    expect(added.addedRequests).toHaveLength(10);
    for (const _ of added.addedRequests) await manager.markRequestHandled(await fetch(manager));
    expect(await manager.isFinished()).toBe(false);
    expect(await added.waitForAllRequestsToBeAdded).toHaveLength(85);
    expect(await urlsOf(manager)).toHaveLength(85);
    expect(await manager.isFinished()).toBe(true);
  });

  it("waits for batches of more requests than a call has room for arguments", async () => {
    const manager = await open();
    function* many(): Iterable<string> {
      for (let at = 0; at < 200_000; at++) yield `http://a.test/${at}`;
    }
    const options = { waitForAllRequestsToBeAdded: true };
    const { addedRequests } = await manager.addRequestsBatched(many(), options);
    expect(addedRequests).toHaveLength(200_000);
    await manager.purge();
  });

  it("returns what exceeds maxNewRequests, known ones not counted", async () => {
    const manager = await open();
    await manager.addRequest({ url: "http://a.test/0" });
    const urls = Array.from({ length: 9 }, (_, at) => ({ url: `http://a.test/${at}` }));
    const added = await manager.addRequestsBatched(urls, { maxNewRequests: 4, batchSize: 2 });
    expect(added.addedRequests.map((each) => each.wasAlreadyPresent)).toEqual([
      true,
      ...[false, false, false, false],
    ]);
    expect(added.requestsOverLimit).toEqual(urls.slice(5));
  });

  it("reports a batch that fails in the background where the crawler asks whether it is over", async () => {
    const manager = await open();
    const sources = ["http://a.test/1", "http://a.test/2", { url: 5 }];
    const { waitForAllRequestsToBeAdded } = await manager.addRequestsBatched(sources, {
      batchSize: 2,
    });
    await expect(waitForAllRequestsToBeAdded).rejects.toThrow(/request\.url: 5/);
    await expect(manager.isFinished()).rejects.toThrow(/request\.url: 5/);
  });

  it.each([
    [{ url: "http://a.test/", id: "x" }, /request\.id/],
    [{ url: "nonsense" }, /request\.url: "nonsense"/],
    ["ftp://a.test/", /request\.url/],
    [7, /request: 7/],
  ])("refuses %j", async (source, message) => {
    const manager = await open();
    await expect(manager.addRequest(source as string)).rejects.toThrow(message);
    expect(await manager.isFinished()).toBe(true);
  });

  it("follows the frontier's rules: scope, depth, priority, politeness", async () => {
    const clock = createVirtualClock(1e12);
    const refused: string[] = [];
    const manager = await open({
      clock,
      rules: [
        { id: "a", match: { domains: ["a.test"] }, maxDepth: 2, politeness: { delayMs: 1_000 } },
      ],
      onRefused: (request, reason) => refused.push(`${request.url} ${reason}`),
    });
    const { addedRequests } = await manager.addRequestsBatched([
      "http://other.test/",
      { url: "http://a.test/deep", crawlDepth: 3 },
      "http://a.test/1",
      { url: "http://a.test/2", userData: { priority: 5 } },
    ]);
    expect(addedRequests).toHaveLength(2);
    expect(refused).toEqual(["http://other.test/ no-rule", "http://a.test/deep too-deep"]);
    const first = await fetch(manager);
    expect(first.url).toBe("http://a.test/2");
    await manager.markRequestHandled(first);
    expect([await manager.isEmpty(), await manager.isFinished()]).toEqual([true, false]);
    expect(await manager.checkReadiness()).toEqual({
      status: "waiting",
      readyAt: clock.now() + 1_000,
    });
    clock.advance(1_000);
    expect((await fetch(manager)).url).toBe("http://a.test/1");
  });

  it("lets a host rest after a 429, longer each time, or as long as Retry-After asks", async () => {
    const clock = createVirtualClock(1e12);
    const manager = await open({ clock });
    await manager.addRequests(
      ["http://a.test/1", "http://a.test/2", "http://b.test/1"].map((url) => ({ url })),
    );
    const blocked = async (): Promise<Request> => {
      const request = await fetch(manager);
      request.pushErrorMessage("Error: Request blocked - received 429 status code.");
      await manager.reclaimRequest(request);
      return request;
    };
    expect((await blocked()).url).toBe("http://a.test/1");
    expect((await fetch(manager)).url).toBe("http://b.test/1");
    expect(await manager.isEmpty()).toBe(true);
    clock.advance(2_000);
    await blocked();
    clock.advance(3_999);
    expect(await manager.isEmpty()).toBe(true);
    clock.advance(1);
    const next = await fetch(manager);
    expect(manager.recordDomainDelay(next.url, 30_000)).toBe(true);
    await manager.reclaimRequest(next);
    clock.advance(29_999);
    expect(await manager.isEmpty()).toBe(true);
    clock.advance(1);
    expect(await manager.isEmpty()).toBe(false);
    clock.advance(900_000);
    await manager.assertNoStalledDomains();
    manager.recordDomainDelay(next.url, 0);
    await expect(manager.assertNoStalledDomains()).rejects.toThrow(/host a\.test: rate limited/);
    expect((await manager.checkReadiness()).status).toBe("ready");
  });

  it("paces a host by its crawl delay", async () => {
    const clock = createVirtualClock(1e12);
    const manager = await open({ clock });
    await manager.addRequests([{ url: "http://a.test/1" }, { url: "http://a.test/2" }]);
    expect(manager.setCrawlDelay("http://a.test/robots.txt", 5)).toBe(true);
    await manager.markRequestHandled(await fetch(manager));
    expect(await manager.fetchNextRequest()).toBeNull();
    clock.advance(5_000);
    expect((await fetch(manager)).url).toBe("http://a.test/2");
  });

  it("continues from its directory: progress, order, data, and what is handled", async () => {
    const directory = mkdtempSync(join(tmpdir(), "outrider-crawlee-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const first = await FrontierRequestManager.open({ directory, durability: "sync" });
    await first.addRequests(
      [1, 2, 3].map((at) => ({ url: `http://a.test/${at}`, userData: { at } })),
    );
    await first.markRequestHandled(await fetch(first));
    await fetch(first);
    await first.close();
    const second = await open({ directory });
    expect([second.getTotalCount(), await second.handledCount()]).toEqual([3, 1]);
    const rest = [await fetch(second), await fetch(second)];
    expect(rest.map(({ userData }) => userData.at)).toEqual([2, 3]);
    const third = await second.addRequest({ url: "http://a.test/1" });
    expect(third.wasAlreadyHandled).toBe(true);
    await second.drop();
  });

  it("works the same on a frontier whose owner is another thread", async () => {
    const frontier = await openFrontierThread();
    onTestFinished(() => frontier.close());
    const manager = new FrontierRequestManager({ frontier });
    await manager.addRequests(
      [1, 2].map((at) => ({ url: `http://a.test/${at}`, userData: { at } })),
    );
    const one = await fetch(manager);
    one.retryCount = 1;
    await manager.reclaimRequest(one, { forefront: true });
    const again = await fetch(manager);
    expect([again.url, again.retryCount]).toEqual([one.url, 1]);
    await manager.markRequestHandled(again);
    expect([await manager.isEmpty(), await manager.isFinished()]).toEqual([false, false]);
    await manager.markRequestHandled(await fetch(manager));
    expect([await manager.isEmpty(), await manager.isFinished()]).toEqual([true, true]);
    expect([manager.getTotalCount(), manager.getPendingCount()]).toEqual([2, 0]);
  });

  it("shows what others pushed into its frontier, and ends it without writing over it", async () => {
    const frontier = await openFrontier();
    onTestFinished(() => frontier.close());
    const manager = new FrontierRequestManager({ frontier, keepHandled: true });
    frontier.push({ url: "http://a.test/", data: { from: "elsewhere" } });
    const one = await fetch(manager);
    expect({ ...one.userData }).toEqual({ from: "elsewhere" });
    await manager.reclaimRequest(one);
    await manager.markRequestHandled(await fetch(manager));
    expect([await manager.isFinished(), frontier.record("http://a.test/")?.state]).toEqual([
      true,
      "done",
    ]);
  });

  it("keeps handled requests readable where it is asked to", async () => {
    const manager = await open({ keepHandled: true });
    const { requestId } = await manager.addRequest({ url: "http://a.test/", userData: { a: 1 } });
    await manager.markRequestHandled(await fetch(manager));
    const handled = await manager.getRequest<Request>(requestId);
    expect([{ ...handled?.userData }, typeof handled?.handledAt]).toEqual([{ a: 1 }, "string"]);
    expect(await manager.isFinished()).toBe(true);
  });

  it("keeps its last counts when it is closed, for the crawler that logs them, and is dropped twice", async () => {
    const urls = ["http://a.test/1", "http://a.test/2"];
    const closed = await open();
    await closed.addRequests(urls);
    await closed.markRequestHandled(await fetch(closed));
    await closed.close();
    expect([closed.getTotalCount(), closed.getPendingCount()]).toEqual([2, 1]);
    const dropped = await open();
    await dropped.addRequests(urls);
    for (let time = 0; time < 2; time++) await dropped.drop();
    expect([dropped.getTotalCount(), dropped.getPendingCount()]).toEqual([0, 0]);
  });

  it.each([
    { batchSize: 0 },
    { batchSize: Number.NaN },
    { batchSize: "many" },
    { waitBetweenBatchesMillis: -1 },
    { maxNewRequests: "none" },
  ])("refuses %j instead of adding nothing", async (options) => {
    const manager = await open();
    const adding = manager.addRequestsBatched(["http://a.test/"], options as object);
    await expect(adding).rejects.toThrow(/options\.(batchSize|wait|maxNew)/);
    expect(await manager.isFinished()).toBe(true);
  });
});

/** The same request, leased beside the manager, as another process would. */
async function openOther(manager: FrontierRequestManager): Promise<unknown> {
  return await manager.frontier.poll();
}
