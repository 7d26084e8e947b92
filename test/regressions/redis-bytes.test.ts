/** What a finished URL leaves in the server: its identity, and for a minute or two the answers of the calls that had to do with it. */
import { Redis } from "ioredis";
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { openRedisFrontier } from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

const HOSTS = 200;
const urlAt = (at: number): string => `http://h${at % HOSTS}.org/${at}`;

/** Bytes of one key of the only partition. */
async function bytesOf(client: Redis, key: string): Promise<number> {
  return Number(await client.call("MEMORY", "USAGE", key, "SAMPLES", "0"));
}

it("an identity takes at most 48 bytes at every size within a doubling of the buckets", async () => {
  const client = new Redis(server?.socket as string);
  onTestFinished(() => client.disconnect());
  const redis = server?.socket as string;
  const frontier = await openRedisFrontier({ redis, name: "identities", partitions: 1 });
  onTestFinished(() => frontier.close());
  let count = 0;
  // 10⁵ URLs in 16 partitions are 6,250 in each; from there on everything recurs at each doubling.
  for (let size = 6_250; size <= 13_000; size = Math.ceil(size * 1.05)) {
    await frontier.pushMany(Array.from({ length: size - count }, (_, at) => urlAt(count + at)));
    count = size;
    const bytes = await bytesOf(client, "outrider:{identities.0}:s");
    expect(bytes / count, `${count} URLs`).toBeLessThanOrEqual(48);
  }
  // Splits have lost no identity: another process, which remembers none of them, finds each.
  const other = await openRedisFrontier({ redis, name: "identities", partitions: 1 });
  onTestFinished(() => other.close());
  const again = await other.pushMany(Array.from({ length: count }, (_, at) => urlAt(at)));
  expect(again.duplicate).toBe(count);
  expect((await frontier.report()).seen).toBe(count);
});

it("answers that are kept for calls made again take at most 8 bytes a URL", async () => {
  const client = new Redis(server?.socket as string);
  onTestFinished(() => client.disconnect());
  const frontier = await openRedisFrontier({
    ...{ redis: server?.socket as string, name: "answers", partitions: 1 },
    defaults: { politeness: { delayMs: 0 } },
  });
  onTestFinished(() => frontier.close());
  await frontier.pushMany(Array.from({ length: 2_000 }, (_, at) => urlAt(at)));
  let count = 0;
  while (count < 2_000) count += await frontier.done(await frontier.take({ max: 96 }));
  expect((await bytesOf(client, "outrider:{answers.0}:b")) / count).toBeLessThanOrEqual(8);
});
