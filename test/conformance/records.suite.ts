/** What is known of URLs, and how records are steered: record, records, explain, peek, update, put, epochs. One suite over every implementation. */
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
  verdictsOf,
} from "../support/conformance/suite.ts";

export const records = suite("records", (says) => {
  says("a record shows where its URL stands", async (open) => {
    const rig = await open();
    const { frontier } = rig;
    expect(await frontier.record(A)).toBeUndefined();
    await frontier.push({ url: A, priority: 3, depth: 2, data: { n: 1 } });
    expect(await frontier.record(A)).toMatchObject({
      ...{ state: "pending", url: A, priority: 3, depth: 2, attempts: 0, deliveries: 0 },
      ...{ host: "a.example", data: { n: 1 } },
    });
    const lease = await take(frontier);
    const leased = await frontier.record({ url: A });
    expect(leased).toMatchObject({ state: "leased", deliveries: 1, untilMs: lease.deadlineMs });
    await lease.done();
    expect(await frontier.record(A)).toMatchObject({ state: "done", attempts: 1, depth: 2 });
    await frontier.push({ url: B, notBefore: rig.now() + FAR_MS });
    expect(await frontier.record(B)).toMatchObject({ state: "waiting" });
  });

  says("records are listed by state, rule and host", async (open) => {
    const rig = await open({
      rules: [{ id: "a", match: { hosts: ["a.example"] } }, { id: "rest" }],
    });
    const { frontier } = rig;
    await frontier.pushMany([A, `${A}1`, B, { url: C, notBefore: rig.now() + FAR_MS }]);
    await (await take(frontier)).fail("gone");
    const urls = async (filter: Parameters<typeof frontier.records>[0]) =>
      (await listOf(frontier.records(filter))).map(({ url }) => url).sort();
    expect(await urls({ state: "pending" })).toEqual([`${A}1`, B]);
    expect(await urls({ state: "failed" })).toEqual([A]);
    expect(await urls({ state: "waiting" })).toEqual([C]);
    expect(await urls({ rule: "a" })).toEqual([A, `${A}1`]);
    expect(await urls({ host: "B.EXAMPLE" })).toEqual([B]);
    expect(await urls({ host: "a.example", state: "pending" })).toEqual([`${A}1`]);
    expect(await codeOf(listOf(frontier.records({ odd: 1 } as never)))).toBe("ARGUMENT_INVALID");
  });

  says("explain shows form, rule, verdict, state and the clock that holds a URL", async (open) => {
    const rig = await open({ defaults: { politeness: { delayMs: FAR_MS } } });
    const { frontier } = rig;
    const fresh = await frontier.explain("HTTP://a.example/x#y");
    expect(fresh).toMatchObject({ canonical: `${A}x`, host: "a.example" });
    expect(fresh.verdict.status).toBe("accepted");
    expect(fresh.fingerprint).toMatch(/^[0-9a-f]{32}$/);
    expect((await frontier.explain("mailto:a@b")).verdict.reason).toBe("scheme");
    await frontier.pushMany([A, `${A}x`, { url: B, notBefore: rig.now() + FAR_MS }]);
    expect((await frontier.explain(A)).verdict.status).toBe("duplicate");
    const lease = await take(frontier);
    expect(lease.fingerprint).toBe((await frontier.explain(A)).fingerprint);
    expect(await frontier.explain(A)).toMatchObject({ state: "leased", heldBy: "lease" });
    expect((await frontier.explain(`${A}x`)).heldBy).toMatch(/delay|limit/);
    expect(await frontier.explain(B)).toMatchObject({ state: "waiting", heldBy: "notBefore" });
    expect((await frontier.report()).pushed).toBe(3);
  });

  says("peek shows what pollMany would return, without handing it out", async (open) => {
    const { frontier } = await open({ defaults: { politeness: { delayMs: FAR_MS } } });
    await frontier.pushMany([A, `${A}1`, { url: B, priority: 5 }, C]);
    const peeked = await frontier.peek(9);
    expect(urlsOf(peeked)).toEqual([B, A, C]);
    expect(await frontier.report()).toMatchObject({ pending: 4, leased: 0 });
    expect(urlsOf(await frontier.peek(1))).toEqual([B]);
    expect(urlsOf(await frontier.peek())).toEqual([B]);
    expect(urlsOf(await takeAll(frontier))).toEqual([B, A, C]);
  });

  says("nextDueAt may be early and is never late", async (open) => {
    const rig = await open();
    const { frontier } = rig;
    expect(await frontier.nextDueAt()).toBeUndefined();
    const at = rig.now() + FAR_MS;
    await frontier.push({ url: A, notBefore: at });
    expect(await frontier.nextDueAt()).toBeLessThanOrEqual(at);
    expect(await frontier.nextDueAt()).toBeGreaterThan(rig.now());
    await frontier.push(B);
    expect(await frontier.nextDueAt()).toBeLessThanOrEqual(rig.now());
  });

  says("requeue makes failed records pending again, by host, rule and reason", async (open) => {
    const { frontier } = await open();
    await frontier.pushMany([A, B, C, D]);
    for (const lease of await takeAll(frontier)) {
      await lease.fail(lease.url === C ? "HTTP 503" : "gone");
    }
    expect(await frontier.requeue({ state: "failed", host: "a.example" })).toBe(1);
    expect(await frontier.requeue({ reason: "HTTP 503" })).toBe(1);
    expect(urlsOf(await takeAll(frontier))).toEqual([A, C]);
    expect(await frontier.requeue({ all: true })).toBe(2);
    expect(await frontier.requeue({ all: true })).toBe(0);
    await checkCounts(frontier);
  });

  says("remove takes pending records out; they stay seen", async (open) => {
    const { frontier } = await open();
    await frontier.pushMany([A, B, `${C}trap/1`, `${C}trap/2`, `${C}page`]);
    expect(await frontier.remove({ pattern: "/trap/" })).toBe(2);
    expect(await frontier.remove({ host: "b.example" })).toBe(1);
    expect(await verdictsOf(frontier, [`${C}trap/1`, B])).toEqual(["duplicate", "duplicate"]);
    expect(await frontier.report()).toMatchObject({ pending: 2, removed: 3 });
    expect(urlsOf(await takeAll(frontier))).toEqual([A, `${C}page`]);
    await checkCounts(frontier);
  });

  says("remove, requeue and forget reach every one of thousands", async (open) => {
    const { frontier } = await open();
    const urls = Array.from({ length: 3_000 }, (_, at) => `http://h${at % 7}.example/${at}`);
    await frontier.pushMany(urls);
    expect(await frontier.remove({ pattern: "[05]$" })).toBe(600);
    for (const lease of await takeAll(frontier, 1_000)) await lease.fail("gone");
    expect(await frontier.requeue({ state: "failed" })).toBe(1_000);
    expect(await frontier.remove({ all: true })).toBe(2_400);
    expect(await frontier.report()).toMatchObject({ pending: 0, removed: 3_000 });
    await frontier.forget();
    expect((await frontier.pushMany(urls)).accepted).toBe(3_000);
    await checkCounts(frontier);
  });

  says("forget makes seen URLs new again, live records continue", async (open) => {
    const { frontier } = await open();
    await frontier.pushMany([A, B, C]);
    const [a, b] = await takeAll(frontier, 2);
    await a?.done();
    expect(await frontier.forget()).toBe(1);
    expect(await frontier.report()).toMatchObject({
      ...{ pending: 1, leased: 1, done: 0, forgotten: 1, seen: 0 },
    });
    expect(await verdictsOf(frontier, [A, B, C])).toEqual(["accepted", "accepted", "accepted"]);
    expect((await b?.done())?.late).toBe(false);
    await checkCounts(frontier);
    await frontier.done(await takeAll(frontier));
    await checkCounts(frontier);
  });

  says("forget of one URL makes it new in any state, but for a leased one", async (open) => {
    const { frontier } = await open({ defaults: { maxAttempts: 1 } });
    await frontier.pushMany([A, B, C, D]);
    const [a, b, c] = await takeAll(frontier, 3);
    await a?.done();
    await b?.fail("broken");
    const forgetting = [A, B, C, D, "http://elsewhere.example/"];
    const counts = [];
    for (const request of forgetting) counts.push(await frontier.forget({ request }));
    expect(counts).toEqual([1, 1, 0, 1, 0]);
    const { done, failed, leased, pending, forgotten } = await frontier.report();
    expect({ done, failed, leased, pending, forgotten }).toEqual({
      ...{ done: 0, failed: 0, leased: 1, pending: 0, forgotten: 3 },
    });
    await checkCounts(frontier);
    const again = ["accepted", "accepted", "duplicate", "accepted"];
    expect(await verdictsOf(frontier, [A, B, C, D])).toEqual(again);
    expect((await c?.done())?.late).toBe(false);
    expect(await frontier.forget({ request: C })).toBe(1);
    expect(await verdictsOf(frontier, [C])).toEqual(["accepted"]);
    await checkCounts(frontier);
    await expect(frontier.forget({ request: C, epoch: "forever" })).rejects.toThrow("filter.epoch");
  });

  says("clear forgets everything, and leases that are out become late", async (open) => {
    const { frontier } = await open();
    await frontier.pushMany([A, B, C]);
    const lease = await take(frontier);
    await frontier.clear();
    expect(await frontier.report()).toMatchObject({ pending: 0, leased: 0, seen: 0 });
    expect((await lease.done({ found: [D] })).late).toBe(true);
    expect(await frontier.record(D)).toBeUndefined();
    expect((await frontier.push(A)).status).toBe("accepted");
    expect((await takeAll(frontier)).length).toBe(1);
    await checkCounts(frontier);
  });
});

export const put = suite("put", (says) => {
  says("finishes a URL, whether it was known or not, with its data", async (open) => {
    const { frontier } = await open();
    await frontier.push(A);
    expect((await frontier.put(A, { data: { status: 200 } })).status).toBe("done");
    expect((await frontier.put(B)).status).toBe("done");
    expect(await frontier.poll()).toBeUndefined();
    expect(await verdictsOf(frontier, [A, B])).toEqual(["duplicate", "duplicate"]);
    expect(await frontier.record(A)).toMatchObject({ state: "done", data: { status: 200 } });
    await checkCounts(frontier);
  });

  says("makes a URL due again at a time, and leaves a leased one alone", async (open) => {
    const rig = await open();
    const { frontier } = rig;
    await frontier.push(A);
    const lease = await take(frontier);
    expect((await frontier.put(A)).status).toBe("leased");
    await lease.done();
    expect((await frontier.put(A, { dueAt: rig.now() + FAR_MS })).status).toBe("waiting");
    expect(await frontier.poll()).toBeUndefined();
    expect((await frontier.put(A, { dueAt: rig.now() - 1 })).status).toBe("pending");
    expect((await take(frontier)).url).toBe(A);
    expect(await frontier.put("nonsense")).toMatchObject({ status: "rejected" });
    await checkCounts(frontier);
  });
});

export const epochs = suite("epochs", (says) => {
  says("a URL is new in each epoch that it names", async (open) => {
    const { frontier } = await open();
    const named = (epoch: string) => ({ url: A, epoch });
    expect(await verdictsOf(frontier, [A, named("v1"), named("v1"), named("v2"), A])).toEqual([
      ...["accepted", "accepted", "duplicate", "accepted", "duplicate"],
    ]);
    const epochs = await listOf(frontier.epochs());
    expect(epochs.map(({ name, pending }) => `${name} ${pending}`).sort()).toEqual([
      ...["v1 1", "v2 1"],
    ]);
    await frontier.done(await takeAll(frontier));
    expect(await frontier.forget({ epoch: "v1" })).toBe(1);
    expect(await verdictsOf(frontier, [named("v1"), named("v2")])).toEqual([
      ...["accepted", "duplicate"],
    ]);
    await checkCounts(frontier);
  });

  says("a version opens a new epoch for all URLs", async (open) => {
    const rig = await open({ rules: [{ id: "r", epoch: { version: 1 } }] });
    expect(await verdictsOf(rig.frontier, [A, A])).toEqual(["accepted", "duplicate"]);
    await rig.frontier.setRules([{ id: "r", epoch: { version: 2 } }]);
    expect(await verdictsOf(rig.frontier, [A, A])).toEqual(["accepted", "duplicate"]);
  });

  says(
    "with every, a finished URL is pushed again only when its time is over",
    async (open) => {
      const rig = await open({ defaults: { epoch: { every: SOON_MS * 3 } } });
      const { frontier } = rig;
      await frontier.push(A);
      await (await take(frontier)).done();
      const first = (await frontier.push(A)).status;
      if (rig.now() > 0) expect(first).toBe("duplicate");
      await rig.pass(SOON_MS * 3 + 1);
      const statuses = new Set(["accepted", "deferred"]);
      await until(
        rig,
        () => frontier.push(A),
        ({ status }) => statuses.has(status),
      );
      await checkCounts(frontier);
    },
    "isExact",
  );

  says("a calendar's epoch follows the request's notBefore", async (open) => {
    const { frontier } = await open({ defaults: { epoch: { calendar: "day", zone: "UTC" } } });
    const dated = (day: string) => ({ url: A, notBefore: new Date(`${day}T12:00:00Z`) });
    expect(
      await verdictsOf(frontier, [dated("2023-01-01"), dated("2023-01-01"), dated("2023-01-02")]),
    ).toEqual(["accepted", "duplicate", "accepted"]);
  });
});
