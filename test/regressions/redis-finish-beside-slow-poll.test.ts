/** A poll whose answer is late, as over a slow link, does not keep others from finding that everything is done. */
import { Redis } from "ioredis";
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { scriptOf } from "../../src/integrations/redis/server/scripts.ts";
import { openRedisFrontier, type RedisCommands } from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

it("a take finds that everything is done while the poll of another one has no answer", async () => {
  const own = new Redis(server?.socket as string);
  onTestFinished(() => void own.disconnect());
  let isHolding = false;
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let hold: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    hold = resolve;
  });
  const redis: RedisCommands = {
    call: async (_key, name, args) => {
      const answer = await own.callBuffer(name, ...(args as string[]));
      if (!isHolding || args[0] !== scriptOf("poll").sha) return answer;
      isHolding = false;
      hold();
      await released;
      return answer;
    },
    subscribe: async () => async () => undefined,
    nodes: async () => [(name, args) => own.call(name, ...args)],
    close: async () => undefined,
  };
  const frontier = await openRedisFrontier({ redis, name: "slow", partitions: 2 });
  onTestFinished(() => frontier.close());
  await frontier.push("http://a.org/");
  expect(await frontier.done(await frontier.take())).toBe(1);
  isHolding = true;
  const late = frontier.take();
  await held;
  expect(await frontier.take()).toEqual([]);
  release();
  expect(await late).toEqual([]);
});
