/** A frontier over each client that people have: the same answers, bytes as bytes, wake-ups, reconnection, and the client left open. */
import { randomBytes } from "node:crypto";
import { Cluster as IoCluster, Redis as IoRedis } from "ioredis";
import valkey from "iovalkey";
import { createClient, createCluster } from "redis";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openRedisFrontier } from "../../../../../src/redis.ts";
import { commandsOf } from "../../../../../src/integrations/redis/server/clients.ts";
import { after } from "../../../../support/chaos-crawl.ts";
import { openLinkProxies } from "../../../../support/link-proxy.ts";
import { type RedisCluster, startCluster } from "../../../../support/redis-cluster.ts";
import { type RedisServer, startRedis, WITHOUT_REDIS } from "../../../../support/redis-server.ts";
import { skipUnless } from "../../../../support/skip.ts";

beforeEach((context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
});

/** A client of a test: what is handed in, whether it still answers, and its end. */
interface Handed {
  readonly client: object;
  ping(): Promise<unknown>;
  end(): unknown;
}

type Opens = (server: RedisServer) => Promise<Handed>;
type OpensCluster = (cluster: RedisCluster) => Promise<Handed>;

const overIo = (
  client: Pick<IoRedis, "ping" | "disconnect"> & { on(event: "error", act: () => void): unknown },
): Handed => {
  client.on("error", () => undefined);
  return { client, ping: () => client.ping(), end: () => client.disconnect() };
};

const CLIENTS: ReadonlyArray<[name: string, open: Opens, openCluster: OpensCluster]> = [
  [
    "ioredis",
    async ({ socket }) => overIo(new IoRedis(socket)),
    async ({ addresses }) => overIo(new IoCluster([...addresses]) as never),
  ],
  [
    "iovalkey",
    async ({ socket }) => overIo(new valkey.Redis(socket) as never),
    async ({ addresses }) => overIo(new valkey.Cluster([...addresses]) as never),
  ],
  [
    "node-redis",
    async ({ socket }) => {
      const client = createClient({ socket: { path: socket, tls: false } });
      client.on("error", () => undefined);
      await client.connect();
      return { client, ping: () => client.ping(), end: () => client.destroy() };
    },
    async ({ addresses }) => {
      const rootNodes = addresses.map(({ host, port }) => ({ url: `redis://${host}:${port}` }));
      const client = createCluster({ rootNodes });
      client.on("error", () => undefined);
      await client.connect();
      const ping = (): Promise<unknown> => client.sendCommand("x", true, ["GET", "x"]);
      return { client, ping, end: () => client.destroy() };
    },
  ],
];

describe.each(CLIENTS)("a frontier over a client of %s", (_name, open, openCluster) => {
  it("does what it does over any other: pushes, leases with bytes, ends, edits, wake-ups, a script that is not there", async () => {
    const server = await startRedis();
    onTestFinished(() => server.close());
    const { client, ping, end } = await open(server);
    onTestFinished(async () => void (await end()));
    const options = { redis: client, name: "mine", partitions: 2 };
    const frontier = await openRedisFrontier(options);
    const bytes = randomBytes(300);
    const urls = Array.from({ length: 200 }, (_, at) => `http://h${at % 7}.test/${at}`);
    expect(await frontier.pushMany(urls)).toMatchObject({ accepted: 200 });
    expect(await frontier.pushMany(urls)).toMatchObject({ duplicate: 200 });
    await frontier.push({ url: "http://b.test/", method: "POST", body: bytes, priority: 9 });
    const [first, second] = (await frontier.pollMany(2)).sort((a, b) => b.priority - a.priority);
    await second?.release();
    expect(first?.body).toEqual(bytes);
    expect(await first?.done({ found: ["/child", "http://other.test/"] })).toMatchObject({
      accepted: 2,
    });
    const other = await openRedisFrontier({ redis: server.socket, name: "mine" });
    await other.pushMany(["http://c.test/"]);
    let done = 0;
    for await (const lease of frontier) if (!(await lease.done()).late) done++;
    expect(done).toBe(203);
    // A push by one process wakes another that waits. Scripts that the server has lost are sent again.
    const { Redis } = await import("ioredis");
    const own = new Redis(server.socket);
    const kept = await openRedisFrontier({ ...options, keepOpen: true });
    const taken = kept.take({ max: 1, timeoutMs: 60_000 });
    await expect
      .poll(async () => Number((await own.pubsub("NUMSUB", "outrider:{mine}:wake"))[1]))
      .toBeGreaterThan(1);
    await own.script("FLUSH");
    await other.push("http://late.test/");
    const [lease] = await taken;
    expect(lease?.url).toBe("http://late.test/");
    expect(await lease?.fail("broken")).toBe(true);
    expect(await kept.requeue({ state: "failed" })).toBe(1);
    own.disconnect();
    await kept.close();
    await frontier.close();
    expect(await ping()).toBe("PONG"); // it is the caller's
    await other.drop();
  });

  it("goes on when the server has been away, with the same client", async () => {
    const server = await startRedis({ settings: { appendonly: "yes", appendfsync: "always" } });
    onTestFinished(() => server.close());
    const { client, end } = await open(server);
    onTestFinished(async () => void (await end()));
    const frontier = await openRedisFrontier({ redis: client, name: "away", partitions: 2 });
    await frontier.pushMany(["http://a.test/1", "http://a.test/2"]);
    await server.kill("SIGKILL");
    const pushing = frontier.pushMany(["http://a.test/2", "http://a.test/3"]);
    await server.start();
    expect(await pushing).toMatchObject({ accepted: 1, duplicate: 1 });
    expect(await frontier.report()).toMatchObject({ pending: 3 });
    await frontier.close();
  });

  it("shows a listener that messages may have been lost, once it is subscribed again", async () => {
    const server = await startRedis();
    onTestFinished(() => server.close());
    const { client, end } = await open(server);
    onTestFinished(async () => void (await end()));
    const commands = await commandsOf(client);
    onTestFinished(() => commands.close());
    const messages: string[] = [];
    await commands.subscribe("c", (message) => void messages.push(message));
    await server.call("CLIENT", "KILL", "TYPE", "pubsub");
    await expect.poll(() => messages).toContain("");
    await server.call("PUBLISH", "c", "x");
    await expect.poll(() => messages).toContain("x");
  });

  it("works on a cluster, whose masters it asks by the slots of its partitions", async () => {
    const cluster = await startCluster();
    onTestFinished(() => cluster.close());
    const { client, end } = await openCluster(cluster);
    onTestFinished(async () => void (await end()));
    const frontier = await openRedisFrontier({ redis: client, name: "many", partitions: 6 });
    const urls = Array.from({ length: 120 }, (_, at) => `http://h${at % 40}.test/${at}`);
    expect(await frontier.pushMany(urls)).toMatchObject({ accepted: 120 });
    let done = 0;
    for await (const lease of frontier) {
      const found = lease.depth === 0 ? [`${lease.url}/child`] : [];
      if (!(await lease.done({ found })).late) done++;
    }
    expect(done).toBe(240);
    expect(await frontier.report()).toMatchObject({ done: 240, pending: 0 });
    await frontier.drop();
    for (const node of await cluster.masters()) expect(await node.call("DBSIZE")).toBe(0);
  });
});

it.each([
  ["ioredis", IoCluster],
  ["iovalkey", valkey.Cluster],
])(
  "%s: a listener asks now and then for a cluster that is cut off, and has its messages again",
  async (_, Kind) => {
    const cluster = await startCluster();
    onTestFinished(() => cluster.close());
    const { proxies, natMap } = await openLinkProxies(cluster.nodes);
    onTestFinished(async () => {
      for (const proxy of proxies) await proxy.close();
    });
    const client = new Kind(Object.values(natMap), { natMap } as never);
    client.on("error", () => undefined);
    onTestFinished(() => client.disconnect());
    const commands = await commandsOf(client);
    onTestFinished(() => commands.close());
    await commands.call("k", "GET", ["k"]);
    const messages: string[] = [];
    await commands.subscribe("c", (message) => void messages.push(message));
    const count = (): number => proxies.reduce((sum, { connections }) => sum + connections, 0);
    const before = count();
    for (const proxy of proxies) proxy.cut();
    await after(1_000);
    expect(count() - before).toBeLessThan(300);
    for (const proxy of proxies) proxy.mend();
    const isHeard = async (): Promise<boolean> => {
      await cluster.nodes[0]?.call("PUBLISH", "c", "x");
      return messages.length > 0;
    };
    await expect.poll(isHeard).toBe(true);
  },
);

it.each(["at once", "from its second call on"])(
  "rejects with SERVER_GONE where a client settles nothing %s",
  async (when) => {
    const never = new Promise<never>(() => undefined);
    const info = async (): Promise<string> => "redis_version:8.0.0";
    const client = {
      call: () => never,
      nodes: async () => (when === "at once" ? never : [info]),
      subscribe: () => never,
      close: async () => undefined,
    };
    const opening = openRedisFrontier({ redis: client, name: "still", giveUpMs: 20 });
    await expect(opening).rejects.toMatchObject({ code: "SERVER_GONE" });
  },
);

it("refuses what is no client", async () => {
  const none = openRedisFrontier({ redis: true as never });
  await expect(none).rejects.toMatchObject({ code: "OPTION_INVALID" });
});

it("rejects at once, with the server's reason, where its user may not do what is needed", async () => {
  const refused = new Error("NOPERM this user has no permissions to run the 'info' command");
  const client = {
    call: async () => null,
    nodes: async () => [() => Promise.reject(refused)],
    subscribe: async () => async () => undefined,
    close: async () => undefined,
  };
  await expect(openRedisFrontier({ redis: client })).rejects.toBe(refused);
});
