import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import type { RedisFrontier } from "../../../../src/integrations/redis/frontier/redis-types.ts";
import { openRedisFrontier } from "../../../../src/integrations/redis/open-redis-frontier.ts";
import type { RedisFrontierOptions } from "../../../../src/integrations/redis/redis-options.ts";
import { skipUnless } from "../../../support/skip.ts";
import { type RedisServer, startRedis, WITHOUT_REDIS } from "../../../support/redis-server.ts";

let server: RedisServer | undefined;
let count = 0;
const opened: RedisFrontier[] = [];

beforeAll(async () => {
  if (WITHOUT_REDIS === undefined) server = await startRedis();
});
afterAll(async () => {
  await Promise.all(opened.map((frontier) => frontier.close().catch(() => undefined)));
  await server?.close();
});
beforeEach((context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
});

async function open(options: Partial<RedisFrontierOptions> = {}): Promise<RedisFrontier> {
  const frontier = await openRedisFrontier({
    redis: (server as RedisServer).socket,
    name: `test ${++count}`,
    partitions: 1,
    ...options,
  });
  opened.push(frontier);
  return frontier;
}

async function urlsOf(frontier: RedisFrontier, most = 1_000): Promise<string[]> {
  const leases = await frontier.pollMany(most);
  for (const lease of leases) await lease.done();
  return leases.map(({ url }) => url);
}

async function isBalanced(frontier: RedisFrontier): Promise<boolean> {
  const report = await frontier.report();
  const { accepted, deferred, pending, waiting, leased, done, failed, forgotten, removed } = report;
  return accepted + deferred === pending + waiting + leased + done + failed + forgotten + removed;
}

describe("a frontier on Redis", () => {
  it("gives each URL once, in the order of priority, then of coming", async () => {
    const frontier = await open();
    const urls = Array.from({ length: 300 }, (_, at) => `https://example.org/${at}`);
    const first = await frontier.pushMany(urls);
    expect(first.accepted).toBe(300);
    expect((await frontier.pushMany(urls)).duplicate).toBe(300);
    await frontier.push({ url: "https://example.org/late", priority: Number.MIN_SAFE_INTEGER });
    await frontier.push({ url: "https://example.org/soon", priority: Number.MAX_SAFE_INTEGER });
    await frontier.push({
      url: "https://example.org/sooner",
      priority: Number.MAX_SAFE_INTEGER - 1,
    });
    expect(await urlsOf(frontier)).toEqual([
      "https://example.org/soon",
      "https://example.org/sooner",
      ...urls,
      "https://example.org/late",
    ]);
    expect(await isBalanced(frontier)).toBe(true);
  });

  it("gives the last one first under a LIFO rule, also beyond one part of a queue", async () => {
    const frontier = await open({ defaults: { order: "lifo" } });
    const urls = Array.from({ length: 100 }, (_, at) => `https://example.org/${at}`);
    await frontier.pushMany(urls);
    expect(await urlsOf(frontier)).toEqual(urls.toReversed());
  });

  it("spares hosts: one lease at a time, the delay between them, the least recently leased first", async () => {
    const clock = createVirtualClock(1_000_000);
    const frontier = await open({ clock, defaults: { politeness: { delayMs: 1_000 } } });
    await frontier.pushMany([
      "https://a.org/1",
      "https://a.org/2",
      "https://b.org/1",
      "https://b.org/2",
    ]);
    const first = await frontier.pollMany(10);
    expect(first.map(({ url }) => url)).toEqual(["https://a.org/1", "https://b.org/1"]);
    expect(await frontier.pollMany(10)).toEqual([]);
    clock.advance(500);
    await first[1]?.done();
    await first[0]?.done();
    clock.advance(999);
    expect(await frontier.pollMany(10)).toEqual([]);
    clock.advance(1);
    expect(await urlsOf(frontier)).toEqual(["https://a.org/2", "https://b.org/2"]);
  });

  it("gives rules their shares", async () => {
    const frontier = await open({
      rules: [
        { id: "a", match: { domains: ["a.org"] }, share: { weight: 100 } },
        { id: "b", match: { domains: ["b.org"] } },
      ],
    });
    for (const host of ["a.org", "b.org"]) {
      await frontier.pushMany(Array.from({ length: 60 }, (_, at) => `https://${host}/${at}`));
    }
    const rules = (await frontier.pollMany(60)).map(({ rule }) => rule);
    expect(rules.filter((rule) => rule === "a")).toHaveLength(40);
  });

  it("is late by an old token, whose end changes nothing", async () => {
    const clock = createVirtualClock(1_000_000);
    const frontier = await open({ clock, leaseMs: 1_000 });
    await frontier.push("https://example.org/");
    const old = await frontier.poll();
    clock.advance(1_000);
    const now = await frontier.poll();
    expect(now?.attempt).toBe(2);
    expect(await old?.retry()).toBe("late");
    expect((await old?.done({ found: ["/x"] }))?.late).toBe(true);
    expect(await old?.extend(1)).toBe(false);
    expect((await frontier.report()).leased).toBe(1);
    expect((await now?.done())?.late).toBe(false);
    expect((await frontier.report()).expired).toBe(1);
    expect(await isBalanced(frontier)).toBe(true);
  });

  it("keeps the place of what is released, and gives what is retried a new one", async () => {
    const frontier = await open({ defaults: { retryPriority: 0 } });
    const urls = Array.from({ length: 50 }, (_, at) => `https://example.org/${at}`);
    await frontier.pushMany(urls);
    const leases = await frontier.pollMany(40);
    await leases[0]?.retry();
    for (const lease of leases.slice(1).toReversed()) await lease.release();
    const expected = [...urls.slice(1), urls[0]];
    expect(await urlsOf(frontier)).toEqual(expected);
    expect(await isBalanced(frontier)).toBe(true);
  });

  it("finishes a page and admits its links together, over all partitions", async () => {
    const frontier = await open({ partitions: 8 });
    await frontier.push("https://example.org/");
    const [lease] = await frontier.pollMany(1);
    const found = Array.from({ length: 100 }, (_, at) => `https://host${at}.org/`);
    const result = await lease?.done({ found: [...found, "/own", "mailto:x"] });
    expect([result?.accepted, result?.rejected]).toEqual([101, 1]);
    const report = await frontier.report();
    expect([report.pending, report.done, report.depths]).toEqual([101, 1, [1, 101]]);
    const visited: string[] = [];
    for await (const each of frontier) {
      visited.push(each.url);
      await each.done({ found });
    }
    expect(visited).toHaveLength(101);
    expect(await isBalanced(frontier)).toBe(true);
  });

  it("waits for deferred requests and retries, and fails after the last attempt", async () => {
    const clock = createVirtualClock(1_000_000);
    const frontier = await open({ clock, defaults: { maxAttempts: 2, backoff: { baseMs: 100 } } });
    const verdict = await frontier.push({ url: "https://example.org/", notBefore: 1_000_500 });
    expect(verdict.status).toBe("deferred");
    expect(await frontier.poll()).toBeUndefined();
    expect(await frontier.nextDueAt()).toBe(1_000_500);
    clock.advance(500);
    const lease = await frontier.poll();
    expect(await lease?.retry()).toBe("requeued");
    clock.advance(99);
    expect(await frontier.poll()).toBeUndefined();
    clock.advance(1);
    expect(await (await frontier.poll())?.retry({ reason: "again" })).toBe("failed");
    const record = await frontier.record("https://example.org/");
    expect(record).toMatchObject({ state: "failed", attempts: 2, failure: { reason: "again" } });
    expect(await frontier.requeue({ reason: "again" })).toBe(1);
    expect((await frontier.poll())?.attempt).toBe(1);
    expect(await isBalanced(frontier)).toBe(true);
  });

  it("brings every field of a request back", async () => {
    const frontier = await open();
    const data = { list: [1, "two", new Date(3)], bytes: Uint8Array.of(1, 255) };
    const headers = { accept: "text/html" };
    const request = {
      url: "https://Example.org/ä?b#c",
      method: "POST",
      body: "q=1",
      headers,
      data,
    };
    await frontier.push({ ...request, handler: "list", priority: 7, depth: 3, hostKey: "own key" });
    const lease = await frontier.poll();
    expect(lease).toMatchObject({
      ...{ url: "https://example.org/%C3%A4?b", method: "POST", headers, priority: 7, depth: 3 },
      ...{ handler: "list", hostKey: "own key", host: "example.org" },
    });
    expect(Buffer.from(lease?.body as Uint8Array).toString()).toBe("q=1");
    expect(lease?.data).toEqual(data);
    expect(lease?.fingerprint).toMatch(/^[0-9a-f]{32}$/);
  });

  it("keeps two frontiers of one server apart, and drops exactly its own", async () => {
    const [one, other] = [await open({ partitions: 3 }), await open({ partitions: 2 })];
    await one.push("https://example.org/");
    expect((await other.push("https://example.org/")).status).toBe("accepted");
    await one.drop();
    expect(await one.status()).toBe("stopped");
    expect((await other.report()).pending).toBe(1);
    const again = await open({ name: one.name });
    expect((await again.push("https://example.org/")).status).toBe("accepted");
  });

  it("refuses by name what Redis does not carry", async () => {
    const refused: Array<[object, RegExp]> = [
      [{ records: "full" }, /options\.records/],
      [{ accept: () => true }, /options\.accept/],
      [{ directory: "x" }, /options\.directory/],
      [{ capacity: 5, partitions: 2 }, /options\.capacity/],
      [{ defaults: { politeness: { groups: [{ by: "domain", limit: 1 }] } } }, /groups/],
      [{ defaults: { epoch: { adaptive: { min: "1h", max: "1d" } } } }, /adaptive/],
      [{ defaults: { key: { keyOf: () => "x" } } }, /keyOf/],
    ];
    for (const [options, name] of refused) {
      const opening = open(options as Partial<RedisFrontierOptions>);
      await expect(opening).rejects.toMatchObject({
        code: "UNSUPPORTED",
        message: expect.stringMatching(name),
      });
    }
  });

  it("lets other processes take up rules, and matches what a vanished rule left again", async () => {
    const name = `shared ${++count}`;
    const rules = [{ id: "old", match: { domains: ["a.org"] }, priority: 5 }];
    const one = await open({ name, rules });
    const other = await open({ name });
    await one.pushMany(["https://a.org/1", "https://a.org/2"]);
    expect((await other.push("https://b.org/")).reason).toBe("no-rule");
    await one.setRules([{ id: "new", match: { pattern: "/1$" }, priority: 3 }], "v2");
    const isTakenUp = async (): Promise<string> => (await other.push("https://b.org/1")).status;
    await expect.poll(isTakenUp).toBe("accepted");
    // What the vanished rule left is matched again little by little.
    const left = async (): Promise<unknown> =>
      (await one.record("https://a.org/2"))?.failure?.reason;
    await expect.poll(left).toBe("no-rule");
    const leases = await other.take({ max: 5 });
    while (leases.length < 2) leases.push(...(await other.take({ max: 5 })));
    expect(leases.map(({ url, rule }) => [url, rule]).sort()).toEqual([
      ["https://a.org/1", "new"],
      ["https://b.org/1", "new"],
    ]);
    expect(await isBalanced(one)).toBe(true);
  });

  it("wakes a process that waits when another one pushes", async () => {
    const name = `waking ${++count}`;
    const one = await open({ name, partitions: 4, keepOpen: true });
    const other = await open({ name, partitions: 4 });
    const waiting = one.take({ timeoutMs: 20_000 });
    await other.push("https://example.org/");
    expect((await waiting)[0]?.url).toBe("https://example.org/");
  });

  it("is finished when all processes are done, and emits the end once", async () => {
    const frontier = await open({ partitions: 4 });
    let finished = 0;
    frontier.on("finished", () => finished++);
    await frontier.pushMany(["https://a.org/", "https://b.org/", "https://c.org/"]);
    let visits = 0;
    for await (const lease of frontier) {
      visits++;
      await lease.done();
    }
    expect([visits, finished]).toEqual([3, 1]);
  });

  it("comes again by itself under `every`, and rests until then", async () => {
    const clock = createVirtualClock(1_000_000);
    const frontier = await open({ clock, defaults: { epoch: { every: 60_000 } } });
    await frontier.push("https://example.org/");
    await (await frontier.poll())?.done();
    expect((await frontier.report()).resting).toBe(1);
    expect((await frontier.push("https://example.org/")).status).toBe("duplicate");
    clock.advance(60_000);
    expect((await frontier.poll())?.url).toBe("https://example.org/");
    expect(await isBalanced(frontier)).toBe(true);
  });

  it("keeps epochs apart, counts them, and forgets one", async () => {
    const frontier = await open();
    const push = async (epoch: string): Promise<string> =>
      (await frontier.push({ url: "https://example.org/", epoch })).status;
    expect([await push("1"), await push("1"), await push("2")]).toEqual([
      "accepted",
      "duplicate",
      "accepted",
    ]);
    await (await frontier.poll())?.done();
    const views = [];
    for await (const view of frontier.epochs()) views.push([view.name, view.identities, view.done]);
    expect(views).toEqual([
      ["2", 1, 0],
      ["1", 1, 1],
    ]);
    expect(await frontier.forget({ epoch: "1" })).toBe(1);
    expect([await push("1"), await push("2")]).toEqual(["accepted", "duplicate"]);
    expect(await isBalanced(frontier)).toBe(true);
  });

  it("removes a trap for good, and puts pages as finished or due", async () => {
    const clock = createVirtualClock(1_000_000);
    const frontier = await open({ clock });
    await frontier.pushMany([
      "https://a.org/calendar/1",
      "https://a.org/calendar/2",
      "https://a.org/x",
    ]);
    expect(await frontier.remove({ host: "a.org", pattern: "/calendar/" })).toBe(2);
    expect((await frontier.push("https://a.org/calendar/1")).status).toBe("duplicate");
    expect(await urlsOf(frontier)).toEqual(["https://a.org/x"]);
    expect(await frontier.put("https://a.org/x", { dueAt: 1_000_100, data: 7 })).toEqual({
      status: "waiting",
    });
    expect(await frontier.put("https://a.org/y")).toEqual({ status: "done" });
    clock.advance(100);
    expect((await frontier.poll())?.data).toBe(7);
    expect(await isBalanced(frontier)).toBe(true);
  });

  it("steers hosts", async () => {
    const clock = createVirtualClock(1_000_000);
    const frontier = await open({ clock, defaults: { politeness: { delayMs: 10 } } });
    await frontier.pushMany(["https://a.org/1", "https://b.org/1"]);
    await frontier.host("a.org").hold();
    await frontier.host("b.org").blockUntil(1_000_500);
    expect(await frontier.pollMany(5)).toEqual([]);
    expect((await frontier.explain("https://a.org/1")).heldBy).toBe("hold");
    expect(await frontier.explain("https://b.org/1")).toMatchObject({
      heldBy: "block",
      dueAt: 1_000_500,
    });
    await frontier.host("a.org").unhold();
    expect(await urlsOf(frontier)).toEqual(["https://a.org/1"]);
    clock.advance(500);
    expect(await urlsOf(frontier)).toEqual(["https://b.org/1"]);
    await frontier.host("b.org").set({ delayMs: 99, limit: 3 });
    expect(await frontier.host("b.org").view()).toMatchObject({ delayMs: 99, limit: 3, leased: 0 });
  });

  it("is full of memory at the server's limit, with nothing half done, and goes on as pages are done", async () => {
    const small = await startRedis();
    const control = new Redis({ path: small.socket });
    try {
      const frontier = await open({ redis: small.socket });
      const urls = Array.from({ length: 300 }, (_, at) => `https://a.org/${at}`);
      expect((await frontier.pushMany(urls)).accepted).toBe(300);
      await control.config("SET", "maxmemory", "1mb"); // less than the server has in use
      const refused = await frontier.pushMany(["https://b.org/1", "https://b.org/2"]);
      expect([refused.full, refused.verdict(1).reason]).toEqual([2, "memory"]);
      const leases = await frontier.pollMany(50);
      expect(leases).toHaveLength(50);
      const ending = leases[0]?.done({ found: ["/new"] });
      await expect(ending).rejects.toMatchObject({ code: "MEMORY_FULL" });
      expect(await leases[1]?.retry()).toBe("requeued");
      for (let list = leases; list.length > 0; list = await frontier.pollMany(100)) {
        await frontier.done(list);
      }
      const { accepted, done } = await frontier.report();
      expect([accepted, done]).toEqual([300, 300]);
      await control.config("SET", "maxmemory", "0");
      expect((await frontier.push("https://b.org/1")).status).toBe("accepted");
      expect(await isBalanced(frontier)).toBe(true);
    } finally {
      control.disconnect();
      await small.close();
    }
  });
});
