/** A frontier on a thread of its own answers as one on this thread does, with promises. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import { openFrontierThread } from "../../../../src/engine/owner-thread/open-frontier-thread.ts";
import type { AsyncFrontier } from "../../../../src/engine/types/async-frontier.ts";
import type { FrontierError } from "../../../../src/base/errors.ts";
import type {
  Frontier,
  FrontierOptions,
  PushResult,
  RequestLike,
} from "../../../../src/engine/types/frontier-types.ts";

const opened: AsyncFrontier[] = [];
async function open(options?: FrontierOptions): Promise<AsyncFrontier> {
  const frontier = await openFrontierThread(options);
  opened.push(frontier);
  return frontier;
}
afterEach(async () => {
  for (const frontier of opened.splice(0)) await frontier.close();
});

const A = "http://a.test/";
const B = "http://b.test/";

/** What a call gives, or throws, without what the clock says. */
async function answerOf<T>(frontier: T, call: (frontier: T) => unknown): Promise<unknown> {
  try {
    const answer = await call(frontier);
    if (typeof answer !== "object" || answer === null || !("verdict" in answer)) return answer;
    const result = answer as PushResult;
    if (typeof result.verdict !== "function") return answer;
    const codes = Array.from({ length: result.size }, (_, at) => result.verdict(at));
    return { ...result, verdict: undefined, codes };
  } catch (cause) {
    const { code, message } = cause as FrontierError;
    return ["thrown", code, message];
  }
}

type Call = (frontier: Frontier) => unknown;

/** Calls with what is none of what they take, by name. */
function oddCalls(): Array<[string, Call]> {
  const unsendable = { url: A, data: () => 1 };
  const unreadable = {
    get url() {
      throw new Error("no");
    },
  };
  const lists = [undefined, null, 5, A, [5], [unsendable, B]] as never[];
  const odd = [() => 1, { url: A, data: Symbol() }, unreadable] as never[];
  const options = [null, 5, { max: 0, batch: 0 }, { signal: 5 }, { odd: 1 }] as never[];
  const results = [{ found: 5 }, { found: A }, { found: [() => 1, B] }, { found: [unsendable] }];
  const of = <T>(name: string, given: readonly T[], call: (one: Frontier, what: T) => unknown) =>
    given.map((what, at): [string, Call] => [`${name} ${at}`, (one) => call(one, what)]);
  return [
    ...of("pushMany", lists, (one, list) => one.pushMany(list)),
    ...of("pushFrom", lists, (one, list) => one.pushFrom(list)),
    ...of("done", lists, (one, list) => one.done(list)),
    ...of("push", odd, (one, request) => one.push(request)),
    ...of("explain", odd, async (one, request) => (await one.explain(request)).verdict),
    ...of("take", options, (one, given) => one.take(given)),
    ...of("pushFrom of none", options, (one, given) => one.pushFrom([], given)),
    ...of("on", ["odd", "done"] as never[], (one, event) => one.on(event, 5 as never)),
    ...of("verdict", [A, B], async (one, url) => Object.isFrozen(await one.push(url))),
    ...of("same", [A], async (one, url) => Object.is(await one.push(url), await one.push(B))),
    ...of("lease.done", [null, 5, ...results, { errors: [() => 1] }], async (one, result) => {
      await one.push({ url: A, dedup: "skip" });
      const [lease] = await one.pollMany(1);
      return lease?.done(result as never);
    }),
  ];
}

/** What a program sees of a frontier, whichever thread owns it. */
async function play(frontier: Frontier | AsyncFrontier): Promise<unknown[]> {
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
  const failed: unknown[] = [];
  for await (const { url } of await frontier.records({ state: "failed" })) failed.push(url);
  seen.push(failed);
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

  it("emits events, changes hosts and keeps the state", async () => {
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
    await expect(frontier.pollMany(-1)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    await expect(frontier.done([proxy as never])).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
    });
    const waiting = frontier.take();
    await frontier.close();
    await frontier.close();
    expect(await waiting).toEqual([]);
    await expect(frontier.report()).rejects.toMatchObject({ code: "FRONTIER_CLOSED" });
  });

  it("answers odd requests and arguments as one on this thread does", async () => {
    const here = await openFrontier();
    const there = await open();
    for (const [name, call] of oddCalls()) {
      const [expected, told] = [await answerOf(here, call), await answerOf(there as never, call)];
      expect([name, told]).toEqual([name, expected]);
    }
    await here.close();
  });

  it("answers as any closed frontier once it is closed, what was under way too", async () => {
    const here = await openFrontier();
    const there = await open();
    const told: unknown[] = [];
    for (const frontier of [here, there]) {
      await frontier.pushMany([A, B]);
      const lease = await frontier.poll();
      const closing = frontier.close();
      const rounds: unknown[] = [];
      for (let round = 0; round < 2; round++) {
        const answers = [
          ...[
            frontier.push(A),
            frontier.poll(),
            frontier.pollMany(3),
            frontier.take(),
            frontier.done([]),
          ],
          ...[
            lease?.retry(),
            lease?.fail(),
            lease?.release(),
            lease?.extend(5),
            lease?.redirect(B),
          ],
        ];
        const pushed = await frontier.pushMany([A, B]);
        const urls: string[] = [];
        for await (const { url } of frontier) urls.push(url);
        rounds.push(await Promise.all(answers), [pushed.size, pushed.verdict(1)], urls);
        rounds.push(
          await answerOf(frontier, (one: Frontier | AsyncFrontier) => one.report()),
          (await lease?.done())?.late,
        );
        await closing;
      }
      told.push(rounds);
    }
    expect(told[1]).toEqual(told[0]);
    expect(await there.status()).toBe("stopped");
  });

  it("answers as a closed one while it still closes, of leases that were settled too", async () => {
    const answers: unknown[] = [];
    for (const frontier of [await openFrontier(), await open()]) {
      await frontier.pushMany([A]);
      const lease = await frontier.poll();
      await lease?.done();
      const closing = frontier.close();
      const told = [lease?.redirect(B), lease?.retry(), lease?.done(), lease?.extend(5)];
      answers.push(await Promise.all(told));
      await closing;
    }
    expect(answers[1]).toMatchObject([{ status: "closed" }, "late", { late: true }, false]);
    expect(answers[0]).toMatchObject([{ status: "closed" }, "late", { late: true }, false]);
  });

  it("reports a listener that throws, and continues", async () => {
    const frontier = await open();
    const faults: unknown[] = [];
    frontier.on("accepted", () => {
      throw new Error("deaf");
    });
    const heard: string[] = [];
    frontier.on("accepted", (views) => heard.push(...views.map(({ url }) => url)));
    const off = frontier.on("error", ({ kind, stage, cause }) => {
      faults.push([kind, stage, (cause as Error).message]);
    });
    await frontier.push(A);
    expect(faults).toEqual([["listener", "accepted", "deaf"]]);
    expect(heard).toEqual([A]);
    off();
    off();
  });

  it("keeps what a source returned before it failed, and releases one that hangs", async () => {
    const frontier = await open({ capacity: 3 });
    async function* broken(): AsyncIterable<RequestLike> {
      yield A;
      throw new Error("broken");
    }
    await expect(frontier.pushFrom(broken())).rejects.toThrow("broken");
    expect((await frontier.record(A))?.state).toBe("pending");
    const controller = new AbortController();
    async function* hanging(): AsyncIterable<RequestLike> {
      yield B;
      await new Promise(() => undefined);
    }
    const pushing = frontier.pushFrom(hanging(), { signal: controller.signal });
    while ((await frontier.record(B)) === undefined);
    const { signal } = controller;
    const full = frontier.pushFrom(["http://c.test/", "http://d.test/"], { signal });
    while ((await frontier.report()).full === 0);
    controller.abort(new Error("enough"));
    await expect(pushing).rejects.toThrow("enough");
    await expect(full).rejects.toThrow("enough");
    await frontier.done(await frontier.take({ max: 3 }));
    expect(await frontier.take()).toEqual([]); // no source keeps it from its end
  });

  it("closes although a source hangs, and reports what it read after that", async () => {
    for (const frontier of [await openFrontier(), await open()]) {
      let give: () => void = () => undefined;
      const given = new Promise<void>((resolve) => {
        give = resolve;
      });
      async function* hanging(): AsyncIterable<RequestLike> {
        yield A;
        await given;
        yield B;
      }
      const pushing = frontier.pushFrom(hanging());
      while ((await frontier.record(A)) === undefined) await new Promise(setImmediate);
      await frontier.close();
      give();
      const result = await pushing;
      const { size, accepted } = result;
      expect([size, accepted, result.verdict(1).status]).toEqual([2, 1, "closed"]);
    }
  });

  it("ends a next that waits when the iterator is left from outside", async () => {
    for (const frontier of [
      await openFrontier({ keepOpen: true }),
      await open({ keepOpen: true }),
    ]) {
      const leases = frontier[Symbol.asyncIterator]() as AsyncGenerator<{ url: string }>;
      const waiting = leases.next();
      expect(await leases.return(undefined)).toEqual({ done: true, value: undefined });
      expect(await waiting).toEqual({ done: true, value: undefined });
      expect(await leases.next()).toEqual({ done: true, value: undefined });
      await frontier.push(A); // nobody waits for it any more
      expect((await frontier.report()).leased).toBe(0);
      const others = frontier[Symbol.asyncIterator]() as AsyncGenerator<{ url: string }>;
      const [first, second] = [others.next(), others.next()];
      const pushing = frontier.push(B);
      const left = others.return(undefined);
      // What was there before is the first one's, whatever it was left for.
      expect((await first).value?.url).toBe(A);
      await Promise.all([pushing, left]);
      expect((await second).done).toBe(true);
      await frontier.close();
    }
  });

  it("passes listeners nothing that was under way before they were added", async () => {
    const heard: string[] = [];
    for (const frontier of [await openFrontier(), await open()]) {
      const note = (name: string) => (views: ReadonlyArray<{ url: string }>) =>
        heard.push(...views.map(({ url }) => `${name} ${url}`));
      frontier.on("accepted", note("first"));
      const pushing = frontier.push(A);
      frontier.on("accepted", note("second"));
      await Promise.all([pushing, frontier.push(B)]);
      expect(heard.splice(0)).toEqual([`first ${A}`, `first ${B}`, `second ${B}`]);
      await frontier.close();
    }
  });

  it("refuses by name what is no host and no setting of one", async () => {
    const frontier = await open();
    expect(() => frontier.host("")).toThrow(/key: "" \(expected: a host/);
    const host = frontier.host("a.test");
    const odd = [
      { odd: 1 },
      5,
      { delayMs: -1 },
      { limit: 0 },
      { address: 5 },
      undefined,
    ] as never[];
    for (const change of odd) {
      await expect(host.set(change)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    }
    await expect(host.set({ delayMs: 5, limit: 0 })).rejects.toThrow(/limit: 0/);
    expect(await host.view()).toMatchObject({ delayMs: 0 });
    await frontier.close();
    await expect(host.hold()).rejects.toMatchObject({ code: "FRONTIER_CLOSED" });
    expect(() => frontier.host("a.test")).toThrow(/closed/);
  });

  it("keeps its directory, and threads work at it through shared memory", async () => {
    const directory = mkdtempSync(join(tmpdir(), "outrider-thread-"));
    try {
      const first = await open({ directory, durability: "sync" });
      await first.pushMany(Array.from({ length: 50 }, (_, at) => `http://a.test/${at}`));
      await first.close();
      const frontier = await open({ directory });
      const file = new URL("../../../support/port-thread.mjs", import.meta.url);
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
