import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import type { Frontier, Lease, RulePolicy } from "../../../../src/engine/types/frontier-types.ts";
import { openBench, settled } from "../../../support/bench-frontier.ts";
import { testSeed } from "../../../support/seed.ts";

const A = "http://a.com/1";
const B = "http://a.com/2";
const HOUR = 3_600_000;

function openEvery(more: RulePolicy = {}) {
  return openBench({ defaults: { epoch: { every: "1h" }, ...more } });
}

describe("a rule that re-crawls", () => {
  it("hands a done URL out again after its period, by itself, with all attempts before it", () => {
    const { frontier, clock, check } = openEvery({ maxAttempts: 2 });
    frontier.push({ url: A, data: "kept", priority: 7 });
    for (let round = 0; round < 15; round++) {
      const lease = frontier.poll() as Lease;
      expect(lease).toMatchObject({ url: A, data: "kept", attempt: 1, deliveries: 1 });
      if (round === 0) lease.retry({ priority: 7 });
      else lease.done();
      if (round === 0) frontier.poll()?.done();
      expect(frontier.record(A)).toMatchObject({ state: "done", untilMs: clock.now() + HOUR });
      expect(frontier.report()).toMatchObject({ done: 1, pending: 0, waiting: 0, resting: 1 });
      expect(frontier.report().waitingUntil).toBe(clock.now() + HOUR);
      clock.advance(HOUR - 1);
      expect(frontier.poll()).toBe(undefined);
      expect(frontier.nextDueAt()).toBe(clock.now() + 1);
      clock.advance(1);
      check();
    }
    expect(frontier.report()).toMatchObject({ accepted: 1 });
  });

  it("refuses a push before the period is over and takes it after, whatever was read meanwhile", () => {
    const looks: Array<(frontier: Frontier) => unknown> = [
      () => {},
      (frontier) => frontier.report(),
      (frontier) => frontier.peek(),
    ];
    for (const lookAt of looks) {
      const { frontier, clock, check } = openEvery();
      const look = (): unknown => lookAt(frontier);
      frontier.push({ url: A, data: 1 });
      frontier.poll()?.done();
      clock.advance(HOUR - 1);
      look();
      expect(frontier.explain(A).verdict.status).toBe("duplicate");
      expect(frontier.push({ url: A, data: 2 }).status).toBe("duplicate");
      clock.advance(1);
      look();
      expect(frontier.explain(A).verdict.status).toBe("accepted");
      expect(frontier.push({ url: A, data: 3 }).status).toBe("accepted");
      expect(frontier.push({ url: A, data: 4 }).status).toBe("duplicate");
      check();
      expect(frontier.pollMany(9).map(({ data }) => data)).toEqual([3]);
      expect(frontier.push(A).status).toBe("duplicate");
      expect(frontier.report()).toMatchObject({ accepted: 2, done: 1, leased: 1 });
      check();
    }
  });

  it("keeps what was learned of a page when a link to it is found again, due, resting or failed", () => {
    const epoch = { adaptive: { min: "1h", max: "64h" } };
    const { frontier, clock, check } = openBench({ defaults: { epoch, maxAttempts: 1 } });
    const periodAfter = (changed: boolean): number => {
      frontier.poll()?.done({ outcome: { changed } });
      return ((frontier.record(A)?.untilMs as number) - clock.now()) / HOUR;
    };
    frontier.push(A);
    const first = periodAfter(false);
    expect(first).toBeCloseTo(8 * Math.exp(0.5 * (1 - 1 / Math.E)), 1);
    const ways: Array<() => unknown> = [
      () => undefined, // by itself
      () => frontier.push(A), // while it stands in line again
      () => {
        frontier.peek();
        frontier.push({ url: A, data: "more" });
      },
      () => frontier.push({ url: A, dedup: "record" }),
      () => {
        frontier.poll()?.fail();
        expect(frontier.push(A).status).toBe("accepted");
      },
    ];
    let period = first;
    for (const way of ways) {
      clock.advance(period * HOUR + 1_000);
      way();
      const next = periodAfter(true);
      expect(next / period).toBeCloseTo(Math.exp(-0.5 / Math.E), 2);
      period = next;
      check();
    }
    // A request with an epoch of its own is another identity, and learns nothing.
    frontier.push({ url: A, epoch: "own" });
    frontier.poll()?.done();
    check();
  });

  it("takes a failed URL again as soon as it is sighted, and a removed one never", () => {
    const { frontier, clock, check } = openEvery();
    frontier.pushMany([A, B]);
    frontier.poll()?.fail();
    expect(frontier.remove({ pattern: "/2$" })).toBe(1);
    expect(frontier.push(A).status).toBe("accepted");
    expect(frontier.push(B).status).toBe("duplicate");
    expect(frontier.report()).toMatchObject({ accepted: 3, pending: 1, forgotten: 1, removed: 1 });
    clock.advance(HOUR * 9);
    expect(frontier.push(B).status).toBe("duplicate");
    check();
  });

  it("forgets and removes what rests, and it does not come again", () => {
    const { frontier, clock, check } = openEvery();
    frontier.pushMany([A, B]);
    frontier.done(frontier.pollMany(2));
    expect(frontier.remove({ pattern: "/1$" })).toBe(1);
    check();
    expect(frontier.forget()).toBe(1);
    check();
    clock.advance(HOUR * 2);
    expect(frontier.poll()).toBe(undefined);
    expect(frontier.report()).toMatchObject({ done: 0, removed: 1, forgotten: 1, resting: 0 });
    expect(frontier.pushMany([A, B]).accepted).toBe(2);
    check();
  });

  it("leaves alone what has no identity or names an epoch of its own", () => {
    const { frontier, clock, check } = openEvery();
    frontier.pushMany([
      { url: A, dedup: "skip" },
      { url: A, epoch: "once" },
    ]);
    frontier.done(frontier.pollMany(2));
    clock.advance(HOUR * 2);
    expect(frontier.poll()).toBe(undefined);
    expect(frontier.push({ url: A, epoch: "once" }).status).toBe("duplicate");
    expect(frontier.push({ url: A, dedup: "record" }).status).toBe("accepted");
    frontier.poll()?.done();
    expect(frontier.push({ url: A, dedup: "record", data: 2 }).status).toBe("accepted");
    expect(frontier.poll()?.data).toBe(2);
    check();
  });

  it("is never finished: a take is served when the period is over", async () => {
    const { frontier, clock } = openEvery();
    frontier.push(A);
    frontier.poll()?.done();
    const taken = frontier.take();
    await settled();
    clock.advance(HOUR);
    expect((await taken).map(({ url }) => url)).toEqual([A]);
    await frontier.close();
  });

  it("keeps every record in one place through random visits, pushes and times", () => {
    const random = createRandom(testSeed("recrawl"));
    for (const epoch of [{ every: 50 }, { adaptive: { min: 10, max: 200 } }]) {
      const { frontier, clock, check } = openBench({ leaseMs: 40, defaults: { epoch } });
      const leases: Lease[] = [];
      for (let step = 0; step < 3_000; step++) {
        const url = `http://h${random.below(3)}.com/${random.below(30)}`;
        const lease = leases.splice(random.below(leases.length + 1), 1)[0];
        if (random.below(3) === 0) frontier.push(url);
        else if (random.below(2) === 0) leases.push(...frontier.pollMany(random.below(4)));
        else if (random.below(6) === 0) lease?.fail();
        else if (random.below(5) === 0) lease?.retry({ delayMs: random.below(20) });
        else lease?.done({ outcome: { changed: random.below(2) === 0 } });
        if (random.below(200) === 0) frontier.forget();
        if (random.below(200) === 0) frontier.remove({ host: "h1.com" });
        if (random.below(200) === 0) frontier.requeue({ state: "failed" });
        clock.advance(random.below(8));
        if (step % 20 === 0) expect(check).not.toThrow();
      }
      expect(check).not.toThrow();
    }
  });
});
