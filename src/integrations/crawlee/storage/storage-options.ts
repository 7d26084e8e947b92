/** Options of OutriderStorage and OutriderStorageBackend, which are the same. */
import type { AsyncFrontier, Frontier, FrontierOptions } from "../../../index.ts";
import { openSmallFrontier } from "../../../engine/api/open-frontier.ts";
import { callable, kind, readObject, shape, TRUTH } from "../../../base/fields.ts";
import { hasFunction, isObject } from "../../../base/type-guards.ts";
import type { CrawleeRequest } from "../crawlee-types.ts";
import type { RegistryOptions } from "./queue-registry.ts";
import { priorityOfUserData } from "../request-store.ts";

/**
 * Options of a storage.
 *
 * @example
 * new OutriderStorage({ frontier: { directory: "crawl-data", defaults: { politeness: { delayMs: 1_000 } } } });
 */
export interface OutriderStorageOptions {
  /**
   * Options of the frontiers, one for each queue; its `name` is the queue's.
   * @defaultValue in memory
   */
  frontier?: FrontierOptions | undefined;
  /**
   * The storage of datasets and key-value stores.
   * @defaultValue Crawlee's memory storage
   */
  base?: object | undefined;
  /**
   * Opens a frontier elsewhere, such as one in Redis. It is called with the options above, and the queue's name.
   * @defaultValue `openFrontier`
   */
  open?: ((options: FrontierOptions) => Promise<Frontier | AsyncFrontier>) | undefined;
  /**
   * Priority of a request, larger first.
   * @defaultValue `request.userData.priority`
   */
  priority?: ((request: CrawleeRequest) => number | undefined) | undefined;
  /**
   * Whether handled requests stay readable, as in Crawlee's own storages. Costs the memory of their data.
   * @defaultValue true
   */
  keepHandled?: boolean | undefined;
}

const readOptions = shape<OutriderStorageOptions>({
  frontier: kind("options of openFrontier", isObject),
  base: kind(
    "a storage of Crawlee's",
    (value) => hasFunction(value, "datasets") || hasFunction(value, "createDatasetBackend"),
  ),
  open: callable(),
  priority: callable(),
  keepHandled: TRUTH,
});

/** Reads the options of a storage. Throws OPTION_INVALID. */
export function registryOf(given: unknown): {
  registry: RegistryOptions;
  base: object | undefined;
} {
  const options = readObject(readOptions, given, "options", "OPTION_INVALID");
  const { frontier = {}, open = openSmallFrontier, priority = priorityOfUserData } = options;
  const { base, keepHandled = true } = options;
  return { registry: { frontier, open, priorityOf: priority, keepHandled }, base };
}
