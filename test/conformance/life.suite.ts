/** The life of a frontier: pause, drain, take and its wake-ups, iteration, events, report, close, opening again. One suite over every implementation. */
import { expect } from "vitest";
import {
  A,
  B,
  C,
  checkCounts,
  codeOf,
  suite,
  D,
  FAR_MS,
  listOf,
  SOON_MS,
  take,
  takeAll,
  until,
  urlsOf,
} from "../support/conformance/suite.ts";

/** Whether a promise is settled by the time that every answer under way has come. */
async function isSettled(
  promise: Promise<unknown>,
  answer: () => Promise<unknown>,
): Promise<boolean> {
  let settled = false;
  void promise.then(() => {
    settled = true;
  });
  await answer();
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

export const life = suite("life", (says) => {
  says("pause stops hand-outs and not pushes; resume ends it", async (open) => {
    const { frontier } = await open();
    await frontier.pushMany([A, B]);
    await frontier.pause();
    expect(await frontier.status()).toBe("paused");
    expect([await frontier.poll(), await frontier.peek(2)]).toEqual([undefined, []]);
    expect((await frontier.push(C)).status).toBe("accepted");
    await frontier.resume();
    expect(await frontier.status()).toBe("running");
    expect(urlsOf(await takeAll(frontier))).toEqual([A, B, C]);
  });

  says(
    "a take that waits in a pause lets other calls through, and resume wakes it",
    async (open) => {
      const { frontier } = await open();
      await frontier.push(A);
      await frontier.pause();
      expect(await frontier.take({ timeoutMs: 0 })).toEqual([]);
      const waiting = frontier.take();
      expect(await isSettled(waiting, () => frontier.push(B))).toBe(false);
      await frontier.resume();
      expect(urlsOf(await waiting)).toEqual([A]);
    },
  );

  says("drain hands nothing out and resolves when no lease is out", async (open) => {
    const { frontier } = await open();
    await frontier.pushMany([A, B]);
    const lease = await take(frontier);
    const drained = frontier.drain();
    expect(await frontier.status()).toBe("draining");
    expect(await frontier.poll()).toBeUndefined();
    expect(await isSettled(drained, () => frontier.push(C))).toBe(false);
    await lease.done({ found: [D] });
    await drained;
    expect(await frontier.poll()).toBeUndefined();
    await frontier.resume();
    expect(urlsOf(await takeAll(frontier))).toEqual([B, C, D]);
  });

  says("take waits, and a push wakes it", async (open) => {
    const { frontier } = await open();
    const waiting = frontier.take({ max: 5 });
    expect(await isSettled(waiting, () => frontier.report())).toBe(false);
    await frontier.push(A);
    expect(urlsOf(await waiting)).toEqual([A]);
  });

  says("take waits, and a clock or another's end of visit wakes it", async (open) => {
    const rig = await open({ defaults: { politeness: { perHost: 1 } } });
    const { frontier } = rig;
    await frontier.pushMany([A, `${A}1`, { url: B, notBefore: rig.now() + SOON_MS }]);
    const lease = await take(frontier);
    const waiting = frontier.take();
    await rig.pass(SOON_MS + 1);
    expect(urlsOf(await waiting)).toEqual([B]);
    const next = frontier.take();
    await lease.done();
    expect(urlsOf(await next)).toEqual([`${A}1`]);
  });

  says("take gives up at its time, and at its signal", async (open) => {
    const rig = await open({ keepOpen: true });
    const short = rig.frontier.take({ timeoutMs: SOON_MS });
    await rig.pass(SOON_MS + 1);
    expect(await short).toEqual([]);
    const control = new AbortController();
    const waiting = rig.frontier.take({ signal: control.signal });
    control.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await rig.frontier.push(A);
    expect(urlsOf(await takeAll(rig.frontier))).toEqual([A]); // nothing was taken for it
  });

  says("iteration ends when the frontier is finished, links of pages included", async (open) => {
    const { frontier } = await open();
    await frontier.push(`${A}0`);
    const visited: string[] = [];
    for await (const lease of frontier) {
      visited.push(lease.url);
      const at = Number(lease.url.slice(A.length));
      await lease.done({ found: at < 20 ? [`${A}${at + 1}`, `${B}${at + 1}`] : [] });
    }
    expect(visited.length).toBe(1 + 2 * 20);
    expect(new Set(visited).size).toBe(visited.length);
    expect(await frontier.take()).toEqual([]);
    await checkCounts(frontier);
  });

  says("is not finished while something waits, is leased or is kept open", async (open) => {
    const rig = await open();
    await rig.frontier.pushMany([A, { url: B, notBefore: rig.now() + SOON_MS }]);
    const lease = await take(rig.frontier);
    const waiting = rig.frontier.take();
    await lease.done();
    await rig.pass(SOON_MS + 1);
    const [last] = await waiting;
    expect(last?.url).toBe(B);
    await last?.fail("gone"); // failed records do not keep it open
    expect(await rig.frontier.take()).toEqual([]);
    const kept = await open({ keepOpen: true });
    await kept.frontier.push(A);
    await (await take(kept.frontier)).done();
    const held = kept.frontier.take();
    expect(await isSettled(held, () => kept.frontier.report())).toBe(false);
    await kept.frontier.close();
    expect(await held).toEqual([]);
  });

  says("events come batched, in order, until their listener goes", async (open) => {
    const rig = await open({ defaults: { maxAttempts: 2 } });
    const { frontier } = rig;
    const heard: Record<string, string[]> = {};
    const names = ["accepted", "duplicate", "rejected", "leased", "done", "retried"] as const;
    const offs = [...names, "failed" as const, "released" as const].map((name) =>
      frontier.on(name, (batch: ReadonlyArray<{ url: string }>) => {
        heard[name] = [...(heard[name] ?? []), ...batch.map(({ url }) => url)];
      }),
    );
    await frontier.pushMany([A, B, A, "nonsense"]);
    const [a, b] = await takeAll(frontier);
    await a?.release();
    await b?.retry();
    const [again, twice] = await takeAll(frontier);
    await again?.done();
    await twice?.retry();
    await until(
      rig,
      () => heard.failed?.length ?? 0,
      (count) => count > 0,
    );
    expect(heard).toEqual({
      ...{ accepted: [A, B], duplicate: [A], rejected: ["nonsense"], leased: [A, B, A, B] },
      ...{ released: [A], retried: [B], done: [A], failed: [B] },
    });
    for (const off of offs) off();
    await frontier.push(C);
    await frontier.report();
    expect(heard.accepted).toEqual([A, B]);
  });

  says("the report has the names of the contract", async (open) => {
    const { frontier } = await open({ name: "named" });
    expect(frontier.name).toBe("named");
    await frontier.pushMany([A, B, A, "x", { url: C, depth: 2 }]);
    await (await take(frontier)).done();
    const report = await frontier.report();
    expect(Object.keys(report)).toEqual(
      expect.arrayContaining([
        ...["status", "waitingUntil", "pushed", "accepted", "deferred", "duplicate", "rejected"],
        ...["full", "retried", "expired", "lateResults", "droppedEvents", "pending", "waiting"],
        ...["leased", "done", "failed", "forgotten", "removed", "hosts", "lanes", "seen", "depths"],
        ...["rules", "seenSet", "memory", "durability", "rates", "startedAt"],
      ]),
    );
    expect(report).toMatchObject({
      ...{ status: "running", pushed: 5, accepted: 3, duplicate: 1, pending: 2, done: 1, seen: 3 },
      ...{ rejected: { "invalid-url": 1 }, depths: [2, 0, 1] },
    });
    expect(report.rules.default).toMatchObject({ pending: 2, leased: 0, done: 1, served: 1 });
    expect(report.toString()).toContain("pending");
  });

  says(
    "after close: push closed, poll nothing, leases late, others FRONTIER_CLOSED",
    async (open) => {
      const { frontier } = await open();
      await frontier.pushMany([A, B]);
      const lease = await take(frontier);
      const waiting = frontier.take({ max: 5 });
      await waiting;
      const more = frontier.take();
      await frontier.close();
      await frontier.close();
      expect(await more).toEqual([]);
      expect(await frontier.status()).toBe("stopped");
      expect(await frontier.push(A)).toEqual({ status: "closed", admitted: false });
      expect((await frontier.pushMany([A, "nonsense"])).verdict(1).status).toBe("closed");
      expect([await frontier.poll(), await frontier.pollMany(3), await frontier.take()]).toEqual([
        ...[undefined, [], []],
      ]);
      for await (const _ of frontier) expect.fail("nothing comes any more");
      expect((await lease.done({ found: [A] })).late).toBe(true);
      expect([await lease.retry(), await lease.fail(), await lease.extend(1)]).toEqual([
        ...["late", false, false],
      ]);
      const others: Array<() => Promise<unknown>> = [
        () => frontier.peek(),
        () => frontier.record(A),
        () => listOf(frontier.records({})),
        () => frontier.explain(A),
        () => frontier.report(),
        () => frontier.setRules([]),
        () => frontier.update(A, { priority: 1 }),
        () => frontier.requeue({ all: true }),
        () => frontier.remove({ all: true }),
        () => frontier.forget(),
        () => frontier.clear(),
        () => frontier.pause(),
        () => frontier.drain(),
        () => frontier.flush(),
        () => frontier.pushFrom([A]),
      ];
      for (const call of others) expect(await codeOf(call()), String(call)).toBe("FRONTIER_CLOSED");
    },
  );

  says("close ends what waits, and is obeyed by pushes made after the call", async (open) => {
    const { frontier } = await open();
    await frontier.push(A);
    await take(frontier);
    const [taken, drained, before] = [frontier.take(), frontier.drain(), frontier.push(B)];
    const closed = frontier.close();
    const after = [frontier.push(C), frontier.pushMany([D])] as const;
    expect([await taken, await drained, (await before).status]).toEqual([
      ...[[], undefined, "accepted"],
    ]);
    expect([(await after[0]).status, (await after[1]).verdict(0).status]).toEqual([
      ...["closed", "closed"],
    ]);
    await closed;
  });

  says(
    "opened again it continues: records, places, counts, attempts; leases are pending",
    async (open) => {
      const rig = await open({ name: "again", defaults: { maxAttempts: 5 } });
      const first = rig.frontier;
      await first.pushMany([A, { url: B, priority: -1, data: { n: 1 } }, `${C}1`, `${C}2`]);
      await first.push({ url: D, notBefore: rig.now() + FAR_MS });
      await (await take(first)).done({ found: [`${A}child`] });
      await (await take(first)).fail("gone");
      await take(first);
      const before = await first.report();
      await first.flush();
      const { frontier } = await rig.again();
      const report = await frontier.report();
      for (const name of ["accepted", "deferred", "done", "failed", "waiting", "seen"] as const) {
        expect(report[name], name).toBe(before[name]);
      }
      expect(report).toMatchObject({ pending: 3, leased: 0 });
      expect((await frontier.record(`${C}1`))?.failure?.reason).toBe("gone");
      const leases = await takeAll(frontier);
      expect(urlsOf(leases)).toEqual([`${C}2`, `${A}child`, B]);
      expect([leases[0]?.attempt, leases[0]?.deliveries, leases[2]?.data]).toEqual([
        1,
        2,
        { n: 1 },
      ]);
      await checkCounts(frontier);
    },
    "opensAgain",
  );

  says("a state that is no object is refused, and the last one stays", async (open) => {
    const { frontier } = await open();
    await frontier.setState({ mine: 1 });
    for (const state of [5, "text", null, undefined]) {
      const setting = frontier.setState(state as never);
      await expect(setting).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    }
    expect(await frontier.state()).toEqual({ mine: 1 });
  });

  says("depths are counted apart up to 1,023, and deeper ones together", async (open) => {
    const { frontier } = await open();
    await frontier.pushMany([A, B, C].map((url, at) => ({ url, depth: [300, 1_024, 5_000][at] })));
    const { depths } = await frontier.report();
    expect([depths.length, depths[300], depths[1_024]]).toEqual([1_025, 1, 2]);
  });

  says(
    "rules, host settings and state are kept over a restart",
    async (open) => {
      const rig = await open({ name: "kept" });
      const endless = { maxDepth: Number.POSITIVE_INFINITY, maxAttempts: Number.POSITIVE_INFINITY };
      const rules = [{ id: "stored", match: { hosts: ["a.example"] }, ...endless }];
      await rig.frontier.setRules(rules, "v7");
      await rig.frontier.push(A);
      await rig.frontier.host("a.example").set({ delayMs: 777, limit: 3 });
      await rig.frontier.host("a.example").hold();
      await rig.frontier.setState({ cursor: [1, { two: 2 }] });
      await rig.frontier.flush();
      const { frontier } = await rig.again();
      expect(await frontier.rules()).toEqual(rules);
      expect(await frontier.state()).toEqual({ cursor: [1, { two: 2 }] });
      const view = await frontier.host("a.example").view();
      expect(view).toMatchObject({ delayMs: 777, limit: 3, held: true });
      expect(await frontier.poll()).toBeUndefined();
    },
    "opensAgain",
  );
});
