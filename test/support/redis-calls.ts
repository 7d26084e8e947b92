/** The commands of a frontier on Redis over one client, whose answers a test sees or changes on their way. */
import type { Redis } from "ioredis";
import type { RedisCommands } from "../../src/redis.ts";

/** `onAnswer` has the hash of the script that was called. What it returns is the frontier's answer. */
export function commandsOver(
  own: Redis,
  onAnswer: (sha: unknown, answer: unknown) => unknown,
): RedisCommands {
  return {
    call: async (_key, name, args) =>
      await onAnswer(args[0], await own.callBuffer(name, ...(args as string[]))),
    subscribe: async () => async () => undefined,
    nodes: async () => [(name, args) => own.call(name, ...args)],
    close: async () => undefined,
  };
}
