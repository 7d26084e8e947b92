import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import type { Frontier, Lease } from "../../../../src/engine/types/frontier-types.ts";
import { openBench, settled } from "../../../support/bench-frontier.ts";
import { stressRounds, testSeed } from "../../../support/seed.ts";

const A = "http://a.com/1";
const B = "http://a.com/2";

describe("take", () => {
  it("is served at once by a push now, after a push of later (V-B6)", async () => {
    const { frontier, clock, check } = openBench();
    const taken = frontier.take();
    frontier.push({ url: A, notBefore: clock.now() + 10_000 });
    frontier.push(B);
    check();
    expect((await taken).map(({ url }) => url)).toEqual([B]);
  });

  it("is served by the clock that makes its lease due", async () => {
    const { frontier, clock, check } = openBench();
    frontier.push({ url: A, notBefore: clock.now() + 500 });
    const taken = frontier.take();
    clock.advance(499);
    await settled();
    expect(frontier.report().leased).toBe(0);
    clock.advance(1);
    expect((await taken).length).toBe(1);
    check();
  });

  it("gives what becomes due at the very moment of its time-out", async () => {
    const { frontier, clock } = openBench();
    frontier.push({ url: A, notBefore: clock.now() + 500 });
    const taken = frontier.take({ timeoutMs: 500 });
    clock.advance(500);
    expect((await taken).length).toBe(1);
  });

  it("answers nothing after its time-out and at once for a time-out of 0", async () => {
    const { frontier, clock } = openBench({ keepOpen: true });
    expect(await frontier.take({ timeoutMs: 0 })).toEqual([]);
    const taken = frontier.take({ timeoutMs: 20 });
    clock.advance(20);
    expect(await taken).toEqual([]);
    expect(clock.armed).toBe(0);
  });

  it("rejects with the reason of its signal and takes nothing any more", async () => {
    const { frontier, clock, check } = openBench();
    const abort = new AbortController();
    const taken = frontier.take({ signal: abort.signal, timeoutMs: 1_000 });
    abort.abort(new Error("enough"));
    await expect(taken).rejects.toThrow("enough");
    await expect(frontier.take({ signal: abort.signal })).rejects.toThrow("enough");
    frontier.push(A);
    expect(frontier.report().pending).toBe(1);
    expect(clock.armed).toBe(0);
    check();
  });

  it("rejects what it can not be asked, and never throws at its caller", async () => {
    const { frontier } = openBench();
    const wrong: unknown[] = [
      null,
      5,
      [],
      { max: 0 },
      { max: 1.5 },
      { timeoutMs: -1 },
      { signal: 1 },
    ];
    for (const options of wrong) {
      const taken = frontier.take(options as { max?: number });
      await expect(taken).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    }
  });

  it("that times out leaves the timer of those who still wait", async () => {
    const { frontier, clock } = openBench({ leaseMs: 100, defaults: { maxAttempts: 1 } });
    const expired: string[] = [];
    frontier.on("failed", (list) => expired.push(...list.map(({ url }) => url)));
    frontier.push(A);
    frontier.poll();
    const taken = frontier.take({ timeoutMs: 10 });
    clock.advance(10);
    expect(await taken).toEqual([]);
    clock.advance(90);
    expect(expired).toEqual([A]);
  });

  it("is served by a push from within onIdle", async () => {
    let left = 2;
    const bench = openBench({
      onIdle: () => {
        if (left-- > 0) bench.frontier.push(`http://a.com/idle/${left}`);
      },
    });
    const { frontier } = bench;
    frontier.push(A);
    const urls: string[] = [];
    for await (const lease of frontier) {
      urls.push(lease.url);
      lease.done();
      bench.check();
    }
    expect(urls).toEqual([A, "http://a.com/idle/1", "http://a.com/idle/0"]);
  });

  it("that waits already is served by a push from within onIdle", async () => {
    const bench = openBench({ onIdle: () => void bench.frontier.push(B) });
    bench.frontier.push(A);
    const lease = bench.frontier.poll() as Lease;
    const taken = bench.frontier.take();
    lease.done();
    expect((await taken).map(({ url }) => url)).toEqual([B]);
    bench.check();
  });

  it("ends when onIdle closes the frontier, with no timer left", async () => {
    const bench = openBench({ onIdle: () => void bench.frontier.close() });
    const { frontier, clock } = bench;
    frontier.on("finished", () => undefined);
    frontier.push(A);
    const taken = frontier.take({ max: 5 });
    (await taken)[0]?.done();
    expect(await frontier.take()).toEqual([]);
    expect(clock.armed).toBe(0);
  });

  it("serves those who wait in their order", async () => {
    const { frontier } = openBench();
    const order: number[] = [];
    const first = frontier.take().then(() => order.push(1));
    const second = frontier.take().then(() => order.push(2));
    frontier.pushMany([A, B]);
    await Promise.all([first, second]);
    expect(order).toEqual([1, 2]);
  });
});

describe("the end", () => {
  it("comes when all is done, and takes those who wait home", async () => {
    const { frontier } = openBench();
    const told: number[] = [];
    frontier.on("finished", ({ atMs }) => told.push(atMs));
    frontier.push(A);
    const lease = frontier.poll() as Lease;
    const taken = frontier.take();
    lease.done();
    expect(await taken).toEqual([]);
    expect(told.length).toBe(1);
    frontier.push(B);
    frontier.poll()?.done();
    expect(told.length).toBe(2);
  });

  it("does not come while an active rule has a period, with seeds or without", () => {
    const told: number[] = [];
    for (const seeds of [undefined, ["http://seed.com/"]]) {
      const rule = { id: "all", every: "1d", ...(seeds === undefined ? {} : { seeds }) };
      const { frontier } = openBench({ rules: [rule] });
      frontier.on("finished", () => told.push(0));
      frontier.push(A);
      for (const lease of frontier.pollMany(9)) lease.done();
      expect(told).toEqual([]);
      frontier.setRules([{ ...rule, active: false }, { id: "rest" }]);
      expect(told.splice(0).length).toBe(1);
    }
  });

  it("does not come before anything was admitted, nor while a record waits", async () => {
    const { frontier, clock } = openBench();
    let isOver = false;
    frontier.on("finished", () => {
      isOver = true;
    });
    frontier.push("not a url");
    expect(isOver).toBe(false);
    frontier.push({ url: A, notBefore: clock.now() + 1 });
    expect(isOver).toBe(false);
    clock.advance(1);
    frontier.poll()?.fail();
    expect(isOver).toBe(true);
  });

  it("does not come by itself where keepOpen is set, but after idleTimeoutMs", async () => {
    const { frontier, clock } = openBench({ keepOpen: true, idleTimeoutMs: 1_000 });
    frontier.push(A);
    frontier.poll()?.done();
    const taken = frontier.take();
    clock.advance(999);
    await settled();
    clock.advance(1);
    expect(await taken).toEqual([]);
  });

  it("arms no timer for keepOpen with an onIdle that is never asked", () => {
    const { frontier, clock } = openBench({ keepOpen: true, onIdle: () => true });
    frontier.push(A);
    frontier.poll()?.done();
    void frontier.take();
    expect(clock.armed).toBe(0);
  });

  it("waits for an onIdle that objects and asks it again", async () => {
    let isReady = false;
    const { frontier, clock } = openBench({ onIdle: () => !isReady });
    frontier.push(A);
    frontier.poll()?.done();
    const taken = frontier.take();
    await settled();
    isReady = true;
    clock.advance(1_000);
    expect(await taken).toEqual([]);
  });

  it("comes in spite of an onIdle that throws, which is told as an error", async () => {
    const { frontier } = openBench({
      onIdle: () => {
        throw new Error("broken hook");
      },
    });
    const faults: string[] = [];
    frontier.on("error", ({ kind, stage }) => faults.push(`${kind} ${stage}`));
    frontier.push(A);
    frontier.poll()?.done();
    expect(await frontier.take()).toEqual([]);
    expect(faults).toEqual(["hook onIdle"]);
  });
});

describe("drain", () => {
  it("resolves when the last lease is back, and pushes are still admitted", async () => {
    const { frontier, check } = openBench();
    frontier.pushMany([A, B]);
    const lease = frontier.poll() as Lease;
    let isDrained = false;
    const drained = frontier.drain().then(() => {
      isDrained = true;
    });
    expect(frontier.poll()).toBeUndefined();
    expect(frontier.push("http://a.com/3").status).toBe("accepted");
    await settled();
    expect(isDrained).toBe(false);
    lease.done();
    await drained;
    check();
    frontier.resume();
    expect(frontier.poll()?.url).toBe(B);
  });

  it("resolves by the clock when the last lease expires, also while paused", async () => {
    const { frontier, clock } = openBench({ leaseMs: 100 });
    frontier.push(A);
    frontier.poll();
    const drained = frontier.drain();
    frontier.pause();
    clock.advance(100);
    await drained;
    expect(clock.armed).toBe(0);
  });

  it("resolves at once when every lease that is out has run out", async () => {
    const { frontier, clock } = openBench({ leaseMs: 100 });
    frontier.push(A);
    frontier.poll();
    clock.advance(100);
    await frontier.drain();
    expect(frontier.report().leased).toBe(0);
  });
});

describe("the breaker", () => {
  const breaker = { failures: 2, withinMs: 1_000, pauseMs: 5_000 };

  it("pauses, and ends its pause by the clock for those who wait", async () => {
    const { frontier, clock, check } = openBench({ breaker });
    frontier.pushMany([A, B, "http://a.com/3"]);
    for (const lease of frontier.pollMany(2)) lease.fail();
    expect(frontier.status).toBe("paused");
    expect(frontier.nextDueAt()).toBe(clock.now() + 5_000);
    const taken = frontier.take();
    clock.advance(5_000);
    expect((await taken).length).toBe(1);
    check();
  });

  it("does not undo a pause by hand", () => {
    const { frontier, clock } = openBench({ breaker });
    frontier.pushMany([A, B, "http://a.com/3"]);
    for (const lease of frontier.pollMany(2)) lease.fail();
    frontier.pause();
    clock.advance(60_000);
    expect(frontier.poll()).toBeUndefined();
    expect(frontier.status).toBe("paused");
  });

  it("ends for peek, explain and status as it does for poll", () => {
    const { frontier, clock } = openBench({ breaker });
    frontier.pushMany([A, B, "http://a.com/3"]);
    for (const lease of frontier.pollMany(2)) lease.fail();
    expect(frontier.explain("http://a.com/3").heldBy).toBe("paused");
    clock.advance(5_000);
    expect(frontier.status).toBe("running");
    expect(frontier.peek(1).length).toBe(1);
    expect(frontier.explain("http://a.com/3").heldBy).toBeUndefined();
  });
});

describe("close", () => {
  it("answers calls after close as docs/guides/embedding.md lists them", async () => {
    const { frontier, clock } = openBench();
    frontier.pushMany([A, B]);
    const lease = frontier.poll() as Lease;
    const waiting = frontier.take({ max: 1 });
    await waiting;
    const idle = frontier.take();
    const view = frontier.host("a.com");
    const walk = frontier.records({})[Symbol.iterator]();
    await frontier.close();
    await frontier.close();
    expect(await idle).toEqual([]);
    expect(clock.armed).toBe(0);
    expect(frontier.status).toBe("stopped");
    expect(frontier.push(A).status).toBe("closed");
    expect(frontier.pushMany([A]).verdict(0).status).toBe("closed");
    expect(frontier.poll()).toBeUndefined();
    expect(frontier.pollMany(3)).toEqual([]);
    expect(await frontier.take()).toEqual([]);
    expect(lease.done().late).toBe(true);
    expect([lease.retry(), lease.fail(), lease.release()]).toEqual(["late", false, false]);
    expect(lease.redirect(B).status).toBe("closed");
    expect(lease.extend(5)).toBe(false);
    expect(frontier.done([lease])).toBe(0);
    expect(lease.fingerprint.length).toBe(32);
    expect(walk.next().done).toBe(true);
    const others: Array<() => unknown> = [
      () => frontier.peek(),
      () => frontier.record(A),
      () => frontier.records({}),
      () => frontier.explain(A),
      () => frontier.nextDueAt(),
      () => frontier.report(),
      () => frontier.on("done", () => undefined),
      () => frontier.host("a.com"),
      () => view.hold(),
      () => frontier.update(A, {}),
      () => frontier.requeue({ all: true }),
      () => frontier.remove({ all: true }),
      () => frontier.forget(),
      () => frontier.clear(),
      () => frontier.pause(),
      () => frontier.resume(),
      () => frontier.setRules([]),
      () => frontier.share(),
    ];
    for (const call of others) expect(call).toThrow(/^frontier: closed/);
    for (const promise of [frontier.drain(), frontier.flush(), frontier.snapshot()]) {
      await expect(promise).rejects.toMatchObject({ code: "FRONTIER_CLOSED" });
    }
    for await (const one of frontier) expect(one).toBeUndefined();
  });

  it("is what disposing does", async () => {
    const { frontier } = openBench();
    await frontier[Symbol.asyncDispose]();
    expect(frontier.status).toBe("stopped");
  });
});

describe("timers", () => {
  it("none is armed while nobody waits", () => {
    const { frontier, clock } = openBench({ defaults: { politeness: { delayMs: 100 } } });
    frontier.push({ url: A, notBefore: clock.now() + 50 });
    frontier.pushMany([B, "http://a.com/3"]);
    frontier.pollMany(2);
    frontier.poll();
    expect(clock.armed).toBe(0);
  });

  it("one is armed while somebody waits for a clock, and goes with its waiter", async () => {
    const { frontier, clock } = openBench();
    frontier.push({ url: A, notBefore: clock.now() + 50 });
    const taken = frontier.take();
    expect(clock.armed).toBe(1);
    clock.advance(50);
    await taken;
    expect(clock.armed).toBe(0);
  });

  it("one that somebody waited for goes when a push serves him before", async () => {
    const { frontier, clock } = openBench();
    frontier.push({ url: A, notBefore: clock.now() + 50 });
    const taken = frontier.take();
    expect(clock.armed).toBe(1);
    frontier.push(B);
    expect((await taken).map(({ url }) => url)).toEqual([B]);
    expect(clock.armed).toBe(0);
  });
});

describe("wake-ups", () => {
  const programs = stressRounds(30, 4);
  it(`none is lost in ${programs} random programs of 600 steps`, async () => {
    const seed = testSeed("wake-ups");
    for (let round = 0; round < programs; round++) await playWakeUps(seed + round);
  });
});

/** After every step: nobody waits while a poll would give something. */
async function playWakeUps(seed: number): Promise<void> {
  const random = createRandom(seed);
  const polite = { politeness: { delayMs: random.below(3) * 7, perHost: 1 + random.below(2) } };
  const { frontier, clock, check } = openBench(
    { leaseMs: 60, defaults: polite },
    { pageCountMax: 1_024 },
  );
  const leases: Lease[] = [];
  let waiting = 0;
  let serial = 0;
  for (let stepNumber = 0; stepNumber < 600; stepNumber++) {
    const url = `http://h${random.below(3)}.com/${serial++}`;
    const kind = random.below(12);
    if (stepNumber % 25 === 24) emptied(frontier, leases);
    if (kind < 2) frontier.push(url);
    else if (kind === 2) frontier.push({ url, notBefore: clock.now() + random.below(40) });
    else if (kind < 5) {
      waiting++;
      const end = (taken: Lease[]): void => {
        waiting--;
        leases.push(...taken);
      };
      const timeoutMs = random.below(2) === 0 ? 30 : 10_000;
      void frontier.take({ max: 1 + random.below(2), timeoutMs }).then(end);
    } else if (kind < 7) clock.advance(random.below(30));
    else if (kind === 7) frontier.pause();
    else if (kind === 8) frontier.resume();
    else if (kind === 9 && random.below(4) === 0) void frontier.drain();
    else leases.splice(random.below(Math.max(leases.length, 1)), 1)[0]?.release();
    for (let turn = 0; turn < 3; turn++) await Promise.resolve();
    if (stepNumber % 10 === 9) check();
    if (waiting > 0) expect(frontier.peek(1), `SEED=${seed}, step ${stepNumber}`).toEqual([]);
  }
  await frontier.close();
  for (let turn = 0; turn < 3; turn++) await Promise.resolve();
  expect(waiting, `SEED=${seed}: close takes everybody home`).toBe(0);
}

/** A new beginning now and then, so that those who wait often wait for the very next thing. */
function emptied(frontier: Frontier, leases: Lease[]): void {
  frontier.resume();
  frontier.remove({ all: true });
  for (const lease of leases.splice(0)) lease.done();
}
