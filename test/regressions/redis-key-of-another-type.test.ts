/** A key of another type under a frontier's names was reported as the server had it: `WRONGTYPE`, without what to do. */
import { Redis } from "ioredis";
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { openRedisFrontier } from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

it.each(["m", "c"])("a key %s of another type is refused, with what to do", async (part) => {
  const own = new Redis(server?.socket as string);
  onTestFinished(() => void own.disconnect());
  const name = `foreign-${part}`;
  await own.set(`outrider:{${name}.0}:${part}`, "of another program");
  const opened = openRedisFrontier({ redis: server?.socket as string, name, partitions: 1 });
  await expect(opened).rejects.toMatchObject({
    code: "FORMAT_UNSUPPORTED",
    message: expect.stringMatching(/^redis: a key of another type \(expected: a name and a prefix/),
  });
});
