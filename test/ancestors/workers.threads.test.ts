/** Rows of the ancestors that need threads: whoever works, and whoever dies, each URL is visited as if there were one. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import { attach } from "../../src/workers/remote/worker-port.ts";
import type { Frontier } from "../../src/engine/types/frontier-types.ts";
import {
  attachConsumer,
  attachProducer,
  createSpscLane,
  laneNext,
  lanePublish,
  laneSend,
  spscBytes,
} from "../../src/structures/threads/spsc-lane.ts";
import { until, untilIdle, withPool } from "../support/pool.ts";

const urlsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `http://host${at % 7}.test/page/${at}`);

/** A thread of our own at the frontier; what it posted. */
function thread<T>(frontier: Frontier, workerData: object): Promise<T> {
  const file = new URL("../support/port-thread.mjs", import.meta.url);
  const worker = new Worker(file, { workerData: { handle: frontier.share(), ...workerData } });
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

describe("worker threads, row by row", () => {
  it("W3: of what four threads push at once, each URL is accepted exactly once", async () => {
    const frontier = await openFrontier();
    const urls = urlsOf(100_000);
    const jobs = [0, 1, 2, 3].map((at) => {
      const turned = [...urls.slice(at * 24_000), ...urls.slice(0, at * 24_000)];
      return thread<Record<string, number>>(frontier, { job: "push", urls: turned, batch: 500 });
    });
    const answers = await Promise.all(jobs);
    await until(() => frontier.report().pushed === 400_000, "all drained");
    const { accepted, duplicate, rejected } = frontier.report();
    expect({ accepted, duplicate, rejected }).toEqual({
      accepted: 100_000,
      duplicate: 300_000,
      rejected: {},
    });
    for (const { queued = 0, duplicate: known = 0 } of answers) {
      expect(queued + known).toBe(100_000);
    }
    await frontier.close();
  });

  it("W16: many workers at one frontier get every lease exactly once", async () => {
    const frontier = await openFrontier();
    const urls = urlsOf(20_000);
    frontier.pushMany(urls);
    const jobs = [1, 7, 64].map((max) => thread<string[]>(frontier, { job: "work", max }));
    const got = (await Promise.all(jobs)).flat();
    expect(got).toHaveLength(urls.length);
    expect(new Set(got)).toEqual(new Set(urls));
    expect(frontier.report()).toMatchObject({ done: 20_000, retried: 0, expired: 0 });
    await frontier.close();
  });

  it("V17: a handler that throws is a retry, one that returns is done, and it may say otherwise itself", async () => {
    await withPool({ frontier: { defaults: { maxAttempts: 2 } } }, async ({ frontier, pool }) => {
      frontier.push({ url: "http://a.test/1", handler: "throws" });
      frontier.push({ url: "http://a.test/2" });
      frontier.push({ url: "http://a.test/3", handler: "hold" });
      await pool.run();
      expect(frontier.report()).toMatchObject({ done: 1, failed: 2, retried: 1 });
    });
  });

  it("V29: the number of workers is set while they run", async () => {
    await withPool({ pool: { threads: 1, concurrency: 1 } }, async ({ frontier, pool }) => {
      for (const url of urlsOf(150)) frontier.push({ url, handler: "naps" });
      const run = pool.run();
      pool.resize(3);
      await until(() => pool.report().workers.length === 3, "three workers");
      pool.resize(1);
      await run;
      expect(frontier.report().done).toBe(150);
    });
  });

  it("S22: a redirect takes along what its request said, also where a worker says it", async () => {
    await withPool({}, async ({ frontier, pool }) => {
      const body = new Uint8Array([1, 2, 3]);
      const headers = { cookie: "a=1", "x-kept": "yes" };
      const data = { to: "http://b.test/moved" };
      frontier.push({
        ...{ url: "http://a.test/1", method: "PUT", body, headers, data },
        ...{ priority: 7, maxAttempts: 9, handler: "movesOn" },
      });
      await pool.run();
      const [moved] = [...frontier.records({ state: "failed" })];
      expect(moved).toMatchObject({ url: "http://b.test/moved", priority: 8, depth: 0 });
      frontier.requeue({ state: "failed" });
      const lease = frontier.poll();
      expect(lease).toMatchObject({
        ...{ method: "PUT", headers: { "x-kept": "yes" } },
        ...{ data, redirects: 1, handler: "movesOn" },
      });
      expect([...(lease?.body ?? [])]).toEqual([1, 2, 3]);
    });
  });

  it("V-B8: one worker gets a batch in the order it was pushed", async () => {
    const frontier = await openFrontier();
    const urls = urlsOf(2_000);
    frontier.pushMany(urls);
    expect(await thread<string[]>(frontier, { job: "work", max: 10 })).toEqual(urls);
    await frontier.close();
  });

  it("G11: a ring takes nothing when full, gives nothing when empty, and has at least one slot", () => {
    const buffer = new SharedArrayBuffer(spscBytes(1));
    const place = { buffer, offset: 0 };
    expect(() => createSpscLane(place, 0)).toThrow(/power of two/);
    createSpscLane(place, 1);
    const producer = attachProducer(place);
    const consumer = attachConsumer(place);
    expect(laneNext(consumer)).toBe(false);
    expect(laneSend(producer, Uint8Array.of(7), 0, 1)).toBe(1);
    expect(laneSend(producer, Uint8Array.of(8), 0, 1)).toBe(0);
    lanePublish(producer);
    expect(laneNext(consumer)).toBe(true);
    expect(consumer.source[consumer.start]).toBe(7);
  });

  it("G11: what is closed takes nothing and gives nothing", async () => {
    const frontier = await openFrontier({ keepOpen: true });
    const port = attach(frontier.share());
    frontier.pushMany(urlsOf(10));
    await port.close();
    expect(port.push(["http://a.test/"])).toEqual(["rejected"]);
    expect(port.pollMany(5)).toEqual([]);
    expect(await port.take()).toEqual([]);
    expect(frontier.report()).toMatchObject({ accepted: 10, pending: 10, leased: 0 });
    await frontier.close();
  });

  it("G1: of a thousand starts at once one wins, and only legal changes of state happen", async () => {
    await withPool({ frontier: { keepOpen: true } }, async ({ frontier, pool }) => {
      const controller = new AbortController();
      const { signal } = controller;
      const starts = Array.from({ length: 1_000 }, () =>
        pool.run({ signal }).then(
          () => "ended",
          (cause: unknown) => (cause as { code?: string }).code ?? "aborted",
        ),
      );
      controller.abort(new Error("stop"));
      const answers = await Promise.all(starts);
      expect(answers.filter((one) => one === "STATE_INVALID")).toHaveLength(999);
      expect(answers[0]).toBe("aborted");
      const told: string[] = [];
      frontier.on("status", ({ from, to }) => told.push(`${from} ${to}`));
      frontier.resume(); // running already: nothing happens
      frontier.pause();
      frontier.pause();
      frontier.resume();
      await frontier.drain();
      frontier.resume();
      await Promise.all([frontier.close(), frontier.close()]);
      expect(() => frontier.pause()).toThrow(/closed/);
      expect(told).toEqual([
        "running paused",
        "paused running",
        "running draining",
        "draining running",
        "running stopping",
        "stopping stopped",
      ]);
      await expect(pool.run()).resolves.toBeUndefined(); // nothing is left of what is closed
    });
  });

  it("G10: a full ring pushes back, has room again once it was read, and closing wakes who waits", async () => {
    const frontier = await openFrontier({ keepOpen: true });
    // On the owner's thread: nothing is read while this function holds it.
    const port = attach(frontier.share());
    const page = Array.from({ length: 500 }, (_, at) => `http://a.test/${"x".repeat(200)}/${at}`);
    let rounds = 0;
    let queued = 0;
    const push = (): string[] => {
      const said = port.push(page.map((url) => `${url}/${rounds++}`));
      queued += said.filter((one) => one === "queued").length;
      return said;
    };
    let answers = push();
    for (; answers[0] !== "full"; answers = push()) expect(rounds).toBeLessThan(50_000);
    expect(new Set(answers)).toEqual(new Set(["full"]));
    await until(() => port.push("http://b.test/") !== "full", "room again");
    // It carries as much again, and what it was given is all there is.
    for (let turn = 0; turn < 3; turn++) {
      answers = push();
      await until(() => frontier.report().accepted === queued + 1, "all in");
      expect(new Set(answers)).toEqual(new Set(["queued"]));
    }
    await port.close();
    frontier.clear();
    const other = attach(frontier.share());
    const waiting = [other.take(), other.take({ max: 9 }), other.take({ timeoutMs: 60_000 })];
    await Promise.all([other.close(), other.close()]);
    expect(await Promise.all(waiting)).toEqual([[], [], []]);
    expect(port.push("http://c.test/")).toBe("rejected");
    expect(other.push(page).every((said) => said === "rejected")).toBe(true);
    await frontier.close();
  });

  it("G-B5: workers that wait for work use less than 1 % of a processor", async () => {
    await withPool({ frontier: { keepOpen: true }, pool: { threads: 2 } }, async (rig) => {
      const controller = new AbortController();
      rig.frontier.push("http://a.test/");
      const ended = expect(rig.pool.run({ signal: controller.signal })).rejects.toThrow();
      await until(() => rig.pool.report().workers.every(({ thread }) => thread >= 0), "seated");
      await until(() => rig.frontier.report().done === 1, "the one page");
      expect(await untilIdle(500, 0.01)).toBeLessThan(0.01);
      controller.abort();
      await ended;
    });
  });

  it("G13: a flood of errors that nobody hears is bounded, counted, and holds nobody up", async () => {
    const frontier = await openFrontier({ defaults: { maxAttempts: 1 } });
    const { WorkerPool } = await import("../../src/workers/pool/worker-pool.ts");
    const { HANDLERS } = await import("../support/pool.ts");
    const pool = new WorkerPool({ frontier, handler: HANDLERS, threads: 1, concurrency: 1 });
    const urls = urlsOf(3_000);
    for (const url of urls) {
      frontier.push({ url, handler: "throws" });
      frontier.push(`${url}/fine`);
    }
    await pool.run();
    const { done, failed, droppedEvents } = frontier.report();
    expect({ done, failed, droppedEvents }).toEqual({
      done: 3_000,
      failed: 3_000,
      droppedEvents: 2_000,
    });
    const heard: unknown[] = [];
    frontier.on("error", ({ url }) => heard.push(url));
    expect(heard).toEqual(urls.slice(2_000)); // the oldest are dropped
    await pool.close();
    await frontier.close();
  });

  it("G18: workers count called, accepted, completed and handling, and the idle one gets the next", async () => {
    const stays = new Int32Array(new SharedArrayBuffer(4));
    const options = { threads: 2, concurrency: 1, workerData: { word: stays.buffer } };
    await withPool({ frontier: { maxDeliveries: 4 }, pool: options }, async (rig) => {
      const { frontier, pool } = rig;
      frontier.push({ url: "http://a.test/stays", handler: "staysForWord", priority: 9 });
      const run = pool.run();
      await until(() => pool.report().handling === 1, "one at work");
      const busyAt = pool.report().workers.findIndex(({ handling }) => handling === 1);
      for (const url of urlsOf(300)) frontier.push({ url });
      frontier.push({ url: "http://a.test/nobody", handler: "nobody" });
      await until(() => pool.report().completed > 250, "most of the others done");
      const { workers } = pool.report();
      const busy = workers[busyAt];
      const idle = workers[1 - busyAt];
      // What waits behind a handler that does not return is at most what was laid out for it at once.
      expect(idle?.completed).toBeGreaterThan(150);
      expect(busy?.completed).toBe(0);
      Atomics.store(stays, 0, 1);
      await run;
      // Each once, but for what no handler was found for: as often as it may be delivered.
      expect(pool.report()).toMatchObject({
        called: 301 + 4,
        accepted: 301,
        completed: 301,
        handling: 0,
      });
    });
  });

  it("G-B1: what a worker without the handler puts back is not lost as known already", async () => {
    await withPool({}, async ({ frontier, pool }) => {
      frontier.push({ url: "http://a.test/", handler: "nobody" });
      await pool.run();
      expect(frontier.report()).toMatchObject({ failed: 1, done: 0, duplicate: 0 });
      expect(frontier.requeue({ state: "failed" })).toBe(1);
      expect(frontier.pollMany(1)).toHaveLength(1);
    });
  });

  it("G-B4: whatever is pushed while the ring is full and the port closes is in, or the pusher was told", async () => {
    const frontier = await openFrontier();
    const urls = Array.from({ length: 30_000 }, (_, at) => `http://a.test/${"x".repeat(90)}/${at}`);
    const answers = await thread<Record<string, number>>(frontier, {
      job: "push",
      urls,
      batch: 3_000,
    });
    expect(answers.queued).toBe(30_000);
    await until(() => frontier.report().accepted === 30_000, "all in");
    await frontier.close();
  });

  it("G-B4: what a port was told is queued while it closed with a full ring is in the journal, all of it", async () => {
    const directory = mkdtempSync(join(tmpdir(), "outrider-closing-"));
    try {
      const frontier = await openFrontier({ directory, durability: "sync" });
      const urls = Array.from(
        { length: 9_000 },
        (_, at) => `http://a.test/${"x".repeat(90)}/${at}`,
      );
      const word = new Int32Array(new SharedArrayBuffer(4));
      const job = { job: "flood", urls, batch: 500, word: word.buffer };
      const answer = thread<{ said: string[]; late: string }>(frontier, job);
      await until(() => Atomics.load(word, 0) === 1, "a thread that is ready");
      Atomics.store(word, 0, 2);
      // The owner stands still: nothing leaves the ring while the other pushes and closes.
      while (Atomics.load(word, 0) === 2) Atomics.wait(word, 0, 2, 1_000);
      const { said, late } = await answer;
      const queued = urls.filter((_, at) => said[at] === "queued");
      expect(new Set(said)).toEqual(new Set(["queued", "full"]));
      expect(late).toBe("rejected");
      await until(() => frontier.report().accepted === queued.length, "all in");
      await frontier.close();
      const again = await openFrontier({ directory });
      expect(again.pollMany(urls.length).map(({ url }) => url)).toEqual(queued);
      await again.close();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it("G-B4: closing the frontier takes in what a port holds behind a full ring, and refuses what comes later", async () => {
    const directory = mkdtempSync(join(tmpdir(), "outrider-closing-"));
    try {
      const frontier = await openFrontier({ directory, keepOpen: true });
      const port = attach(frontier.share());
      const queued: string[] = [];
      const push = (round: number): boolean => {
        const page = Array.from({ length: 50 }, (_, at) => {
          return `http://a.test/${"x".repeat(900)}/${round}/${at}`;
        });
        const isIn = port.push(page)[0] === "queued";
        if (isIn) queued.push(...page);
        return isIn;
      };
      let round = 0;
      while (push(round)) round++;
      await frontier.close();
      expect(port.push(["http://late.test/"])).toEqual(["rejected"]);
      const again = await openFrontier({ directory });
      const kept = again.pollMany(queued.length + 1);
      expect(kept.length).toBe(queued.length);
      expect(kept.every(({ url }, at) => url === queued[at])).toBe(true);
      await again.close();
      await port.close();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it.each([1, 200, 2_000])(
    "G-B4: of what a thread pushes while the frontier closes after %d, all that it was told is queued is kept",
    async (after) => {
      const directory = mkdtempSync(join(tmpdir(), "outrider-closing-"));
      try {
        const frontier = await openFrontier({ directory, keepOpen: true });
        // All of them fit into the ring: nothing waits for room.
        const urls = Array.from({ length: 6_000 }, (_, at) => `http://a.test/${at}`);
        const said = thread<string[]>(frontier, { job: "pushOn", urls, batch: 4 });
        await until(() => frontier.report().accepted >= after, "the first ones");
        await frontier.close();
        const answers = await said;
        const again = await openFrontier({ directory });
        const kept = new Set(again.pollMany(urls.length).map(({ url }) => url));
        const lost = urls.filter((url, at) => answers[at] === "queued" && !kept.has(url));
        expect(lost).toEqual([]);
        await again.close();
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );

  it.each(["sync", "grouped"])(
    "V19: a clean stop with a hundred handlers at work puts all back in mode %s, and what they say is late",
    async (mode) => {
      const directory = mkdtempSync(join(tmpdir(), "outrider-stop-"));
      try {
        const durability = mode === "sync" ? "sync" : { everyMs: 50 };
        const urls = urlsOf(150);
        const word = new Int32Array(new SharedArrayBuffer(4));
        const pool = { threads: 2, concurrency: 50, workerData: { word: word.buffer } };
        await withPool({ frontier: { directory, durability }, pool }, async (rig) => {
          rig.frontier.pushMany(urls.map((url) => ({ url, handler: "staysForWord" })));
          const run = rig.pool.run();
          await until(() => rig.pool.report().handling === 100, "a hundred at work");
          const port = attach(rig.frontier.share());
          await rig.frontier.close();
          Atomics.store(word, 0, 1);
          await run;
          expect(port.push("http://late.test/")).toBe("rejected");
          expect(rig.frontier.push("http://late.test/").status).toBe("closed");
        });
        const again = await openFrontier({ directory });
        expect(again.report()).toMatchObject({ pending: 150, leased: 0, done: 0, failed: 0 });
        const back = again.pollMany(200);
        expect(back.map(({ url }) => url)).toEqual(urls);
        expect(back.every(({ attempt }) => attempt === 1)).toBe(true);
        // Those at work, and what was laid out behind them, have been delivered once.
        expect(back.filter(({ deliveries }) => deliveries === 2).length).toBeGreaterThanOrEqual(
          100,
        );
        await again.close();
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );

  it("G-B11: the choice between workers is a least one from the first on, whatever its number", async () => {
    const options = { frontier: { keepOpen: true }, pool: { threads: 2, concurrency: 8 } };
    await withPool(options, async ({ frontier, pool }) => {
      const controller = new AbortController();
      const ended = expect(pool.run({ signal: controller.signal })).rejects.toThrow();
      await until(() => pool.report().workers.every(({ thread }) => thread >= 0), "both seated");
      // As many as both have room for at first, none of which ends: each gets the next in turn.
      frontier.pushMany(urlsOf(8).map((url) => ({ url, handler: "waits" })));
      await until(() => pool.report().handling === 8, "all begun");
      expect(pool.report().workers.map(({ called }) => called)).toEqual([4, 4]);
      controller.abort();
      await ended;
    });
  });

  it.each(["dies", "exits"])(
    "N18: a worker that %s takes nothing with it, and the others go on",
    async (handler) => {
      const frontier = { defaults: { maxAttempts: 50 }, maxDeliveries: 1_000 };
      await withPool(
        { frontier, pool: { threads: 2 } },
        async ({ frontier: open, pool, faults }) => {
          for (const url of urlsOf(500)) open.push({ url });
          open.push({ url: "http://poison.test/", handler, priority: 1, maxAttempts: 2 });
          open.push({ url: "http://b.test/", handler: "stumbles" });
          await pool.run();
          // The poison fails after its attempts; what was at work beside it only lost one.
          const { done, failed, pending, leased } = open.report();
          expect({ done, failed, pending, leased }).toEqual({
            ...{ done: 501, failed: 1, pending: 0, leased: 0 },
          });
          expect(open.record("http://poison.test/")?.state).toBe("failed");
          expect(pool.report().restarts).toBeGreaterThanOrEqual(2);
          expect(faults.some(({ stage }) => stage === "worker")).toBe(true);
        },
      );
    },
  );

  it("N-B6: what a dead thread held comes back at its deadline", async () => {
    // On a slow machine others may run out too, and often.
    const frontier = await openFrontier({
      ...{ leaseMs: 300, maxDeliveries: 1_000, defaults: { maxAttempts: 1_000 } },
    });
    frontier.pushMany(urlsOf(50));
    expect(await thread<number>(frontier, { job: "die", max: 5 })).toBeGreaterThan(0);
    const got = await thread<string[]>(frontier, { job: "work", max: 8 });
    expect(new Set(got).size).toBe(50);
    expect(frontier.report()).toMatchObject({ done: 50, pending: 0, leased: 0 });
    await frontier.close();
  });
});
