/** Crawlee's crawlers on a frontier: a request manager, and storages for both of its versions. Re-exports only. */
export { FrontierError } from "./base/errors.ts";
export type {
  BatchedOptions,
  BatchedResult,
  BatchResult,
  CrawleeRequest,
  OperationInfo,
  OperationOptions,
  ProcessedRequest,
  QueueCounts,
  RequestSource,
  RequestSources,
  UnprocessedRequest,
} from "./integrations/crawlee/crawlee-types.ts";
export type { RequestClass } from "./integrations/crawlee/crawlee-packages.ts";
export type {
  FrontierRequestManagerOptions,
  ManagerSettings,
  OpenManagerOptions,
} from "./integrations/crawlee/manager-options.ts";
export type { PacingSignal, Readiness } from "./integrations/crawlee/pacing-types.ts";
export { FrontierRequestManager } from "./integrations/crawlee/request-manager.ts";
export type { AnyFrontier } from "./integrations/crawlee/request-store.ts";
export {
  OutriderStorage,
  type QueueClientOptions,
} from "./integrations/crawlee/storage/outrider-storage.ts";
export type { QueueName } from "./integrations/crawlee/storage/queue-registry.ts";
export { OutriderStorageBackend } from "./integrations/crawlee/storage/storage-backend.ts";
export type { OutriderStorageOptions } from "./integrations/crawlee/storage/storage-options.ts";
