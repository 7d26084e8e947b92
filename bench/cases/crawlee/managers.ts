/**
 * The queues of the cases of this suite, all behind the one interface that a crawler of Crawlee's asks for.
 *
 *   outrider   FrontierRequestManager on a frontier in memory
 *   on disk    the same on a directory, { everyMs: 100 }
 *   array      a list that is shifted, of requests that were made before: what no queue can beat
 *   memory     Crawlee's RequestQueue on its memory storage, nothing written
 *   memory on disk   the same, written to its directory, which is Crawlee's default
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FrontierRequestManager, type RequestClass } from "../../../src/crawlee.ts";
import { memoryNow } from "../../harness/machine.ts";
import { loadPackage } from "../../peers/installed.ts";
import { countWrites } from "./count-writes.ts";

export interface Request {
  url: string;
}

/** What a crawler calls, and what the drives do. */
export interface Manager {
  addRequestsBatched(requests: Iterable<Request>, options: object): Promise<unknown>;
  fetchNextRequest(): Promise<Request | null>;
  markRequestHandled(request: Request): Promise<unknown>;
  handledCount(): Promise<number>;
}

export interface Opened {
  readonly manager: Manager;
  /** What is held and was written for the requests so far, after a collection. */
  facts(): Record<string, number>;
  close(): Promise<void>;
}

interface Core {
  Request: RequestClass;
  Configuration: new (options: object) => { useStorageClient(client: object): void };
  RequestQueue: {
    open(name: string, options: object): Promise<Manager & { drop(): Promise<void> }>;
  };
}

export function loadCore(): Core {
  return loadPackage("@crawlee/core") as Core;
}

const LIST_END = { waitForAllRequestsToBeAdded: true, waitBetweenBatchesMillis: 0 };

/** The names of the facts of `Opened`. */
const HEAP = "heap bytes";
const WRITES = "disk writes";

export async function openManager(side: string): Promise<Opened> {
  if (side === "array") return openArray();
  const isOnDisk = side.endsWith("on disk");
  const writes = isOnDisk ? await countWrites() : { count: 0 };
  const directory = isOnDisk ? mkdtempSync(join(tmpdir(), "outrider-bench-")) : undefined;
  const open = side.startsWith("memory") ? openMemory : openOutrider;
  const { manager, close, facts } = await open(directory);
  return {
    manager,
    facts: () => ({ [HEAP]: memoryNow().heapBytes, [WRITES]: writes.count, ...facts() }),
    async close() {
      await close();
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function openOutrider(directory: string | undefined): Promise<Opened> {
  const { Request } = loadCore();
  const manager = await FrontierRequestManager.open({ Request, ...(directory && { directory }) });
  const { frontier } = manager;
  return {
    manager: manager as unknown as Manager,
    facts() {
      const report = frontier.report();
      return { "journal bytes": "durability" in report ? report.durability.journalBytes : 0 };
    },
    close: () => manager.drop(),
  };
}

async function openMemory(directory: string | undefined): Promise<Opened> {
  const { Configuration, RequestQueue } = loadCore();
  const { MemoryStorage } = loadPackage("@crawlee/memory-storage") as {
    MemoryStorage: new (options: object) => object;
  };
  const persistStorage = directory !== undefined;
  const config = new Configuration({ persistStorage, purgeOnStart: false });
  const place = directory === undefined ? {} : { localDataDirectory: directory };
  const storageClient = new MemoryStorage({ persistStorage, writeMetadata: false, ...place });
  config.useStorageClient(storageClient);
  const queue = await RequestQueue.open("bench", { config, storageClient });
  return { manager: queue, facts: () => ({}), close: () => queue.drop() };
}

function openArray(): Opened {
  const { Request } = loadCore();
  const waiting: Request[] = [];
  let out = 0;
  let handled = 0;
  const manager = {
    name: "array",
    async addRequestsBatched(requests: Iterable<Request>) {
      for (const each of requests) {
        waiting.push(Object.assign(new Request(each as never), { id: each.url }));
      }
    },
    async addRequest() {},
    async fetchNextRequest() {
      const next = waiting.shift() ?? null;
      if (next !== null) out += 1;
      return next;
    },
    async markRequestHandled() {
      out -= 1;
      handled += 1;
    },
    async reclaimRequest() {},
    isEmpty: async () => waiting.length === 0,
    isFinished: async () => waiting.length === 0 && out === 0,
    handledCount: async () => handled,
    getTotalCount: () => waiting.length + out + handled,
    getPendingCount: () => waiting.length + out,
  };
  return { manager, facts: () => ({ [HEAP]: memoryNow().heapBytes }), close: async () => {} };
}

/** Adds requests by their numbers, and waits until all are in. */
export async function addAll(manager: Manager, from: number, count: number): Promise<void> {
  await manager.addRequestsBatched(requestsOf(from, count), LIST_END);
}

function* requestsOf(from: number, count: number): Iterable<Request> {
  for (let at = from; at < from + count; at++)
    yield { url: `https://h${at % 997}.test/page/${at}` };
}

/** Fetches and ends requests one by one. Returns how many there were. */
export async function drainAll(manager: Manager): Promise<number> {
  let count = 0;
  for (;;) {
    const request = await manager.fetchNextRequest();
    if (request === null) return count;
    await manager.markRequestHandled(request);
    count += 1;
  }
}
