/**
 * W, N: what WebMagic's RedisScheduler, RedisPriorityScheduler and NEOCrawler keep in Redis, and what they lose there, row by row, over
 * a real server. Where a row is about several processes, several clients share the server.
 */
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import type { AsyncFrontier, AsyncLease } from "../../src/engine/types/async-frontier.ts";
import type { RequestLike } from "../../src/engine/types/frontier-types.ts";
import { openRedisFrontier } from "../../src/integrations/redis/open-redis-frontier.ts";
import type { RedisFrontierOptions } from "../../src/integrations/redis/redis-options.ts";
import { type RedisServer, startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const A = "http://a.com/";
const HOUR = 3_600_000;
let server: RedisServer | undefined;
let names = 0;

beforeEach(async (context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
  server ??= await startRedis();
});

afterAll(() => server?.close());

type Options = Partial<RedisFrontierOptions>;

/** Opens a frontier of the server; a name that is not given is a new one. */
async function open(options: Options = {}) {
  const { name = `row-${names++}` } = options;
  const clock = createVirtualClock(1_000_000);
  const given = { redis: (server as RedisServer).socket, partitions: 1, clock, ...options, name };
  const frontier = await openRedisFrontier(given);
  onTestFinished(() => frontier.close());
  return { frontier, clock, name, given };
}

async function drained(frontier: AsyncFrontier): Promise<AsyncLease[]> {
  const leases: AsyncLease[] = [];
  for (;;) {
    const some = await frontier.pollMany(1_000);
    if (some.length === 0) return leases;
    leases.push(...some);
  }
}

async function take(frontier: AsyncFrontier): Promise<AsyncLease> {
  const lease = await frontier.poll();
  if (lease === undefined) throw new Error("nothing to poll");
  return lease;
}

async function statuses(frontier: AsyncFrontier, requests: RequestLike[]): Promise<string[]> {
  const result = await frontier.pushMany(requests);
  return Array.from({ length: result.size }, (_, at) => result.verdict(at).status);
}

/** The server's keys that contain the name. */
async function keysOf(name: string): Promise<string[]> {
  const { Redis } = await import("ioredis");
  const client = new Redis({ path: (server as RedisServer).socket });
  const keys = await client.keys(`*${name}*`);
  client.disconnect();
  return keys;
}

const urls = (leases: Iterable<{ url: string }>): string[] => Array.from(leases, ({ url }) => url);
const pages = (count: number, host = "a.com"): string[] =>
  Array.from({ length: count }, (_, at) => `http://${host}/${at}`);

describe("WebMagic's RedisScheduler", () => {
  it("W14: two frontiers in one server never touch each other, and drop removes its own keys alone", async () => {
    const one = await open();
    const two = await open();
    expect((await one.frontier.push(A)).status).toBe("accepted");
    expect((await two.frontier.push(A)).status).toBe("accepted");
    await one.frontier.drop();
    expect(await keysOf(one.name)).toEqual([]);
    expect((await two.frontier.push(A)).status).toBe("duplicate");
    expect((await take(two.frontier)).url).toBe(A);
  });

  it("W15: a request with method, headers, body and data comes back equal, first in first out", async () => {
    const { frontier, given } = await open();
    const data = { depth: [1, { two: "ü" }], at: new Date(7) };
    const full = {
      ...{ url: `${A}form`, method: "POST", body: "käse=1", data, handler: "h" },
      headers: { cookie: "a=1", "x-y": "z" },
    };
    await frontier.pushMany([`${A}1`, full, `${A}2`]);
    await frontier.close();
    const again = await openRedisFrontier(given);
    onTestFinished(() => again.close());
    const leases = await drained(again);
    expect(urls(leases)).toEqual([`${A}1`, `${A}form`, `${A}2`]);
    const [, form] = leases;
    expect(form).toMatchObject({ method: "POST", data, handler: "h" });
    expect({ ...form?.headers }).toEqual(full.headers);
    expect(new TextDecoder().decode(form?.body)).toBe("käse=1");
  });

  it("W16: several processes poll one queue, and every lease goes to exactly one of them", async () => {
    const { frontier, given } = await open({ partitions: 4, name: "shared" });
    const others = await Promise.all([1, 2, 3].map(() => openRedisFrontier(given)));
    for (const other of others) onTestFinished(() => other.close());
    await frontier.pushMany(Array.from({ length: 400 }, (_, at) => `http://h${at}.com/`));
    const shares = await Promise.all([frontier, ...others].map(drained));
    const all = shares.flatMap((leases) => urls(leases));
    expect(all.length).toBe(400);
    expect(new Set(all).size).toBe(400);
    const counts = await Promise.all(
      [frontier, ...others].map((each, at) => each.done(shares[at] as AsyncLease[])),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(400);
  });

  it("W17: the highest priority goes first, also below zero, and after another process opened it", async () => {
    const { frontier, given } = await open();
    const priorities = [100, 900, 0, -900];
    await frontier.pushMany(priorities.map((priority) => ({ url: `${A}${priority}`, priority })));
    await frontier.close();
    const again = await openRedisFrontier(given);
    onTestFinished(() => again.close());
    expect((await drained(again)).map(({ priority }) => priority)).toEqual([900, 100, 0, -900]);
  });

  it("W-B1: the first push of a URL is accepted, every later one a duplicate", async () => {
    const { frontier, given } = await open();
    const other = await openRedisFrontier(given);
    onTestFinished(() => other.close());
    expect(await statuses(frontier, [A, A])).toEqual(["accepted", "duplicate"]);
    expect((await frontier.push(A)).status).toBe("duplicate");
    expect((await other.push(A)).status).toBe("duplicate"); // it was never in that one's memory
    expect((await other.push(`${A}other`)).status).toBe("accepted");
    expect((await frontier.report()).pending).toBe(2);
  });

  it("W-B10: equal priorities are first in first out, left is counted, and no two pollers get one URL", async () => {
    const { frontier, given } = await open();
    const list = pages(60);
    await frontier.pushMany(list.map((url, at) => ({ url, priority: at % 2 === 0 ? 0 : 7 })));
    expect((await frontier.report()).pending).toBe(60);
    const other = await openRedisFrontier(given);
    onTestFinished(() => other.close());
    const odd = list.filter((_, at) => at % 2 === 1);
    expect(urls(await frontier.pollMany(30))).toEqual(odd);
    const [mine, theirs] = await Promise.all([frontier.pollMany(15), other.pollMany(15)]);
    expect(new Set(urls([...mine, ...theirs])).size).toBe(30);
    expect(await frontier.report()).toMatchObject({ pending: 0, leased: 60 });
  });

  it("W-B11: two requests of one URL keep what is theirs, and what is finished leaves no payload behind", async () => {
    const { frontier } = await open();
    const post = (body: string): RequestLike => ({ url: A, method: "POST", body, data: { body } });
    await frontier.pushMany([post("one"), post("two")]);
    const leases = await drained(frontier);
    expect(leases.map(({ data }) => data)).toEqual([{ body: "one" }, { body: "two" }]);
    await frontier.done(leases);
    // The keys alone: buffers of connections come and go.
    const bytes = async (): Promise<number> => {
      const { Redis } = await import("ioredis");
      const client = new Redis({ path: (server as RedisServer).socket });
      let sum = 0;
      for (const key of await client.keys("*")) {
        sum += Number(await client.memory("USAGE", key, "SAMPLES", 0));
      }
      client.disconnect();
      return sum;
    };
    const before = await bytes();
    const fill = "x".repeat(2_000);
    for (let round = 0; round < 5; round++) {
      await frontier.pushMany(pages(200, `r${round}.com`).map((url) => ({ url, data: fill })));
      await frontier.done(await drained(frontier));
    }
    // 1,000 finished URLs with 2,000 bytes each: what stays is what dedup needs.
    const left = (await bytes()) - before;
    expect(left).toBeLessThan(1_000 * 100);
  });
});

describe("NEOCrawler in Redis", () => {
  it("N10: a URL's record has rule, state, depth, attempts and where it was found", async () => {
    const { frontier } = await open({ rules: [{ id: "a.com:list", match: { hosts: ["a.com"] } }] });
    await frontier.push({ url: A, data: { js: true } });
    const lease = await take(frontier);
    await lease.done({ found: [`${A}detail/1`] });
    expect(await frontier.record(A)).toMatchObject({ state: "done", attempts: 1, depth: 0 });
    expect(await frontier.record(`${A}detail/1`)).toMatchObject({
      ...{ state: "pending", rule: "a.com:list", depth: 1, parent: lease.fingerprint },
    });
  });

  it("N11: each state of a URL is seen as it comes: hit, crawling, failure, again, finished", async () => {
    const { frontier } = await open();
    const states: Array<string | undefined> = [];
    const look = async (): Promise<void> => {
      states.push((await frontier.record(A))?.state);
    };
    await look();
    await frontier.push(A);
    await look();
    const first = await take(frontier);
    await look();
    await first.fail("crawled_failure");
    await look();
    await frontier.requeue({ state: "failed" });
    await look();
    await (await take(frontier)).done();
    await look();
    expect(states).toEqual([undefined, "pending", "leased", "failed", "pending", "done"]);
  });

  it("N12: pending and failed go, a leased one after its deadline, a finished one after its interval, unknown never", async () => {
    const { frontier, clock } = await open({
      ...{ leaseMs: 60_000 },
      defaults: { epoch: { every: HOUR }, maxAttempts: 1 },
    });
    expect(await frontier.poll()).toBeUndefined();
    await frontier.pushMany([`${A}1`, `${A}2`, `${A}3`]);
    const [one, two] = (await frontier.pollMany(3)) as [AsyncLease, AsyncLease];
    await one.done();
    await two.fail();
    expect(await frontier.poll()).toBeUndefined();
    expect(await frontier.requeue({ state: "failed" })).toBe(1);
    expect((await take(frontier)).url).toBe(`${A}2`);
    clock.advance(HOUR);
    expect(urls(await drained(frontier))).toContain(`${A}1`);
  });

  it("N13: found again, it is taken when failed at once, when done after its interval, else never twice", async () => {
    const { frontier, clock } = await open({
      defaults: { epoch: { every: HOUR }, maxAttempts: 1 },
    });
    const push = async (): Promise<string> => (await frontier.push(A)).status;
    expect([await push(), await push()]).toEqual(["accepted", "duplicate"]);
    const lease = await take(frontier);
    expect(await push()).toBe("duplicate");
    await lease.fail();
    expect(await push()).toBe("accepted");
    await (await take(frontier)).done();
    clock.advance(HOUR - 1);
    expect(await push()).toBe("duplicate");
    clock.advance(1);
    expect(await push()).toBe("accepted");
  });

  it("N14: a new version makes finished pages new at once, and the old ones stay known", async () => {
    const branch = (version: number) => [{ id: "list", epoch: { version } }];
    const { frontier } = await open({ rules: branch(1) });
    await frontier.push(A);
    await (await take(frontier)).done();
    expect((await frontier.push(A)).status).toBe("duplicate");
    await frontier.setRules(branch(2));
    expect((await frontier.push(A)).status).toBe("accepted");
    await frontier.setRules(branch(1));
    expect((await frontier.push(A)).status).toBe("duplicate");
  });

  it("N15: only the named parameters count, in their order, or none at all", async () => {
    const accepted = async (keepParams: string[] | "none", ...list: string[]): Promise<number> => {
      const { frontier } = await open({ defaults: { key: { keepParams } } });
      return (await frontier.pushMany(list)).accepted;
    };
    const base = "http://a.com/show";
    const some = [`${base}?p=1&id=7&s=x`, `${base}?id=7&p=1`, `${base}?id=8`];
    expect(await accepted(["id", "p"], ...some)).toBe(2);
    expect(await accepted("none", `${base}?a=1`, `${base}?b=2`, base)).toBe(1);
  });

  it("N16: pending pages of a rule that is gone find another one, the rest fails and can be listed", async () => {
    const { frontier } = await open({ rules: [{ id: "old" }] });
    await frontier.pushMany([A, "http://b.com/"]);
    await frontier.setRules([{ id: "new", match: { hosts: ["a.com"] } }]);
    const [lease] = await frontier.take();
    expect(lease?.rule).toBe("new");
    await expect.poll(async () => (await frontier.report()).failed).toBe(1);
    const failed: Array<string | undefined> = [];
    for await (const { url } of frontier.records({ state: "failed" })) failed.push(url);
    expect(failed).toEqual(["http://b.com/"]);
  });

  it("N17: a change of rules is in force in every process within a second, and leases keep what they have", async () => {
    const { frontier, given } = await open({
      rules: [{ id: "detail" }, { id: "off", active: false }],
    });
    const { rules: _, ...same } = given;
    const other = await openRedisFrontier(same);
    onTestFinished(() => other.close());
    await frontier.push(A);
    const lease = await take(frontier);
    await other.setRules([{ id: "list", match: { hosts: ["b.com"] } }], "v2");
    const begin = performance.now();
    const refused = async (): Promise<string | undefined> =>
      (await frontier.push(`${A}${performance.now()}`)).reason;
    await expect.poll(refused).toBe("no-rule");
    console.log(`rules in force elsewhere after ${Math.round(performance.now() - begin)} ms`);
    expect(lease.rule).toBe("detail");
    expect((await lease.done()).late).toBe(false);
    expect((await frontier.rules())?.map(({ id }) => id)).toEqual(["list"]);
  });

  it("N18: one process dies with its leases, the others go on and get them back", async () => {
    const { frontier, clock, given } = await open({ leaseMs: 60_000 });
    const dying = await openRedisFrontier(given);
    onTestFinished(() => dying.close());
    await frontier.pushMany(pages(4));
    const lost = await dying.pollMany(2); // its process is gone from here on
    const mine = await frontier.pollMany(9);
    expect(await frontier.done(mine)).toBe(2);
    expect(await frontier.poll()).toBeUndefined();
    clock.advance(60_000);
    const again = await drained(frontier);
    expect(urls(again).sort()).toEqual(urls(lost).sort());
    expect(await frontier.done(again)).toBe(2);
    expect(await dying.done(lost)).toBe(0); // whoever comes back is late
    expect(await frontier.report()).toMatchObject({ done: 4, lateResults: 2, expired: 2 });
  });

  it("N19: as many attempts as the rule says, then the failed ones can be listed with their reason", async () => {
    const { frontier } = await open({ defaults: { maxAttempts: 3 } });
    await frontier.push(A);
    let attempts = 0;
    for (let lease = await frontier.poll(); lease; lease = await frontier.poll()) {
      attempts++;
      await lease.retry({ reason: "short page" });
    }
    expect(attempts).toBe(3);
    const failed: unknown[] = [];
    for await (const each of frontier.records({ state: "failed" })) failed.push(each);
    expect(failed).toMatchObject([{ url: A, attempts: 3, failure: { reason: "short page" } }]);
  });

  it("N20: the failed ones of one rule are put back", async () => {
    const rules = ["a", "b"].map((id) => ({ id, match: { hosts: [`${id}.com`] } }));
    const { frontier } = await open({ rules });
    await frontier.pushMany([...pages(3, "a.com"), ...pages(3, "b.com")]);
    for (const lease of await drained(frontier)) await lease.fail();
    expect(await frontier.requeue({ state: "failed", rule: "b" })).toBe(3);
    expect(new Set((await drained(frontier)).map(({ rule }) => rule))).toEqual(new Set(["b"]));
  });

  it("N21: rules take turns by their shares, and keep their own order", async () => {
    const rules = ["a", "b"].map((id) => ({ id, match: { hosts: [`${id}.com`] }, share: {} }));
    const { frontier } = await open({ rules });
    await frontier.pushMany([...pages(3, "b.com"), ...pages(3, "a.com")]);
    const leases = await drained(frontier);
    expect(leases.map(({ rule }) => rule)).toEqual(["a", "b", "a", "b", "a", "b"]);
    expect(urls(leases.filter(({ rule }) => rule === "b"))).toEqual(pages(3, "b.com"));
  });

  it("N-B6: a dead spider's URL comes back at its deadline, not only when it is found again", async () => {
    const { frontier, clock, given } = await open({ leaseMs: 60_000 });
    const spider = await openRedisFrontier(given);
    onTestFinished(() => spider.close());
    await frontier.push(A);
    await take(spider);
    expect(await frontier.nextDueAt()).toBeLessThanOrEqual(clock.now() + 60_000);
    clock.advance(59_999);
    expect(await frontier.poll()).toBeUndefined();
    clock.advance(1);
    expect(await take(frontier)).toMatchObject({ url: A, attempt: 2, deliveries: 2 });
  });
});
