/** Every script ends: each loop has a bound that stands in its text, and what is left over is taken up by the next call. */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import type { RedisFrontier } from "../../src/integrations/redis/frontier/redis-types.ts";
import { openRedisFrontier } from "../../src/integrations/redis/open-redis-frontier.ts";
import type { RedisFrontierOptions } from "../../src/integrations/redis/redis-options.ts";
import { type RedisServer, startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const LUA = new URL("../../src/integrations/redis/lua/", import.meta.url);
let server: RedisServer | undefined;
let names = 0;
const opened: RedisFrontier[] = [];

beforeAll(async () => {
  if (WITHOUT_REDIS === undefined) server = await startRedis();
});
afterAll(async () => {
  await Promise.all(opened.map((frontier) => frontier.close({ discard: true })));
  await server?.close();
});

async function open(options: Partial<RedisFrontierOptions> = {}): Promise<RedisFrontier> {
  const redis = (server as RedisServer).socket;
  const frontier = await openRedisFrontier({
    ...{ redis, name: `bounds ${++names}`, partitions: 1 },
    ...options,
  });
  opened.push(frontier);
  return frontier;
}

const pathsOf = (list: Iterable<{ url: string }>): string[] =>
  Array.from(list, ({ url }) => new URL(url).pathname);

describe("scripts of the frontier on Redis", () => {
  it("have no loop but `for`, or one that asks whether it may go on", () => {
    const loops = readdirSync(LUA).flatMap((file) =>
      readFileSync(new URL(file, LUA), "utf8")
        .split("\n")
        .filter((line) => /^[^-]*\b(while|repeat|goto|until)\b/.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
    expect(loops.filter((line) => !line.endsWith("mayGoOn() do"))).toEqual([]);
    expect(loops.length).toBeGreaterThan(0);
  });
});

describe("a script call", () => {
  beforeEach((context) => {
    skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
  });

  it("ends when one looks at rules of which none has anything", async () => {
    const rules = ["a", "b"].map((id) => ({ id, match: { domains: [`${id}.org`] } }));
    const frontier = await open({ rules });
    await frontier.pushMany(["https://a.org/1", "https://a.org/2", "https://b.org/1"]);
    expect(pathsOf(await frontier.peek(5)).sort()).toEqual(["/1", "/1", "/2"]);
    expect(await frontier.pollMany(5)).toHaveLength(3);
    expect(await frontier.peek(5)).toEqual([]);
    expect((await frontier.push("https://a.org/3")).status).toBe("accepted");
  });

  it("shows more rules than it reads at once, in the order of their hand-out", async () => {
    const rules = Array.from({ length: 150 }, (_, at) => ({
      ...{ id: `r${at}`, match: { domains: [`r${at}.org`] } },
    }));
    const frontier = await open({ rules });
    const urls = rules.flatMap(({ id }) => [`https://${id}.org/1`, `https://${id}.org/2`]);
    await frontier.pushMany(urls);
    const shown = (await frontier.peek(300)).map(({ url }) => url);
    const given = (await frontier.pollMany(300)).map(({ url }) => url);
    expect(shown.toSorted()).toEqual(urls.toSorted());
    expect(given).toEqual(shown);
  });

  it("passes over removed records a slice at a time, and finds what stands behind them", async () => {
    const frontier = await open();
    const urls = Array.from({ length: 9_000 }, (_, at) => `https://a.org/gone/${at}`);
    await frontier.pushMany([...urls, "https://a.org/left"]);
    expect(await frontier.remove({ pattern: "/gone/" })).toBe(9_000);
    expect(pathsOf(await frontier.peek(1))).toEqual([]);
    expect(pathsOf(await frontier.pollMany(5))).toEqual(["/left"]);
  });

  it("keeps the order of thousands that come back one by one", async () => {
    const clock = createVirtualClock(1_000_000);
    const defaults = { politeness: { perHost: 100_000 } };
    const frontier = await open({ clock, defaults, leaseMs: 1_000 });
    const paths = Array.from({ length: 1_200 }, (_, at) => `/${at}`);
    await frontier.pushMany(paths.map((path) => `https://a.org${path}`));
    const leases = await frontier.pollMany(1_200);
    expect(leases).toHaveLength(1_200);
    // Every other one goes back, from both ends in turn.
    for (let at = 0; at < 600; at++) await leases[at % 2 === 0 ? at : 1_199 - at]?.release();
    clock.advance(1_000);
    const again: string[] = [];
    for (let list = await frontier.pollMany(500); list.length > 0; ) {
      again.push(...pathsOf(list));
      list = await frontier.pollMany(500);
    }
    expect(again.toSorted()).toEqual(paths.toSorted());
  });
});
