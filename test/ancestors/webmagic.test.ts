/** W: what WebMagic's schedulers do, row by row, and the faults they have. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import { presets } from "../../src/engine/options/presets.ts";
import type { Lease } from "../../src/engine/types/frontier-types.ts";
import { resolveLinks } from "../../src/engine/api/url-functions.ts";
import { expandSeed } from "../../src/url/parsing/seed-templates.ts";
import { openBench, settled, thrownBy } from "../support/bench-frontier.ts";
import { testSeed } from "../support/seed.ts";
import { sized } from "../support/size.ts";

const A = "http://a.com/1";
const B = "http://a.com/2";
const MANY = Array.from({ length: 1_000 }, (_, index) => `http://a.com/page/${index}`);

describe("WebMagic", () => {
  it("W1: a poll of an empty frontier answers at once, and a take is served by the next push", async () => {
    const { frontier, check } = openBench();
    expect([frontier.poll(), frontier.pollMany(5)]).toEqual([undefined, []]);
    const taken = frontier.take();
    await settled();
    frontier.push(A);
    expect((await taken).map(({ url }) => url)).toEqual([A]);
    check();
  });

  it("W2: retries and exempt POSTs are handed out without touching the seen-set", () => {
    const { frontier, check } = openBench({
      defaults: { key: { profile: "url", exemptMethods: ["POST"] } },
    });
    frontier.push(A);
    expect(frontier.poll()?.retry()).toBe("requeued");
    frontier.push({ url: B, method: "POST" });
    expect(frontier.report().seen).toBe(1);
    expect(frontier.pollMany(2).map(({ url }) => url)).toEqual([B, A]); // the retry has priority −1
    expect(frontier.report().seen).toBe(1);
    check();
  });

  it("W4: equal POSTs are all taken when exempt, and the GET behind them is still new", () => {
    const { frontier } = openBench({
      defaults: { key: { profile: "url", exemptMethods: ["post"] } },
    });
    const verdicts = ["POST", "POST", "GET", "GET"].map(
      (method) => frontier.push({ url: A, method }).status,
    );
    expect(verdicts).toEqual(["accepted", "accepted", "accepted", "duplicate"]);
    expect(frontier.pollMany(9).map(({ method }) => method)).toEqual(["POST", "POST", "GET"]);
  });

  it("W5: PUT after GET is a duplicate under profile url, and new where the method is in the key", () => {
    const verdicts = [{ profile: "url" } as const, {}].map((key) => {
      const { frontier } = openBench({ defaults: { key } });
      return ["GET", "HEAD", "PUT"].map((method) => frontier.push({ url: A, method }).status);
    });
    expect(verdicts).toEqual([
      ["accepted", "duplicate", "duplicate"],
      ["accepted", "accepted", "accepted"],
    ]);
  });

  it("W6: a retry is no push: nothing is asked of the seen-set, and the record stays one", () => {
    const { frontier, check } = openBench();
    frontier.push(A);
    frontier.poll()?.retry();
    const { accepted, duplicate, pushed, seen, pending } = frontier.report();
    expect({ accepted, duplicate, pushed, seen, pending }).toEqual({
      accepted: 1,
      duplicate: 0,
      pushed: 1,
      seen: 1,
      pending: 1,
    });
    check();
  });

  it("W7: a retry waits for the clock, and the lease has the number of its attempt", () => {
    const { frontier, clock, check } = openBench(
      presets.webmagic({ defaults: { maxAttempts: 3 } }),
    );
    frontier.push({ url: A, priority: 5 });
    const seen: number[][] = [];
    for (let lease = frontier.poll(); lease !== undefined; lease = frontier.poll()) {
      seen.push([lease.attempt, lease.priority]);
      lease.retry();
      expect(frontier.poll()).toBe(undefined);
      clock.advance(1_000);
    }
    expect(seen).toEqual([
      [1, 5],
      [2, 0],
      [3, 0],
    ]);
    expect(frontier.record(A)?.state).toBe("failed");
    check();
  });

  it("W8: every outcome is reported, and what failed stays with its reason", () => {
    const { frontier } = openBench();
    const reasons: unknown[] = [];
    frontier.on("failed", (views) => reasons.push(...views.map(({ reason }) => reason)));
    frontier.push(A);
    frontier.poll()?.fail("status 404");
    expect(frontier.record(A)?.state).toBe("failed");
    expect(reasons).toEqual(["status 404"]);
    expect(frontier.report()).toMatchObject({
      ...{ done: 0, failed: 1, reasons: { retried: {}, failed: { "status 404": 1 } } },
    });
    frontier.push(B);
    expect(frontier.poll()?.done().late).toBe(false);
    expect(frontier.record(B)?.state).toBe("done");
  });

  it("W9: forget makes every URL new again and leaves the pending ones", () => {
    const { frontier, check } = openBench();
    frontier.pushMany(MANY);
    frontier.done(frontier.pollMany(400));
    expect(frontier.forget()).toBe(400);
    expect(frontier.report().pending).toBe(600);
    expect(frontier.pushMany(MANY).accepted).toBe(1_000);
    check();
  });

  it("W10: seen and pending are counted apart, and an exempt POST is in accepted alone", () => {
    const { frontier } = openBench({ defaults: { key: { exemptMethods: ["POST"] } } });
    frontier.pushMany([A, A, B, { url: A, method: "POST" }]);
    frontier.poll()?.done();
    const { seen, pending, accepted } = frontier.report();
    expect({ seen, pending, accepted }).toEqual({ seen: 2, pending: 2, accepted: 3 });
  });

  it("W11: first in, first out over 1,000,000, and with a capacity the rest is told that it is full", () => {
    const count = sized(1_000_000, 100_000);
    const { frontier } = openBench({ capacity: count });
    const urls = Array.from({ length: count + 1 }, (_, index) => `http://a.com/${index}`);
    expect(frontier.pushMany(urls)).toMatchObject({ accepted: count, full: 1 });
    let at = 0;
    while (at < count) {
      const leases = frontier.pollMany(10_000);
      expect(leases.every(({ url }) => url === urls[at++])).toBe(true);
      expect(frontier.done(leases)).toBe(10_000);
    }
    expect(frontier.poll()).toBe(undefined);
  });

  it("W12: larger priorities first, first in first out within one, to the ends of safe integers", () => {
    const { frontier, check } = openBench(presets.webmagic());
    const max = Number.MAX_SAFE_INTEGER;
    for (const priority of [100, 900, 0, -900, -max, max, -1, 0]) {
      frontier.push({ url: `http://a.com/${frontier.report().pushed}`, priority });
    }
    const order = frontier.pollMany(9);
    expect(order.map(({ priority }) => priority)).toEqual([max, 900, 100, 0, 0, -1, -900, -max]);
    expect(order.slice(3, 5).map(({ url }) => url)).toEqual(["http://a.com/2", "http://a.com/7"]);
    check();
  });

  it("W13: of any two priorities the larger goes first", () => {
    const random = createRandom(testSeed("W13"));
    const { frontier } = openBench();
    for (let index = 0; index < 2_000; index++) {
      frontier.push({ url: `http://a.com/${index}`, priority: random.below(2 ** 31) - 2 ** 30 });
    }
    const given = frontier.pollMany(2_000).map(({ priority }) => priority);
    expect(given).toEqual([...given].sort((a, b) => b - a));
  });

  it("W22: the bloom's size and rate are options, and the report tells what they cost", () => {
    const filled = (falsePositiveRate: number, capacity: number) => {
      const { frontier } = openBench({
        seen: { mode: "bloom", capacity, falsePositiveRate },
      });
      const urls = Array.from({ length: 200_000 }, (_, index) => `http://a.com/${index}`);
      const { accepted } = frontier.pushMany(urls);
      return { accepted, ...frontier.report().seenSet };
    };
    const [coarse, fine] = [filled(0.05, 200_000), filled(0.001, 200_000)];
    expect([coarse.mode, fine.mode]).toEqual(["bloom", "bloom"]);
    const bytesOf = (falsePositiveRate: number): number =>
      openBench({
        seen: { mode: "bloom", capacity: 10_000_000, falsePositiveRate },
      }).frontier.report().seenSet.bytes;
    expect(bytesOf(0.001)).toBeGreaterThan(bytesOf(0.05) * 1.5);
    // What it says of itself, against what was asked for and what it really cost.
    for (const [told, asked] of [
      [coarse, 0.05],
      [fine, 0.001],
    ] as const) {
      expect(told.load).toBeGreaterThan(0);
      expect(told.bitsPerUrl).toBeGreaterThan(0);
      expect(told.falsePositiveRate).toBeGreaterThan(asked / 10);
      expect(told.falsePositiveRate).toBeLessThan(asked * 1.5);
      const lost = 200_000 - told.accepted;
      expect(lost).toBeGreaterThan(told.expectedLost / 2 - 10);
      expect(lost).toBeLessThan(told.expectedLost * 2 + 20);
    }
  });

  it("W23: own keys and epochs are where the duplicate check is replaced", () => {
    const { frontier } = openBench({
      defaults: { key: { keyOf: ({ url }) => url.slice(0, 12) }, epoch: { of: () => "one" } },
    });
    expect(frontier.pushMany([A, B]).duplicate).toBe(1);
    expect(frontier.push({ url: B, epoch: "two" }).status).toBe("accepted");
  });

  it("W24: idle and finished are emitted when nothing is pending or leased, not between", async () => {
    const { frontier } = openBench();
    const told: string[] = [];
    frontier.on("finished", () => told.push("finished"));
    frontier.on("idle", () => told.push("idle"));
    frontier.push(A);
    const lease = frontier.poll() as Lease;
    const taken = frontier.take();
    await settled();
    expect(told).toEqual([]);
    lease.done({ found: [B] });
    expect(told).toEqual([]);
    const [child] = await taken;
    child?.done();
    expect(told).toEqual(["idle", "finished"]);
    expect(await frontier.take()).toEqual([]);
  });

  it("W25: a stopped frontier has that status, and one opened after it really runs", async () => {
    const first = openBench();
    first.frontier.push(A);
    await first.frontier.close();
    expect(first.frontier.status).toBe("stopped");
    expect(first.frontier.push(B).status).toBe("closed");
    expect(thrownBy(() => first.frontier.resume())).toMatchObject({ code: "FRONTIER_CLOSED" });
    const second = openBench();
    second.frontier.push(A);
    expect(second.frontier.poll()?.url).toBe(A);
  });

  it("W26: the report has what a monitor shows, and failed URLs can be listed", () => {
    const { frontier, clock } = openBench();
    frontier.pushMany(MANY);
    for (const lease of frontier.pollMany(10)) lease.fail("x");
    frontier.done(frontier.pollMany(90));
    clock.advance(10_000);
    const { pending, seen, done, failed, status, startedAt, rates } = frontier.report();
    expect({ pending, seen, done, failed, status }).toEqual({
      pending: 900,
      seen: 1_000,
      done: 90,
      failed: 10,
      status: "running",
    });
    expect(startedAt).toBe(clock.now() - 10_000);
    expect(rates.done).toBeCloseTo(9);
    expect([...frontier.records({ state: "failed" })].map(({ url }) => url)).toEqual(
      MANY.slice(0, 10),
    );
  });

  it("W27: blank, # and javascript: links are dropped, the rest is resolved, and −1 is a priority", () => {
    const links = resolveLinks("http://a.com/x/y", ["", " ", "#", "javascript:go()", "../z"]);
    expect(links).toEqual(["http://a.com/z"]);
    const { frontier } = openBench();
    frontier.pushMany([{ url: A, priority: -1 }, B]);
    expect(frontier.pollMany(2).map(({ url }) => url)).toEqual([B, A]);
  });

  it("W28: a rule that does not follow counts what was found and pushes none of it", () => {
    const { frontier } = openBench({ defaults: { follow: false } });
    frontier.push(A);
    const result = frontier.poll()?.done({ found: [B, "http://a.com/3"] });
    expect(result).toMatchObject({ size: 2, accepted: 0, rejected: 2 });
    expect(frontier.report()).toMatchObject({ pending: 0, rejected: { "no-follow": 2 } });
  });

  it("W29: a range is expanded with both ends, and one from more to less is empty", () => {
    expect([...expandSeed("http://x/[1-3]")]).toEqual(["http://x/1", "http://x/2", "http://x/3"]);
    expect([...expandSeed("http://x/[3-1]")]).toEqual([]);
  });

  it("W30: a URL comes again every T for ever without a push, and depth has a limit", () => {
    const { frontier, clock, check } = openBench({
      defaults: { epoch: { every: "1h" }, maxDepth: 1 },
    });
    frontier.push(A);
    for (let round = 0; round < 20; round++) {
      frontier.poll()?.done();
      clock.advance(3_599_999);
      expect(frontier.poll()).toBe(undefined);
      clock.advance(1);
    }
    const lease = frontier.poll() as Lease;
    expect([lease.url, lease.attempt]).toEqual([A, 1]);
    lease.done({ found: [B] });
    const deep = frontier.poll()?.done({ found: ["http://a.com/3"] });
    expect(deep?.verdict(0).reason).toBe("too-deep");
    check();
  });

  it("W-B1: the first push is accepted and the second a duplicate, told by one verdict", () => {
    const { frontier } = openBench();
    expect([frontier.push(A), frontier.push(A)]).toEqual([
      { status: "accepted", admitted: true },
      { status: "duplicate", admitted: false },
    ]);
  });

  it("W-B7: sizes come from options alone, and a wrong one is refused by name", () => {
    for (const capacity of [-1_756_931_230, 0, Number.NaN, 1.5]) {
      const error = thrownBy(() => openBench({ seen: { mode: "bloom", capacity } }));
      expect((error as Error).message).toContain("options.seen.capacity");
    }
    // What it will take is told before a page of it is touched, and memoryBytes is its bound whatever capacity says.
    const bytesOf = (capacity: number): number =>
      openBench({ seen: { mode: "bloom", capacity, memoryBytes: 1 << 20 } }).frontier.report()
        .seenSet.bytes;
    expect(bytesOf(100_000)).toBeGreaterThan(bytesOf(10_000));
    expect(bytesOf(1_756_931_230)).toBeLessThanOrEqual(1 << 20);
  });

  it("W-B8: forget works in every mode of the seen-set", () => {
    for (const mode of ["exact", "bloom"] as const) {
      const { frontier, check } = openBench({ seen: { mode } });
      frontier.pushMany(MANY);
      frontier.done(frontier.pollMany(1_000));
      frontier.forget();
      expect(frontier.report().seen).toBe(0);
      expect(frontier.pushMany(MANY).accepted).toBe(1_000);
      check();
    }
  });

  it("W-B11: two POSTs to one URL keep their bodies apart, and what is finished is freed", () => {
    const { frontier, check } = openBench({ defaults: { key: { exemptMethods: ["POST"] } } });
    const round = (): string[] => {
      for (const body of ["one", "two"]) frontier.push({ url: A, method: "POST", body });
      const leases = frontier.pollMany(2);
      const bodies = leases.map(({ body }) => Buffer.from(body ?? []).toString());
      frontier.done(leases);
      return bodies;
    };
    expect(round()).toEqual(["one", "two"]);
    const { offHeapBytes } = frontier.report().memory;
    for (let count = 0; count < 2_000; count++) round();
    expect(frontier.report().memory.offHeapBytes).toBeLessThanOrEqual(offHeapBytes + 131_072);
    check();
  });

  it("W-B12: maxAttempts N is N attempts for every N, and a failed page is failed", () => {
    for (const maxAttempts of [1, 2, 3, 5, 8]) {
      const { frontier } = openBench({ defaults: { maxAttempts } });
      frontier.push({ url: A, priority: 3 });
      let attempts = 0;
      for (let lease = frontier.poll(); lease !== undefined; lease = frontier.poll()) {
        attempts++;
        expect(lease.priority).toBe(3 - (attempts - 1));
        lease.retry();
      }
      expect(attempts).toBe(maxAttempts);
      expect(frontier.report()).toMatchObject({ failed: 1, done: 0 });
    }
  });

  it("W-B13: equal priorities keep their order, first or last as the rule says", () => {
    for (const order of ["fifo", "lifo"] as const) {
      // Many at once, where hosts have their own lines, and one by one.
      for (const [politeness, most] of [
        [{}, 1_000],
        [{ perHost: 2_000 }, 1_000],
        [{ perHost: 2_000 }, 1],
      ] as const) {
        const { frontier } = openBench({ defaults: { order, politeness } });
        frontier.pushMany(MANY.map((url) => ({ url, priority: 7 })));
        const urls: string[] = [];
        while (urls.length < 1_000) urls.push(...frontier.pollMany(most).map(({ url }) => url));
        expect(urls).toEqual(order === "fifo" ? MANY : [...MANY].reverse());
      }
    }
  });

  it("W-B14: pending counts every priority, after every call", () => {
    const { frontier, clock, check } = openBench();
    [5, 0, -3, 0, 9].forEach((priority, index) => {
      frontier.push({ url: `http://a.com/${index}`, priority });
      expect(frontier.report().pending).toBe(index + 1);
      check();
    });
    const left = (pending: number): void => {
      expect([
        frontier.report().pending,
        [...frontier.records({ state: "pending" })].length,
      ]).toEqual([pending, pending]);
      check();
    };
    const [first, second, third] = frontier.pollMany(3);
    left(2);
    first?.release();
    left(3);
    second?.retry({ delayMs: 0 });
    left(4);
    third?.done({ found: ["http://a.com/found", "http://a.com/found"] });
    left(5);
    frontier.poll();
    left(4);
    clock.advance(1_000_000);
    left(5); // its lease has run out
    frontier.update("http://a.com/found", { priority: 7 });
    left(5);
    frontier.remove({ pattern: "found$" });
    left(4);
    frontier.poll()?.fail("no");
    left(3);
    frontier.requeue({ state: "failed" });
    left(4);
  });

  it("W-B15: no new URL is refused, however many there are, where the answer is exact", () => {
    const { frontier } = openBench({ seen: { mode: "exact", capacity: 1_000 } });
    const urls = Array.from({ length: 50_000 }, (_, index) => `http://a.com/${index}`);
    expect(frontier.pushMany(urls).accepted).toBe(50_000);
  });

  it("W-B16: attempts are no data: a child with all of its parent's is checked like any other", () => {
    const { frontier } = openBench({ capacity: 1 });
    frontier.push({ url: A, data: { _cycle_tried_times: 1 } });
    frontier.poll()?.retry();
    const lease = frontier.poll() as Lease;
    expect(lease.attempt).toBe(2);
    const found = [{ url: A, data: lease.data }, { url: B, data: lease.data }, "http://a.com/3"];
    const result = lease.done({ found });
    expect([0, 1, 2].map((index) => result.verdict(index).status)).toEqual([
      "duplicate",
      "accepted",
      "accepted", // children are taken beyond the capacity, and nobody waits
    ]);
    expect(frontier.poll()?.attempt).toBe(1);
  });
});
