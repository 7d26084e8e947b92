/** Values that handlers send to the owner, and a pool's report after its run. */
import { expect, it } from "vitest";
import type { PoolMessage } from "../../../../src/pool.ts";
import { withPool } from "../../../support/pool.ts";

const HANDLER = new URL("../../../support/page-visit.mjs", import.meta.url);
const PAGE = "https://a.example/";

it("values arrive in order, before their page is done, with page and worker", async () => {
  await withPool({ pool: { handler: HANDLER, threads: 1 } }, async ({ frontier, pool, faults }) => {
    const heard: unknown[] = [];
    pool.on("message", ({ value, url, worker }) => {
      expect(worker).toBe(pool.report().workers[0]?.worker);
      heard.push([url, value, frontier.record(url)?.state]);
    });
    frontier.push(`${PAGE}1`, { handler: "sends" });
    await pool.run();
    const first = { number: 1, bytes: new Uint8Array([1, 2]), at: new Date(1) };
    expect(heard.map((each) => JSON.stringify(each))).toEqual(
      [
        [`${PAGE}1`, first, "leased"],
        [`${PAGE}1`, "second of 1", "leased"],
        [`${PAGE}2`, { ...first, number: 2, at: new Date(2) }, "leased"],
        [`${PAGE}2`, "second of 2", "leased"],
      ].map((each) => JSON.stringify(each)),
    );
    expect(faults).toEqual([]);
    expect(frontier.report().done).toBe(2);
  });
});

it("a full ring is answered as full, and no sent value is lost", async () => {
  const words = new Int32Array(new SharedArrayBuffer(8));
  const workerData = { words: words.buffer };
  const options = { handler: HANDLER, threads: 1, workerData };
  await withPool({ pool: options }, async ({ frontier, pool }) => {
    let count = 0;
    pool.on("message", () => {
      count++;
      Atomics.wait(words, 0, 0, 60_000); // blocks until there was no room
    });
    frontier.push(PAGE, { handler: "fills" });
    await pool.run();
    expect(Atomics.load(words, 0)).toBe(1);
    expect(count).toBe(Atomics.load(words, 1));
    expect(count).toBeGreaterThan(10);
    expect(count * 4_000).toBeLessThan(1_200_000);
  });
});

it("a value that msgpack cannot carry is refused at once, and nothing is sent after the lease's end", async () => {
  await withPool({ pool: { handler: HANDLER, threads: 1 } }, async ({ frontier, pool, faults }) => {
    const heard: PoolMessage[] = [];
    pool.on("message", (message) => heard.push(message));
    frontier.push(PAGE, { handler: "sendsWrong" });
    await pool.run();
    expect(heard.map(({ value }) => value)).toEqual([
      ["ARGUMENT_INVALID", "value: a function (expected: what msgpack can carry)"],
    ]);
    expect(faults).toEqual([]);
  });
});

it("values that a thread sent before it died arrive", async () => {
  const options = { pool: { handler: HANDLER, threads: 1 }, frontier: { maxDeliveries: 1 } };
  await withPool(options, async ({ frontier, pool }) => {
    const heard: unknown[] = [];
    pool.on("message", ({ value }) => heard.push(value));
    frontier.push({ url: PAGE, handler: "sendsAndDies", maxAttempts: 1 });
    await pool.run();
    expect(heard).toEqual(["last words"]);
    expect(frontier.report().failed).toBe(1);
  });
});

it("an error of a listener is a fault, and the page is done; listeners leave as a frontier's do", async () => {
  await withPool({ pool: { handler: HANDLER, threads: 1 } }, async ({ frontier, pool, faults }) => {
    const signal = new AbortController();
    let once = 0;
    let signalled = 0;
    pool.on("message", () => once++, { once: true });
    pool.on("message", () => signalled++, { signal: signal.signal });
    const off = pool.on("message", () => {
      throw new Error("listener");
    });
    frontier.push(`${PAGE}7`, { handler: "sends" });
    await pool.run();
    expect([once, signalled]).toEqual([1, 2]);
    expect(faults.map(({ kind, stage, url }) => [kind, stage, url])).toEqual([
      ["listener", "message", `${PAGE}7`],
      ["listener", "message", `${PAGE}7`],
    ]);
    off();
    signal.abort();
    frontier.push(`${PAGE}8`, { handler: "sends" });
    await pool.run();
    expect([once, signalled, faults.length]).toEqual([1, 2, 2]);
    expect(frontier.report().done).toBe(2);
    expect(() => pool.on("mesage" as never, () => undefined)).toThrow(
      "event: \"mesage\" (expected: 'message')",
    );
  });
});

it("keeps its workers in the report after a run, and a new run begins with its own", async () => {
  await withPool({ pool: { threads: 2 } }, async ({ frontier, pool }) => {
    frontier.push("http://a.test/2/3/");
    await pool.run();
    const { workers, called, completed, handling } = pool.report();
    expect(workers).toHaveLength(2);
    const sum = (field: "called" | "completed"): number =>
      workers.reduce((all, worker) => all + worker[field], 0);
    expect([sum("called"), sum("completed")]).toEqual([called, completed]);
    expect([called, handling, ...workers.map(({ leased }) => leased)]).toEqual([13, 0, 0, 0]);
    frontier.push("http://b.test/");
    await pool.run();
    const again = pool.report();
    expect(again.called).toBe(14);
    expect(again.workers.reduce((all, worker) => all + worker.called, 0)).toBe(1);
  });
});

it("counts duplicate links and refused links apart", async () => {
  await withPool({ pool: { threads: 1 } }, async ({ frontier, pool }) => {
    frontier.push({ url: "http://a.test/", handler: "links", data: null });
    await pool.run();
    const { duplicate, dropped, workers } = pool.report();
    expect({ duplicate, dropped }).toEqual({ duplicate: 2, dropped: 1 });
    expect(workers[0]).toMatchObject({ duplicate: 2, dropped: 1 });
    expect(frontier.report()).toMatchObject({ duplicate: 2, rejected: { scheme: 1 } });
  });
});
