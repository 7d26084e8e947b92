/** OutriderStorageBackend in the protocol of version 4, as its types and its own backends' tests describe it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { OutriderStorageBackend, type OutriderStorageOptions } from "../../../../../src/crawlee.ts";
import { createVirtualClock } from "../../../../../src/index.ts";

interface Request {
  id?: string;
  url: string;
  uniqueKey: string;
  handledAt?: string;
  retryCount?: number;
}
interface Queue {
  getMetadata(): Promise<Record<string, unknown>>;
  addBatchOfRequests(
    requests: Request[],
    options?: object,
  ): Promise<{ processedRequests: object[] }>;
  getRequest(uniqueKey: string): Promise<Request | undefined>;
  fetchNextRequest(): Promise<Request | undefined>;
  markRequestAsHandled(request: Request): Promise<Record<string, unknown> | undefined>;
  reclaimRequest(request: Request, options?: object): Promise<object | undefined>;
  listItems(): Promise<Request[]>;
  isEmpty(): Promise<boolean>;
  isFinished(): Promise<boolean>;
  purge(): Promise<void>;
  drop(): Promise<void>;
  setExpectedRequestProcessingTimeSecs(secs: number): Promise<void>;
  extendRequestProcessingTimeSecs(id: string, secs: number): Promise<boolean>;
}

const base = {
  datasets: [] as unknown[],
  purged: 0,
  async createDatasetBackend(options: unknown) {
    this.datasets.push(options);
    return {};
  },
  async createKeyValueStoreBackend() {
    return {};
  },
  async purge() {
    this.purged += 1;
  },
};

function makeStorage(options: OutriderStorageOptions = {}): OutriderStorageBackend {
  const storage = new OutriderStorageBackend({ base, ...options });
  onTestFinished(() => storage.close());
  return storage;
}

const requestOf = (at: number | string): Request => ({
  url: `http://a.test/${at}`,
  uniqueKey: `${at}`,
});
const fetch = async (queue: Queue): Promise<Request> => {
  const request = await queue.fetchNextRequest();
  if (request === undefined) throw new Error("no request (expected: one)");
  return request;
};

describe("OutriderStorageBackend", () => {
  it("lists what is due, in order, and takes nothing", async () => {
    const queue = await makeStorage().createRequestQueueBackend<Queue>();
    expect(await queue.listItems()).toEqual([]);
    await queue.addBatchOfRequests([requestOf(1), requestOf(2), requestOf(3)]);
    await queue.addBatchOfRequests([requestOf(4)], { forefront: true });
    const taken = await fetch(queue);
    await fetch(queue);
    await queue.markRequestAsHandled(taken);
    for (let times = 0; times < 2; times++)
      expect((await queue.listItems()).map(({ uniqueKey }) => uniqueKey)).toEqual(["2", "3"]);
  });

  it("hands requests out in order, forefront first, and each once", async () => {
    const queue = await makeStorage().createRequestQueueBackend<Queue>();
    await queue.addBatchOfRequests([requestOf(1), requestOf(2)]);
    await queue.addBatchOfRequests([requestOf(3)], { forefront: true });
    const { processedRequests } = await queue.addBatchOfRequests([requestOf(2)]);
    expect(processedRequests).toMatchObject([
      { wasAlreadyPresent: true, wasAlreadyHandled: false },
    ]);
    const order = [await fetch(queue), await fetch(queue), await fetch(queue)];
    expect(order.map(({ uniqueKey }) => uniqueKey)).toEqual(["3", "1", "2"]);
    expect([await queue.isEmpty(), await queue.isFinished()]).toEqual([true, false]);
    for (const request of order) await queue.markRequestAsHandled(request);
    expect([await queue.isEmpty(), await queue.isFinished()]).toEqual([true, true]);
    expect(await queue.getMetadata()).toMatchObject({
      handledRequestCount: 3,
      pendingRequestCount: 0,
    });
  });

  it("handles and reclaims what it has, though nobody fetched it, and adds nothing", async () => {
    const queue = await makeStorage().createRequestQueueBackend<Queue>({ name: "q" });
    await queue.addBatchOfRequests([requestOf(1)]);
    const stranger = { ...requestOf(2), id: "x" };
    expect(await queue.markRequestAsHandled(stranger)).toBeUndefined();
    expect(await queue.reclaimRequest(stranger)).toBeUndefined();
    expect(await queue.getMetadata()).toMatchObject({
      totalRequestCount: 1,
      handledRequestCount: 0,
    });
    await queue.addBatchOfRequests([requestOf(3), requestOf(4)]);
    expect(await queue.reclaimRequest(requestOf(4), { forefront: true })).toMatchObject({
      wasAlreadyHandled: false,
    });
    expect((await queue.listItems()).map(({ uniqueKey }) => uniqueKey)).toEqual(["4", "1", "3"]);
    for (const at of [4, 3]) {
      const handled = [await queue.markRequestAsHandled(requestOf(at))];
      handled.push(await queue.markRequestAsHandled(requestOf(at)));
      expect(handled).toMatchObject([{ wasAlreadyHandled: false }, { wasAlreadyHandled: true }]);
    }
    expect(await queue.reclaimRequest(requestOf(3))).toBeUndefined();
    expect(await queue.getMetadata()).toMatchObject({
      totalRequestCount: 3,
      handledRequestCount: 2,
    });
    const request = await fetch(queue);
    request.retryCount = 1;
    expect(await queue.reclaimRequest(request, { forefront: true })).toMatchObject({
      requestId: request.id,
    });
    const again = await fetch(queue);
    expect(again.retryCount).toBe(1);
    expect(await queue.markRequestAsHandled(again)).toMatchObject({ wasAlreadyHandled: false });
    expect(await queue.markRequestAsHandled(again)).toMatchObject({ wasAlreadyHandled: true });
    expect((await queue.getRequest("1"))?.handledAt).toEqual(expect.any(String));
    expect(await queue.getRequest("2")).toBeUndefined();
  });

  it("leaves its arguments as they were: a caller may add the same object again", async () => {
    const queue = await makeStorage().createRequestQueueBackend<Queue>();
    const request = Object.freeze(requestOf(1));
    await queue.addBatchOfRequests([request]);
    await queue.addBatchOfRequests([request]);
    const fetched = Object.freeze(await fetch(queue));
    expect(await queue.markRequestAsHandled(fetched)).toMatchObject({ wasAlreadyHandled: false });
    expect((await queue.getRequest("1"))?.handledAt).toEqual(expect.any(String));
  });

  it("opens a queue by the id that an earlier process was shown, and no other by it", async () => {
    const directory = mkdtempSync(join(tmpdir(), "outrider-crawlee-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const names = [{ name: "Böks & more" }, { alias: "of-this-run" }, {}];
    const first = makeStorage({ frontier: { directory } });
    const ids: string[] = [];
    for (const [at, name] of names.entries()) {
      const queue = await first.createRequestQueueBackend<Queue>(name);
      expect(await first.createRequestQueueBackend(name)).toBe(queue);
      await queue.addBatchOfRequests([requestOf(at)]);
      ids.push(String((await queue.getMetadata()).id));
    }
    await first.close();
    const second = makeStorage({ frontier: { directory } });
    expect(await second.storageExists("Böks & more", "RequestQueue")).toBe(false);
    expect(await second.storageExists("A1234567890123z", "RequestQueue")).toBe(false);
    const shown: unknown[] = [];
    for (const id of ids) {
      expect(await second.storageExists(id, "RequestQueue")).toBe(true);
      const queue = await second.createRequestQueueBackend<Queue>({ id });
      shown.push({ ...(await queue.getMetadata()), first: (await fetch(queue)).uniqueKey });
    }
    expect(shown).toEqual([
      expect.objectContaining({ id: ids[0], name: "Böks & more", first: "0" }),
      expect.objectContaining({ id: ids[1], first: "1" }),
      expect.objectContaining({ id: ids[2], first: "2" }),
    ]);
    expect(shown.filter((info) => "name" in (info as object))).toHaveLength(1);
    for (const [at, name] of names.entries()) {
      const queue = await second.createRequestQueueBackend<Queue>(name);
      expect(await queue.getMetadata()).toMatchObject({ id: ids[at], totalRequestCount: 1 });
    }
  });

  it("hands a request out again when the expected time is over", async () => {
    const clock = createVirtualClock(1e12);
    const queue = await makeStorage({ frontier: { clock } }).createRequestQueueBackend<Queue>();
    await queue.setExpectedRequestProcessingTimeSecs(600);
    await queue.addBatchOfRequests([requestOf(1)]);
    const { id = "" } = await fetch(queue);
    expect(await queue.extendRequestProcessingTimeSecs(id, 60)).toBe(true);
    clock.advance(659_999);
    expect(await queue.fetchNextRequest()).toBeUndefined();
    clock.advance(2);
    expect((await fetch(queue)).uniqueKey).toBe("1");
  });

  it("empties the default queue and aliases when a run begins, also what an earlier process left", async () => {
    const directory = mkdtempSync(join(tmpdir(), "outrider-crawlee-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const names = [{}, { alias: "a" }, { name: "a" }] as const;
    const first = new OutriderStorageBackend({ base, frontier: { directory } });
    for (const name of names) {
      const queue = await first.createRequestQueueBackend<Queue>(name);
      await queue.addBatchOfRequests([requestOf(1)]);
    }
    await first.teardown();
    await first.close();
    const second = makeStorage({ frontier: { directory } });
    const before = base.purged;
    await second.purge();
    const left: boolean[] = [];
    for (const name of names) {
      left.push(await (await second.createRequestQueueBackend<Queue>(name)).isFinished());
    }
    expect([left, base.purged - before]).toEqual([[true, true, false], 1]);
  });

  it("returns the fields that a request was added with, no others", async () => {
    const queue = await makeStorage().createRequestQueueBackend<Queue>();
    await queue.addBatchOfRequests([requestOf(1), { ...requestOf(2), retryCount: 0 }]);
    const [first, second] = [await fetch(queue), await fetch(queue)];
    expect(first).toStrictEqual({ ...requestOf(1), id: first.id });
    expect(second).toStrictEqual({ ...requestOf(2), id: second.id, retryCount: 0 });
    expect(await queue.getRequest("1")).toStrictEqual(first);
  });

  it("has one default queue, under its name and the aliases that Crawlee has for it", async () => {
    const storage = makeStorage();
    const names = [{}, { alias: "__default__" }, { alias: "default" }, { name: "default" }];
    const ids = names.map(async (name) => {
      const queue = await storage.createRequestQueueBackend<Queue>(name);
      expect(queue).toHaveProperty("storageBackend", storage);
      return (await queue.getMetadata()).id;
    });
    expect(new Set(await Promise.all(ids)).size).toBe(1);
    const other = await storage.createRequestQueueBackend<Queue>({ alias: "__other__" });
    expect((await other.getMetadata()).id).not.toBe(await ids[0]);
  });

  it("a queue that was closed is not known to be finished", async () => {
    const storage = makeStorage();
    const queue = await storage.createRequestQueueBackend<Queue>();
    await queue.addBatchOfRequests([requestOf(1)]);
    await storage.close();
    await expect(queue.isFinished()).rejects.toThrow(/gone/);
    await expect(queue.fetchNextRequest()).rejects.toThrow(/gone/);
  });

  it("a queue that was dropped is empty, and opens anew empty", async () => {
    const storage = makeStorage();
    const queue = await storage.createRequestQueueBackend<Queue>({ name: "q" });
    await queue.addBatchOfRequests([requestOf(1)]);
    await queue.drop();
    await expect(queue.getMetadata()).rejects.toThrow(/gone/);
    expect([await queue.isEmpty(), await queue.isFinished()]).toEqual([true, true]);
    expect(await queue.fetchNextRequest()).toBeUndefined();
    const again = await storage.createRequestQueueBackend<Queue>({ name: "q" });
    expect(await again.isFinished()).toBe(true);
    await again.addBatchOfRequests([requestOf(1)]);
    await again.purge();
    expect(await again.getMetadata()).toMatchObject({ totalRequestCount: 0 });
  });

  it("passes datasets to the storage below, and has a key of its own", async () => {
    const storage = makeStorage();
    await storage.createDatasetBackend({ name: "d" });
    expect(base.datasets.at(-1)).toEqual({ name: "d" });
    expect(storage.getStorageBackendCacheKey()).not.toBe(makeStorage().getStorageBackendCacheKey());
  });
});
