/** A script call takes less work where the server is slow, so that it holds the server about as long as on a fast one. */
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

const [SLOW_MICROS, FAST_MICROS] = [5_000, 100];

it("calls take less work while they are slow, and as much as before thereafter", async () => {
  const own = new Redis(server?.socket as string);
  onTestFinished(() => void own.disconnect());
  const sizes = { push: [] as number[], poll: [] as number[], settle: [] as number[] };
  let micros = SLOW_MICROS;
  const redis = commandsOver(own, (sha, given) => {
    const answer = given as unknown[];
    if (sha === scriptOf("push").sha) {
      sizes.push.push((answer[1] as Buffer).length);
      answer[3] = micros;
    } else if (sha === scriptOf("poll").sha) {
      sizes.poll.push(answer.length - 7);
      (answer[3] as unknown[])[2] = micros;
    } else if (sha === scriptOf("settle").sha) {
      sizes.settle.push((answer[1] as Buffer).length);
      answer[4] = micros;
    }
    return answer;
  });
  const frontier = await openRedisFrontier({ redis, name: "slow", partitions: 1 });
  onTestFinished(() => frontier.close());
  const urls = Array.from({ length: 14_000 }, (_, at) => `http://h${at % 50}.org/${at}`);
  for (let at = 0; at < 4_000; at += 500) await frontier.pushMany(urls.slice(at, at + 500));
  expect(Math.max(...sizes.push)).toBe(112);
  expect(Math.max(...sizes.push.slice(-8))).toBe(78);
  expect(await frontier.done(await frontier.pollMany(300))).toBe(300);
  expect(Math.max(...sizes.poll)).toBe(67);
  expect(Math.max(...sizes.settle)).toBe(78);
  micros = FAST_MICROS;
  for (let at = 4_000; at < urls.length; at += 500)
    await frontier.pushMany(urls.slice(at, at + 500));
  expect(Math.max(...sizes.push.slice(-8))).toBe(112);
  expect(await frontier.report()).toMatchObject({
    accepted: urls.length,
    pending: urls.length - 300,
  });
});

it("scripts return how long they took", async () => {
  const own = new Redis(server?.socket as string);
  onTestFinished(() => void own.disconnect());
  const taken: number[] = [];
  const redis = commandsOver(own, (sha, answer) => {
    if (sha === scriptOf("push").sha) taken.push(Number((answer as unknown[])[3]));
    return answer;
  });
  const frontier = await openRedisFrontier({ redis, name: "taken", partitions: 1 });
  onTestFinished(() => frontier.close());
  for (let at = 0; at < 20; at++) await frontier.push(`http://a.org/${at}`);
  // A server whose clock stands still within a script (7.2 and later) returns 0.
  expect(taken.filter((micros) => !(micros >= 0))).toEqual([]);
});
