/**
 * OutriderStorage: a `StorageClient` of version 3 whose request queues are frontiers. Datasets and key-value stores are those of another
 * storage, Crawlee's own unless the caller has one.
 */
import { misuse } from "../../../base/errors.ts";
import { loadPackage } from "../crawlee-packages.ts";
import type { QueueInfo } from "../crawlee-types.ts";
import { newId } from "../request-id.ts";
import { infoOf, QueueClient } from "./queue-client.ts";
import { QueueRegistry } from "./queue-registry.ts";
import { type OutriderStorageOptions, registryOf } from "./storage-options.ts";

/** The part of the storage below that is used; the rest is passed through. */
interface BaseStorage {
  datasets(): object;
  dataset(id: string): object;
  keyValueStores(): object;
  keyValueStore(id: string): object;
  purge?(): Promise<void>;
  teardown?(): Promise<void>;
  setStatusMessage?(message: string, options?: object): Promise<void>;
  stats?: object;
  localDataDirectory?: string;
  datasetsDirectory?: string;
  keyValueStoresDirectory?: string;
}

/**
 * Which client holds the locks.
 *
 * @example
 * storage.requestQueue("default", { clientKey: "mine" });
 */
export interface QueueClientOptions {
  /**
   * Clients of another key do not share locks.
   * @defaultValue a client without a key shares those of all
   */
  clientKey?: string | undefined;
  /**
   * For Crawlee's service; ignored here.
   * @defaultValue none
   */
  timeoutSecs?: number | undefined;
}

/** Request queues by name. */
interface QueueCollection {
  list(): Promise<object>;
  getOrCreate(name?: string): Promise<QueueInfo>;
}

/**
 * A storage for Crawlee 3: `Configuration.getGlobalConfig().useStorageClient(new OutriderStorage(…))`, or `storageClient` of a
 * configuration of your own. Queues that are opened by name, and the default one, are frontiers then; crawlers need no other change.
 *
 * @example
 * const storage = new OutriderStorage({ frontier: { directory: "crawl-data" } });
 * const crawler = new CheerioCrawler({ requestHandler }, new Configuration({ storageClient: storage }));
 * await crawler.run(["https://example.org/"]);
 * await storage.close();
 */
export class OutriderStorage {
  readonly #registry: QueueRegistry;
  #base: BaseStorage | undefined;

  /** Throws `OPTION_INVALID`. Opens nothing yet. */
  constructor(options: OutriderStorageOptions = {}) {
    const { registry, base } = registryOf(options);
    this.#registry = new QueueRegistry(registry);
    this.#base = base as BaseStorage | undefined;
  }

  #storage(): BaseStorage {
    this.#base ??= makeMemoryStorage();
    return this.#base;
  }

  /** Counts of the storage below. */
  get stats(): object {
    return this.#storage().stats ?? { rateLimitErrors: [] };
  }

  /** Where the storage below has its files; undefined: nowhere. */
  get localDataDirectory(): string | undefined {
    return this.#storage().localDataDirectory;
  }

  /** Where it has those of datasets. */
  get datasetsDirectory(): string | undefined {
    return this.#storage().datasetsDirectory;
  }

  /** Where it has those of key-value stores. */
  get keyValueStoresDirectory(): string | undefined {
    return this.#storage().keyValueStoresDirectory;
  }

  /** As the storage below. */
  datasets<T = object>(): T {
    return this.#storage().datasets() as T;
  }

  /** As the storage below. */
  dataset<T = object>(id: string): T {
    return this.#storage().dataset(id) as T;
  }

  /** As the storage below. */
  keyValueStores<T = object>(): T {
    return this.#storage().keyValueStores() as T;
  }

  /** As the storage below. */
  keyValueStore<T = object>(id: string): T {
    return this.#storage().keyValueStore(id) as T;
  }

  /** The request queues: `getOrCreate` opens one by its name, `list` returns those that are open. */
  requestQueues<T = object>(): T {
    const registry = this.#registry;
    const collection: QueueCollection = {
      async list() {
        const items = await Promise.all(
          registry.all().map(async (each) => infoOf(await each.info())),
        );
        const { length } = items;
        return { total: length, count: length, offset: 0, limit: length, desc: false, items };
      },
      async getOrCreate(name) {
        const entry = await registry.open(name === undefined ? { id: newId() } : { name });
        return infoOf(await entry.info());
      },
    };
    return collection as T;
  }

  /** A request queue by its id or name. Locks are those of a client with its `clientKey`. */
  requestQueue<T = object>(id: string, options?: QueueClientOptions): T {
    if (typeof id !== "string") throw misuse("ARGUMENT_INVALID", "id", id, "a string");
    return new QueueClient(this.#registry, id, { ...options, client: this }) as T;
  }

  /** Passed to the storage below. */
  async setStatusMessage(message: string, options?: object): Promise<void> {
    await this.#storage().setStatusMessage?.(message, options);
  }

  /** Empties the default queue and temporary ones, and what the storage below empties. Crawlee calls it before a run. */
  async purge(): Promise<void> {
    await this.#registry.purge();
    await this.#storage().purge?.();
  }

  /** Resolves when everything is on the disk. Crawlee calls it after a run; queues stay open. */
  async teardown(): Promise<void> {
    await this.#registry.flush();
    await this.#base?.teardown?.();
  }

  /** Closes every queue; the storage can be used on, and opens them anew. */
  async close(): Promise<void> {
    await this.#registry.close();
  }
}

function makeMemoryStorage(): BaseStorage {
  const { MemoryStorage } = loadPackage("@crawlee/memory-storage") as {
    MemoryStorage: new () => BaseStorage;
  };
  return new MemoryStorage();
}
