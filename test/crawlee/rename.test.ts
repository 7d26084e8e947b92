/** Renaming request queues: in memory the same as on Crawlee's memory storage, and from a directory over processes. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { OutriderStorage } from "../../src/crawlee.ts";
import { openFrontier } from "../../src/index.ts";

const MEMORY = "@crawlee/memory-storage";
const { MemoryStorage } = (await import(/* @vite-ignore */ MEMORY)) as {
  MemoryStorage: new (options: object) => Storage;
};
const base = new MemoryStorage({ persistStorage: false });

interface Info {
  id: string;
  name?: string;
  totalRequestCount: number;
}
interface Client {
  get(): Promise<Info | undefined>;
  update(fields: { name?: unknown }): Promise<Info>;
  addRequest(request: object): Promise<object>;
  listHead(): Promise<{ items: Array<{ uniqueKey: string }> }>;
  listAndLockHead(options: object): Promise<{ items: Array<{ id: string }> }>;
  prolongRequestLock(id: string, options: object): Promise<object>;
  delete(): Promise<void>;
}
interface Collection {
  getOrCreate(name?: string): Promise<Info>;
  list(): Promise<{ items: Info[] }>;
}
interface Storage {
  requestQueues(): Collection;
  requestQueue(id: string): Client;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "outrider-rename-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

function openStorage(directory?: string): OutriderStorage & Storage {
  const storage = new OutriderStorage({ base, frontier: directory ? { directory } : {} });
  onTestFinished(() => storage.close());
  return storage as OutriderStorage & Storage;
}

/**
 * Crawlee's own. It moves the directory of a queue that is renamed, which has to be there. Requests that are written are not found after
 * the move, so none are.
 */
function theirsIn(directory: string): Storage {
  const storage = new MemoryStorage({ localDataDirectory: directory, persistStorage: false });
  return {
    requestQueues: () => storage.requestQueues(),
    requestQueue(nameOrId) {
      const client = storage.requestQueue(nameOrId);
      const update: Client["update"] = async (fields) => {
        const info = await client.get();
        const parts = [directory, "request_queues", info?.name ?? info?.id ?? ""];
        mkdirSync(join(...parts), { recursive: true });
        return await client.update(fields);
      };
      return Object.assign(Object.create(client) as Client, { update });
    },
  };
}

/** A queue's client, by its name or id, as Crawlee's own storage manager opens it. */
async function open(storage: Storage, nameOrId?: string): Promise<Client & { id: string }> {
  const there = nameOrId === undefined ? undefined : await storage.requestQueue(nameOrId).get();
  const { id } = there ?? (await storage.requestQueues().getOrCreate(nameOrId));
  return Object.assign(storage.requestQueue(id), { id });
}

async function add(client: Client, key: string): Promise<void> {
  await client.addRequest({ url: `http://a.test/${key}`, uniqueKey: key });
}

async function keys(client: Client): Promise<string> {
  return (await client.listHead()).items.map(({ uniqueKey }) => uniqueKey).join("");
}

/** Steps on a storage, and what was seen; ids by the order in which they appear. */
async function drive(storage: Storage): Promise<unknown[]> {
  const seen: unknown[] = [];
  const ids = new Map<string, number>();
  const number = (id: string): number => {
    if (!ids.has(id)) ids.set(id, ids.size);
    return ids.get(id) as number;
  };
  const show = (info: Info | undefined): unknown =>
    info && [number(info.id), info.name, info.totalRequestCount];
  const lookAt = async (...names: string[]): Promise<void> => {
    for (const name of names) {
      const info = await storage.requestQueue(name).get();
      seen.push([ids.get(name) ?? name, show(info)]);
    }
    const { items } = await storage.requestQueues().list();
    seen.push(items.map((each) => each.name ?? "unnamed").sort());
  };
  const rename = async (client: Client, name: unknown): Promise<void> => {
    const refusal = ({ message }: Error): string =>
      /name: .* already exists/.exec(message)?.[0] ?? "refused";
    seen.push(await client.update({ name }).then(show, refusal));
  };
  const first = await open(storage, "news");
  await add(first, "a");
  await rename(first, "archive");
  await lookAt("news", "archive", "ARCHIVE", first.id);
  const second = await open(storage, "news");
  await add(second, "b");
  await add(second, "c");
  await rename(second, "archive");
  await rename(second, "Archive");
  await rename(second, "news");
  await rename(second, undefined);
  await rename(second, "");
  await rename(second, 7);
  await lookAt("news", "archive");
  seen.push(await keys(first), await keys(second));
  const unnamed = await open(storage);
  await add(unnamed, "d");
  await rename(unnamed, "kept");
  await lookAt("kept", unnamed.id);
  await rename(first, "older");
  await rename(second, "archive");
  await rename(first, "news");
  await lookAt("news", "archive", "older", "kept");
  await first.delete();
  await rename(first, "gone");
  await lookAt("news", "archive", first.id);
  seen.push(await keys(await open(storage, "news")), await keys(await open(storage, "archive")));
  return seen;
}

describe("update of a queue's name", () => {
  it("does and refuses what Crawlee's memory storage does and refuses", async () => {
    const expected = await drive(theirsIn(folder()));
    expect(expected).toContain("name: archive already exists");
    expect(await drive(openStorage())).toEqual(expected);
    expect(await drive(openStorage(folder()))).toEqual(expected);
  });

  it.each(["../out", "a/b", ".."])("refuses %s, and the queue keeps its name", async (name) => {
    const queue = await open(openStorage(), "news");
    await expect(queue.update({ name })).rejects.toThrow(/path segments/);
    expect(await queue.get()).toMatchObject({ name: "news", id: queue.id });
  });

  it("keeps locks that are out", async () => {
    const queue = await open(openStorage(), "news");
    await add(queue, "a");
    const [{ id }] = (await queue.listAndLockHead({ lockSecs: 60 })).items as [{ id: string }];
    await queue.update({ name: "archive" });
    expect((await queue.listAndLockHead({ lockSecs: 60 })).items).toEqual([]);
    await queue.prolongRequestLock(id, { lockSecs: 60 });
  });

  it("holds over processes, by name and by id, and leaves the old name to another queue", async () => {
    const directory = folder();
    const ids: string[] = [];
    const inProcess = async (work: (storage: Storage) => Promise<void>): Promise<void> => {
      const storage = openStorage(directory);
      await work(storage);
      await storage.close();
    };
    await inProcess(async (storage) => {
      const queues = [await open(storage, "news"), await open(storage)];
      for (const [at, queue] of queues.entries()) await add(queue, `${at}`);
      await queues[0]?.update({ name: "archive" });
      await queues[1]?.update({ name: "kept" });
      ids.push(...queues.map(({ id }) => id));
    });
    await inProcess(async (storage) => {
      for (const [at, name] of ["archive", "kept"].entries()) {
        const queue = await open(storage, name);
        expect([queue.id, await keys(queue), (await queue.get())?.name]).toEqual([
          ...[ids[at], `${at}`],
          name,
        ]);
      }
      const queue = await open(storage, "news");
      expect([await keys(queue), ids.includes(queue.id)]).toEqual(["", false]);
      await add(queue, "2");
      ids.push(queue.id);
    });
    await inProcess(async (storage) => {
      for (const [at, id] of ids.entries()) {
        const queue = await open(storage, id);
        expect([queue.id, await keys(queue)]).toEqual([id, `${at}`]);
        expect((await queue.get())?.name).toBe(["archive", "kept", "news"][at]);
      }
    });
    await inProcess(async (storage) => {
      const queue = await open(storage, "news");
      for (const name of ["archive", "kept"])
        await expect(queue.update({ name })).rejects.toThrow(/already exists/);
      await (await open(storage, "archive")).delete();
      await queue.update({ name: "archive" });
    });
    await inProcess(async (storage) => {
      const queue = await open(storage, "archive");
      expect([queue.id, await keys(queue)]).toEqual([ids[2], "2"]);
      expect(await keys(await open(storage, "news"))).toBe("");
      for (const name of ["archive", "news", "kept"]) await (await open(storage, name)).delete();
    });
    const left = readdirSync(directory, { recursive: true, withFileTypes: true });
    expect(left.filter((each) => !each.isDirectory()).map(({ name }) => name)).toEqual([]);
  });

  it("is on the disk when it resolves", async () => {
    const [directory, copy] = [folder(), folder()];
    const queue = await open(openStorage(directory), "news");
    await add(queue, "a");
    await queue.update({ name: "archive" });
    const filter = (path: string): boolean => !/[\\/]lock[^\\/]*$/.test(path);
    cpSync(directory, copy, { recursive: true, filter });
    expect(await keys(await open(openStorage(copy), "archive"))).toBe("a");
  });

  it("ignores a pointer that a crash left before the queue had the name", async () => {
    const directory = folder();
    const pointer = await openFrontier({ directory, name: "archive" });
    pointer.state["crawlee-link"] = { standsFor: "news" };
    await pointer.close();
    const storage = openStorage(directory);
    await add(await open(storage, "news"), "a");
    expect(await keys(await open(storage, "archive"))).toBe("");
    await storage.close();
    const queue = await open(storage, "archive");
    expect([await keys(queue), (await queue.get())?.name]).toEqual(["", "archive"]);
    expect(await keys(await open(storage, "news"))).toBe("a");
  });

  it("a purge empties the default queue, not one that was renamed from it", async () => {
    const directory = folder();
    const first = openStorage(directory);
    const queue = await open(first, "default");
    await add(queue, "a");
    await queue.update({ name: "kept" });
    await add(await open(first, "default"), "b");
    await first.close();
    const second = openStorage(directory);
    await second.purge();
    expect(await keys(await open(second, "kept"))).toBe("a");
    expect(await keys(await open(second, "default"))).toBe("");
  });
});
