/**
 * The meanings of the public API, sentence by sentence, through the public surface alone: Attempts, Lateness, Identity, Kept, Capacity.
 * Each title is a sentence of the contract.
 */
import { describe, expect, it } from "vitest";
import { openFrontier } from "../../../src/index.ts";
import { A, B, codeOf, open } from "../../support/meanings.ts";

const C = "http://c.example/";

describe("Attempts", () => {
  it("maxAttempts N means N attempts for every N (default 3)", async () => {
    for (const [maxAttempts, own] of [
      [undefined, undefined],
      [1, undefined],
      [2, undefined],
      [5, undefined],
      [5, 2],
      [1, 3],
    ] as const) {
      const { frontier } = await open(
        maxAttempts === undefined ? {} : { defaults: { maxAttempts } },
      );
      frontier.push({ url: A, ...(own === undefined ? {} : { maxAttempts: own }) });
      const answers: string[] = [];
      for (let lease = frontier.poll(); lease !== undefined; lease = frontier.poll()) {
        expect([lease.attempt, lease.deliveries]).toEqual([answers.length + 1, answers.length + 1]);
        answers.push(lease.retry());
      }
      const most = own ?? maxAttempts ?? 3;
      expect(answers).toEqual([...new Array(most - 1).fill("requeued"), "failed"]);
      expect(frontier.record(A)).toMatchObject({ state: "failed", attempts: most });
    }
  });

  it("retry and expiry count one; release counts none", async () => {
    const { frontier, clock } = await open({ leaseMs: 100, defaults: { maxAttempts: 3 } });
    frontier.push(A);
    frontier.poll()?.release();
    frontier.poll()?.release();
    expect(frontier.record(A)).toMatchObject({ state: "pending", attempts: 0, deliveries: 2 });
    frontier.poll()?.retry();
    frontier.poll();
    clock.advance(100);
    const last = frontier.poll();
    expect([last?.attempt, last?.deliveries]).toEqual([3, 5]);
    clock.advance(100);
    expect(frontier.poll()).toBeUndefined();
    expect(frontier.record(A)).toMatchObject({ state: "failed", attempts: 3, deliveries: 5 });
    expect(frontier.report()).toMatchObject({ expired: 2, retried: 1, failed: 1 });
  });

  it("deliveries counts every hand-out and fails the record at maxDeliveries", async () => {
    const { frontier } = await open({ maxDeliveries: 3 });
    frontier.push(A);
    for (let n = 1; n <= 3; n++) {
      const lease = frontier.poll();
      expect(lease?.deliveries).toBe(n);
      expect(lease?.release()).toBe(true);
    }
    expect(frontier.poll()).toBeUndefined();
    expect(frontier.record(A)?.state).toBe("failed");
    const ten = await open();
    ten.frontier.push(A);
    let given = 0;
    for (let lease = ten.frontier.poll(); lease; lease = ten.frontier.poll()) {
      given++;
      lease.release();
    }
    expect(given).toBe(10);
  });

  it("retry takes delayMs and priority of its own; back-off grows by its factor to maxMs", async () => {
    const { frontier, clock } = await open({
      defaults: { maxAttempts: 9, backoff: { baseMs: 100, factor: 3, maxMs: 500 } },
    });
    frontier.push({ url: A, priority: 5 });
    for (const wait of [100, 300, 500, 500]) {
      frontier.poll()?.retry();
      expect(frontier.record(A)).toMatchObject({ state: "waiting", untilMs: clock.now() + wait });
      expect(frontier.nextDueAt()).toBe(clock.now() + wait);
      clock.advance(wait);
    }
    frontier.poll()?.retry({ delayMs: 7, priority: 40 });
    expect(frontier.poll()).toBeUndefined();
    clock.advance(7);
    expect(frontier.poll()?.priority).toBe(40);
  });
});

describe("Lateness", () => {
  it("is judged by the clock: a result after the deadline changes nothing, says so, is counted", async () => {
    const { frontier, clock } = await open({ leaseMs: 100 });
    frontier.push(A);
    const lease = frontier.poll();
    expect(lease?.deadlineMs).toBe(clock.now() + 100);
    clock.advance(101); // nobody has looked since
    const answer = lease?.done({ found: [B] });
    expect([answer?.late, answer?.size, answer?.accepted]).toEqual([true, 0, 0]);
    expect(lease?.retry()).toBe("late");
    expect(lease?.fail()).toBe(false);
    expect(lease?.release()).toBe(false);
    expect(lease?.extend(10)).toBe(false);
    expect(lease?.redirect(B).admitted).toBe(false);
    expect(frontier.done([lease as never])).toBe(0);
    expect(frontier.report()).toMatchObject({
      lateResults: 7,
      expired: 1,
      pending: 1,
      accepted: 1,
    });
    expect(frontier.record(B)).toBeUndefined();
  });

  it("extend moves the deadline", async () => {
    const { frontier, clock } = await open({ leaseMs: 100 });
    frontier.push(A);
    const lease = frontier.poll();
    expect(lease?.extend(50)).toBe(true);
    expect(lease?.deadlineMs).toBe(clock.now() + 150);
    clock.advance(149);
    expect(frontier.poll()).toBeUndefined();
    expect(lease?.done().late).toBe(false);
  });

  it("a second result is late", async () => {
    const { frontier } = await open();
    for (const end of ["done", "retry", "fail", "release"] as const) {
      frontier.push({ url: A, dedup: "skip", priority: 9 });
      const lease = frontier.poll();
      lease?.[end]();
      expect(lease?.done().late, end).toBe(true);
    }
  });

  it("done(leases) says how many were not late", async () => {
    const { frontier } = await open();
    frontier.pushMany([A, B, C]);
    const [a, b, c] = frontier.pollMany(3);
    a?.done();
    expect(frontier.done(new Set([a, b, b, c] as never[]))).toBe(2);
    expect(frontier.done([])).toBe(0);
    expect(frontier.report()).toMatchObject({ done: 3, lateResults: 1 });
  });
});

describe("Children", () => {
  it("done({ found }) sets depth and parent, whatever they claim; redirect keeps the depth", async () => {
    const { frontier } = await open();
    frontier.push({ url: A, depth: 4 });
    const lease = frontier.poll();
    const moved = lease?.redirect("http://a.example/moved");
    expect(moved).toEqual({ status: "accepted", admitted: true });
    const result = lease?.done({ found: [B, { url: C, depth: 0, data: 1 }, A] });
    expect([result?.size, result?.accepted, result?.duplicate]).toEqual([3, 2, 1]);
    const [one, two, three] = frontier.pollMany(9);
    expect([one?.url, one?.depth, one?.parent]).toEqual([
      "http://a.example/moved",
      4,
      lease?.fingerprint,
    ]);
    expect([two?.url, two?.depth, two?.parent]).toEqual([B, 5, lease?.fingerprint]);
    expect([three?.depth, three?.data]).toEqual([5, 1]);
  });

  it("maxDepth, follow: false and maxFound refuse them by name", async () => {
    const deep = await open({ defaults: { maxDepth: 1 } });
    deep.frontier.push({ url: A, depth: 1 });
    expect(
      deep.frontier
        .poll()
        ?.done({ found: [B] })
        .verdict(0).reason,
    ).toBe("too-deep");
    expect(deep.frontier.push(B).status).toBe("accepted"); // a refused one was not seen
    const still = await open({ defaults: { follow: false } });
    still.frontier.push(A);
    expect(still.frontier.poll()?.done({ found: [B] }).rejected).toBe(1);
    const few = await open({ maxFound: 1 });
    few.frontier.push(A);
    const result = few.frontier.poll()?.done({ found: [B, C] });
    expect([result?.accepted, result?.rejected]).toEqual([1, 1]);
  });
});

describe("Identity", () => {
  it("dedup: 'skip' makes records without identity: not recorded, ignored by record and update", async () => {
    const { frontier } = await open();
    expect(frontier.push({ url: A, dedup: "skip" }).status).toBe("accepted");
    expect(frontier.push({ url: A, dedup: "skip" }).status).toBe("accepted");
    expect(frontier.report()).toMatchObject({ seen: 0, pending: 2, accepted: 2 });
    expect(frontier.record(A)).toBeUndefined();
    expect(frontier.update(A, { priority: 3 })).toBe(false);
    expect(frontier.push(A).status).toBe("accepted");
    expect(frontier.push({ url: A, dedup: "skip" }).status).toBe("accepted");
    const leases = frontier.pollMany(9);
    expect(leases.map(({ url }) => url)).toEqual([A, A, A, A]); // and the one-lease rule
    expect(frontier.done(leases)).toBe(4);
    expect(frontier.record(A)?.state).toBe("done");
  });

  it("exemptMethods make records without identity", async () => {
    const { frontier } = await open({ defaults: { key: { exemptMethods: ["POST"] } } });
    const post = { url: A, method: "POST" };
    expect([frontier.push(post).status, frontier.push(post).status]).toEqual([
      "accepted",
      "accepted",
    ]);
    expect(frontier.report().seen).toBe(0);
    expect(frontier.record(post)).toBeUndefined();
    expect([frontier.push(A).status, frontier.push(A).status]).toEqual(["accepted", "duplicate"]);
  });

  it("dedup: 'record' is never refused but remembered; on a live identity it makes a second such record", async () => {
    const { frontier } = await open();
    expect(frontier.push({ url: A, dedup: "record" }).status).toBe("accepted");
    expect(frontier.push(A).status).toBe("duplicate");
    expect(frontier.record(A)?.state).toBe("pending");
    expect(frontier.push({ url: A, dedup: "record", data: 2 }).status).toBe("accepted");
    expect(frontier.report()).toMatchObject({ pending: 2, seen: 1 });
    const [first, second] = frontier.pollMany(9);
    expect([first?.data, second?.data]).toEqual([undefined, 2]);
    second?.done();
    expect(frontier.record(A)?.state).toBe("leased");
    first?.done();
    expect(frontier.record(A)?.state).toBe("done");
    expect(frontier.push({ url: A, dedup: "record" }).status).toBe("accepted");
    expect(frontier.push(A).status).toBe("duplicate");
  });

  it("forget starts a new generation; older records finish without identity", async () => {
    const { frontier } = await open();
    frontier.pushMany([A, B, C]);
    const [a, b] = frontier.pollMany(2);
    a?.done();
    frontier.forget();
    expect(frontier.report()).toMatchObject({
      pending: 1,
      leased: 1,
      done: 0,
      forgotten: 1,
      seen: 0,
    });
    for (const url of [A, B, C]) expect(frontier.record(url)).toBeUndefined();
    expect(frontier.pushMany([A, B, C]).accepted).toBe(3);
    b?.done();
    expect(frontier.record(B)?.state).toBe("pending");
    const leases = frontier.pollMany(9);
    expect(leases.map(({ url }) => url)).toEqual([C, A, B, C]);
    leases[0]?.fail();
    expect(frontier.record(C)?.state).toBe("leased");
  });

  it("body, method and chosen headers are part of it; key and keyOf override the URL's", async () => {
    const { frontier } = await open({ defaults: { key: { headers: ["X-Part"] } } });
    const requests = [
      { url: A },
      { url: A, method: "POST" },
      { url: A, method: "POST", body: "x" },
      { url: A, headers: { "x-part": "1" } },
      { url: A, key: "other" },
    ];
    for (const one of requests) expect(frontier.push(one).status).toBe("accepted");
    for (const one of requests) expect(frontier.push(one).status).toBe("duplicate");
    expect(frontier.push({ url: A, headers: { other: "1" } }).status).toBe("duplicate");
    const body = new TextEncoder().encode("x");
    expect(frontier.push({ url: A, method: "POST", body }).status).toBe("duplicate");
    expect(new Set(frontier.pollMany(9).map(({ fingerprint }) => fingerprint)).size).toBe(5);
    const own = await open({ defaults: { key: { keyOf: ({ url }) => new URL(url).host } } });
    expect(own.frontier.push("http://h.example/1").status).toBe("accepted");
    expect(own.frontier.push("http://h.example/2").status).toBe("duplicate");
  });
});

describe("Kept", () => {
  it("failed records stay until requeued or forgotten", async () => {
    const { frontier } = await open();
    frontier.pushMany([A, B]);
    for (const lease of frontier.pollMany(2)) lease.fail("why");
    expect(frontier.push(A).status).toBe("duplicate");
    expect(frontier.remove({ host: "a.example" })).toBe(0);
    expect(frontier.requeue({ state: "failed", host: "a.example" })).toBe(1);
    expect(frontier.report()).toMatchObject({ pending: 1, failed: 1 });
    expect([...frontier.records({ state: "failed" })].map(({ url }) => url)).toEqual([B]);
    frontier.forget();
    expect(frontier.report()).toMatchObject({ failed: 0, forgotten: 1 });
    expect(frontier.requeue({ state: "failed" })).toBe(0);
  });

  it("done ones keep { state, attempts, depth }", async () => {
    const { frontier } = await open();
    frontier.push({ url: A, depth: 2 });
    frontier.poll()?.retry();
    frontier.poll()?.done();
    expect(frontier.record(A)).toEqual({ state: "done", attempts: 2, depth: 2 });
  });

  it("requeue({ state: 'done' }) needs records: 'full'", async () => {
    const { frontier } = await open();
    expect(codeOf(() => frontier.requeue({ state: "done" }))).toBe("UNSUPPORTED");
    await expect(openFrontier({ records: "full" })).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
  });

  it("mode bloom answers record for live ones only and refuses every epochs and forget({ epoch })", async () => {
    const { frontier } = await open({ seen: { mode: "bloom", capacity: 1000 } });
    frontier.pushMany([A, B]);
    expect(frontier.record(A)?.state).toBe("pending");
    frontier.poll()?.done();
    expect(frontier.record(A)).toBeUndefined();
    expect(frontier.explain(A).state).toBeUndefined();
    expect(frontier.push(A).status).toBe("duplicate");
    expect(codeOf(() => frontier.forget({ epoch: "x" }))).toBe("OPTION_INVALID");
    const every = { seen: { mode: "bloom" }, defaults: { epoch: { every: "1d" } } } as const;
    await expect(openFrontier(every)).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });

  it("remove takes pending ones; they stay seen", async () => {
    const { frontier } = await open();
    frontier.pushMany([A, B, `${C}trap/1`, `${C}trap/2`]);
    expect(frontier.remove({ pattern: "/trap/" })).toBe(2);
    expect(frontier.push(`${C}trap/1`).status).toBe("duplicate");
    expect(frontier.report()).toMatchObject({ pending: 2, removed: 2 });
  });
});

describe("Capacity", () => {
  it("binds pushes from outside, checked after the duplicate check", async () => {
    const { frontier, clock } = await open({ capacity: 2, leaseMs: 100 });
    const result = frontier.pushMany([A, A, B, C, A]);
    expect(Array.from({ length: 5 }, (_, n) => result.verdict(n).status)).toEqual([
      ...["accepted", "duplicate", "accepted", "full", "duplicate"],
    ]);
    expect(frontier.report()).toMatchObject({ pushed: 5, full: 1, duplicate: 2, seen: 2 });
    const lease = frontier.poll();
    expect(frontier.push(C).status).toBe("accepted");
    expect(frontier.push("http://d.example/").status).toBe("full");
    lease?.done();
    frontier.poll();
    clock.advance(100); // it is pending again, though nobody has looked
    expect(frontier.push("http://d.example/").status).toBe("full");
  });

  it("children of done are admitted beyond it", async () => {
    const { frontier } = await open({ capacity: 1 });
    frontier.push(A);
    expect(frontier.poll()?.done({ found: [B, C, "http://d.example/"] }).accepted).toBe(3);
    expect(frontier.push("http://e.example/").status).toBe("full");
  });
});
