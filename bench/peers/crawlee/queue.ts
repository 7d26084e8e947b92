/**
 * Crawlee's RequestQueue on its memory storage, where it is installed (crawlee/README.md): requests in by lists, out and
 * marked as handled one by one, which is the only way it has.
 */
import { loadPackage, packageMissing } from "../installed.ts";
import type { Queue } from "../queue.ts";

export interface CrawleeRequest {
  readonly url: string;
}

export interface CrawleeQueue {
  addRequests(requests: CrawleeRequest[]): Promise<{
    processedRequests: { wasAlreadyPresent: boolean }[];
  }>;
  fetchNextRequest(): Promise<CrawleeRequest | null>;
  markRequestHandled(request: CrawleeRequest): Promise<unknown>;
  drop(): Promise<void>;
}

interface CrawleeCore {
  Configuration: new (
    options: Record<string, unknown>,
  ) => { useStorageClient(client: unknown): void };
  RequestQueue: { open(name: string, options: Record<string, unknown>): Promise<CrawleeQueue> };
}

interface CrawleeStorage {
  MemoryStorage: new (options: Record<string, unknown>) => unknown;
}

export function crawleeMissing(): string | undefined {
  return packageMissing("@crawlee/core");
}

/** Its queue on its memory storage, which with a directory writes every request into a file of its own. */
export async function openCrawleeQueue(directory?: string): Promise<CrawleeQueue> {
  const core = loadPackage("@crawlee/core") as CrawleeCore;
  const { MemoryStorage } = loadPackage("@crawlee/memory-storage") as CrawleeStorage;
  const persistStorage = directory !== undefined;
  const config = new core.Configuration({ persistStorage, logLevel: 0, purgeOnStart: false });
  const client = new MemoryStorage({
    persistStorage,
    writeMetadata: persistStorage,
    ...(directory === undefined ? {} : { localDataDirectory: directory }),
  });
  config.useStorageClient(client);
  return core.RequestQueue.open("bench", { config, storageClient: client });
}

export async function openCrawlee(): Promise<Queue> {
  const queue = await openCrawleeQueue();
  const drainOne = async (): Promise<string | undefined> => {
    const request = await queue.fetchNextRequest();
    if (request === null) return undefined;
    await queue.markRequestHandled(request);
    return request.url;
  };
  const push = async (urls: readonly string[]): Promise<number> => {
    const { processedRequests } = await queue.addRequests(urls.map((url) => ({ url })));
    return processedRequests.filter(({ wasAlreadyPresent }) => !wasAlreadyPresent).length;
  };
  return {
    push,
    pushOne: (url) => push([url]),
    async drain(max) {
      const urls: string[] = [];
      while (urls.length < max) {
        const url = await drainOne();
        if (url === undefined) break;
        urls.push(url);
      }
      return urls;
    },
    drainOne,
    advance: () => {},
    facts: () => ({}),
    close: () => queue.drop(),
  };
}
