/** What the frontier on Redis does when the server, a client or a link fails; its own server for each test. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Redis } from "ioredis";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { RedisFrontier } from "../../src/integrations/redis/frontier/redis-types.ts";
import { openRedisFrontier } from "../../src/integrations/redis/open-redis-frontier.ts";
import { type RedisServer, startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

beforeEach((context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
});

async function start(settings: Record<string, string> = {}): Promise<RedisServer> {
  const server = await startRedis({ settings });
  onTestFinished(() => server.close());
  return server;
}

async function open({ socket }: RedisServer, leaseMs = 60_000): Promise<RedisFrontier> {
  const frontier = await openRedisFrontier({ redis: socket, name: "f", partitions: 4, leaseMs });
  onTestFinished(() => frontier.close({ discard: true }));
  return frontier;
}

async function balance(frontier: RedisFrontier): Promise<number> {
  const { accepted, deferred, ...rest } = await frontier.report();
  const { pending, waiting, leased, done, failed, forgotten, removed } = rest;
  return accepted + deferred - (pending + waiting + leased + done + failed + forgotten + removed);
}

/** A process that takes one lease, prints its URL, and continues after a line of input. */
async function startHolder(socket: string): Promise<{ child: ChildProcess; url: string }> {
  const entry = new URL("../../dist/redis.js", import.meta.url).href;
  const program = `
    const { openRedisFrontier } = await import(${JSON.stringify(entry)});
    const frontier = await openRedisFrontier({ redis: ${JSON.stringify(socket)}, name: "f", leaseMs: 700 });
    const [lease] = await frontier.take();
    console.log(lease.url);
    for await (const _ of process.stdin) break;
    console.log((await lease.done()).late);
    process.exit(0);`;
  const args = ["--input-type=module", "-e", program];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  return { child, url: String(line).trim() };
}

describe("faults", () => {
  it("scripts that were flushed are sent again", async () => {
    const server = await start();
    const frontier = await open(server);
    await frontier.push("http://a.org/1");
    const client = new Redis(server.socket);
    await client.script("FLUSH");
    client.disconnect();
    expect((await frontier.push("http://a.org/2")).status).toBe("accepted");
    expect(await frontier.done(await frontier.pollMany(2))).toBe(2);
  });

  it("a server that is killed and restarted with its file keeps what it has acknowledged", async () => {
    const server = await start({ appendonly: "yes", appendfsync: "always" });
    const frontier = await open(server);
    const urls = Array.from({ length: 200 }, (_, at) => `http://h${at % 9}.org/${at}`);
    await frontier.pushMany(urls);
    const leases = await frontier.pollMany(50);
    await frontier.done(leases.slice(0, 20));
    await server.kill("SIGKILL");
    const pushing = frontier.push("http://later.org/");
    await server.start();
    expect((await pushing).status).toBe("accepted");
    expect(await frontier.done(leases.slice(20))).toBe(30);
    const { done, pending } = await frontier.report();
    expect({ done, pending }).toEqual({ done: 50, pending: 151 });
    expect((await frontier.pushMany(urls)).duplicate).toBe(200);
    expect(await balance(frontier)).toBe(0);
  });

  it("the lease of a killed process comes back at its deadline", async () => {
    const server = await start();
    const frontier = await open(server);
    await frontier.push("http://a.org/1");
    const { child, url } = await startHolder(server.socket);
    child.kill("SIGKILL");
    const [lease] = await frontier.take();
    expect(lease).toMatchObject({ url, attempt: 2 });
    expect((await frontier.report()).expired).toBe(1);
  });

  it("a process that was stopped beyond its lease is late, and changes nothing", async () => {
    const server = await start();
    const frontier = await open(server);
    await frontier.push("http://a.org/1");
    const { child } = await startHolder(server.socket);
    child.kill("SIGSTOP");
    const [lease] = await frontier.take();
    child.kill("SIGCONT");
    child.stdin?.write("go\n");
    const [line] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
    expect(String(line).trim()).toBe("true");
    expect(await lease?.done()).toMatchObject({ late: false });
    const { done, lateResults } = await frontier.report();
    expect({ done, lateResults }).toEqual({ done: 1, lateResults: 1 });
  });

  it("a server that deletes keys by itself is refused, with what to do", async () => {
    const server = await start({ "maxmemory-policy": "allkeys-lru" });
    await expect(open(server)).rejects.toMatchObject({
      code: "SERVER_UNFIT",
      message: expect.stringContaining("CONFIG SET maxmemory-policy noeviction"),
    });
  });
});
