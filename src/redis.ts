/** The frontier on Redis: re-exports only. Needs the optional package ioredis, or a client of your own. */
export { FrontierError } from "./base/errors.ts";
export { openRedisFrontier } from "./integrations/redis/open-redis-frontier.ts";
export type { RedisCommands, RedisFrontierOptions } from "./integrations/redis/redis-options.ts";
export type { RedisFrontier } from "./integrations/redis/frontier/redis-types.ts";
export {
  exportRedisFrontier,
  type RedisExportOptions,
} from "./integrations/redis/transfer/export-redis.ts";
export {
  importRedisFrontier,
  type RedisImportOptions,
} from "./integrations/redis/transfer/import-redis.ts";
/** @internal */
export type {
  KnownRequest,
  QueueFacts,
  RedisQueues,
} from "./integrations/redis/service/queues.ts";
/** @internal */
export type { QueueLease } from "./integrations/redis/service/queue-leases.ts";
/** @internal */
export { openRedisService, type RedisService } from "./integrations/redis/service/redis-service.ts";
