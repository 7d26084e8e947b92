/** The frontier on Redis: re-exports only. Needs the optional package ioredis, or a client of your own. */
export { FrontierError } from "./base/errors.ts";
export { openRedisFrontier } from "./integrations/redis/open-redis-frontier.ts";
export type { RedisCommands, RedisFrontierOptions } from "./integrations/redis/redis-options.ts";
export type { RedisFrontier } from "./integrations/redis/frontier/redis-types.ts";
