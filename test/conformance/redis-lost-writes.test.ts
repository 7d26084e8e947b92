/**
 * A master that dies takes acknowledged writes of its last moments along. Here the keys of one partition are put back to what they were a call
 * before, as a replica would have them that this call had not reached.
 */
import { Redis } from "ioredis";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { RedisFrontier } from "../../src/integrations/redis/frontier/redis-types.ts";
import { openRedisFrontier } from "../../src/integrations/redis/open-redis-frontier.ts";
import { scriptOf } from "../../src/integrations/redis/server/scripts.ts";
import type { RedisCommands } from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

beforeEach((context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
});

interface Rig {
  readonly frontier: RedisFrontier;
  /** The same in another process. */
  readonly other: RedisFrontier;
  /** A host of each partition. */
  readonly hosts: readonly string[];
  /** Notes a partition as it is now; returns what puts it back to that. */
  keep(partition: number): Promise<() => Promise<void>>;
}

async function open(): Promise<Rig> {
  const server = await startRedis();
  onTestFinished(() => server.close());
  const client = new Redis(server.socket);
  onTestFinished(() => void client.disconnect());
  const options = { redis: server.socket, name: "l", partitions: 2 };
  const frontier = await openRedisFrontier({ ...options, leaseMs: 60_000 });
  onTestFinished(() => frontier.close({ discard: true }));
  const other = await openRedisFrontier(options);
  onTestFinished(() => other.close({ discard: true }));
  const keep = async (partition: number): Promise<() => Promise<void>> => {
    const keys = await client.keys(`outrider:{l.${partition}}:*`);
    const kept = await Promise.all(keys.map((key) => client.dumpBuffer(key)));
    return async () => {
      for (const [at, key] of keys.entries())
        await client.restore(key, 0, kept[at] as Buffer, "REPLACE");
    };
  };
  const hosts = await hostsOf(client, frontier);
  return { frontier, other, hosts, keep };
}

/** Finds a host of each partition by where its first URL goes. */
async function hostsOf(client: Redis, frontier: RedisFrontier): Promise<string[]> {
  const hosts: string[] = [];
  for (let number = 0; hosts[0] === undefined || hosts[1] === undefined; number++) {
    const host = `h${number}.org`;
    await frontier.push(`http://${host}/`);
    hosts[(await client.hexists("outrider:{l.0}:h", host)) === 1 ? 0 : 1] ??= host;
  }
  await frontier.clear();
  return hosts;
}

describe("a process that died after a page was done, and before its links arrived", () => {
  it.each(["take", "poll"])(
    "leaves them to any other one that calls %s, also where none looks for an end",
    async (by) => {
      const server = await startRedis();
      onTestFinished(() => server.close());
      const client = new Redis(server.socket);
      onTestFinished(() => void client.disconnect());
      const { sha } = scriptOf("deliver");
      const { sha: outbox } = scriptOf("outbox");
      const dying: RedisCommands = {
        call: async (_key, name, args) => {
          if (args[0] === sha || args[0] === outbox) throw new Error("it is gone");
          return await client.callBuffer(name, ...(args as string[]));
        },
        subscribe: async () => async () => undefined,
        nodes: async () => [(name, args) => client.call(name, ...args)],
        close: async () => undefined,
      };
      const options = { name: "k", partitions: 4, keepOpen: true };
      const dead = await openRedisFrontier({ ...options, redis: dying });
      await dead.push("http://a.org/");
      const [lease] = await dead.pollMany(1);
      const found = Array.from({ length: 12 }, (_, at) => `http://h${at}.org/`);
      await expect(lease?.done({ found })).rejects.toThrow("it is gone");
      const other = await openRedisFrontier({ ...options, redis: server.socket });
      onTestFinished(() => other.close({ discard: true }));
      const urls: string[] = [];
      while (urls.length < found.length) {
        const leases =
          by === "take"
            ? await other.take({ max: 12, timeoutMs: 5_000 })
            : await other.pollMany(12);
        if (leases.length === 0) break;
        urls.push(...leases.map(({ url }) => url));
        await other.done(leases);
      }
      expect(urls.sort()).toEqual(found.sort());
    },
  );
});

describe("a partition that lost its last call", () => {
  it("gives no number of a parcel twice: what it sends next arrives", async () => {
    const { frontier, hosts, keep } = await open();
    const [here, there] = hosts as [string, string];
    await frontier.pushMany([1, 2].map((page) => `http://${here}/${page}`));
    const [first, second] = await frontier.pollMany(2);
    const putBack = await keep(0);
    await first?.done({ found: [`http://${there}/lost`] });
    await putBack();
    expect(await second?.done({ found: [`http://${there}/next`] })).toMatchObject({ accepted: 1 });
    expect((await frontier.record(`http://${there}/next`))?.state).toBe("pending");
  });

  it("does not keep the others from an end, where it had taken links in", async () => {
    const { frontier, hosts, keep } = await open();
    const [here, there] = hosts as [string, string];
    await frontier.push(`http://${here}/`);
    const [lease] = await frontier.pollMany(1);
    const putBack = await keep(1);
    await lease?.done({ found: [`http://${there}/lost`] });
    await putBack();
    expect(await frontier.record(`http://${there}/lost`)).toBeUndefined();
    expect(await frontier.take({ timeoutMs: 20_000 })).toEqual([]);
    expect((await frontier.report()).pending).toBe(0);
    const urls: string[] = [];
    await frontier.push(`http://${there}/lost`);
    for await (const each of frontier) {
      urls.push(each.url);
      await each.done();
    }
    expect(urls).toEqual([`http://${there}/lost`]);
  });

  it("takes rules that are set after it lost a set, and so does every process", async () => {
    const { frontier, hosts, keep, other } = await open();
    const [here] = hosts as [string, string];
    const putBack = await keep(0);
    await frontier.setRules([{ id: "lost" }]);
    await other.push(`http://${here}/0`);
    await putBack();
    await frontier.setRules([{ id: "kept" }]);
    const ruleOf = async (url: string): Promise<string | undefined> => {
      await other.push(url);
      return (await frontier.record(url))?.rule;
    };
    expect(await ruleOf(`http://${here}/1`)).toBe("kept");
  });

  it("lets every process take up a set whose number the lost one had", async () => {
    const { frontier, hosts, keep, other } = await open();
    const putBack = await keep(0);
    const putBackToo = await keep(1);
    await frontier.setRules([{ id: "lost" }]);
    await putBack();
    await putBackToo();
    await other.setRules([{ id: "kept" }]);
    await expect.poll(async () => (await frontier.rules())?.[0]?.id).toBe("kept");
    const [here] = hosts as [string, string];
    await frontier.push(`http://${here}/1`);
    expect((await other.record(`http://${here}/1`))?.rule).toBe("kept");
  });
});
