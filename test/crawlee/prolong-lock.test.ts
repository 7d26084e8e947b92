/** What prolonging a lock does to a request without one, on OutriderStorage and on Crawlee's memory storage. */
import { expect, it, onTestFinished, vi } from "vitest";
import { OutriderStorage } from "../../src/crawlee.ts";
import { createVirtualClock } from "../../src/index.ts";

const MEMORY = "@crawlee/memory-storage";
const { MemoryStorage } = (await import(/* @vite-ignore */ MEMORY)) as {
  MemoryStorage: new (options: object) => object;
};
const base = new MemoryStorage({ persistStorage: false });

interface Head {
  items: Array<{ id: string; uniqueKey: string }>;
}
interface Client {
  get(): Promise<Record<string, unknown> | undefined>;
  batchAddRequests(requests: object[]): Promise<unknown>;
  updateRequest(request: object): Promise<unknown>;
  deleteRequest(id: string): Promise<unknown>;
  listHead(): Promise<Head>;
  listAndLockHead(options: object): Promise<Head>;
  prolongRequestLock(id: string, options: object): Promise<{ lockExpiresAt: Date }>;
  deleteRequestLock(id: string): Promise<void>;
}
interface Collection {
  getOrCreate(name: string): Promise<{ id: string }>;
}

async function openClient(storage: OutriderStorage, clientKey?: string): Promise<Client> {
  const { id } = await storage.requestQueues<Collection>().getOrCreate("queue");
  return storage.requestQueue<Client>(id, clientKey === undefined ? {} : { clientKey });
}

it("locks a request that is due where a client prolongs a lock that it does not have, as Crawlee's own storage", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1e12 });
  onTestFinished(() => void vi.useRealTimers());
  const storage = new OutriderStorage({ base });
  onTestFinished(() => storage.close());
  const storages = [storage, base];
  const clients = await Promise.all(storages.map((each) => openClient(each as OutriderStorage)));
  const runs: string[][] = [];
  for (const client of clients) {
    vi.setSystemTime(1e12);
    const requests = [1, 2, 3, 4].map((at) => ({
      url: `http://a.test/${at}`,
      uniqueKey: `${at}`,
    }));
    await client.batchAddRequests(requests);
    const heads: string[] = [];
    const lock = async (lockSecs: number): Promise<void> => {
      const { items } = await client.listAndLockHead({ lockSecs });
      heads.push(items.map(({ uniqueKey }) => uniqueKey).join(""));
    };
    const ids = (await client.listHead()).items.map(({ id }) => id);
    const [, second = "", third = "", fourth = ""] = ids;
    const { lockExpiresAt } = await client.prolongRequestLock(second, { lockSecs: 10 });
    heads.push(`until ${lockExpiresAt.getTime() - 1e12}`);
    await client.prolongRequestLock(third, { lockSecs: 10 });
    await client.prolongRequestLock(fourth, { lockSecs: 10, forefront: true });
    await lock(1);
    await client.deleteRequestLock(third);
    vi.setSystemTime(1e12 + 2_000);
    await lock(1);
    vi.setSystemTime(1e12 + 11_000);
    await lock(1);
    vi.setSystemTime(1e12 + 13_000);
    const handledAt = new Date().toISOString();
    const handle = (at: number): Promise<unknown> =>
      client.updateRequest({ ...requests[at], id: ids[at], handledAt });
    await handle(0);
    await handle(3);
    await client.deleteRequest(third);
    await client.prolongRequestLock(second, { lockSecs: 20 });
    await handle(1);
    heads.push(`${(await client.get())?.handledRequestCount}`);
    await lock(1);
    runs.push(heads);
  }
  expect(runs[0]).toEqual(["until 10000", "1", "13", "4123", "3", ""]);
  expect(runs[1]).toEqual(runs[0]);
});

it("locks a request whose lock of another client has expired, and ends that lock", async () => {
  const clock = createVirtualClock(1e12);
  const storage = new OutriderStorage({ base, frontier: { clock } });
  onTestFinished(() => storage.close());
  const [one, two] = [await openClient(storage, "one"), await openClient(storage, "two")];
  await one.batchAddRequests([{ url: "http://a.test/", uniqueKey: "1" }]);
  const [{ id = "" } = {}] = (await one.listAndLockHead({ lockSecs: 1 })).items;
  await expect(two.prolongRequestLock(id, { lockSecs: 9 })).rejects.toThrow(/is not locked/);
  clock.advance(1_001);
  const { lockExpiresAt } = await two.prolongRequestLock(id, { lockSecs: 9 });
  expect(lockExpiresAt.getTime()).toBe(clock.now() + 9_000);
  await expect(one.prolongRequestLock(id, { lockSecs: 9 })).rejects.toThrow(/is not locked/);
  await expect(one.deleteRequestLock(id)).rejects.toThrow(/is not locked/);
  await two.deleteRequestLock(id);
  expect((await one.listAndLockHead({ lockSecs: 1 })).items).toHaveLength(1);
});
