/** V: what VSCrawler's SeedManager does, row by row, and the faults it has. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import { presets } from "../../src/engine/options/presets.ts";
import type { FrontierOptions, Lease } from "../../src/engine/types/frontier-types.ts";
import { openBench, settled } from "../support/bench-frontier.ts";
import { testSeed } from "../support/seed.ts";
import { sized } from "../support/size.ts";

const A = "http://a.com/1";
const B = "http://a.com/2";
const DAY = 86_400_000;
const MANY = Array.from({ length: 1_000 }, (_, index) => `http://a.com/page/${index}`);

function openSeeds(options: FrontierOptions = {}) {
  const bench = openBench(presets.vscrawler(options));
  bench.clock.advance(Date.parse("2026-11-20T12:00:00Z") - bench.clock.now());
  return bench;
}

describe("VSCrawler", () => {
  it("V2: one URL is one in each day and one for ever without a date", () => {
    const { frontier, clock, check } = openSeeds();
    const at = (days: number) => ({ url: A, notBefore: clock.now() + days * DAY });
    const seeds = [A, A, at(1), at(1), at(2)];
    const verdicts = seeds.map((seed) => frontier.push(seed).status);
    expect(verdicts).toEqual(["accepted", "duplicate", "deferred", "duplicate", "deferred"]);
    clock.advance(5 * DAY);
    expect(frontier.push(A).status).toBe("duplicate");
    check();
  });

  it("V3: the segment is a day, some days or a function's, in a zone that is said", () => {
    const midnight = Date.parse("2026-11-20T23:30:00Z");
    const epochOf = (epoch: NonNullable<FrontierOptions["defaults"]>["epoch"]) => {
      const { frontier } = openBench({ defaults: { epoch } as never });
      return frontier.explain({ url: A, notBefore: midnight }).epoch;
    };
    expect(epochOf({ calendar: "day", zone: "UTC" })).toBe("2026-11-20");
    expect(epochOf({ calendar: "day", zone: "Europe/Berlin" })).toBe("2026-11-21");
    expect(epochOf({ of: (ms) => `${Math.floor(ms / (3 * DAY))}` })).toBe(
      `${Math.floor(midnight / (3 * DAY))}`,
    );
    const { frontier, clock } = openBench({ defaults: { epoch: { every: "3d" } } });
    frontier.push(A);
    frontier.poll()?.done();
    clock.advance(3 * DAY - 1);
    expect(frontier.push(A).status).toBe("duplicate");
    clock.advance(1);
    expect(frontier.push(A).status).toBe("accepted");
  });

  it("V4: 100,000 segments are open in little memory, and one of them can be purged", () => {
    const { frontier, check } = openBench();
    const seeds = Array.from({ length: 100_000 }, (_, index) => ({ url: A, epoch: `e${index}` }));
    expect(frontier.pushMany(seeds).accepted).toBe(100_000);
    const { epochs, memory } = frontier.report();
    expect(epochs).toEqual({ open: 100_000, identities: 100_000 });
    expect(memory.offHeapBytes).toBeLessThan(60 * 2 ** 20);
    frontier.poll()?.done();
    expect(frontier.forget({ epoch: "e0" })).toBe(1);
    expect(frontier.push({ url: A, epoch: "e0" }).status).toBe("accepted");
    expect(frontier.push({ url: A, epoch: "e1" }).status).toBe("duplicate");
    check();
  });

  it("V5: keys drop the fragment, a time stamp, a callback, or are an own function's", () => {
    const same = (key: object, ...urls: string[]): number => {
      const { frontier } = openBench({ defaults: { key } });
      return frontier.pushMany(urls).accepted;
    };
    expect(same({ profile: "url", fragment: "drop" }, A, `${A}#top`)).toBe(1);
    expect(same({ dropParams: ["_t"] }, `${A}?x=1&_t=5`, `${A}?x=1&_t=6`)).toBe(1);
    expect(same({ dropParams: ["callback"] }, `${A}?callback=j1`, `${A}?callback=j2`)).toBe(1);
    expect(same({ keyOf: ({ url }: { url: string }) => url.slice(-1) }, A, "http://b.com/1")).toBe(
      1,
    );
  });

  it("V6: a verdict for each seed, and accepted is the number of records made", () => {
    const { frontier } = openSeeds();
    const result = frontier.pushMany([A, A, B, "not a url", "ftp://a.com/"]);
    expect(result).toMatchObject({ size: 5, accepted: 2, duplicate: 1, rejected: 2 });
    expect([...frontier.records({})].length).toBe(2);
  });

  it("V7: the first sighting's data win", () => {
    const { frontier } = openSeeds();
    frontier.push({ url: A, data: "first" });
    frontier.push({ url: A, data: "second" });
    expect(frontier.poll()?.data).toBe("first");
  });

  it("V10: what is due goes out, oldest first, and nothing of the future", () => {
    const { frontier, clock } = openSeeds();
    for (const days of [3, 2, 1]) {
      frontier.push({ url: `http://a.com/${days}`, notBefore: clock.now() + days * DAY });
    }
    frontier.pushMany(["http://a.com/0", "http://a.com/00"]);
    const [first] = frontier.pollMany(1);
    expect([first?.url, first?.done().late]).toEqual(["http://a.com/0", false]);
    clock.advance(2 * DAY);
    // Undated ones stood there before; then the segments that are due, oldest first, against the order of pushing.
    const due = frontier.pollMany(9);
    expect(due.map(({ url }) => url)).toEqual([
      "http://a.com/00",
      "http://a.com/1",
      "http://a.com/2",
    ]);
    frontier.done(due);
    clock.advance(DAY);
    expect(frontier.pollMany(9).map(({ url }) => url)).toEqual(["http://a.com/3"]);
  });

  it("V11: who waits is served when the time has come, without a poll", async () => {
    const { frontier, clock } = openSeeds();
    frontier.push({ url: A, notBefore: clock.now() + DAY });
    let served: string[] = [];
    void frontier.take().then((leases) => {
      served = leases.map(({ url }) => url);
    });
    clock.advance(DAY - 1);
    await settled();
    expect(served).toEqual([]);
    clock.advance(1);
    await settled();
    expect(served).toEqual([A]);
  });

  it("V12: empty and ready are emitted at the edges, none lost and none twice", () => {
    const { frontier } = openSeeds();
    const told: string[] = [];
    frontier.on("empty", () => told.push("empty"));
    frontier.on("ready", () => told.push("ready"));
    frontier.poll();
    frontier.poll();
    frontier.push(A);
    frontier.push(B);
    expect(told).toEqual(["empty", "ready"]);
    const leases = frontier.pollMany(2);
    frontier.poll();
    expect(told).toEqual(["empty", "ready", "empty"]);
    // However it comes that there is work again: each way is one edge.
    const ways: Array<() => void> = [
      () => void leases[0]?.release(),
      () => void leases[1]?.retry(),
      () => void frontier.pushMany(MANY),
    ];
    for (const way of ways) {
      told.length = 0;
      way();
      expect(told).toEqual(["ready"]);
      while (frontier.poll() !== undefined);
      frontier.poll();
      expect(told).toEqual(["ready", "empty"]);
    }
  });

  it("V12: the first seed of the future says ready when its time has come, and not before", () => {
    const { frontier, clock } = openSeeds();
    const told: number[] = [];
    frontier.poll();
    frontier.on("ready", () => told.push(clock.now()));
    const dueMs = clock.now() + DAY;
    frontier.push({ url: A, notBefore: dueMs });
    frontier.push({ url: B, notBefore: dueMs + DAY });
    clock.advance(3 * DAY);
    expect(told).toEqual([dueMs]); // nobody polled between: it was not empty again
  });

  it("V14: done and fail are the end, retry brings it back", () => {
    const { frontier } = openSeeds();
    frontier.pushMany([A, B, "http://a.com/3"]);
    const [a, b, c] = frontier.pollMany(3) as [Lease, Lease, Lease];
    a.done();
    b.fail();
    expect(c.retry()).toBe("requeued");
    const stateOf = (url: string) => frontier.record(url)?.state;
    expect([A, B, c.url].map(stateOf)).toEqual(["done", "failed", "pending"]);
  });

  it.each<[ends: Array<"done" | "fail" | "retry">, state: string]>([
    [["done"], "done"],
    [["fail"], "failed"],
    [["retry"], "pending"],
    [["retry", "retry"], "pending"],
    [["retry", "retry", "retry"], "failed"],
    [["retry", "retry", "done"], "done"],
    [["retry", "fail"], "failed"],
  ])(
    "V15: after %j a seed is %s, and whatever ends it is the last that is heard of it",
    (ends, state) => {
      const { frontier, check } = openSeeds();
      frontier.push(A);
      for (const end of ends) frontier.poll()?.[end]();
      expect(frontier.record(A)).toMatchObject({ state, attempts: ends.length });
      expect(frontier.poll()?.attempt).toBe(state === "pending" ? ends.length + 1 : undefined);
      expect(frontier.push(A).status).toBe("duplicate");
      check();
    },
  );

  it("V15: three attempts, or as many as the request says", () => {
    const { frontier } = openSeeds();
    frontier.pushMany([A, { url: B, maxAttempts: 1 }]);
    const attempts = new Map<string, number>();
    for (let lease = frontier.poll(); lease !== undefined; lease = frontier.poll()) {
      attempts.set(lease.url, lease.attempt);
      lease.retry();
    }
    expect(Object.fromEntries(attempts)).toEqual({ [A]: 3, [B]: 1 });
  });

  it("V16: every status code has its state", () => {
    const { frontier, clock } = openSeeds();
    frontier.push(A);
    const states = [frontier.record(A)?.state];
    const lease = frontier.poll() as Lease;
    states.push(frontier.record(A)?.state);
    lease.retry({ delayMs: 5 });
    states.push(frontier.record(A)?.state);
    clock.advance(5);
    frontier.poll()?.done();
    states.push(frontier.record(A)?.state);
    frontier.push(B);
    frontier.poll()?.fail();
    states.push(frontier.record(B)?.state);
    expect(states).toEqual(["pending", "leased", "waiting", "done", "failed"]);
  });

  it("V18: what is finished blocks its URL for the rest of its segment", () => {
    const { frontier, clock } = openBench({ defaults: { epoch: { calendar: "day" } } });
    frontier.push(A);
    frontier.poll()?.done();
    expect(frontier.push(A).status).toBe("duplicate");
    clock.advance(DAY);
    expect(frontier.push(A).status).toBe("accepted");
  });

  it("V23: a seen-set made for a hundred takes a hundred times as many", () => {
    const { frontier } = openBench({ seen: { capacity: 100 } });
    const urls = Array.from({ length: 10_000 }, (_, index) => `http://a.com/${index}`);
    expect(frontier.pushMany(urls).accepted).toBe(10_000);
    expect(frontier.pushMany(urls).duplicate).toBe(10_000);
  });

  it("V24: an asynchronous source is read with back-pressure, and a second time adds nothing", async () => {
    const { frontier } = openSeeds();
    async function* source() {
      for (const url of MANY) yield url;
    }
    expect((await frontier.pushFrom(source(), { batch: 64 })).accepted).toBe(1_000);
    expect((await frontier.pushFrom(source())).accepted).toBe(0);
    const small = openSeeds({ capacity: 100 });
    let read = 0;
    async function* counted() {
      for (const url of MANY) {
        read++;
        yield url;
      }
    }
    const pushing = small.frontier.pushFrom(counted(), { batch: 10 });
    for (let done = 0; done < 1_000; ) {
      await settled();
      // What is read and not taken yet is a batch at most: the source waits.
      expect(read).toBeLessThanOrEqual(done + 100 + 2 * 10);
      const leases = small.frontier.pollMany(30);
      expect(leases.length).toBeGreaterThan(0);
      done += small.frontier.done(leases);
      small.clock.advance(1_000);
    }
    expect(await pushing).toMatchObject({ accepted: 1_000, full: 0 });
  });

  it("V25: clear leaves nothing pending, seen or leased", () => {
    const { frontier, check } = openSeeds();
    frontier.pushMany(MANY);
    const leases = frontier.pollMany(10);
    frontier.clear();
    expect(frontier.report()).toMatchObject({ pending: 0, seen: 0, leased: 0 });
    expect(leases[0]?.done().late).toBe(true);
    expect(frontier.push(MANY[0] as string).status).toBe("accepted");
    check();
  });

  it("V26: finished, pending, leased and all are counted over every segment", () => {
    const { frontier, clock } = openSeeds();
    frontier.pushMany([A, B, { url: A, notBefore: clock.now() + DAY }]);
    frontier.poll()?.done();
    frontier.poll();
    const { done, pending, waiting, leased, accepted, deferred, epochs } = frontier.report();
    expect({ done, pending, waiting, leased }).toEqual({
      done: 1,
      pending: 0,
      waiting: 1,
      leased: 1,
    });
    expect(accepted + deferred).toBe(3);
    expect(epochs).toEqual({ open: 1, identities: 1 });
  });

  it("V26: each segment counts its seeds by state, and is gone when it was forgotten", () => {
    const { frontier, clock } = openSeeds();
    const none = { pending: 0, waiting: 0, leased: 0, done: 0, failed: 0 };
    const urls = (count: number): string[] => MANY.slice(0, count);
    frontier.pushMany(urls(7), { epoch: "old" });
    const [a, b, c] = frontier.pollMany(3);
    a?.done();
    b?.fail();
    c?.retry({ delayMs: 5 });
    frontier.poll();
    frontier.remove({ pattern: "/4$" });
    frontier.pushMany(urls(3), { notBefore: clock.now() + DAY });
    frontier.push(B); // of no segment
    const old = { ...none, identities: 7, pending: 2, waiting: 1, leased: 1, done: 1, failed: 1 };
    const next = { ...none, identities: 3, waiting: 3 };
    expect([...frontier.epochs()]).toEqual([
      { name: "2026-11-21", ...next },
      { name: "old", ...old },
    ]);
    // One that goes while they are told of is left out, as all are after a clear.
    const telling = frontier.epochs()[Symbol.iterator]();
    expect(telling.next().value).toEqual({ name: "2026-11-21", ...next });
    frontier.forget({ epoch: "old" });
    expect(telling.next().done).toBe(true);
    frontier.clear();
    expect([...frontier.epochs()]).toEqual([]);
  });

  it("V27: a request with a time is deferred until then", () => {
    const { frontier, clock } = openSeeds();
    const notBefore = new Date(clock.now() + 2 * DAY);
    expect(frontier.push({ url: A, notBefore })).toEqual({ status: "deferred", admitted: true });
    expect(frontier.nextDueAt()).toBe(Number(notBefore));
  });

  it("V28: it ends 60 seconds after the last seed, on the clock", async () => {
    const { frontier, clock } = openSeeds({ keepOpen: true });
    frontier.push(A);
    frontier.poll()?.done();
    let isOver = false;
    void frontier.take().then(({ length }) => {
      isOver = length === 0;
    });
    clock.advance(59_999);
    await settled();
    expect(isOver).toBe(false);
    clock.advance(1);
    await settled();
    expect(isOver).toBe(true);
  });

  it("V30: the order is the order of pushing, never of keys", () => {
    const { frontier } = openSeeds();
    const urls = ["http://z.com/", "http://a.com/", "http://m.com/"];
    frontier.pushMany(urls);
    expect(frontier.pollMany(3).map(({ url }) => url)).toEqual(urls);
  });

  it("V31: a leased request that is pushed again carries no state", () => {
    const { frontier } = openSeeds();
    frontier.push({ url: A, data: 1 });
    frontier.poll()?.retry();
    const { url, data } = frontier.poll() as Lease;
    frontier.push({ url, data, epoch: "copy" });
    expect(frontier.poll()).toMatchObject({ url: A, data: 1, attempt: 1, deliveries: 1 });
  });

  it("V32: it runs once opened, and nothing starts it twice", async () => {
    const { frontier } = openSeeds();
    frontier.resume();
    expect(frontier.status).toBe("running");
    await frontier.close();
    expect(frontier.status).toBe("stopped");
  });

  it("V-B3: pending, leased and finished all answer the duplicate check", () => {
    const { frontier } = openSeeds();
    frontier.push(A);
    expect(frontier.push(A).status).toBe("duplicate");
    const lease = frontier.poll() as Lease;
    expect(frontier.push(A).status).toBe("duplicate");
    lease.done();
    expect(frontier.push(A).status).toBe("duplicate");
  });

  it("V-B4: a segment that ran dry takes new seeds and retries", () => {
    const { frontier, clock, check } = openSeeds();
    const today = (url: string) => ({ url, epoch: "2026-11-20" });
    frontier.push(today(A));
    const lease = frontier.poll() as Lease;
    expect(frontier.poll()).toBe(undefined);
    frontier.push(today(B));
    lease.retry({ delayMs: 5 });
    expect(frontier.poll()?.url).toBe(B);
    clock.advance(5);
    expect(frontier.poll()?.url).toBe(A);
    check();
  });

  it("V-B6: a future seed never hides one that can go now", async () => {
    const random = createRandom(testSeed("wake-ups"));
    const { frontier, clock } = openSeeds();
    for (let round = 0; round < sized(1_000, 200); round++) {
      const now = `http://a.com/now/${round}`;
      const future = () => ({
        url: `http://a.com/later/${random.word()}`,
        notBefore: clock.now() + DAY,
      });
      const steps = [
        () => void frontier.push(now),
        () => void frontier.push(future()),
        () => void frontier.pushMany([future(), future()]),
        () => void frontier.update(now, { priority: 1 }),
        () => void expect(frontier.nextDueAt()).not.toBe(undefined),
      ];
      frontier.push(future());
      const taken = random.below(4) > 0 ? frontier.take() : undefined;
      for (let at = steps.length; at > 0; at--) {
        for (const step of steps.splice(random.below(at), 1)) step();
        if (random.below(3) === 0) await settled();
      }
      const leases = await (taken ?? frontier.take());
      expect(leases.map(({ url }) => url)).toEqual([now]);
      frontier.done(leases);
    }
    await frontier.close();
  });

  it("V-B7: a seed of 18:00 goes at 18:00, to the millisecond", () => {
    const { frontier, clock } = openSeeds();
    const dueMs = clock.now() + 6 * 3_600_000;
    frontier.push({ url: A, notBefore: dueMs });
    clock.advance(dueMs - clock.now() - 1);
    expect(frontier.poll()).toBe(undefined);
    clock.advance(1);
    expect(frontier.poll()?.url).toBe(A);
  });

  it("V-B9: keys are bytes of UTF-8, whatever the platform's charset", () => {
    const { frontier } = openSeeds();
    expect(frontier.push("http://a.com/ü").status).toBe("accepted");
    expect(frontier.push("http://a.com/ü").status).toBe("duplicate");
    expect(frontier.push("http://a.com/ú").status).toBe("accepted");
  });

  it("V-B10: what a source gives is what is counted, at every size of batch", async () => {
    for (const batch of [1, 7, 64, 2_048]) {
      const { frontier } = openSeeds();
      const result = await frontier.pushFrom(MANY, { batch });
      expect([result.size, result.accepted]).toEqual([1_000, 1_000]);
    }
  });

  it("V-B12: a frontier that waits for tomorrow is not finished", async () => {
    const { frontier, clock } = openSeeds();
    frontier.push({ url: A, notBefore: clock.now() + DAY });
    const taken = frontier.take();
    clock.advance(DAY / 2);
    await settled();
    expect(frontier.report().waitingUntil).toBe(clock.now() + DAY / 2);
    clock.advance(DAY / 2);
    expect((await taken)[0]?.url).toBe(A);
  });

  it("V-B13: totals include what is leased, clear leaves nothing, and segments can be purged", () => {
    const { frontier, check } = openSeeds();
    frontier.pushMany(MANY, { epoch: "old" });
    frontier.done(frontier.pollMany(500));
    frontier.pollMany(100);
    const { pending, leased, done } = frontier.report();
    expect(pending + leased + done).toBe(1_000);
    expect(frontier.forget({ epoch: "old" })).toBe(500);
    expect(frontier.report().epochs.open).toBe(0);
    check();
  });
});
