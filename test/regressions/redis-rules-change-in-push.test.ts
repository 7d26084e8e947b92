/**
 * Rules change while a push is under way: a later call of it must not name the new version for rows that were matched under the old one.
 *
 *   partition 0   call 1 ──── another process sets rules ──▶ call 2: refused ──▶ this process reads the new rules
 *   partition 1   call 1 ─────────────────────────────────────────────────────── answered only now ──▶ call 2
 */
import { Redis } from "ioredis";
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { type Unpacked, unpacked } from "../../src/integrations/redis/server/packing.ts";
import { scriptOf } from "../../src/integrations/redis/server/scripts.ts";
import { openRedisFrontier, type RedisCommands } from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

const NAME = "changing";

it("a push sends no row of a rule that its version of the rules does not have", async () => {
  const own = new Redis(server?.socket as string);
  onTestFinished(() => void own.disconnect());
  const other = await openRedisFrontier({
    ...{ redis: server?.socket as string, name: NAME, partitions: 2 },
    rules: [{ id: "before" }],
  });
  onTestFinished(() => other.close());
  const sent: Array<{ version: number; rules: Unpacked[] }> = [];
  const partitions: number[] = [];
  let follow: () => void = () => undefined;
  const followed = new Promise<void>((resolve) => {
    follow = resolve;
  });
  const redis: RedisCommands = {
    call: async (key, name, args) => {
      const answer = await own.callBuffer(name, ...(args as string[]));
      if (name === "HGET" && partitions.length > 0) setImmediate(follow);
      if (args[0] !== scriptOf("push").sha) return answer;
      const [, , version, , rows] = args.slice(2 + Number(args[1])) as Buffer[];
      const terms = rows?.length === 0 ? [] : (unpacked(rows as Buffer) as Unpacked[][])[1];
      const rules = (terms ?? []).map((fields) => (fields as Unpacked[])[0] as Unpacked);
      sent.push({ version: Number(version), rules });
      const partition = key.includes(".1}") ? 1 : 0;
      const isFirst = !partitions.includes(partition);
      partitions.push(partition);
      if (isFirst && partition === 0)
        await other.setRules([{ id: "after", match: { hosts: ["a.org"] } }]);
      if (isFirst && partition === 1) await followed;
      return answer;
    },
    subscribe: async () => async () => undefined,
    nodes: async () => [(name, args) => own.call(name, ...args)],
    close: async () => undefined,
  };
  const frontier = await openRedisFrontier({ redis, name: NAME, partitions: 2, mustExist: true });
  onTestFinished(() => frontier.close());
  sent.length = 0;
  partitions.length = 0;
  const urls = Array.from({ length: 1_000 }, (_, at) => `http://h${at}.org/`);
  const result = await frontier.pushMany(urls);
  const numbers = new Map<number, Set<Unpacked>>();
  for (const { version, rules } of sent)
    numbers.set(version, new Set([...(numbers.get(version) ?? []), ...rules]));
  expect(numbers.size).toBeGreaterThan(0);
  const [first, ...later] = [...numbers.entries()].sort(([a], [b]) => a - b);
  expect(first?.[1].size).toBe(1);
  // No host of the push is a.org: under the new rules nothing is sent.
  expect(later.flatMap(([, rules]) => [...rules])).toEqual([]);
  expect(result.accepted + (result.rejected as number)).toBe(urls.length);
  expect(result.accepted).toBeLessThan(500);
});
