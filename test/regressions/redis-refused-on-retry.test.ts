/** Rules change between the moment at which a server's call is read and the one at which it is carried out. */
import { Redis } from "ioredis";
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { openRedisService } from "../../src/integrations/redis/service/redis-service.ts";
import type { RedisQueues } from "../../src/integrations/redis/service/queues.ts";
import type { RedisCommands } from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

/** The queues of one crawl as a server has them that hears no message. */
async function openQueues(): Promise<RedisQueues> {
  const own = new Redis(server?.socket as string);
  onTestFinished(() => void own.disconnect());
  const redis: RedisCommands = {
    call: async (_key, name, args) => await own.callBuffer(name, ...(args as string[])),
    subscribe: async () => async () => undefined,
    nodes: async () => [(name, args) => own.call(name, ...args)],
    close: async () => undefined,
  };
  const service = await openRedisService({ redis, name: "r", partitions: 1, clock: undefined });
  return await service.open((await service.nameOf("c", 10)) as string);
}

it("a URL that the new rules refuse is refused, and the answers of the others are their own", async () => {
  const [one, other] = [await openQueues(), await openQueues()];
  await other.frontier.setRules([{ id: "pages", match: { pattern: "/page" } }]);
  const known = (path: string, token = "") => ({
    request: { url: `http://a.org/${path}`, hostKey: "a.org" },
    ...{ dueAt: undefined, token, reason: "" },
  });
  const over = "00".repeat(8);
  const answers = await one.putKnown([
    known("image", over),
    known("page/1"),
    known("page/2", over),
  ]);
  expect(answers).toEqual(["refused", "kept", "over"]);
  expect(await one.putKnown([known("image")])).toEqual(["refused"]);
  const views = await other.find(["page/1", "page/2"].map((path) => known(path).request));
  expect(views.map((view) => view?.state)).toEqual(["done", undefined]);
});
