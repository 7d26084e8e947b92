/**
 * Crawlee's RequestQueue on its memory storage, where it is installed (crawlee/README.md): requests in by lists, out and
 * marked as handled one by one, which is the only way it has.
 */
import { loadPackage, packageMissing } from "../installed.ts";
import type { Queue } from "../queue.ts";

interface CrawleeRequest {
  readonly url: string;
}

interface CrawleeQueue {
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

export async function openCrawlee(): Promise<Queue> {
  const core = loadPackage("@crawlee/core") as CrawleeCore;
  const { MemoryStorage } = loadPackage("@crawlee/memory-storage") as CrawleeStorage;
  const config = new core.Configuration({ persistStorage: false, logLevel: 0 });
  const client = new MemoryStorage({ persistStorage: false, writeMetadata: false });
  config.useStorageClient(client);
  const queue = await core.RequestQueue.open("bench", { config, storageClient: client });
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
