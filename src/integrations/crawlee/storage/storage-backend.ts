/**
 * OutriderStorageBackend: a `StorageBackend` of version 4 whose request queues are frontiers. Its protocol has no locks of its own: a
 * request is in progress from fetch to its end, and returns by itself when the expected time is over.
 *
 *   I1  What is unknown, or in progress in another process, is neither handled nor reclaimed: undefined is returned, and nothing has
 *       changed. A request whose time is over, and that no other process has yet, can still be handled: it is not visited again.
 */
import { FrontierError } from "../../../base/errors.ts";
import { loadPackage } from "../crawlee-packages.ts";
import type {
  BatchResult,
  CrawleeRequest,
  OperationOptions,
  ProcessedRequest,
  QueueInfo,
  StoredRequest,
} from "../crawlee-types.ts";
import { LOCK_SECS } from "../manager-options.ts";
import { QueueClient } from "./queue-client.ts";
import type { QueueEntry } from "./queue-entry.ts";
import { type QueueName, QueueRegistry } from "./queue-registry.ts";
import { newId, requestId } from "../request-id.ts";
import { PEEK_MOST, type RequestStore } from "../request-store.ts";
import { type OutriderStorageOptions, registryOf } from "./storage-options.ts";

interface BaseBackend {
  createDatasetBackend(options?: QueueName): Promise<object>;
  createKeyValueStoreBackend(options?: QueueName): Promise<object>;
  storageExists?(id: string, type: string): Promise<boolean>;
  purge?(): Promise<void>;
  teardown?(): Promise<void>;
  stats?: object;
}

type Done = Omit<ProcessedRequest, "uniqueKey">;

/** One request queue of version 4. */
class QueueBackend {
  readonly storageBackend: object;
  readonly #registry: QueueRegistry;
  readonly #entry: QueueEntry;
  readonly #store: RequestStore;
  readonly #client: QueueClient;
  #lockSecs = 0;

  constructor(storageBackend: object, registry: QueueRegistry, entry: QueueEntry) {
    this.storageBackend = storageBackend;
    this.#registry = registry;
    this.#entry = entry;
    this.#store = entry.store();
    this.#client = new QueueClient(registry, entry.id);
  }

  /** A queue that was dropped is empty to its caller; one that was closed is not known to be. */
  #isDropped(): boolean {
    if (!this.#entry.isDropped) this.#entry.assertOpen();
    return this.#entry.isDropped;
  }

  async getMetadata(): Promise<QueueInfo> {
    this.#entry.assertOpen();
    return await this.#entry.info();
  }

  async drop(): Promise<void> {
    await this.#registry.drop(this.#entry);
  }

  async purge(): Promise<void> {
    this.#entry.assertOpen();
    await this.#entry.clear();
    this.#lockSecs = 0;
  }

  async addBatchOfRequests(
    requests: readonly CrawleeRequest[],
    options: OperationOptions = {},
  ): Promise<BatchResult> {
    this.#entry.assertOpen();
    return await this.#client.batchAddRequests(requests, options);
  }

  async getRequest(uniqueKey: string): Promise<StoredRequest | undefined> {
    this.#entry.assertOpen();
    const url = URL.canParse(uniqueKey) ? uniqueKey : undefined;
    return await this.#store.get(requestId(uniqueKey), url);
  }

  async fetchNextRequest(): Promise<StoredRequest | undefined> {
    if (this.#isDropped()) return undefined;
    return await this.#store.fetch((this.#lockSecs || LOCK_SECS) * 1_000);
  }

  async markRequestAsHandled(request: CrawleeRequest): Promise<Done | undefined> {
    this.#entry.assertOpen();
    const id = requestId(request.uniqueKey);
    const isHandled = await this.#isHandled(id, request);
    if (isHandled !== false) return isHandled && doneOf(id, true);
    this.#entry.touch(true);
    const handledAt = request.handledAt ?? this.#entry.modifiedAt.toISOString();
    const info = await this.#store.finish({ ...request, handledAt });
    return info === undefined ? undefined : doneOf(id, info.wasAlreadyHandled);
  }

  async reclaimRequest(
    request: CrawleeRequest,
    { forefront = false }: OperationOptions = {},
  ): Promise<Done | undefined> {
    this.#entry.assertOpen();
    const id = requestId(request.uniqueKey);
    if ((await this.#isHandled(id, request)) !== false) return undefined;
    this.#entry.touch(true);
    const info = await this.#store.reclaim(request, forefront);
    return info === undefined ? undefined : doneOf(id, false);
  }

  /** As of the store; what is in progress here is not. */
  async #isHandled(id: string, { url }: CrawleeRequest): Promise<boolean | undefined> {
    return this.#store.lease(id) === undefined && (await this.#store.isHandled(id, url));
  }

  /** Requests that are due, in their order, at most 1,000; none is taken. */
  async listItems(): Promise<StoredRequest[]> {
    this.#entry.assertOpen();
    return await this.#store.due(PEEK_MOST);
  }

  async isEmpty(): Promise<boolean> {
    return this.#isDropped() || (await this.#store.isEmpty());
  }

  async isFinished(): Promise<boolean> {
    return this.#isDropped() || (await this.#store.isFinished());
  }

  async setExpectedRequestProcessingTimeSecs(secs: number): Promise<void> {
    this.#lockSecs = Math.max(this.#lockSecs, secs);
  }

  /** The same under the name that earlier releases of version 4 call. */
  setExpectedRequestProcessingTime(secs: number): void {
    this.#lockSecs = Math.max(this.#lockSecs, secs);
  }

  async extendRequestProcessingTimeSecs(id: string, secs: number): Promise<boolean> {
    return (await this.#store.prolong(id, secs * 1_000)) !== undefined;
  }
}

function doneOf(id: string, wasAlreadyHandled: boolean): Done {
  return { requestId: id, wasAlreadyPresent: true, wasAlreadyHandled };
}

/**
 * A storage for Crawlee 4: `serviceLocator.setStorageBackend(new OutriderStorageBackend(…))`. Request queues are frontiers; datasets and
 * key-value stores are those of `base`, which is Crawlee's memory storage unless it is given.
 *
 * @example
 * const storage = new OutriderStorageBackend({ frontier: { directory: "crawl-data" } });
 * serviceLocator.setStorageBackend(storage);
 * await new CheerioCrawler({ requestHandler }).run(["https://example.org/"]);
 * await storage.close();
 */
export class OutriderStorageBackend {
  readonly #registry: QueueRegistry;
  readonly #key = `OutriderStorageBackend ${newId()}`;
  readonly #queues = new WeakMap<QueueEntry, QueueBackend>();
  #base: BaseBackend | undefined;

  /** Throws `OPTION_INVALID`. Opens nothing yet. */
  constructor(options: OutriderStorageOptions = {}) {
    const { registry, base } = registryOf(options);
    this.#registry = new QueueRegistry(registry);
    this.#base = base as BaseBackend | undefined;
  }

  #storage(): BaseBackend {
    this.#base ??= makeMemoryBackend();
    return this.#base;
  }

  /** Counts of the storage below. */
  get stats(): object {
    return this.#base?.stats ?? { rateLimitErrors: [] };
  }

  /** As the storage below. */
  async createDatasetBackend<T = object>(options?: QueueName): Promise<T> {
    return (await this.#storage().createDatasetBackend(options)) as T;
  }

  /** As the storage below. */
  async createKeyValueStoreBackend<T = object>(options?: QueueName): Promise<T> {
    return (await this.#storage().createKeyValueStoreBackend(options)) as T;
  }

  /** Opens a request queue by id, name or alias, or the default one. */
  async createRequestQueueBackend<T = object>(options: QueueName = {}): Promise<T> {
    const entry = await this.#registry.open(options);
    const backend = this.#queues.get(entry) ?? new QueueBackend(this, this.#registry, entry);
    this.#queues.set(entry, backend);
    return backend as T;
  }

  /** Whether a queue of that id is open here or in the directory, or a storage of it is known to the storage below. */
  async storageExists(id: string, type: string): Promise<boolean> {
    if (type === "RequestQueue") return this.#registry.has(id);
    return (await this.#storage().storageExists?.(id, type)) ?? false;
  }

  /** A key of this storage alone: Crawlee uses it to separate its queues from those of other storages. */
  getStorageBackendCacheKey(): string {
    return this.#key;
  }

  /** Empties the default queue and those of aliases, also what an earlier process left, and what the storage below empties. */
  async purge(): Promise<void> {
    await this.#registry.purge();
    await this.#storage().purge?.();
  }

  /** Resolves when everything is on the disk; queues stay open. */
  async teardown(): Promise<void> {
    await this.#registry.flush();
    await this.#base?.teardown?.();
  }

  /** Closes every queue; the storage opens them anew when they are asked for. */
  async close(): Promise<void> {
    await this.#registry.close();
  }
}

function makeMemoryBackend(): BaseBackend {
  for (const name of ["@crawlee/core", "@crawlee/memory-storage"]) {
    const { MemoryStorageBackend } = loadPackage(name) as {
      MemoryStorageBackend?: new () => BaseBackend;
    };
    if (MemoryStorageBackend !== undefined) return new MemoryStorageBackend();
  }
  const message =
    "MemoryStorageBackend: not in Crawlee's packages (expected: version 4, or options.base)";
  throw new FrontierError("UNSUPPORTED", message);
}
