/** Commands of a client whose every script is carried out twice, as after a first answer that was lost: the second one counts. */
import type { Redis } from "ioredis";
import type { RedisCommands } from "../../src/redis.ts";

export function twiceCommands(own: Redis): RedisCommands {
  return {
    async call(_key, name, args) {
      const call = (): Promise<unknown> => own.callBuffer(name, ...(args as string[]));
      if (name === "EVALSHA" || name === "EVAL") await call();
      return await call();
    },
    subscribe: async () => async () => undefined,
    nodes: async () => [(name, args) => own.call(name, ...args)],
    close: async () => undefined,
  };
}
