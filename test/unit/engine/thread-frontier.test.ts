/** A frontier on a thread of its own answers as one on this thread does, with promises. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { openFrontier } from "../../../src/engine/open.ts";
import { openFrontierThread } from "../../../src/engine/open-thread.ts";
import type { ThreadFrontier } from "../../../src/engine/thread-frontier.ts";
import type { Frontier, FrontierOptions, RequestLike } from "../../../src/engine/types.ts";

const opened: ThreadFrontier[] = [];
async function open(options?: FrontierOptions): Promise<ThreadFrontier> {
  const frontier = await openFrontierThread(options);
  opened.push(frontier);
  return frontier;
}
afterEach(async () => {
  for (const frontier of opened.splice(0)) await frontier.close();
});

/** What a program sees of a frontier, whichever thread owns it. */
async function play(frontier: Frontier | ThreadFrontier): Promise<unknown[]> {
  const seen: unknown[] = [];
  const pushed = await frontier.pushMany([
    "http://a.test/1",
    "http://a.test/1#top",
    "no url",
    { url: "http://b.test/", priority: 5, data: { deep: [1n, new Date(0)] }, handler: "page" },
  ]);
  seen.push({ ...pushed, codes: [0, 1, 2, 3].map((at) => pushed.verdict(at)) });
  seen.push(await frontier.push("http://c.test/"), await frontier.push("mailto:a@b.test"));
  seen.push(await frontier.peek(2), await frontier.explain("http://a.test/1"));
  const leases = await frontier.pollMany(3);
  seen.push(
    leases.map(({ url, priority, depth, data, handler, host, fingerprint }) => {
      return { url, priority, depth, data, handler, host, fingerprint };
    }),
  );
  const [first, second, third] = leases;
  const done = await first?.done({ found: ["http://a.test/child", "http://a.test/1"] });
  seen.push({ ...done, codes: [0, 1].map((at) => done?.verdict(at)) });
  seen.push(await first?.done(), await first?.retry(), await second?.retry({ delayMs: 0 }));
  seen.push(await third?.redirect("http://a.test/moved"), await third?.extend(1_000));
  seen.push(await third?.release(), await third?.fail("again"));
  seen.push(await frontier.record("http://b.test/"), await frontier.record("http://none.test/"));
  const more = await frontier.pollMany(10);
  seen.push(more.map(({ url, attempt, parent, redirects }) => [url, attempt, parent, redirects]));
  seen.push(await more[0]?.fail("gone"), await frontier.done(more.slice(1) as never));
  seen.push([...(await frontier.records({ state: "failed" }))].map(({ url }) => url));
  seen.push(await frontier.requeue({ state: "failed" }));
  const { pushed: count, accepted, duplicate, rejected, done: finished } = await frontier.report();
  seen.push({ count, accepted, duplicate, rejected, finished });
  return seen.map(plain);
}

/** Without what no message carries, and what the clock says. */
function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { verdict, dueAt, ...rest } = value as Record<string, unknown>;
  return typeof verdict === "function" ? { ...rest } : { ...rest, verdict };
}

describe("a frontier on a thread of its own", () => {
  it("answers every call as one on this thread does", async () => {
    const here = await openFrontier();
    const there = await open();
    const wrapped = new Proxy(here, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => value.apply(target, args);
      },
    });
    expect(await play(there)).toEqual(await play(wrapped));
    await here.close();
  });

  it("waits for work, tells when all is done, and ends a wait by its signal", async () => {
    const frontier = await open();
    const waiting = frontier.take({ max: 5 });
    await frontier.push("http://a.test/");
    const [lease] = await waiting;
    expect(lease?.url).toBe("http://a.test/");
    const controller = new AbortController();
    const second = frontier.take({ signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    const third = frontier.take();
    await lease?.done();
    expect(await third).toEqual([]);
    const urls: string[] = [];
    await frontier.push("http://b.test/");
    for await (const one of frontier) {
      urls.push(one.url);
      await one.done({ found: one.depth < 2 ? [`${one.url}x`] : [] });
    }
    expect(urls).toEqual(["http://b.test/", "http://b.test/x", "http://b.test/xx"]);
  });

  it("takes from a source as fast as there is room, and is not finished while it runs", async () => {
    const frontier = await open({ capacity: 10 });
    async function* source(): AsyncIterable<RequestLike> {
      for (let at = 0; at < 95; at++) yield `http://a.test/${at}`;
    }
    const pushing = frontier.pushFrom(source(), { batch: 7 });
    let count = 0;
    for (;;) {
      const leases = await frontier.take({ max: 4 });
      if (leases.length === 0) break;
      expect((await frontier.report()).pending).toBeLessThanOrEqual(10);
      count += await frontier.done(leases);
    }
    expect(count).toBe(95);
    expect(await pushing).toMatchObject({ size: 95, accepted: 95, full: 0 });
  });

  it("tells events, steers hosts and keeps the state", async () => {
    const frontier = await open({ defaults: { politeness: { delayMs: 10 } } });
    const told: unknown[] = [];
    const off = frontier.on("done", (views) => told.push(views.map(({ url }) => url)));
    frontier.on("error", ({ stage, cause }) => told.push([stage, (cause as Error).message]));
    await frontier.push("http://a.test/");
    const lease = await frontier.poll();
    await lease?.done({ errors: [new Error("odd")] });
    off();
    await frontier.report(); // its answer comes behind what was told before
    expect(told).toContainEqual(["http://a.test/"]);
    expect(told).toContainEqual(["done", "odd"]);
    const host = frontier.host("a.test");
    await host.set({ delayMs: 5_000, limit: 3 });
    await host.hold();
    expect(await host.view()).toMatchObject({ delayMs: 5_000, limit: 3, held: true });
    await frontier.setState({ page: 7 });
    expect(await frontier.state()).toEqual({ page: 7 });
    await frontier.setRules([{ id: "only", match: { hosts: ["b.test"] } }], 2);
    expect(await frontier.push("http://x.test/")).toMatchObject({ reason: "no-rule" });
    expect(await frontier.status()).toBe("running");
  });

  it("says what it can not take, with the codes of every frontier", async () => {
    await expect(openFrontierThread({ accept: () => true })).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
    await expect(openFrontierThread({ capacity: -1 })).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
    const frontier = await open();
    await expect(frontier.push({ url: "http://a.test/", data: () => 1 })).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
    });
    await expect(frontier.pollMany(-1)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    const waiting = frontier.take();
    await frontier.close();
    await frontier.close();
    expect(await waiting).toEqual([]);
    await expect(frontier.report()).rejects.toMatchObject({ code: "FRONTIER_CLOSED" });
  });

  it("keeps its directory, and threads work at it through shared memory", async () => {
    const directory = mkdtempSync(join(tmpdir(), "outrider-thread-"));
    try {
      const first = await open({ directory, durability: "sync" });
      await first.pushMany(Array.from({ length: 50 }, (_, at) => `http://a.test/${at}`));
      await first.close();
      const frontier = await open({ directory });
      const file = new URL("../../support/port-thread.mjs", import.meta.url);
      const workerData = { handle: await frontier.share(), job: "work", max: 8 };
      const worker = new Worker(file, { workerData });
      const urls = await new Promise<string[]>((resolve, reject) => {
        worker.once("message", resolve);
        worker.once("error", reject);
      });
      expect(new Set(urls).size).toBe(50);
      expect(await frontier.report()).toMatchObject({ done: 50, pending: 0, leased: 0 });
      await frontier.close();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
