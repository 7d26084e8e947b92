import { describe, expect, it } from "vitest";
import { WINDOW_MAX } from "../../../../src/workers/pool/hub/worker-seat.ts";
import { WorkerPool } from "../../../../src/workers/pool/worker-pool.ts";
import { fingerprint } from "../../../../src/index.ts";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import { HANDLERS, until, withPool } from "../../../support/pool.ts";

describe("a pool of worker threads", () => {
  it("ends exactly when the frontier is finished, children of children included", async () => {
    await withPool({ pool: { concurrency: 4 } }, async ({ frontier, pool, faults }) => {
      frontier.push("http://a.test/4/5/");
      await pool.run();
      const { done, pending, leased, waiting } = frontier.report();
      expect({ done, pending, leased, waiting }).toEqual({
        done: 1 + 5 + 25 + 125 + 625,
        pending: 0,
        leased: 0,
        waiting: 0,
      });
      expect(faults).toEqual([]);
      expect(frontier.record("http://a.test/4/5/-0-1-2-3")?.depth).toBe(4);
    });
  });

  it("runs again after more was pushed", async () => {
    await withPool({}, async ({ frontier, pool }) => {
      for (let round = 1; round <= 3; round++) {
        frontier.push(`http://a.test/${round}`);
        await pool.run();
        expect(frontier.report().done).toBe(round);
      }
      expect(pool.report()).toMatchObject({ called: 3, accepted: 3, completed: 3, handling: 0 });
    });
  });

  it("publishes the results of handlers that never wait while the next ones block", async () => {
    const words = new Int32Array(new SharedArrayBuffer(8));
    const options = { threads: 1, concurrency: 1, workerData: { word: words.buffer } };
    await withPool({ pool: options }, async ({ frontier, pool, faults }) => {
      // Quick pages first: the worker gets hundreds at once, then every one of them blocks its thread.
      for (let page = 0; page < 5_000; page++)
        frontier.push({ url: `http://a.test/${page}`, priority: 1 });
      for (let page = 0; page < 30; page++) {
        frontier.push({ url: `http://b.test/${page}`, handler: "blocks" });
      }
      frontier.on("done", (ended) => {
        Atomics.add(words, 0, ended.filter(({ host }) => host === "b.test").length);
        Atomics.notify(words, 0);
      });
      await pool.run();
      expect(faults).toEqual([]); // each has seen the results before it published
      expect(frontier.report()).toMatchObject({ done: 5_030, retried: 0 });
    });
  });

  it("counts no attempt for leases waiting after a handler that blocks for good", async () => {
    const clock = createVirtualClock(1_000);
    const words = new Int32Array(new SharedArrayBuffer(8));
    const rig = {
      frontier: { clock, leaseMs: 500, defaults: { maxAttempts: 1, politeness: { perHost: 9 } } },
      pool: { threads: 1, concurrency: 1, workerData: { word: words.buffer } },
    };
    await withPool(rig, async ({ frontier, pool }) => {
      frontier.push({ url: "http://a.test/poison", handler: "standsStill", priority: 1 });
      frontier.pushMany(["http://a.test/1", "http://a.test/2", "http://b.test/3"]);
      const run = pool.run();
      // All four are at the worker, and one has begun.
      await until(() => frontier.report().leased === 4 && words[1] === 1, "laid out");
      clock.advance(500);
      expect(frontier.poll()).toBeDefined(); // the others are free for the next poll
      const { expired, failed, pending, leased, hosts } = frontier.report();
      expect({ expired, failed, pending, leased, hosts }).toEqual({
        ...{ expired: 1, failed: 1, pending: 2, leased: 1, hosts: 2 },
      });
      expect(frontier.record("http://a.test/2")).toMatchObject({ state: "pending", attempts: 0 });
      clock.advance(500); // our lease expires; the poll begins others
      await run;
      expect(frontier.report()).toMatchObject({ done: 2, failed: 2, expired: 2 });
    });
  });

  it("passes every field of the lease to a worker as the owner has it", async () => {
    await withPool({}, async ({ frontier, pool }) => {
      const request = {
        url: "http://user@b.test:8080/x?b=2&a=1#top",
        method: "POST",
        body: "a=1",
        headers: { accept: "text/html" },
        priority: -7,
        handler: "tell",
        data: { deep: [1, "zwei", null] },
      };
      frontier.push(request);
      await pool.run();
      const [child] = [...frontier.records({ state: "failed" })];
      const view = [...frontier.records({ state: "failed" })];
      expect(view).toHaveLength(1);
      frontier.requeue({ state: "failed" });
      const [lease] = frontier.pollMany(1);
      expect(child?.depth).toBe(1);
      expect(lease?.data).toMatchObject({
        url: "http://user@b.test:8080/x?b=2&a=1",
        method: "POST",
        body: "a=1",
        headers: { accept: "text/html" },
        priority: -7,
        depth: 0,
        attempt: 1,
        deliveries: 1,
        host: "b.test:8080",
        rule: "default",
        handler: "tell",
        told: { deep: [1, "zwei", null] },
        fingerprint: fingerprint({ ...request, url: "http://user@b.test:8080/x?b=2&a=1" }),
      });
      expect(lease?.parent).toBe(fingerprint(request));
      lease?.done();
    });
  });

  it("carries a URL of 64 KiB with a mebibyte of data", async () => {
    await withPool({ frontier: { maxUrlBytes: 70_000 } }, async ({ frontier, pool, faults }) => {
      const url = `http://a.test/${"x".repeat(65_536)}`;
      frontier.push({ url, data: { bytes: new Uint8Array(2 ** 20) }, handler: "tell" });
      await pool.run();
      expect(faults).toEqual([]);
      frontier.requeue({ state: "failed" });
      expect(frontier.pollMany(1)[0]?.data).toMatchObject({
        length: url.length,
        told: { size: 2 ** 20 },
      });
    });
  });

  it("carries as much in return: a URL of 64 KiB with a mebibyte of data, found by a handler", async () => {
    await withPool({ frontier: { maxUrlBytes: 70_000 } }, async ({ frontier, pool, faults }) => {
      const url = `http://a.test/${"x".repeat(65_536)}`;
      const bytes = Uint8Array.from({ length: 2 ** 20 }, (_, at) => (at * 31) & 255);
      frontier.push({ url, data: { bytes }, handler: "returns" });
      await pool.run();
      expect(faults).toEqual([]);
      expect(frontier.report()).toMatchObject({ done: 1, failed: 1 });
      frontier.requeue({ state: "failed" });
      const [lease] = frontier.pollMany(1);
      expect(lease?.url).toBe(`${url}y`);
      const back = (lease?.data as { bytes: Uint8Array } | undefined)?.bytes ?? new Uint8Array(0);
      expect(Buffer.compare(back, bytes)).toBe(0);
    });
  });

  it("retries by the rule's policy when a handler throws, and reports each throw as an error", async () => {
    await withPool({ frontier: { defaults: { maxAttempts: 3 } } }, async (rig) => {
      rig.frontier.push({ url: "http://a.test/", handler: "throws" });
      await rig.pool.run();
      expect(rig.frontier.report()).toMatchObject({ failed: 1, retried: 2 });
      expect(rig.faults.map(({ kind, stage, url }) => ({ kind, stage, url }))).toEqual(
        Array(3).fill({ kind: "handler", stage: "throws", url: "http://a.test/" }),
      );
    });
  });

  it("refuses a handler's pushes that msgpack cannot carry, and continues with the others", async () => {
    await withPool({ pool: { threads: 1 } }, async ({ frontier, pool, faults }) => {
      const held: unknown[] = [];
      frontier.on("failed", (views) => held.push(...views.map(({ url, data }) => [url, data])));
      frontier.push({ url: "http://a.test/", handler: "pushesAny" });
      await pool.run();
      expect(held).toEqual([
        ["http://any.test/3", { list: [1n, undefined] }],
        ["http://any.test/answers", ["rejected", "rejected", "rejected", "queued"]],
      ]);
      expect(frontier.report()).toMatchObject({ done: 1, rejected: { unserializable: 3 } });
      expect(faults.map(({ kind, stage }) => [kind, stage])).toEqual([["request", "found"]]);
      expect(pool.report().restarts).toBe(0);
    });
  });

  it("treats a handler whose result cannot be read as one that throws", async () => {
    const frontier = { defaults: { maxAttempts: 2 } };
    await withPool({ frontier, pool: { threads: 1 } }, async ({ frontier: open, pool, faults }) => {
      open.push({ url: "http://a.test/", handler: "endsBadly" });
      open.push({ url: "http://b.test/", handler: "throwsNothingKnown" });
      await pool.run();
      expect(open.report()).toMatchObject({ failed: 2, retried: 2, expired: 0 });
      expect(faults.length).toBe(4);
      expect(pool.report().restarts).toBe(0);
    });
  });

  it("reports the text of errors that cannot be sent unchanged", async () => {
    await withPool({ pool: { threads: 1 } }, async ({ frontier, pool, faults }) => {
      frontier.push({ url: "http://a.test/", handler: "tellsAny" });
      await pool.run();
      expect(frontier.report()).toMatchObject({ done: 1, expired: 0 });
      expect(faults.map(({ cause }) => cause)).toEqual([
        "a object",
        "a function",
        "Symbol(s)",
        expect.objectContaining({ name: "TypeError", message: "deep" }),
        "text",
      ]);
    });
  });

  it("releases a lease whose handler does not exist, until it was delivered too often", async () => {
    await withPool({ frontier: { maxDeliveries: 4 } }, async ({ frontier, pool, faults }) => {
      frontier.push({ url: "http://a.test/", handler: "nobody" });
      await pool.run();
      expect(frontier.report()).toMatchObject({ failed: 1, retried: 0 });
      expect(faults).toHaveLength(4);
      expect(String(faults[0]?.cause)).toContain("nobody");
    });
  });

  it("aborts a handler's signal when its lease expires, and hands the record out again", async () => {
    const frontier = { leaseMs: 50, maxDeliveries: 1_000, defaults: { maxAttempts: 2 } };
    await withPool({ frontier }, async ({ frontier: open, pool }) => {
      open.push({ url: "http://a.test/", handler: "never" });
      // On a slow machine this one may expire too, more than once.
      open.push({ url: "http://b.test/", maxAttempts: 1_000 });
      await pool.run();
      expect(open.report()).toMatchObject({ failed: 1, done: 1 });
      expect(open.report().expired).toBeGreaterThanOrEqual(2);
    });
  });

  it("begins no lease that expired before it began", async () => {
    const clock = createVirtualClock();
    const frontier = { clock, leaseMs: 1_000, maxDeliveries: 1_000 };
    const options = { threads: 1, concurrency: 1 };
    await withPool({ frontier, pool: options }, async ({ frontier: open, pool }) => {
      open.push({ url: "http://a.test/", handler: "stays", priority: 1, maxAttempts: 9 });
      for (let page = 0; page < 6; page++) open.push(`http://b.test/${page}`);
      const run = pool.run();
      const out = (): number => pool.report().workers[0]?.leased ?? 0;
      await until(() => pool.report().handling === 1 && out() > 1, "some behind the first");
      clock.advance(1_000);
      await run;
      expect(open.report()).toMatchObject({ done: 7, failed: 0, expired: 1 });
      // The first begins twice, those after it once.
      expect(pool.report()).toMatchObject({ called: 8, accepted: 8 });
    });
  });

  it("treats a handler that is too slow as one that throws", async () => {
    await withPool({ pool: { timeoutMs: 20 } }, async ({ frontier, pool }) => {
      frontier.push({ url: "http://a.test/", handler: "never", maxAttempts: 2 });
      await pool.run();
      expect(frontier.report()).toMatchObject({ failed: 1, retried: 1 });
    });
  });

  it("ends a handler in time even when the machine's clock is set back meanwhile", async () => {
    const options = { threads: 1, concurrency: 2, timeoutMs: 20 };
    await withPool({ pool: options }, async ({ frontier, pool }) => {
      frontier.push({ url: "http://a.test/", handler: "turnsBack", maxAttempts: 2 });
      frontier.push({ url: "http://b.test/", handler: "never", maxAttempts: 2 });
      await pool.run();
      expect(frontier.report()).toMatchObject({ failed: 2, retried: 2 });
    });
  });

  it("keeps a host taken until its handler has ended, whatever the handler does", async () => {
    const hosts = 4;
    const busy = new Int32Array(new SharedArrayBuffer((hosts + 2) * 4));
    const politeness = { perHost: 1, delayMs: 0 };
    const frontier = { defaults: { maxAttempts: 2, politeness } };
    const options = {
      threads: 2,
      concurrency: 8,
      timeoutMs: 50,
      workerData: { busy: busy.buffer },
    };
    await withPool({ frontier, pool: options }, async ({ frontier: open, pool }) => {
      for (let page = 0; page < 60; page++) {
        open.push({ url: `http://host${page % hosts}.test/${page}`, handler: "alone" });
      }
      await pool.run();
      const { done, failed } = open.report();
      expect(done + failed).toBe(60);
      const [together, hurried] = busy;
      expect(together).toBe(0);
      expect(hurried).toBeGreaterThanOrEqual(12 * 2);
    });
  });

  it("stops at a signal: handlers' signals are aborted and leases return, no attempt counted", async () => {
    await withPool({ pool: { concurrency: 3 } }, async ({ frontier, pool }) => {
      for (let at = 0; at < 50; at++) {
        frontier.push({ url: `http://a.test/${at}`, handler: "waits" });
      }
      const controller = new AbortController();
      const run = pool.run({ signal: controller.signal });
      await until(() => pool.report().handling === 6, "six handlers at work");
      controller.abort(new Error("enough"));
      await expect(run).rejects.toThrow("enough");
      expect(frontier.report()).toMatchObject({ pending: 50, leased: 0, done: 0, failed: 0 });
      expect(frontier.pollMany(50).every(({ attempt }) => attempt === 1)).toBe(true);
    });
  });

  it("grows and shrinks while it runs", async () => {
    const options = { frontier: { keepOpen: true }, pool: { threads: 1, concurrency: 2 } };
    await withPool(options, async ({ frontier, pool }) => {
      let pushed = 0;
      // There is work for as long as a thread takes to start, and no more than a slow machine finishes in time.
      const more = (): Promise<void> => {
        while (frontier.report().pending < 40) {
          frontier.push({ url: `http://a.test/${pushed++}`, handler: "naps" });
        }
        return new Promise((resolve) => setTimeout(resolve, 5));
      };
      const controller = new AbortController();
      const ended = expect(pool.run({ signal: controller.signal })).rejects.toThrow();
      await until(() => pool.report().completed > 10, "a first few", more);
      pool.resize(3);
      const working = (): number => pool.report().workers.filter(({ called }) => called > 0).length;
      await until(() => working() === 3, "three at work", more);
      pool.resize(1);
      await until(() => pool.report().workers.length === 1, "one left", more);
      await until(() => frontier.report().done === pushed, "all done");
      expect(frontier.report()).toMatchObject({ failed: 0, retried: 0, pending: 0, leased: 0 });
      controller.abort();
      await ended;
    });
  });

  it("replaces a thread that has done its share", async () => {
    await withPool({ pool: { threads: 1, recycleAfter: 20, concurrency: 2 } }, async (rig) => {
      for (let at = 0; at < 70; at++) rig.frontier.push(`http://a.test/${at}`);
      await rig.pool.run();
      expect(rig.frontier.report()).toMatchObject({ done: 70, retried: 0 });
      expect(rig.pool.report()).toMatchObject({ recycled: 3, restarts: 0, called: 70 });
    });
  });

  it.each([1, 2])(
    "begins leases in the frontier's order on %d threads, except for those already handed out",
    async (threads) => {
      const count = 700;
      const order = new Int32Array(new SharedArrayBuffer((count + 1) * 4));
      const pool = { threads, concurrency: 1, workerData: { order: order.buffer } };
      await withPool({ pool }, async (rig) => {
        const priorities = Array.from({ length: count }, (_, at) => (at * 389) % count);
        rig.frontier.pushMany(
          priorities.map((priority) => {
            return { url: `http://a.test/${priority}`, priority, handler: "records" };
          }),
        );
        await rig.pool.run();
        const begun = [...order.subarray(1)];
        expect(order[0]).toBe(count);
        // How many better ones had not begun when this one did: none on one thread, else a window for each other thread.
        begun.forEach((priority, at) => {
          const better = count - 1 - priority;
          const ahead = begun.slice(0, at).filter((one) => one > priority).length;
          expect(better - ahead).toBeLessThanOrEqual((threads - 1) * (WINDOW_MAX + 1));
        });
      });
    },
  );

  it("keeps threads alive until it is closed, so that output of their last turns arrives", async () => {
    const word = new Int32Array(new SharedArrayBuffer(4));
    await withPool({ pool: { workerData: { word: word.buffer } } }, async ({ frontier, pool }) => {
      frontier.push({ url: "http://a.test/", handler: "speaksLater" });
      await pool.run();
      const { threadIds } = pool;
      await until(() => word[0] === 1, "its last word");
      expect([threadIds.length, pool.threadIds]).toEqual([2, threadIds]);
      // The next run has the same threads; a run with fewer ends the surplus ones.
      frontier.push("http://b.test/");
      await pool.run();
      expect(pool.threadIds).toEqual(threadIds);
      frontier.push({ url: "http://c.test/", handler: "staysForWord" });
      word[0] = 0;
      const run = pool.run();
      await until(() => pool.report().handling === 1, "a handler at work");
      pool.resize(1); // the second thread leaves, after its visit if it has the lease
      Atomics.store(word, 0, 1);
      await run;
      expect([pool.threadIds.length, pool.report().threads]).toEqual([1, 1]);
      expect(threadIds).toContain(pool.threadIds[0]);
      await pool.close();
      expect(pool.threadIds).toEqual([]);
    });
  });

  it("starts no thread once a run ends by its signal, however it is resized meanwhile", async () => {
    await withPool({ pool: { threads: 2, concurrency: 2 } }, async ({ frontier, pool }) => {
      for (let at = 0; at < 8; at++)
        frontier.push({ url: `http://a.test/${at}`, handler: "waits" });
      const abort = new AbortController();
      const run = pool.run({ signal: abort.signal });
      await until(() => pool.report().handling === 4, "handlers at work");
      pool.resize(4);
      abort.abort(new Error("enough"));
      await new Promise(setImmediate); // it is ending now, and its handlers are not notified yet
      pool.resize(6);
      pool.resize(3);
      await expect(run).rejects.toThrow("enough");
      const { isRunning, threads, handling, workers } = pool.report();
      const leased = workers.reduce((all, worker) => all + worker.leased, 0);
      expect({ isRunning, threads, handling, leased }).toEqual({
        isRunning: false,
        threads: 3,
        handling: 0,
        leased: 0,
      });
      expect(frontier.report()).toMatchObject({ leased: 0, pending: 8, retried: 0 });
      expect(pool.threadIds.length).toBeLessThanOrEqual(4);
    });
  });

  it("replaces a thread whose timer throws after its handler has returned, and loses nothing", async () => {
    await withPool({ pool: { threads: 1 } }, async ({ frontier, pool, faults }) => {
      frontier.push({ url: "http://a.test/", handler: "throwsLater" });
      frontier.push({ url: "http://b.test/", handler: "naps" });
      frontier.push({ url: "http://c.test/", handler: "stumbles" });
      await pool.run();
      expect(frontier.report()).toMatchObject({ done: 3, failed: 0, pending: 0, leased: 0 });
      expect(pool.report().restarts).toBeGreaterThan(0);
      expect(faults.every(({ stage }) => stage === "worker")).toBe(true);
    });
  });

  it("ends when the frontier is closed during a run, at work or idle, and starts no more threads", async () => {
    for (const handler of ["waits", "naps", "never"]) {
      const rig = { pool: { threads: 2, concurrency: 2 } };
      await withPool(rig, async ({ frontier, pool }) => {
        for (let at = 0; at < 6; at++) frontier.push({ url: `http://a.test/${at}`, handler });
        const run = pool.run();
        await until(() => pool.report().called > 0, "work");
        await frontier.close();
        await run;
        expect(pool.report()).toMatchObject({ isRunning: false, handling: 0 });
        await pool.run(); // closed is over
      });
    }
  });

  it("abandons a poison request after its attempts, though each attempt ends a thread", async () => {
    const defaults = { maxAttempts: 9, backoff: { baseMs: 0 } };
    await withPool({ frontier: { defaults }, pool: { threads: 2 } }, async ({ frontier, pool }) => {
      frontier.push({ url: "http://poison.test/", handler: "exits", maxAttempts: 3 });
      frontier.push("http://a.test/2/4/");
      await pool.run();
      expect(frontier.report()).toMatchObject({ done: 21, failed: 1, pending: 0, leased: 0 });
      expect(frontier.record("http://poison.test/")).toMatchObject({
        state: "failed",
        attempts: 3,
      });
      expect(pool.report().restarts).toBe(3);
    });
  });

  it("rejects when the handler module does not load", async () => {
    const frontier = await openFrontier();
    frontier.push("http://a.test/");
    const pool = new WorkerPool({ frontier, handler: "/nowhere/visit.mjs", threads: 1 });
    await expect(pool.run()).rejects.toThrow(/nowhere/);
    expect(frontier.report()).toMatchObject({ pending: 1, leased: 0 });
    await pool.close();
    await expect(pool.run()).rejects.toMatchObject({ code: "STATE_INVALID" });
    await frontier.close();
  });

  it("checks its options by name", async () => {
    const frontier = await openFrontier();
    const make = (options: object) => () =>
      new WorkerPool({ frontier, handler: HANDLERS, ...options });
    expect(make({ threads: 0 })).toThrow(/threads: 0/);
    expect(make({ thread: 1 })).toThrow(/options.thread/);
    expect(make({ handler: 1 })).toThrow(/handler: 1/);
    expect(make({ frontier: {} })).toThrow(/frontier/);
    await frontier.close();
  });
});
