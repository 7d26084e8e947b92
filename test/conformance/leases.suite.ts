/** What becomes of a lease: done with links, retry, fail, release, redirect, extend, lateness, expiry. One suite over every implementation. */
import { expect } from "vitest";
import type { AsyncLease } from "../../src/index.ts";
import {
  A,
  B,
  C,
  checkCounts,
  suite,
  FAR_MS,
  SOON_MS,
  take,
  takeAll,
  until,
  urlsOf,
} from "../support/conformance/suite.ts";

export const leases = suite("leases", (says) => {
  says("done finishes and admits the links in one step, one level deeper", async (open) => {
    const { frontier } = await open();
    await frontier.push({ url: A, depth: 4 });
    const lease = await take(frontier);
    const result = await lease.done({ found: [B, { url: C, depth: 0, data: 1 }, A, "http://"] });
    expect({ ...result }).toMatchObject({
      ...{ late: false, size: 4, accepted: 2, duplicate: 1, rejected: 1 },
    });
    expect(result.verdict(3).reason).toBe("invalid-url");
    const [b, c] = await takeAll(frontier);
    expect([b?.url, b?.depth, b?.parent]).toEqual([B, 5, lease.fingerprint]);
    expect([c?.depth, c?.data, c?.parent]).toEqual([5, 1, lease.fingerprint]);
    expect((await frontier.record(A))?.state).toBe("done");
    await checkCounts(frontier);
  });

  says("maxDepth, follow: false and maxFound refuse links by name", async (open) => {
    const deep = await open({ defaults: { maxDepth: 1 } });
    await deep.frontier.push({ url: A, depth: 1 });
    const result = await (await take(deep.frontier)).done({ found: [B] });
    expect(result.verdict(0).reason).toBe("too-deep");
    expect((await deep.frontier.push(B)).status).toBe("accepted");
    const still = await open({ defaults: { follow: false } });
    await still.frontier.push(A);
    expect((await (await take(still.frontier)).done({ found: [B] })).rejected).toBe(1);
    const few = await open({ maxFound: 1 });
    await few.frontier.push(A);
    const some = await (await take(few.frontier)).done({ found: [B, C] });
    expect([some.accepted, some.rejected]).toEqual([1, 1]);
  });

  says("maxAttempts N means N attempts for every N, three by default", async (open) => {
    for (const [maxAttempts, own] of [
      [undefined, undefined],
      [1, 1],
      [2, undefined],
      [5, 2],
    ]) {
      const defaults = maxAttempts === undefined ? {} : { maxAttempts };
      const { frontier } = await open({ defaults });
      await frontier.push({ url: A, ...(own === undefined ? {} : { maxAttempts: own }) });
      const answers: string[] = [];
      for (let lease = await frontier.poll(); lease; lease = await frontier.poll()) {
        expect([lease.attempt, lease.deliveries]).toEqual([answers.length + 1, answers.length + 1]);
        answers.push(await lease.retry());
      }
      const most = own ?? maxAttempts ?? 3;
      expect(answers).toEqual([...new Array(most - 1).fill("requeued"), "failed"]);
      expect(await frontier.record(A)).toMatchObject({ state: "failed", attempts: most });
      await checkCounts(frontier);
    }
  });

  says("release counts no attempt but a delivery, up to maxDeliveries", async (open) => {
    const { frontier } = await open({ maxDeliveries: 3 });
    await frontier.push(A);
    for (let deliveries = 1; deliveries <= 3; deliveries++) {
      const lease = await take(frontier);
      expect([lease.attempt, lease.deliveries]).toEqual([1, deliveries]);
      expect(await lease.release()).toBe(true);
    }
    expect(await frontier.poll()).toBeUndefined();
    expect((await frontier.record(A))?.state).toBe("failed");
    await checkCounts(frontier);
  });

  says("retry waits for its own delay, or for the back-off", async (open) => {
    const rig = await open({ defaults: { maxAttempts: 9, backoff: { baseMs: FAR_MS } } });
    const { frontier } = rig;
    await frontier.pushMany([A, B]);
    const [a, b] = await takeAll(frontier);
    await a?.retry();
    await b?.retry({ delayMs: SOON_MS });
    expect(await frontier.report()).toMatchObject({ waiting: 2, retried: 2 });
    const { untilMs } = (await frontier.record(A)) ?? {};
    expect(Math.abs((untilMs ?? 0) - rig.now() - FAR_MS)).toBeLessThan(60_000);
    await rig.pass(SOON_MS);
    const [again] = await until(
      rig,
      () => frontier.pollMany(1),
      (some) => some.length > 0,
    );
    expect([again?.url, again?.attempt, again?.priority]).toEqual([B, 2, -1]);
    await checkCounts(frontier);
  });

  says("fail ends it with a reason, which records show", async (open) => {
    const { frontier } = await open();
    await frontier.pushMany([A, B]);
    for (const lease of await takeAll(frontier)) {
      expect(await lease.fail("HTTP 410", { status: 410 })).toBe(true);
    }
    const record = await frontier.record(A);
    expect(record).toMatchObject({ state: "failed", url: A, failure: { reason: "HTTP 410" } });
    expect(await frontier.report()).toMatchObject({ failed: 2, pending: 0, leased: 0 });
    await checkCounts(frontier);
  });

  says("redirect pushes with the lease as parent, at the same depth", async (open) => {
    const { frontier } = await open();
    await frontier.push({ url: A, depth: 4 });
    const lease = await take(frontier);
    expect(await lease.redirect(`${A}moved`)).toEqual({ status: "accepted", admitted: true });
    expect((await lease.redirect(`${A}moved`)).status).toBe("duplicate");
    await lease.done();
    const moved = await take(frontier);
    expect([moved.url, moved.depth, moved.parent]).toEqual([`${A}moved`, 4, lease.fingerprint]);
    await checkCounts(frontier);
  });

  says("a second result is late, and is counted", async (open) => {
    const { frontier } = await open();
    const ends = ["done", "retry", "fail", "release"] as const;
    for (const end of ends) {
      await frontier.push({ url: `${A}${end}`, priority: 9 });
      const lease = await take(frontier);
      await lease[end]();
      expect((await lease.done({ found: [`${B}${end}`] })).late, end).toBe(true);
      expect(await frontier.record(`${B}${end}`)).toBeUndefined();
      if (end !== "done" && end !== "fail") await (await take(frontier)).done();
    }
    expect((await frontier.report()).lateResults).toBe(ends.length);
    await checkCounts(frontier);
  });

  says("a result after the deadline changes nothing and is late", async (open) => {
    const rig = await open({ leaseMs: SOON_MS });
    const { frontier } = rig;
    await frontier.push(A);
    const lease = await take(frontier);
    expect(Math.abs(lease.deadlineMs - rig.now() - SOON_MS)).toBeLessThan(10_000);
    await rig.pass(SOON_MS + 1);
    const late = await lease.done({ found: [B] });
    expect([late.late, late.size, late.accepted]).toEqual([true, 0, 0]);
    expect(await lease.retry()).toBe("late");
    expect([await lease.fail(), await lease.release(), await lease.extend(10)]).toEqual([
      ...[false, false, false],
    ]);
    expect((await lease.redirect(B)).admitted).toBe(false);
    expect(await frontier.done([lease])).toBe(0);
    const report = await until(
      rig,
      () => frontier.report(),
      ({ expired }) => expired === 1,
    );
    expect(report).toMatchObject({ lateResults: 7, expired: 1, pending: 1, accepted: 1 });
    expect(await frontier.record(B)).toBeUndefined();
    await checkCounts(frontier);
  });

  says("what one holder lost another gets, and the first one's results are late", async (open) => {
    const rig = await open({ leaseMs: SOON_MS });
    const { frontier } = rig;
    await frontier.push(A);
    const old = await take(frontier);
    await rig.pass(SOON_MS + 1);
    const [now] = await until(
      rig,
      () => frontier.pollMany(1, { leaseMs: FAR_MS }),
      (some) => some.length > 0,
    );
    expect([now?.url, now?.attempt, now?.deliveries]).toEqual([A, 2, 2]);
    expect(await now?.extend(FAR_MS)).toBe(true);
    expect((await old.done()).late).toBe(true);
    expect(await old.extend(FAR_MS)).toBe(false);
    expect((await now?.done())?.late).toBe(false);
    expect(await frontier.report()).toMatchObject({ done: 1, lateResults: 2, expired: 1 });
  });

  says("extend adds to the deadline, each time", async (open) => {
    const rig = await open({ leaseMs: SOON_MS * 10 });
    await rig.frontier.push(A);
    const lease = await take(rig.frontier);
    const before = lease.deadlineMs;
    expect(await lease.extend(FAR_MS)).toBe(true);
    expect(lease.deadlineMs).toBe(before + FAR_MS);
    expect(await lease.extend(1)).toBe(true);
    expect(lease.deadlineMs).toBe(before + FAR_MS + 1);
    await rig.pass(SOON_MS * 10 + 1);
    expect(await rig.frontier.poll()).toBeUndefined();
    expect((await lease.done()).late).toBe(false);
  });

  says(
    "the deadline is exact to the millisecond",
    async (open) => {
      const rig = await open({ leaseMs: 100 });
      await rig.frontier.pushMany([A, B]);
      const [a, b] = (await takeAll(rig.frontier)) as [AsyncLease, AsyncLease];
      expect(a.deadlineMs).toBe(rig.now() + 100);
      await rig.pass(99);
      expect((await a.done()).late).toBe(false);
      await rig.pass(1);
      expect((await b.done()).late).toBe(true);
    },
    "isExact",
  );

  says("done of many leases returns how many were not late", async (open) => {
    const { frontier } = await open();
    await frontier.pushMany([A, B, C]);
    const [a, b, c] = (await takeAll(frontier)) as [AsyncLease, AsyncLease, AsyncLease];
    await a.done();
    expect(await frontier.done(new Set([a, b, c]))).toBe(2);
    expect(await frontier.done([])).toBe(0);
    expect(await frontier.report()).toMatchObject({ done: 3, lateResults: 1, leased: 0 });
  });

  says("as many attempts are made as a rule allows, however many that are", async (open) => {
    const { frontier } = await open({ maxDeliveries: 2_000, defaults: { maxAttempts: 520 } });
    await frontier.push(A);
    let attempts = 0;
    for (;;) {
      const lease = await frontier.poll();
      if (lease === undefined || attempts === 600) break;
      expect(lease.attempt).toBe(++attempts);
      await lease.retry({ delayMs: 0 });
    }
    expect(attempts).toBe(520);
    const failed = { state: "failed", attempts: 520, failure: { reason: "attempts" } };
    expect(await frontier.record(A)).toMatchObject(failed);
    for await (const record of frontier.records({ state: "failed" }))
      expect(record).toMatchObject(failed);
  });

  says("maxLeases bounds what is out at once", async (open) => {
    const { frontier } = await open({ maxLeases: 2 });
    await frontier.pushMany([A, B, C]);
    const leases = await takeAll(frontier);
    expect(urlsOf(leases)).toEqual([A, B]);
    expect(await frontier.explain(C)).toMatchObject({ state: "pending", heldBy: "maxLeases" });
    await leases[0]?.done();
    expect(urlsOf(await takeAll(frontier))).toEqual([C]);
  });

  says(
    "a lease that is disposed of is released, one that has ended is left alone",
    async (open) => {
      const { frontier } = await open();
      await frontier.pushMany([A, B]);
      const [a, b] = (await takeAll(frontier)) as [AsyncLease, AsyncLease];
      await a.done();
      await a[Symbol.asyncDispose]();
      await b[Symbol.asyncDispose]();
      expect(await frontier.report()).toMatchObject({ done: 1, pending: 1, lateResults: 0 });
    },
  );

  says("leases of one host pass over its delay, limit, block and hold", async (open) => {
    const { frontier } = await open({ defaults: { politeness: { delayMs: 60_000, perHost: 1 } } });
    const urls = [1, 2, 3, 4].map((page) => `http://own.example/${page}`);
    await frontier.pushMany([...urls, "http://other.example/1"]);
    const host = frontier.host("own.example");
    const set = host as { hold?: () => unknown };
    await set.hold?.();
    const taken = async (max: number, key: string): Promise<string[]> =>
      (await frontier.pollMany(max, { host: key })).map(({ url }) => url);
    expect(await taken(2, "own.example")).toEqual(urls.slice(0, 2));
    expect(await taken(9, "nobody.example")).toEqual([]);
    expect(await taken(9, "OWN.example")).toEqual(urls.slice(2));
    expect(await taken(9, "own.example")).toEqual([]);
    const [rest] = await frontier.pollMany(9);
    expect(rest?.url).toBe("http://other.example/1");
    expect(await frontier.report()).toMatchObject({ pending: 0, leased: 5 });
    await checkCounts(frontier);
  });
});
