import { Redis } from "ioredis";
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { createVirtualClock } from "../../../../../src/base/clock.ts";
import { END, packedEnds } from "../../../../../src/integrations/redis/frontier/lease-ends.ts";
import { ROWS_MAX } from "../../../../../src/integrations/redis/requests/row-list.ts";
import { type Unpacked, unpacked } from "../../../../../src/integrations/redis/server/packing.ts";
import { scriptOf, type ScriptName } from "../../../../../src/integrations/redis/server/scripts.ts";
import { openRedisFrontier, type RedisCommands } from "../../../../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../../../../support/redis-server.ts";
import { skipUnless } from "../../../../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

/** Commands of a client that notes the arguments of every script, after its keys. */
function noting(): { redis: RedisCommands; scripts: Map<string, Buffer[][]> } {
  const own = new Redis(server?.socket as string);
  onTestFinished(() => void own.disconnect());
  const scripts = new Map<string, Buffer[][]>();
  const names: ScriptName[] = ["push", "settle", "deliver"];
  const redis: RedisCommands = {
    call: async (_key, name, args) => {
      const script = names.find((each) => scriptOf(each).sha === args[0]);
      if (script !== undefined) {
        const given = args.slice(2 + Number(args[1])).map((each) => Buffer.from(each));
        scripts.set(script, [...(scripts.get(script) ?? []), given]);
      }
      return await own.callBuffer(name, ...(args as string[]));
    },
    subscribe: async () => async () => undefined,
    nodes: async () => [(name, args) => own.call(name, ...args)],
    close: async () => undefined,
  };
  return { redis, scripts };
}

function rowCount(rows: Buffer | undefined): number {
  if (rows === undefined || rows.length === 0) return 0;
  return ((unpacked(rows) as Unpacked[])[4] as Unpacked[]).length;
}

it.each([1, 4])("no script admits more rows than one call may, in %i partitions", async (count) => {
  const { redis, scripts } = noting();
  const name = `many${count}`;
  // Under a test's clock calls have their full size, however slow the machine is.
  const clock = createVirtualClock(1_700_000_000_000);
  const frontier = await openRedisFrontier({ redis, name, partitions: count, clock });
  onTestFinished(() => frontier.close());
  await frontier.push("http://h0.org/");
  const [lease] = await frontier.pollMany(1);
  const found = Array.from({ length: 2_000 }, (_, at) => `http://h${at % 40}.org/${at}`);
  expect(await lease?.done({ found })).toMatchObject({ late: false, accepted: 2_000 });
  const counts = [
    ...(scripts.get("settle") ?? []).map((args) => rowCount(args[4])),
    ...(scripts.get("deliver") ?? []).flatMap((args) => args.slice(4)).map(rowsOfParcel),
  ];
  expect(counts.reduce((all, one) => all + one, 0)).toBe(2_000);
  expect(Math.max(...counts)).toBe(ROWS_MAX);
  const own = new Redis(server?.socket as string);
  const left = await own.keys(`outrider:{${name}.*}:o`);
  expect(await Promise.all(left.map((key) => own.hlen(key)))).toEqual(left.map(() => 1));
  own.disconnect();
  const { pending, done } = await frontier.report();
  expect({ pending, done }).toEqual({ pending: 2_000, done: 1 });
  if (count > 1) return;
  const leases = await frontier.pollMany(2_000);
  expect(leases.map(({ url }) => url)).toEqual(found);
});

/** A parcel's number has no rows. */
function rowsOfParcel(argument: Buffer, at: number): number {
  return at % 2 === 0 ? 0 : rowCount(argument);
}

it("long URLs share a call with few others", async () => {
  const { redis, scripts } = noting();
  const options = { redis, name: "long", partitions: 1, maxUrlBytes: 100_000 };
  const frontier = await openRedisFrontier(options);
  onTestFinished(() => frontier.close());
  const urls = Array.from({ length: 5 }, (_, at) => `http://h.org/${at}${"x".repeat(90_000)}`);
  expect((await frontier.pushMany(urls)).accepted).toBe(5);
  expect((scripts.get("push") ?? []).map((args) => rowCount(args[4]))).toEqual([2, 2, 1]);
});

it("writes ends as columns: number, host, token, rule", () => {
  const [token, other] = [Buffer.alloc(8, 1), Buffer.alloc(8, 2)];
  const numbers = Buffer.from("ff010203040506", "hex");
  const host = (name: string) => ({ bytes: Buffer.from(`//${name}`), at: 2, end: 2 + name.length });
  const end = { kind: END.done, numbers, at: 1, token, host: host("h.org"), rule: 0x1234 };
  const bare = { ...end, rest: [null, false] };
  const ends = [bare, { ...bare, token: other }, { ...bare, rule: 7, host: host("i.org") }];
  const [hosts, tokens, columns, more] = unpacked(packedEnds(ends)) as Unpacked[];
  expect((hosts as Buffer[]).map(String)).toEqual(["h.org", "i.org"]);
  expect(tokens).toEqual([token, other]);
  expect((columns as Buffer).toString("hex")).toBe(
    ["010203040506000100011234", "010203040506000100021234", "010203040506000200010007"].join(""),
  );
  expect(more).toBe(false);
});
