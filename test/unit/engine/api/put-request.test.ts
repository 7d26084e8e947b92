/** `put` and `hostKey` through the public surface: in memory, over restarts, from another thread, in exports. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import { openFrontierThread } from "../../../../src/engine/owner-thread/open-frontier-thread.ts";
import { exportFrontier } from "../../../../src/engine/transfer/export-frontier.ts";
import { importFrontier } from "../../../../src/engine/transfer/import-frontier.ts";
import type {
  Frontier,
  FrontierOptions,
  Lease,
  Report,
} from "../../../../src/engine/types/frontier-types.ts";
import { openBench, thrownBy } from "../../../support/bench-frontier.ts";

const A = "http://a.test/1";
const B = "http://b.test/1";
const root = mkdtempSync(join(tmpdir(), "outrider-put-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function open(options: FrontierOptions): Promise<Frontier> {
  const frontier = await openFrontier(options);
  onTestFinished(() => frontier.close());
  return frontier;
}

function sums(report: Report): [admitted: number, placed: number] {
  const { accepted, deferred, pending, waiting, leased, done, failed, forgotten, removed } = report;
  return [accepted + deferred, pending + waiting + leased + done + failed + forgotten + removed];
}

function isBalanced(report: Report): boolean {
  const [admitted, placed] = sums(report);
  return admitted === placed;
}

describe("put of an unknown URL", () => {
  it("without a date makes it finished, with its data", () => {
    const { frontier, check } = openBench();
    expect(frontier.put(A, { data: { status: 200 } })).toEqual({ status: "done" });
    const view = frontier.record(A);
    expect(view).toMatchObject({ state: "done", url: A, data: { status: 200 } });
    expect(view?.untilMs).toBeUndefined();
    expect(frontier.push(A).status).toBe("duplicate");
    expect(frontier.poll()).toBeUndefined();
    expect(frontier.report()).toMatchObject({ accepted: 1, done: 1, pending: 0 });
    check();
  });

  it("with a date to come makes it wait until then, with one that has passed pending", () => {
    const { frontier, clock, check } = openBench();
    expect(frontier.put(A, { dueAt: clock.now() + 500 })).toEqual({ status: "waiting" });
    expect(frontier.put(B, { dueAt: new Date(clock.now() - 1) })).toEqual({ status: "pending" });
    expect(frontier.poll()?.url).toBe(B);
    expect(frontier.poll()).toBeUndefined();
    clock.advance(500);
    expect(frontier.poll()?.url).toBe(A);
    check();
  });

  it("emits what was admitted and what is done", () => {
    const { frontier } = openBench();
    const told: string[] = [];
    frontier.on("accepted", (list) => told.push(...list.map(({ url }) => `accepted ${url}`)));
    frontier.on("done", (list) => told.push(...list.map(({ url }) => `done ${url}`)));
    frontier.put(A);
    expect(told).toEqual([`accepted ${A}`, `done ${A}`]);
  });

  it("is refused as a push is, and by the capacity only where it is to be visited", () => {
    const { frontier, check } = openBench({ capacity: 1, maxUrlBytes: 64 });
    frontier.push(A);
    expect(frontier.put("nothing")).toEqual({ status: "rejected", reason: "invalid-url" });
    expect(frontier.put(`http://a.test/${"x".repeat(99)}`)).toMatchObject({ reason: "too-long" });
    expect(frontier.put(B, { dueAt: 0 })).toEqual({ status: "full" });
    expect(frontier.put(B)).toEqual({ status: "done" });
    expect(frontier.put({ url: B, dedup: "skip" })).toMatchObject({ reason: "no-identity" });
    check();
  });
});

describe("put of a known URL", () => {
  /** States of a known URL, and how it comes there. */
  const states: ReadonlyArray<readonly [string, (frontier: Frontier) => void]> = [
    ["pending", () => undefined],
    ["waiting", (frontier) => void frontier.update(A, { notBefore: 9e12 })],
    ["failed", (frontier) => void frontier.poll()?.fail("gone")],
    ["done", (frontier) => void frontier.poll()?.done()],
    ["put", (frontier) => void frontier.put(A, { data: "d" })],
    ["removed", (frontier) => void frontier.remove({ all: true })],
  ];

  it.each(states)("that is %s makes it finished, and due again", (state, reach) => {
    const { frontier, clock, check } = openBench();
    frontier.push(A, { data: "d" });
    reach(frontier);
    expect(frontier.put(A)).toEqual({ status: "done" });
    expect(frontier.report()).toMatchObject({ pending: 0, waiting: 0, failed: 0, done: 1 });
    // What is over without its record has no data left to keep.
    const kept = state === "done" || state === "removed" ? undefined : "d";
    expect(frontier.record(A)?.data).toBe(kept);
    expect(frontier.put(A, { dueAt: clock.now() + 10, data: "new" })).toEqual({
      status: "waiting",
    });
    expect(frontier.report()).toMatchObject({ waiting: 1, done: 0 });
    expect(isBalanced(frontier.report())).toBe(true);
    check();
    clock.advance(10);
    expect(frontier.poll()).toMatchObject({ url: A, data: "new", attempt: 1, deliveries: 1 });
    check();
  });

  it("answers `leased` while a lease is out and changes nothing", () => {
    const { frontier, clock, check } = openBench({ leaseMs: 100 });
    frontier.push(A, { data: 1 });
    const lease = frontier.poll() as Lease;
    const before = sums(frontier.report());
    expect(frontier.put(A, { data: 2 })).toEqual({ status: "leased" });
    expect(sums(frontier.report())).toEqual(before);
    expect(frontier.record(A)).toMatchObject({ state: "leased", data: 1 });
    clock.advance(100);
    expect(frontier.put(A, { data: 2 })).toEqual({ status: "done" });
    expect(lease.done().late).toBe(true);
    check();
  });

  it("that would be refused stays as it was", () => {
    const { frontier, check } = openBench({ rules: [{ id: "r", match: { hosts: ["a.test"] } }] });
    frontier.push(A, { data: "d" });
    frontier.setRules([{ id: "r", match: { hosts: ["a.test"] }, maxDepth: 2 }]);
    expect(frontier.put({ url: A, depth: 3 })).toMatchObject({ reason: "too-deep" });
    expect(frontier.put({ url: A, data: () => 1 })).toMatchObject({ reason: "unserializable" });
    expect(frontier.record(A)).toMatchObject({ state: "pending", data: "d", depth: 0 });
    expect(frontier.report()).toMatchObject({ pending: 1, forgotten: 0 });
    check();
  });

  it("keeps depth, handler, headers and host key that it does not give", () => {
    const { frontier, clock } = openBench();
    const more = { handler: "h", headers: { accept: "*/*" }, hostKey: "q", depth: 3, data: 7 };
    frontier.push(A, more);
    expect(frontier.put(A, { dueAt: clock.now() }).status).toBe("pending");
    expect(frontier.poll()).toMatchObject({ ...more });
  });

  it("does not ask the hook again and needs no place in the capacity", () => {
    const asked: string[] = [];
    const { frontier } = openBench({
      capacity: 1,
      accept: ({ url }) => {
        asked.push(url);
        return true;
      },
    });
    frontier.push(A);
    expect(frontier.put(A, { dueAt: 0 }).status).toBe("pending");
    expect(asked).toEqual([A]);
  });

  it("is not finished by it while others come, and finished when none does", async () => {
    const { frontier } = openBench();
    frontier.put(A);
    expect(frontier.nextDueAt()).toBeUndefined();
    expect(await frontier.take()).toEqual([]);
  });
});

describe("put", () => {
  it("names what is wrong with its arguments, and the mode that knows no URL", () => {
    const { frontier } = openBench();
    expect(thrownBy(() => frontier.put(5 as never))).toMatchObject({ code: "REQUEST_INVALID" });
    const late = { dueAt: "soon" } as never;
    expect(thrownBy(() => frontier.put(A, late))).toMatchObject({ code: "ARGUMENT_INVALID" });
    const bloom = openBench({ seen: { mode: "bloom", capacity: 1_000 } }).frontier;
    expect(thrownBy(() => bloom.put(A))).toMatchObject({ code: "UNSUPPORTED" });
  });

  it("leaves finished URLs to list, to remove and to forget", () => {
    const { frontier, check } = openBench();
    expect(thrownBy(() => [...frontier.records({ state: "done" })])).toMatchObject({
      code: "UNSUPPORTED",
    });
    frontier.put(A, { data: 1 });
    frontier.put(B, { data: 2 });
    const list = [...frontier.records({ state: "done" })];
    expect(list.map(({ url, data }) => [url, data])).toEqual([
      [A, 1],
      [B, 2],
    ]);
    expect(frontier.remove({ host: "a.test" })).toBe(1);
    expect(frontier.forget()).toBe(1);
    expect(frontier.push(B).status).toBe("accepted");
    check();
  });

  it("answers `closed` once closed", async () => {
    const { frontier } = openBench();
    await frontier.close();
    expect(frontier.put(A)).toEqual({ status: "closed" });
  });

  it("comes back from the journal and from a snapshot, exactly", async () => {
    const directory = mkdtempSync(join(root, "d"));
    const clock = createVirtualClock(1_000_000);
    for (const between of [async () => undefined, (frontier: Frontier) => frontier.snapshot()]) {
      const first = await openFrontier({ directory, clock, name: String(between.length) });
      first.push(A, { data: "d", hostKey: "Queue" });
      first.poll()?.fail("x");
      first.put(A);
      first.put(B, { dueAt: 2_000_000, data: [1, 2] });
      first.put("http://c.test/", { data: { a: "b" } });
      first.put("http://c.test/", { data: { a: "c" } });
      await between(first);
      const before = first.report();
      await first.close();
      const again = await open({ directory, clock, name: String(between.length) });
      expect(sums(again.report())).toEqual(sums(before));
      expect(again.report()).toMatchObject({ done: 2, waiting: 1, forgotten: before.forgotten });
      expect(again.record(A)).toMatchObject({ state: "done", data: "d", hostKey: "Queue" });
      expect(again.record(B)).toMatchObject({ state: "waiting", untilMs: 2_000_000, data: [1, 2] });
      const done = [...again.records({ state: "done" })].map(({ data }) => data);
      expect(done).toEqual(["d", { a: "c" }]);
      expect(again.put(B)).toEqual({ status: "done" });
    }
  });

  it("keeps data in the archive with records: 'full', and nothing rests then", async () => {
    const directory = mkdtempSync(join(root, "full"));
    const frontier = await open({ directory, records: "full" });
    frontier.put(A, { data: 1 });
    frontier.put(A, { data: 2 });
    expect(frontier.record(A)).toMatchObject({ state: "done", data: 2, url: A });
    expect([...frontier.records({ state: "done" })]).toHaveLength(1);
    expect(frontier.put(A, { dueAt: 0 })).toEqual({ status: "pending" });
    expect(frontier.poll()?.data).toBe(2);
  });

  it("is the same from another thread", async () => {
    const frontier = await openFrontierThread({});
    onTestFinished(() => frontier.close());
    expect(await frontier.put(new URL(A), { data: 1 })).toEqual({ status: "done" });
    expect(await frontier.put(A, { dueAt: new Date(1), data: 2 })).toEqual({ status: "pending" });
    const [lease] = await frontier.pollMany(1);
    expect(lease?.data).toBe(2);
    expect(await frontier.put(A)).toEqual({ status: "leased" });
    const refused = await frontier.put(B, { data: () => 1 });
    expect(refused).toEqual({ status: "rejected", reason: "unserializable" });
    await expect(frontier.put(5 as never)).rejects.toMatchObject({ code: "REQUEST_INVALID" });
  });

  it("goes through an export and comes back", async () => {
    const directory = mkdtempSync(join(root, "export"));
    const first = await openFrontier({ directory });
    first.put({ url: A, hostKey: "Q" }, { data: { n: 1 } });
    first.push({ url: B, hostKey: "Q" });
    await first.close();
    const target = mkdtempSync(join(root, "import"));
    await importFrontier(target, exportFrontier(directory));
    const again = await open({ directory: target });
    expect(again.record(A)).toMatchObject({ state: "done", data: { n: 1 }, hostKey: "Q" });
    expect(again.poll()).toMatchObject({ url: B, hostKey: "Q" });
  });
});

describe("hostKey", () => {
  const polite = { rules: [{ id: "r", politeness: { delayMs: 100, perHost: 1 } }] };

  it("takes the place of the URL's host in politeness, whatever its letters", () => {
    const { frontier, clock, check } = openBench({ ...polite, leaseMs: 1_000 });
    frontier.pushMany([A, B, "http://c.test/"], { hostKey: "Queue 1" });
    frontier.push({ url: "http://a.test/2", hostKey: "queue 1" });
    const urls = (): string[] => frontier.pollMany(9).map(({ url }) => url);
    expect(urls()).toEqual([A, "http://a.test/2"]);
    expect(frontier.host("Queue 1")).toMatchObject({ key: "Queue 1", leased: 1 });
    expect(frontier.explain(B)).toMatchObject({ host: "b.test", heldBy: "delay" });
    check();
    clock.advance(1_100);
    expect(urls()).toHaveLength(2);
    check();
  });

  it("shows in leases and views beside the host", () => {
    const { frontier } = openBench();
    frontier.push({ url: A, hostKey: "10.0.0.1" });
    expect(frontier.record(A)).toMatchObject({ host: "a.test", hostKey: "10.0.0.1" });
    expect(frontier.peek(1)[0]).toMatchObject({ host: "a.test", hostKey: "10.0.0.1" });
    expect(frontier.poll()).toMatchObject({ url: A, host: "a.test", hostKey: "10.0.0.1" });
  });

  it("is kept when the rules change, and its URL decides which rule takes it", () => {
    const rules = [
      { id: "a", match: { hosts: ["a.test"] } },
      { id: "b", match: { hosts: ["b.test"] } },
    ];
    const { frontier, check } = openBench({ rules });
    const own = { hostKey: "a.test" };
    frontier.pushMany([A, B], own);
    frontier.pushMany(["http://a.test/2", "http://b.test/2"]);
    frontier.setRules([
      { id: "b2", match: { hosts: ["b.test"] }, politeness: { delayMs: 100, by: "domain" } },
      { id: "a2", match: { hosts: ["a.test"] }, politeness: { delayMs: 100 } },
    ]);
    frontier.host("a.test").hold();
    expect(frontier.pollMany(9).map(({ url }) => url)).toEqual(["http://b.test/2"]);
    frontier.host("a.test").unhold();
    frontier.host("a.test").delayMs = 0;
    frontier.host("a.test").limit = 9;
    const rest = frontier.pollMany(9).map(({ url, rule, hostKey }) => `${url} ${rule} ${hostKey}`);
    expect(rest.sort()).toEqual([
      "http://a.test/1 a2 a.test",
      "http://a.test/2 a2 undefined",
      "http://b.test/1 b2 a.test",
    ]);
    check();
  });

  it("goes along with a redirect on the same host, and with no other", () => {
    const { frontier } = openBench();
    frontier.push({ url: A, hostKey: "q" });
    const lease = frontier.poll() as Lease;
    lease.redirect("/2");
    lease.redirect(B);
    lease.redirect("http://c.test/", { hostKey: "own" });
    lease.done();
    const keys = frontier.pollMany(9).map(({ url, hostKey }) => [url, hostKey]);
    expect(keys).toEqual([
      ["http://a.test/2", "q"],
      [B, undefined],
      ["http://c.test/", "own"],
    ]);
  });

  it("spends of a budget of its own", () => {
    const { frontier } = openBench({ rules: [{ id: "r", politeness: { budget: { urls: 1 } } }] });
    expect(frontier.push({ url: A, hostKey: "q" }).status).toBe("accepted");
    expect(frontier.explain({ url: B, hostKey: "q" }).verdict.reason).toBe("budget");
    expect(frontier.push({ url: B, hostKey: "q" }).reason).toBe("budget");
    expect(frontier.push(B).status).toBe("accepted");
  });

  it("is found by filters, by its URL's host and by itself", () => {
    const { frontier } = openBench();
    frontier.push({ url: A, hostKey: "Mine" });
    frontier.push(B);
    const of = (host: string): number => [...frontier.records({ host })].length;
    expect([of("Mine"), of("a.test"), of("b.test")]).toEqual([1, 1, 1]);
    expect(frontier.remove({ host: "Mine" })).toBe(1);
  });
});
