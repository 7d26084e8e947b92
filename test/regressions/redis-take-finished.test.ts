/** One of several `take` under way found that everything was done, and the others waited for a heartbeat more. */
import { Redis } from "ioredis";
import { afterAll, beforeEach, expect, it } from "vitest";
import { openRedisFrontier, type RedisCommands } from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

interface Held {
  readonly redis: RedisCommands;
  /** Holds the next answer of the counters back; resolves to a function that lets it through. */
  hold(): Promise<() => void>;
  calls(): number;
}

function heldCommands(own: Redis): Held {
  let count = 0;
  let stop: ((release: () => void) => void) | undefined;
  const redis: RedisCommands = {
    async call(_key, name, args) {
      count++;
      const answer = await own.callBuffer(name, ...(args as string[]));
      if (stop === undefined || !Array.isArray(answer) || String(answer[0]) !== "R") return answer;
      const held = stop;
      stop = undefined;
      await new Promise<void>(held);
      return answer;
    },
    subscribe: async () => async () => undefined,
    nodes: async () => [(name, args) => own.call(name, ...args)],
    close: async () => undefined,
  };
  const hold = (): Promise<() => void> =>
    new Promise((resolve) => {
      stop = resolve;
    });
  return { redis, hold, calls: () => count };
}

it("a take whose look is older than the end returns with the take that found the end", async () => {
  const own = new Redis(server?.socket as string);
  const { redis, hold, calls } = heldCommands(own);
  const first = await openRedisFrontier({ redis: own, name: "finish", partitions: 1 });
  const second = await openRedisFrontier({ redis, name: "finish" });
  await first.push("http://a.org/");
  const lease = await first.poll();
  const held = hold();
  const early = second.take({ max: 1 });
  const release = await held;
  await lease?.done();
  expect(await second.take({ max: 1 })).toEqual([]);
  const before = calls();
  release();
  expect(await early).toEqual([]);
  expect(calls() - before).toBe(0);
  await second.close();
  await first.close();
  own.disconnect();
});
