/** A poll that found nothing took as many steps in the server as one that had something. */
import { afterAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { openRedisFrontier } from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { steeredClient } from "../support/steered-client.ts";
import { skipUnless } from "../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

let count = 0;
type Options = Partial<Parameters<typeof openRedisFrontier>[0]>;
async function open(options: Options = {}) {
  const redis = server?.socket as string;
  const frontier = await openRedisFrontier({
    redis,
    name: `i${++count}`,
    partitions: 1,
    ...options,
  });
  onTestFinished(() => frontier.close());
  return frontier;
}

/** Commands that a step runs in the server, those of its scripts included. */
async function commandsOf(step: () => Promise<unknown>): Promise<number> {
  await server?.call("CONFIG", "RESETSTAT");
  await step();
  const info = String(await server?.call("INFO", "commandstats"));
  const counts = [...info.matchAll(/^cmdstat_(\w+)\S*?:calls=(\d+)/gm)];
  const own = counts.filter(([, name = ""]) => !/^(eval|info|config|client|ping)/.test(name));
  return own.reduce((sum, [, , calls]) => sum + Number(calls), 0);
}

it("an idle poll takes few steps, whatever waits for its time", async () => {
  const frontier = await open({ defaults: { politeness: { delayMs: 3_600_000 } } });
  await frontier.pushMany(["http://a.org/1", "http://a.org/2", "http://b.org/1"]);
  await frontier.push({ url: "http://c.org/", notBefore: Date.now() + 3_600_000 });
  const [first, second] = await frontier.pollMany(10);
  await first?.done();
  expect(await frontier.pollMany(10)).toEqual([]);
  // The message of that end may come later than its answer, and ends what is known.
  await vi.waitFor(async () =>
    expect(await commandsOf(() => frontier.pollMany(10))).toBeLessThanOrEqual(2),
  );
  // What ends that wait is seen by the next poll all the same.
  await second?.release();
  expect((await frontier.pollMany(10)).map(({ url }) => url)).toEqual([second?.url]);
  expect(await frontier.pollMany(10)).toEqual([]);
  await frontier.push("http://d.org/");
  expect((await frontier.pollMany(10)).map(({ url }) => url)).toEqual(["http://d.org/"]);
});

it("polls that find nothing name the earliest time at which there is something, and have it then", async () => {
  const clock = createVirtualClock(1_700_000_000_000);
  const frontier = await open({ clock });
  await frontier.pushMany(["http://a.org/1", "http://b.org/1"]);
  const [first] = await frontier.pollMany(1, { leaseMs: 300 });
  expect(await frontier.pollMany(5, { leaseMs: 600_000 })).toHaveLength(1);
  for (let polls = 0; polls < 3; polls++) {
    expect(await frontier.pollMany(5)).toEqual([]);
    expect((await frontier.report()).waitingUntil).toBe(clock.now() + 300);
  }
  clock.advance(300);
  expect((await frontier.pollMany(5)).map(({ url }) => url)).toEqual([first?.url]);
});

it("polls of a pause, or beyond the most leases, stay empty until that ends", async () => {
  const frontier = await open({ maxLeases: 1 });
  await frontier.pushMany(["http://a.org/1", "http://b.org/1", "http://c.org/1"]);
  const [first] = await frontier.pollMany(5);
  for (let polls = 0; polls < 3; polls++) expect(await frontier.pollMany(5)).toEqual([]);
  await first?.done();
  const [second] = await frontier.pollMany(5);
  expect(second).toBeDefined();
  await frontier.pause();
  await second?.done();
  for (let polls = 0; polls < 3; polls++) expect(await frontier.pollMany(5)).toEqual([]);
  await frontier.resume();
  expect(await frontier.pollMany(5)).toHaveLength(1);
});

it("what other processes change is seen by the next poll, though no message comes", async () => {
  const clock = createVirtualClock(1_700_000_000_000);
  const name = `other${++count}`;
  const client = steeredClient(server?.socket as string);
  onTestFinished(() => client.end());
  const deaf = await open({ name, clock, redis: client });
  const other = await open({ name, clock });
  const polled = async () => (await deaf.pollMany(5)).map(({ url }) => url);
  const settled = async () => {
    for (let polls = 0; polls < 3; polls++) expect(await polled()).toEqual([]);
  };
  await other.push({ url: "http://a.org/", notBefore: clock.now() + 20_000 });
  await settled();
  await other.push({ url: "http://b.org/", notBefore: clock.now() + 10_000 });
  clock.advance(10_000);
  expect(await polled()).toEqual(["http://b.org/"]);
  await settled();
  clock.advance(10_000);
  expect(await polled()).toEqual(["http://a.org/"]);
  await other.host("c.org").hold();
  await other.push("http://c.org/");
  await settled();
  await other.host("c.org").unhold();
  expect(await polled()).toEqual(["http://c.org/"]);
  await other.host("d.org").blockUntil(clock.now() + 90_000);
  await other.push("http://d.org/");
  await settled();
  await other.host("e.org").blockUntil(clock.now() + 5_000);
  await other.push("http://e.org/");
  clock.advance(5_000);
  expect(await polled()).toEqual(["http://e.org/"]);
  await settled();
  await other.pause();
  await settled();
  await other.push("http://f.org/");
  await settled();
  await other.resume();
  expect(await polled()).toEqual(["http://f.org/"]);
});

it("a server that lost what it had, or its scripts, leaves no process asleep", async () => {
  const clock = createVirtualClock(1_700_000_000_000);
  const name = `lost${++count}`;
  const client = steeredClient(server?.socket as string);
  onTestFinished(() => client.end());
  const deaf = await open({ name, clock, redis: client });
  const other = await open({ name, clock });
  await other.push({ url: "http://a.org/", notBefore: clock.now() + 20_000 });
  for (let polls = 0; polls < 3; polls++) expect(await deaf.pollMany(5)).toEqual([]);
  await server?.call("SCRIPT", "FLUSH");
  expect(await deaf.pollMany(5)).toEqual([]);
  await other.clear();
  await other.push({ url: "http://b.org/", notBefore: clock.now() + 10_000 });
  clock.advance(10_000);
  expect((await deaf.pollMany(5)).map(({ url }) => url)).toEqual(["http://b.org/"]);
});
