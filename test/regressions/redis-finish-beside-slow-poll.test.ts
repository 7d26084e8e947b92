/** A poll whose answer is late, as over a slow link, does not keep others from finding that everything is done. */
import { Redis } from "ioredis";
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { scriptOf } from "../../src/integrations/redis/server/scripts.ts";
import { openRedisFrontier } from "../../src/redis.ts";
import { commandsOver } from "../support/redis-calls.ts";
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
  const redis = commandsOver(own, async (sha, answer) => {
    if (!isHolding || sha !== scriptOf("poll").sha) return answer;
    isHolding = false;
    hold();
    await released;
    return answer;
  });
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
