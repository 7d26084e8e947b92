/** The frontier on Redis as an implementation of the conformance suite: one private server for all of its tests, a name for each. */
import { onTestFinished } from "vitest";
import { createVirtualClock } from "../../../src/base/clock.ts";
import type { FrontierOptions } from "../../../src/engine/types/frontier-types.ts";
import { openRedisFrontier } from "../../../src/integrations/redis/open-redis-frontier.ts";
import type { RedisFrontierOptions } from "../../../src/integrations/redis/redis-options.ts";
import { type RedisServer, startRedis, WITHOUT_REDIS } from "../redis-server.ts";
import { skipUnless } from "../skip.ts";
import type { Implementation, Rig } from "./implementations.ts";

const START_MS = 1_700_000_000_000;

/** The implementation, and what ends its server. */
export function createRedis(): { implementation: Implementation; close(): Promise<void> } {
  let server: Promise<RedisServer> | undefined;
  let names = 0;
  const open: Implementation["open"] = async (context, options = {}) => {
    skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
    server ??= startRedis();
    const { socket } = await server;
    const { name = `n${names++}`, seed: _, clock: own, ...rest } = options;
    const clock = createVirtualClock(START_MS);
    const place = { redis: socket, name, partitions: 1 };
    const rig = await openOne(
      { ...rest, ...place, clock: own ?? clock } as RedisFrontierOptions,
      clock,
    );
    return rig;
  };
  const implementation: Implementation = {
    name: "redis",
    supports: {
      ...{ functions: false, idleHook: true, groups: false, adaptiveEpochs: false },
      ...{ fullRecords: false, breaker: false, ownClock: true, opensAgain: true },
      ...{ foreverBeside: true, freshShares: true, hostsApart: true },
    },
    isExact: true,
    open,
  };
  return { implementation, close: async () => (await server)?.close() };
}

async function openOne(
  given: RedisFrontierOptions,
  clock: ReturnType<typeof createVirtualClock>,
): Promise<Rig> {
  const frontier = await openRedisFrontier(given);
  onTestFinished(() => frontier.close());
  return {
    frontier,
    now: () => clock.now(),
    pass: async (ms) => clock.advance(ms),
    again: async (options: FrontierOptions = {}) => {
      await frontier.close();
      const { redis, name, partitions } = given;
      const { rules: _, defaults, ...rest } = given;
      const same = defaults === undefined ? rest : { ...rest, defaults };
      return openOne(
        { ...same, ...options, redis, name, partitions } as RedisFrontierOptions,
        clock,
      );
    },
  };
}
