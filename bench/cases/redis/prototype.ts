/**
 * The prototype, kept as a control: three short scripts with exact dedup, a queue and a time for each host, and leases, in one slot. It
 * has neither priorities, rules, shares, retries, records nor fencing; what the frontier costs beyond it is what those cost.
 *
 *   seen    hash    fingerprint ─▶ ""                 ready   zset   host ─▶ time from which it may go
 *   q:host  list    URLs                              leased  zset   URL  ─▶ deadline
 */
import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import {
  CALL,
  DELAY_MS,
  IN_FLIGHT,
  LEASES,
  type RedisSide,
  type RedisSideOptions,
} from "./side.ts";
import { openClient } from "./server.ts";

const PUSH = `
local call, added = redis.call, 0
local now = call("TIME")
local at = now[1] * 1000 + math.floor(now[2] / 1000)
for i = 1, #ARGV, 3 do
  if call("HSETNX", KEYS[1], ARGV[i], "") == 1 then
    added = added + 1
    call("RPUSH", KEYS[2] .. ARGV[i + 1], ARGV[i + 2])
    call("ZADD", KEYS[3], "NX", at, ARGV[i + 1])
  end
end
return added`;

const POLL = `
local call = redis.call
local time = call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local hosts = call("ZRANGEBYSCORE", KEYS[3], "-inf", now, "LIMIT", 0, ARGV[1])
local out = {}
for _, host in ipairs(hosts) do
  local url = call("LPOP", KEYS[2] .. host)
  if url then
    out[#out + 1] = url
    call("ZADD", KEYS[3], "inf", host)
    call("ZADD", KEYS[4], now + 300000, url)
  else
    call("ZREM", KEYS[3], host)
  end
end
return { out, call("ZCARD", KEYS[3]) }`;

const DONE = `
local call = redis.call
local time = call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ended = 0
for i = 2, #ARGV, 2 do
  if call("ZREM", KEYS[4], ARGV[i + 1]) == 1 then
    ended = ended + 1
    call("ZADD", KEYS[3], now + ARGV[1], ARGV[i])
  end
end
return ended`;

const KEYS = ["{p}:seen", "{p}:q:", "{p}:ready", "{p}:leased"];

type Script = (...args: unknown[]) => Promise<unknown>;

export async function openPrototype({ socket }: RedisSideOptions): Promise<RedisSide> {
  const client = await openClient(socket);
  const script = (name: string, lua: string): Script => {
    client.defineCommand(name, { numberOfKeys: KEYS.length, lua });
    const run = (client as unknown as Record<string, Script>)[name] as Script;
    return (...args) => run.call(client, ...KEYS, ...args);
  };
  const push = script("prototypePush", PUSH);
  const poll = script("prototypePoll", POLL);
  const done = script("prototypeDone", DONE);
  const pushCall = (urls: readonly string[]): Promise<unknown> =>
    push(...urls.flatMap((url) => [printOf(url), hostOf(url), url]));
  return {
    push: (urls) => inFlight(urls, CALL / 4, pushCall),
    async drain() {
      let count = 0;
      const loop = async (): Promise<void> => {
        for (;;) {
          const [urls, hosts] = (await poll(LEASES)) as [string[], number];
          if (urls.length > 0) {
            await done(DELAY_MS, ...urls.flatMap((url) => [hostOf(url), url]));
            count += urls.length;
          } else if (hosts === 0) return;
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
      return count;
    },
    close: () => closeClient(client),
  };
}

/** Sends a list in calls, so many of them at once. */
export async function inFlight(
  urls: readonly string[],
  size: number,
  send: (urls: readonly string[]) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < urls.length) {
      const from = next;
      next += size;
      await send(urls.slice(from, from + size));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
}

export async function closeClient(client: Redis): Promise<void> {
  client.disconnect();
}

function printOf(url: string): Buffer {
  return createHash("md5").update(url).digest();
}

function hostOf(url: string): string {
  return url.slice(url.indexOf("/") + 2, url.indexOf("/", 8));
}
