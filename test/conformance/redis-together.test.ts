/**
 * Several processes on one frontier over several partitions, each a client whose calls and messages a test can hold back: rules that a
 * partition gets late, a clear beside work, pauses and drains whose processes end, and messages that are lost.
 */
import { Redis } from "ioredis";
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { RedisFrontier } from "../../src/integrations/redis/frontier/redis-types.ts";
import { scriptOf } from "../../src/integrations/redis/server/scripts.ts";
import {
  openRedisFrontier,
  type RedisCommands,
  type RedisFrontierOptions,
} from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

interface Client {
  readonly redis: RedisCommands;
  /** Called before each script, with its text or hash and the key that names its partition. */
  before: (script: unknown, key: string) => Promise<void>;
  after: (script: unknown) => Promise<void>;
  /** Drops all messages from now on. */
  isDeaf: boolean;
  /** Delivers a message. */
  hear: (message: string) => void;
}

function createClient(): Client {
  const own = new Redis(server?.socket as string);
  const ear = new Redis(server?.socket as string);
  onTestFinished(() => {
    own.disconnect();
    ear.disconnect();
  });
  const client: Client = {
    before: async () => undefined,
    after: async () => undefined,
    isDeaf: false,
    hear: () => undefined,
    redis: {
      call: async (key, name, args) => {
        await client.before(args[0], key);
        const answer = await own.callBuffer(name, ...(args as string[]));
        await client.after(args[0]);
        return answer;
      },
      subscribe: async (channel, listener) => {
        client.hear = listener;
        await ear.subscribe(channel);
        ear.on("message", (_, message) => {
          if (!client.isDeaf) listener(message);
        });
        return async () => undefined;
      },
      nodes: async () => [(name, args) => own.call(name, ...args)],
      close: async () => undefined,
    },
  };
  return client;
}

async function open(
  name: string,
  options: Partial<RedisFrontierOptions> = {},
): Promise<RedisFrontier> {
  const frontier = await openRedisFrontier({ redis: server?.socket as string, name, ...options });
  onTestFinished(() => frontier.close({ discard: true }));
  return frontier;
}

/** A promise, and what resolves it. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe("rules that a partition gets after others", () => {
  it("links under them wait for it, and are handed out", async () => {
    const client = createClient();
    const pagesRule = { id: "pages", match: { pattern: "^http://p" } };
    const rules = [pagesRule, { id: "others" }];
    const setter = await open("late", { redis: client.redis, partitions: 8, rules });
    const other = await open("late");
    const pages = Array.from({ length: 64 }, (_, at) => `http://p${at}.org/`);
    await other.pushMany(pages);
    const leases = await other.pollMany(64);
    const [sent, arriving] = [gate(), gate()];
    client.before = async (script, key) => {
      if (script !== scriptOf("rules").sha || key.includes(".0}")) return;
      sent.open();
      await arriving.opened;
    };
    const politeness = { delayMs: 0, perHost: 2 };
    const set = setter.setRules([pagesRule, { id: "links", politeness }]);
    await sent.opened;
    const found = Array.from({ length: 64 }, (_, at) => `http://l${at % 32}.net/${at}`);
    // Partition 0 has the new rules first, so that its pages' links are read under them.
    const isFirst = await Promise.all(
      leases.map(
        async ({ host }) => (await server?.call("HEXISTS", "outrider:{late.0}:h", host)) === 1,
      ),
    );
    const page = leases[isFirst.indexOf(true)];
    expect(await page?.done({ found })).toMatchObject({ accepted: 64 });
    arriving.open();
    await set;
    await other.done(leases.filter((lease) => lease !== page));
    let count = 0;
    for (;;) {
      const some = await other.take({ max: 64, timeoutMs: 5_000 });
      if (some.length === 0) break;
      count += await other.done(some);
    }
    expect(count).toBe(64);
    expect(await other.report()).toMatchObject({ pending: 0, done: 128 });
  });
});

describe("a clear", () => {
  it("refuses no call that another process makes meanwhile, and keeps rules and state", async () => {
    const client = createClient();
    const rules = [{ id: "only" }];
    const clearing = await open("clear", { redis: client.redis, partitions: 3, rules });
    const other = await open("clear");
    await clearing.setState({ mine: 1 });
    await other.push("http://a.org/");
    const [lease] = await other.pollMany(1);
    const pushed: string[] = [];
    let pushes = 0;
    client.after = async () => {
      pushed.push((await other.push(`http://h${pushes++}.org/`)).status);
    };
    await clearing.clear();
    client.after = async () => undefined;
    expect(new Set(pushed)).toEqual(new Set(["accepted"]));
    expect(await lease?.done()).toMatchObject({ late: true });
    expect(await clearing.state()).toEqual({ mine: 1 });
    expect(await clearing.rules()).toMatchObject(rules);
    expect((await open("clear")).name).toBe("clear");
    expect(await other.push("http://a.org/")).toMatchObject({ status: "accepted" });
  });

  it("has room in a server whose memory is full", async () => {
    const frontier = await open("full", { partitions: 2 });
    await frontier.push("http://a.org/");
    await frontier.host("a.org").set({ delayMs: 5 });
    await server?.call("CONFIG", "SET", "maxmemory", "1");
    try {
      await frontier.clear();
      const held = frontier.host("b.org").hold();
      await expect(held).rejects.toMatchObject({ name: "FrontierError", code: "MEMORY_FULL" });
    } finally {
      await server?.call("CONFIG", "SET", "maxmemory", "0");
    }
    expect(await frontier.report()).toMatchObject({ pending: 0, accepted: 0 });
    expect(await frontier.host("a.org").view()).toMatchObject({ delayMs: 5 });
  });
});

describe("a pause", () => {
  it("holds a process that opens in it", async () => {
    const first = await open("opened", { partitions: 4 });
    await first.push("http://a.org/");
    await first.pause();
    const second = await open("opened");
    expect(await second.status()).toBe("paused");
    expect(await second.explain("http://a.org/")).toMatchObject({ heldBy: "paused" });
    await first.resume();
    await expect.poll(() => second.status()).toBe("running");
  });

  it("ends for a process that the message of its end did not reach", async () => {
    const client = createClient();
    const first = await open("deaf", { partitions: 2 });
    const second = await open("deaf", { redis: client.redis });
    await first.push("http://a.org/");
    await first.pause();
    await expect.poll(() => second.status()).toBe("paused");
    client.isDeaf = true;
    const taken = second.take({ timeoutMs: 20_000 });
    await first.resume();
    expect((await taken).map(({ url }) => url)).toEqual(["http://a.org/"]);
    await expect
      .poll(async () => [await second.pollMany(1), await second.status()][1])
      .toBe("running");
  });

  it("of a drain ends when its process closes", async () => {
    const first = await open("drained", { partitions: 2 });
    const second = await open("drained");
    await first.push("http://a.org/");
    await first.drain();
    await first.close();
    expect(await second.pollMany(1)).toHaveLength(1);
  });

  it("of one's own stays when a process that drained meanwhile closes", async () => {
    const first = await open("kept", { partitions: 2 });
    const second = await open("kept");
    await first.push("http://a.org/");
    await first.pause();
    await expect.poll(() => second.status()).toBe("paused");
    await second.drain();
    await second.close();
    expect(await first.status()).toBe("paused");
    expect(await (await open("kept")).pollMany(1)).toEqual([]);
  });
});

describe("a forget whose message was lost", () => {
  const URLS = ["http://a.org/", "http://b.org/", "http://c.org/"];

  it.each([
    ["polls", async (_: Client, frontier: RedisFrontier) => void (await frontier.pollMany(9))],
    ["is told that it missed messages", async (client: Client) => client.hear("")],
  ])("makes its URLs new to a process that %s", async (how, act) => {
    const client = createClient();
    const name = `forget ${how}`;
    const first = await open(name, { partitions: 2 });
    const second = await open(name, { redis: client.redis });
    await second.pushMany(URLS);
    for (const lease of await second.pollMany(3)) await lease.done();
    client.isDeaf = true;
    expect(await first.forget()).toBe(3);
    await act(client, second);
    expect(await second.pushMany(URLS)).toMatchObject({ accepted: 3 });
  });
});

it("shows what a poll would hand out, whichever partitions have it", async () => {
  const frontier = await open("shown", { partitions: 5 });
  await frontier.pushMany(Array.from({ length: 40 }, (_, at) => `http://h${at}.org/`));
  const urlsOf = (list: ReadonlyArray<{ url: string }>): string[] =>
    list.map(({ url }) => url).sort();
  for (let round = 0; round < 5; round++) {
    const shown = urlsOf(await frontier.peek(7));
    expect(urlsOf(await frontier.pollMany(7)), `round ${round}`).toEqual(shown);
  }
});

it("reads epochs by the server's clock, also in a process that only pushes and whose clock is wrong", async () => {
  const defaults = { epoch: { calendar: "month" } } as const;
  const first = await open("clock", { defaults });
  expect((await first.push("http://a.org/")).status).toBe("accepted");
  const now = Date.now;
  const wrong = vi.spyOn(Date, "now").mockImplementation(() => now() + 40 * 86_400_000);
  onTestFinished(() => wrong.mockRestore());
  const second = await open("clock");
  expect((await second.push("http://a.org/")).status).toBe("duplicate");
});
