/** OutriderStorage below Crawlee's own queues, in both of their protocols, beside Crawlee's memory storage. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { OutriderStorage, type OutriderStorageOptions } from "../../src/crawlee.ts";
import { createVirtualClock } from "../../src/index.ts";
import { type CrawlingContext, loadCrawlee, memoryOnly, type Queue } from "./crawlee-module.ts";

const crawlee = await loadCrawlee();
const MEMORY = "@crawlee/memory-storage";
const { MemoryStorage } = (await import(/* @vite-ignore */ MEMORY)) as {
  MemoryStorage: new (options: object) => object;
};
const base = new MemoryStorage({ persistStorage: false });
const LOCKING = ["RequestQueue", "RequestQueueV1"] as const;

/** A queue's client, as Crawlee calls it. */
interface Client {
  get(): Promise<Record<string, unknown> | undefined>;
  addRequest(request: object, options?: object): Promise<{ requestId: string }>;
  batchAddRequests(requests: object[]): Promise<{ processedRequests: object[] }>;
  getRequest(id: string): Promise<Record<string, unknown> | undefined>;
  updateRequest(request: object, options?: object): Promise<Record<string, unknown>>;
  deleteRequest(id: string): Promise<unknown>;
  listHead(options?: object): Promise<{
    items: Array<{ id: string; url: string; uniqueKey: string }>;
  }>;
  listAndLockHead(options: object): Promise<{
    items: Array<{ id: string; url: string; uniqueKey: string }>;
    queueHasLockedRequests?: boolean;
  }>;
  prolongRequestLock(id: string, options: object): Promise<{ lockExpiresAt: Date }>;
  deleteRequestLock(id: string, options?: object): Promise<void>;
  delete(): Promise<void>;
}
interface Collection {
  getOrCreate(name?: string): Promise<{ id: string; name?: string }>;
  list(): Promise<{ items: Array<{ name?: string }> }>;
}

function makeStorage(options: OutriderStorageOptions = {}): OutriderStorage {
  const storage = new OutriderStorage({ base, ...options });
  onTestFinished(() => storage.close());
  return storage;
}

async function openClient(storage = makeStorage(), clientKey?: string): Promise<Client> {
  const { id } = await storage.requestQueues<Collection>().getOrCreate("queue");
  return storage.requestQueue<Client>(id, clientKey === undefined ? {} : { clientKey });
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "outrider-crawlee-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** The same steps on a queue of Crawlee's over a storage, and what each returned. */
async function drive(queue: Queue): Promise<unknown[]> {
  const seen: unknown[] = [];
  const stands = async (): Promise<void> => {
    seen.push([await queue.isEmpty(), await queue.isFinished(), await queue.handledCount()]);
  };
  const fetch = async (): Promise<CrawlingContext["request"]> => {
    const request = await queue.fetchNextRequest();
    if (request === null) throw new Error("no request (expected: one)");
    const { url, retryCount, userData, errorMessages, method } = request;
    seen.push({ url, retryCount, userData: { ...userData }, errorMessages, method });
    return request;
  };
  const url = (at: number): string => `http://a.test/${at}`;
  await stands();
  seen.push(await queue.addRequest({ url: url(1), userData: { at: 1 } }));
  seen.push(await queue.addRequests([{ url: url(2) }, { url: url(1) }, { url: url(3) }]));
  await stands();
  const first = await fetch();
  first.retryCount = 1;
  first.pushErrorMessage("broken");
  seen.push(await queue.reclaimRequest(first, { forefront: true }));
  await queue.addRequest({ url: url(4) }, { forefront: true });
  // The older class sets a reclaimed request aside for three seconds.
  const rest = [await fetch(), await fetch(), await fetch()];
  for (const request of rest) seen.push(await queue.markRequestHandled(request));
  await stands();
  return seen;
}

describe("OutriderStorage", () => {
  it("RequestQueue does and returns on it what it does and returns on Crawlee's own storage", async () => {
    const runs: unknown[][] = [];
    for (const storageClient of [makeStorage(), new MemoryStorage({ persistStorage: false })]) {
      const config = memoryOnly(crawlee, { storageClient });
      runs.push(await drive(await crawlee.RequestQueue.open(null, { config, storageClient })));
    }
    expect(runs[0]).toEqual(runs[1]);
  });

  it.each(LOCKING)(
    "%s: a crawler's run is the same on it and on Crawlee's own storage",
    async (kind) => {
      const runs: unknown[] = [];
      for (const storageClient of [makeStorage(), new MemoryStorage({ persistStorage: false })]) {
        const visits: string[] = [];
        const options = {
          maxRequestRetries: 1,
          experiments: { requestLocking: kind === "RequestQueue" },
          maxConcurrency: 1,
          requestHandler: async ({ request, addRequests }: CrawlingContext) => {
            visits.push(`${request.url} ${request.retryCount}`);
            if (request.url.endsWith("/0"))
              await addRequests(["http://a.test/new", "http://a.test/1"]);
            if (request.url.endsWith("/3")) throw new Error("no");
          },
        };
        const config = memoryOnly(crawlee, { storageClient });
        const crawler = new crawlee.BasicCrawler(options, config);
        const urls = Array.from({ length: 8 }, (_, at) => `http://a.test/${at}`);
        const { requestsFinished, requestsFailed } = await crawler.run(urls);
        runs.push([visits.sort(), requestsFinished, requestsFailed]);
      }
      expect(runs[0]).toEqual(runs[1]);
    },
  );

  it("locks for the time that is asked for, then returns the request, and ignores the late client", async () => {
    const clock = createVirtualClock(1e12);
    const storage = makeStorage({ frontier: { clock } });
    const [one, two] = [await openClient(storage, "one"), await openClient(storage, "two")];
    const { requestId } = await one.addRequest({ url: "http://a.test/", uniqueKey: "k" });
    const head = await one.listAndLockHead({ lockSecs: 30 });
    expect([head.items.length, head.queueHasLockedRequests]).toEqual([1, true]);
    clock.advance(29_999);
    expect((await two.listAndLockHead({ lockSecs: 30 })).items).toEqual([]);
    const { lockExpiresAt } = await one.prolongRequestLock(requestId, { lockSecs: 10 });
    expect(lockExpiresAt.getTime()).toBe(1e12 + 40_000);
    clock.advance(10_001);
    expect((await two.listAndLockHead({ lockSecs: 30 })).items).toHaveLength(1);
    const request = { id: requestId, url: "http://a.test/", uniqueKey: "k", handledAt: new Date() };
    await one.updateRequest(request);
    expect(await two.get()).toMatchObject({ handledRequestCount: 0, pendingRequestCount: 1 });
    await expect(one.prolongRequestLock(requestId, { lockSecs: 1 })).rejects.toThrow(
      /is not locked/,
    );
    await two.updateRequest(request);
    expect(await two.get()).toMatchObject({ handledRequestCount: 1, pendingRequestCount: 0 });
    await expect(two.prolongRequestLock(requestId, { lockSecs: 1 })).rejects.toThrow(
      /already been handled in queue queue/,
    );
    await expect(two.deleteRequestLock("unknown")).rejects.toThrow(/not found in queue/);
  });

  it("returns an unlocked request to its place, or to the front, however often", async () => {
    const client = await openClient();
    for (const at of [1, 2, 3])
      await client.addRequest({ url: `http://a.test/${at}`, uniqueKey: `${at}` });
    const heads = async (): Promise<string> =>
      (await client.listHead()).items.map(({ url }) => url.slice(-1)).join("");
    for (let round = 0; round < 30; round++) {
      const { items } = await client.listAndLockHead({ lockSecs: 60, limit: 2 });
      for (const { id } of items) await client.deleteRequestLock(id);
    }
    expect(await heads()).toBe("123");
    const { items } = await client.listAndLockHead({ lockSecs: 60 });
    await client.deleteRequestLock(items[2]?.id as string, { forefront: true });
    await client.deleteRequestLock(items[0]?.id as string);
    expect(await heads()).toBe("312");
  });

  it("returns requests whose locks expired to their places, or to the front where a prolongation asked for it", async () => {
    const clock = createVirtualClock(1e12);
    const client = await openClient(makeStorage({ frontier: { clock } }));
    for (const at of [1, 2, 3])
      await client.addRequest({ url: `http://a.test/${at}`, uniqueKey: `${at}` });
    const lock = async (): Promise<string> =>
      (await client.listAndLockHead({ lockSecs: 10 })).items
        .map(({ uniqueKey }) => uniqueKey)
        .join("");
    const { items } = await client.listAndLockHead({ lockSecs: 10 });
    const third = items[2]?.id as string;
    clock.advance(1_000);
    await client.prolongRequestLock(third, { lockSecs: 10, forefront: true });
    clock.advance(9_001);
    expect(await lock()).toBe("12");
    clock.advance(10_001);
    expect(await lock()).toBe("312");
    const second = items[1]?.id as string;
    await client.prolongRequestLock(second, { lockSecs: 1, forefront: true });
    await client.deleteRequestLock(items[0]?.id as string, { forefront: true });
    await client.deleteRequestLock(second);
    clock.advance(20_000);
    expect(await lock()).toBe("123");
  });

  it("prolongs a lock that expired until another client asks for requests, and no longer", async () => {
    const clock = createVirtualClock(1e12);
    const storage = makeStorage({ frontier: { clock } });
    const [one, two] = [await openClient(storage, "one"), await openClient(storage, "two")];
    for (const at of [1, 2, 3])
      await one.addRequest({ url: `http://a.test/${at}`, uniqueKey: `${at}` });
    const { items } = await one.listAndLockHead({ lockSecs: 10 });
    const [first = "", second = "", third = ""] = items.map(({ id }) => id);
    clock.advance(30_000);
    const { lockExpiresAt } = await one.prolongRequestLock(second, { lockSecs: 10 });
    expect(lockExpiresAt.getTime()).toBe(1e12 + 40_000);
    await expect(one.deleteRequestLock(first)).rejects.toThrow(/is not locked/);
    const locked = async (): Promise<string[]> =>
      (await two.listAndLockHead({ lockSecs: 10 })).items.map(({ id }) => id);
    expect(await locked()).toEqual([first, third]);
    await expect(one.prolongRequestLock(third, { lockSecs: 10 })).rejects.toThrow(/is not locked/);
    clock.advance(10_001);
    const handledAt = new Date().toISOString();
    await two.updateRequest({ url: "http://a.test/2", uniqueKey: "2", id: second, handledAt });
    expect([await locked(), (await two.get())?.handledRequestCount]).toEqual([[first, third], 1]);
  });

  it("RequestQueue hands out its head in order though the locks expired meanwhile, as on Crawlee's own storage", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const runs: unknown[] = [];
    for (const storageClient of [makeStorage(), new MemoryStorage({ persistStorage: false })]) {
      const config = memoryOnly(crawlee, { storageClient });
      const queue = await crawlee.RequestQueue.open(null, { config, storageClient });
      queue.requestLockSecs = 5;
      const urls = Array.from({ length: 24 }, (_, at) => ({ url: `http://a.test/${at}` }));
      await queue.addRequests(urls);
      const fetched: unknown[] = [];
      for (const _ of urls) {
        const request = await queue.fetchNextRequest();
        fetched.push(request?.url);
        vi.setSystemTime(Date.now() + 1_000);
        if (request !== null) await queue.markRequestHandled(request);
      }
      runs.push(fetched);
      expect([fetched, await queue.isFinished()]).toEqual([urls.map(({ url }) => url), true]);
    }
    expect(runs[0]).toEqual(runs[1]);
  });

  it("a client without a key ends the locks of others, one with another key does not", async () => {
    const storage = makeStorage();
    const [one, two] = [await openClient(storage, "one"), await openClient(storage, "two")];
    const any = await openClient(storage);
    for (const at of [1, 2, 3])
      await one.addRequest({ url: `http://a.test/${at}`, uniqueKey: `${at}` });
    const { items } = await one.listAndLockHead({ lockSecs: 60 });
    const [first, second, third] = items.map((item) => ({ ...item, id: item.id }));
    const handledAt = new Date().toISOString();
    await two.updateRequest({ ...first, handledAt });
    expect((await any.get())?.handledRequestCount).toBe(0);
    await expect(two.deleteRequestLock(String(second?.id))).rejects.toThrow(/is not locked/);
    await any.updateRequest({ ...first, handledAt });
    await any.deleteRequestLock(String(second?.id));
    await any.deleteRequest(String(third?.id));
    expect(await any.get()).toMatchObject({ totalRequestCount: 2, handledRequestCount: 1 });
    expect((await two.listAndLockHead({ lockSecs: 60 })).items).toMatchObject([{ id: second?.id }]);
  });

  it("locks without end for a crawler without a time limit", async () => {
    const storageClient = makeStorage();
    const config = memoryOnly(crawlee, { storageClient });
    const requestQueue = await crawlee.RequestQueue.open(null, { config, storageClient });
    const visits: string[] = [];
    const requestHandler = ({ request }: CrawlingContext): void => {
      visits.push(request.url);
    };
    const options = { requestQueue, requestHandler, requestHandlerTimeoutSecs: Infinity };
    await new crawlee.BasicCrawler(options, config).run(["http://a.test/"]);
    expect([requestQueue.requestLockSecs, visits]).toEqual([Infinity, ["http://a.test/"]]);
  });

  it("returns the fields that a request was added with, no others, as Crawlee's own storage", async () => {
    const storages = [makeStorage(), new MemoryStorage({ persistStorage: false })];
    const bare = { url: "http://a.test/", uniqueKey: "k" };
    const some = { method: "GET", retryCount: 0, userData: {}, payload: "p", noRetry: null };
    const runs = storages.map(async (storage) => {
      const client = await openClient(storage as OutriderStorage);
      const { requestId: id } = await client.addRequest(bare);
      const seen: unknown[] = [await client.getRequest(id), (await client.listHead()).items];
      seen.push((await client.listAndLockHead({ lockSecs: 60 })).items);
      await client.updateRequest({ ...bare, ...some, id });
      seen.push(await client.getRequest(id));
      await client.updateRequest({ ...bare, id, headers: {}, handledAt: "2026-01-01" });
      return [...seen, await client.getRequest(id)];
    });
    const [ours, theirs] = await Promise.all(runs);
    expect(ours).toStrictEqual(theirs);
  });

  it("refuses in the words of Crawlee's own storage, and says what is expected", async () => {
    const storages = [makeStorage(), new MemoryStorage({ persistStorage: false })];
    const runs = storages.map(async (each) => {
      const storage = each as OutriderStorage;
      const client = await openClient(storage);
      const due = { url: "http://a.test/1", uniqueKey: "1" };
      const { requestId } = await client.addRequest(due);
      const done = { url: "http://a.test/2", uniqueKey: "2", handledAt: "2026-01-01" };
      const { requestId: handled } = await client.addRequest(done);
      const calls = [
        client.prolongRequestLock("unknown", { lockSecs: 1 }),
        client.prolongRequestLock(handled, { lockSecs: 1 }),
        client.deleteRequestLock("unknown"),
        client.deleteRequestLock(handled),
        client.deleteRequestLock(requestId),
        client.addRequest({ ...due, id: "other" }),
        storage.requestQueue<Client>("nothing").listHead(),
      ];
      const settled = await Promise.allSettled(calls);
      return settled.map((call) => call.status === "rejected" && (call.reason as Error).message);
    });
    const [ours = [], theirs = []] = await Promise.all(runs);
    expect(ours.map((message) => `${message}`.replace(/ \(expected: .+\)$/, ""))).toEqual(theirs);
  });

  it("a client has its storage where Crawlee's own clients have it", async () => {
    const storage = makeStorage();
    const { id } = await storage.requestQueues<Collection>().getOrCreate("queue");
    const client = storage.requestQueue<{ id: string; client: unknown }>(id);
    expect([client.id, client.client === storage]).toEqual([id, true]);
  });

  it("lists what is locked behind what is due, to the client that locked it and to those without a key", async () => {
    const clock = createVirtualClock(1e12);
    const storage = makeStorage({ frontier: { clock } });
    const [one, two] = [await openClient(storage, "one"), await openClient(storage, "two")];
    const clients = [one, two, await openClient(storage)];
    const heads = async (limit = 9): Promise<string[]> => {
      const listed = await Promise.all(clients.map((client) => client.listHead({ limit })));
      return listed.map(({ items }) => items.map(({ uniqueKey }) => uniqueKey).join(""));
    };
    for (const at of [1, 2, 3])
      await one.addRequest({ url: `http://a.test/${at}`, uniqueKey: `${at}` });
    await one.listAndLockHead({ lockSecs: 60, limit: 1 });
    await two.listAndLockHead({ lockSecs: 30, limit: 1 });
    expect(await heads()).toEqual(["31", "32", "312"]);
    expect(await heads(1)).toEqual(["3", "3", "3"]);
    clock.advance(30_001);
    expect(await heads()).toEqual(["231", "23", "231"]);
  });

  it("RequestQueue reads the head once more before it takes the queue for finished", async () => {
    const storageClient = makeStorage();
    const config = memoryOnly(crawlee, { storageClient });
    const queue = await crawlee.RequestQueue.open(null, { config, storageClient });
    const { client } = queue as unknown as { client: Client };
    const reads = vi.spyOn(client, "listHead");
    await queue.addRequest({ url: "http://a.test/" });
    const request = (await queue.fetchNextRequest()) as object;
    expect([await queue.isEmpty(), await queue.isFinished(), reads.mock.calls]).toEqual([
      true,
      false,
      [],
    ]);
    await queue.markRequestHandled(request);
    expect([await queue.isFinished(), reads.mock.calls]).toEqual([true, [[{ limit: 2 }]]]);
  });

  it("counts and keeps requests that are added, updated and deleted", async () => {
    const client = await openClient();
    const counts = async (): Promise<unknown[]> => {
      const info = await client.get();
      return [info?.totalRequestCount, info?.handledRequestCount, info?.pendingRequestCount];
    };
    const handledAt = new Date().toISOString();
    const a = { url: "http://a.test/a", uniqueKey: "a", userData: { deep: [1] } };
    const { requestId: id } = await client.addRequest(a);
    await client.addRequest({ url: "http://a.test/b", uniqueKey: "b", handledAt });
    expect(await counts()).toEqual([2, 1, 1]);
    const { wasAlreadyHandled } = await client.updateRequest({ ...a, id, handledAt });
    expect([wasAlreadyHandled, await counts()]).toEqual([false, [2, 2, 0]]);
    expect(await client.updateRequest({ ...a, id, handledAt })).toMatchObject({
      wasAlreadyHandled: true,
    });
    expect(await client.getRequest(id)).toMatchObject({ ...a, id, handledAt });
    await client.deleteRequest(id);
    expect([await client.getRequest(id), await counts()]).toEqual([undefined, [1, 1, 0]]);
    expect(await client.addRequest(a)).toMatchObject({ wasAlreadyPresent: false, requestId: id });
    expect([(await client.listHead()).items.length, await counts()]).toEqual([1, [2, 1, 1]]);
    await client.updateRequest({ url: "http://a.test/c", uniqueKey: "c", id: undefined });
    expect(await counts()).toEqual([3, 1, 2]);
  });

  it.each([
    [{ url: "nonsense", uniqueKey: "k" }, /request\.url/],
    [{ url: "http://a.test/" }, /request\.uniqueKey/],
    [{ url: "http://a.test/", uniqueKey: "k", id: "other" }, /ID does not match its uniqueKey/],
  ])("refuses %j, and the batch that it is in", async (request, message) => {
    const client = await openClient();
    const good = { url: "http://a.test/good", uniqueKey: "good" };
    await expect(client.batchAddRequests([good, request])).rejects.toThrow(message);
    expect(await client.get()).toMatchObject({ totalRequestCount: 0 });
  });

  it.each(["../escaped", "a/b", "..", "C:\\x"])("refuses the name %s", async (name) => {
    const collection = makeStorage().requestQueues<Collection>();
    await expect(collection.getOrCreate(name)).rejects.toThrow(/name/);
  });

  it("keeps queues apart, over processes too; a purge empties the default one alone", async () => {
    const directory = folder();
    const open = async (storage: OutriderStorage, name: string): Promise<Client> => {
      const { id } = await storage.requestQueues<Collection>().getOrCreate(name);
      return storage.requestQueue<Client>(id);
    };
    const first = new OutriderStorage({ base, frontier: { directory } });
    for (const name of ["default", "named"]) {
      const client = await open(first, name);
      await client.addRequest({ url: `http://${name}.test/`, uniqueKey: name });
      await client.listAndLockHead({ lockSecs: 60 });
    }
    await first.teardown();
    await first.close();
    const second = makeStorage({ frontier: { directory } });
    await second.purge();
    const [one, two] = [await open(second, "default"), await open(second, "named")];
    expect((await one.listHead()).items).toEqual([]);
    expect((await two.listHead()).items.map(({ url }) => url)).toEqual(["http://named.test/"]);
    expect((await second.requestQueues<Collection>().list()).items).toHaveLength(2);
    expect((await (await open(second, "NAMED")).get())?.name).toBe("named");
    await two.delete();
    expect(await two.get()).toBeUndefined();
    await expect(two.listHead()).rejects.toThrow(/does not exist/);
    expect((await (await open(second, "named")).listHead()).items).toEqual([]);
  });

  it("is not finished, for either class, while requests wait for their host", async () => {
    const clock = createVirtualClock(1e12);
    const politeness = { delayMs: 60_000 };
    const storage = makeStorage({ frontier: { clock, defaults: { politeness } } });
    const client = await openClient(storage);
    for (const at of [1, 2])
      await client.addRequest({ url: `http://a.test/${at}`, uniqueKey: `${at}` });
    const { items } = await client.listAndLockHead({ lockSecs: 60 });
    expect(items).toHaveLength(1);
    const [{ id, url, uniqueKey }] = items as [{ id: string; url: string; uniqueKey: string }];
    await client.updateRequest({ id, url, uniqueKey, handledAt: new Date().toISOString() });
    expect(await client.listAndLockHead({ lockSecs: 60 })).toMatchObject({
      items: [],
      queueHasLockedRequests: true,
    });
    clock.advance(60_000);
    expect((await client.listAndLockHead({ lockSecs: 60 })).items).toHaveLength(1);
  });

  it("passes datasets and key-value stores to the storage below, and where it has their files", async () => {
    const storage = makeStorage();
    expect(storage).toMatchObject({
      localDataDirectory: expect.stringMatching(/storage$/),
      datasetsDirectory: expect.stringMatching(/datasets$/),
      keyValueStoresDirectory: expect.stringMatching(/key_value_stores$/),
    });
    const names = ["datasets", "dataset", "keyValueStores", "keyValueStore"] as const;
    const kinds = names.map((name) => storage[name]("some-id").constructor.name);
    const theirs = names.map(
      (name) =>
        (base as Record<string, (id: string) => object>)[name]?.("some-id").constructor.name,
    );
    expect(kinds).toEqual(theirs);
  });
});
