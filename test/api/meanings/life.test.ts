/**
 * The meanings of the public API, sentence by sentence, through the public surface alone: Finished, After close, report, events, verdicts
 * and errors. Each title is a sentence of the contract.
 */
import { describe, expect, it } from "vitest";
import { createVirtualClock, type Frontier } from "../../../src/index.ts";
import * as outrider from "../../../src/index.ts";
import { A, B, codeOf, open } from "../../support/meanings.ts";

const { openFrontier } = outrider;

async function isOver(frontier: Frontier): Promise<boolean> {
  const leases = await Promise.race([frontier.take(), Promise.resolve(undefined)]);
  return leases !== undefined && leases.length === 0;
}

describe("Finished", () => {
  it("something was admitted, nothing is pending, waiting or leased", async () => {
    const { frontier, clock } = await open();
    const ends: number[] = [];
    frontier.on("finished", ({ atMs }) => ends.push(atMs));
    expect(await frontier.take({ timeoutMs: 0 })).toEqual([]);
    expect(ends).toEqual([]); // nothing was admitted yet
    frontier.pushMany([A, { url: B, notBefore: clock.now() + 10 }]);
    const lease = frontier.poll();
    const waiting = frontier.take();
    lease?.done();
    expect(ends).toEqual([]);
    clock.advance(10);
    const [last] = await waiting;
    expect(last?.url).toBe(B);
    const iterated: string[] = [];
    const iteration = (async () => {
      for await (const { url } of frontier) iterated.push(url);
    })();
    last?.done();
    await iteration;
    expect([iterated, ends]).toEqual([[], [clock.now()]]);
    expect(await frontier.take()).toEqual([]);
    frontier.push("http://c.example/"); // there is work again
    expect(await frontier.take()).toHaveLength(1);
  });

  it("not with keepOpen, an objecting onIdle, a rule with every, or a pushFrom that runs", async () => {
    const rule: outrider.Rule = { id: "r", seeds: [A], every: "1d" };
    let objects = true;
    for (const options of [{ keepOpen: true }, { onIdle: () => objects }, { rules: [rule] }]) {
      const { frontier } = await open(options);
      frontier.push(A);
      for (const lease of frontier.pollMany(9)) lease.done();
      expect(await isOver(frontier), JSON.stringify(options)).toBe(false);
    }
    const { frontier, clock } = await open({ onIdle: () => objects });
    frontier.push(A);
    frontier.poll()?.done();
    const wait = frontier.take();
    objects = false;
    clock.advance(60_000);
    expect(await wait).toEqual([]);
    const fed = await open();
    fed.frontier.push(A);
    let feed = (_: string): void => {};
    const source = (async function* () {
      yield await new Promise<string>((resolve) => {
        feed = resolve;
      });
    })();
    const pushing = fed.frontier.pushFrom(source);
    await Promise.resolve();
    fed.frontier.poll()?.done();
    const next = fed.frontier.take();
    feed(B);
    expect((await pushing).accepted).toBe(1);
    expect((await next).map(({ url }) => url)).toEqual([B]);
  });

  it("failed records do not keep it open; idle is emitted before finished", async () => {
    const { frontier } = await open();
    const told: string[] = [];
    for (const name of ["empty", "idle", "finished"] as const)
      frontier.on(name, () => told.push(name));
    frontier.push(A);
    frontier.poll()?.fail();
    expect(told).toEqual(["idle", "finished"]);
    expect(await frontier.take()).toEqual([]);
  });

  it("polls for a time of their own emit empty at the same edges; a host without work is none", async () => {
    const { frontier } = await open();
    let count = 0;
    frontier.on("empty", () => count++);
    const polls = [
      () => frontier.pollMany(2, { leaseMs: 9 }),
      () => frontier.pollMany(1, { leaseMs: 9 }),
      () => frontier.pollMany(2, { host: "none.example" }),
    ];
    frontier.pollMany(2, { host: "none.example" });
    expect(count).toBe(0);
    for (const [index, url] of [A, B].entries()) {
      for (const poll of polls) poll();
      expect(count).toBe(index + 1);
      frontier.push(url);
      expect(polls[index]?.()).toHaveLength(1);
      expect(count).toBe(index + 1);
    }
  });
});

describe("Status", () => {
  it("pause stops hand-outs and not pushes; drain resolves when none is out; resume ends both", async () => {
    const { frontier } = await open();
    const told: string[] = [];
    frontier.on("status", ({ from, to }) => told.push(`${from} ${to}`));
    frontier.pushMany([A, B]);
    frontier.pause();
    expect([frontier.status, frontier.poll(), frontier.peek(2)]).toEqual(["paused", undefined, []]);
    expect(frontier.push("http://c.example/").status).toBe("accepted");
    frontier.resume();
    const lease = frontier.poll();
    let isDrained = false;
    const drained = frontier.drain().then(() => {
      isDrained = true;
    });
    expect([frontier.status, frontier.poll()]).toEqual(["draining", undefined]);
    expect(frontier.push("http://d.example/").status).toBe("accepted");
    await Promise.resolve();
    expect(isDrained).toBe(false);
    lease?.done();
    await drained;
    expect(frontier.poll()).toBeUndefined();
    frontier.resume();
    expect(frontier.pollMany(9)).toHaveLength(3);
    await frontier.close();
    expect(told).toEqual([
      "running paused",
      "paused running",
      "running draining",
      "draining running",
      "running stopping",
      "stopping stopped",
    ]);
  });
});

describe("After close", () => {
  it("push → closed; poll → undefined; take → []; lease methods → late; others throw FRONTIER_CLOSED", async () => {
    const { frontier } = await open();
    frontier.pushMany([A, B]);
    const lease = frontier.poll() as outrider.Lease;
    const waiting = frontier.take({ max: 5, timeoutMs: 1e6 });
    const host = frontier.host("a.example");
    await frontier.close();
    await frontier.close();
    await waiting;
    expect(frontier.status).toBe("stopped");
    expect(frontier.push(A)).toEqual({ status: "closed", admitted: false });
    const result = frontier.pushMany([A, "nonsense"]);
    expect([result.size, result.verdict(1).status, result.accepted]).toEqual([2, "closed", 0]);
    expect([frontier.poll(), frontier.pollMany(3)]).toEqual([undefined, []]);
    expect(await frontier.take()).toEqual([]);
    for await (const _ of frontier) expect.fail("nothing comes any more");
    expect(lease.done({ found: [A] }).late).toBe(true);
    expect(lease.retry()).toBe("late");
    expect([lease.fail(), lease.release(), lease.extend(1)]).toEqual([false, false, false]);
    expect(lease.redirect(A).admitted).toBe(false);
    expect(frontier.done([lease])).toBe(0);
    expect([lease.url, lease.host, lease.fingerprint.length]).toEqual([A, "a.example", 32]);
    const others: Array<() => unknown> = [
      () => frontier.peek(),
      () => frontier.record(A),
      () => frontier.records({}),
      () => frontier.explain(A),
      () => frontier.nextDueAt(),
      () => frontier.report(),
      () => frontier.on("done", () => {}),
      () => frontier.setRules([]),
      () => frontier.host("a.example"),
      () => host.hold(),
      () => frontier.update(A, { priority: 1 }),
      () => frontier.requeue({ all: true }),
      () => frontier.remove({ all: true }),
      () => frontier.forget(),
      () => frontier.clear(),
      () => frontier.pause(),
      () => frontier.resume(),
      () => frontier.share(),
    ];
    for (const act of others) expect(codeOf(act), String(act)).toBe("FRONTIER_CLOSED");
    const later = [frontier.pushFrom([A]), frontier.drain(), frontier.flush(), frontier.snapshot()];
    for (const promise of later) {
      await expect(promise).rejects.toMatchObject({ code: "FRONTIER_CLOSED" });
    }
  });
});

describe("report()", () => {
  it("has at least the names of the contract, and is plain data", async () => {
    const { frontier } = await open();
    frontier.pushMany([A, B, A, "x", "mailto:a@b"]);
    frontier.poll()?.done();
    const report = frontier.report();
    const { rules, seenSet, memory, durability, rates } = report;
    expect(Object.keys(report)).toEqual(
      expect.arrayContaining([
        ...["status", "waitingUntil", "pushed", "accepted", "deferred", "duplicate", "rejected"],
        ...["full", "retried", "expired", "lateResults", "droppedEvents", "pending", "waiting"],
        ...["leased", "done", "failed", "forgotten", "removed", "hosts", "lanes", "seen", "depths"],
        ...["rules", "seenSet", "memory", "durability", "rates", "startedAt"],
      ]),
    );
    expect(Object.keys(rules)).toEqual(["default"]);
    expect(rules.default).toEqual({ pending: 1, leased: 0, done: 1, failed: 0, served: 1 });
    expect(Object.keys(seenSet)).toEqual(
      expect.arrayContaining([
        ...["mode", "bytes", "load", "bitsPerUrl", "falsePositiveRate", "expectedLost"],
        ...["maybeButNew", "coldReads"],
      ]),
    );
    const memoryNames = ["heapBytes", "offHeapBytes", "spilledBytes", "bytesPerUrl"];
    expect(Object.keys(memory)).toEqual(expect.arrayContaining(memoryNames));
    expect(Object.keys(durability)).toEqual(
      expect.arrayContaining(["flushedAt", "journalBytes", "snapshotAt"]),
    );
    expect(Object.keys(rates)).toEqual(expect.arrayContaining(["pushed", "leased", "done"]));
    expect(report).toMatchObject({
      ...{ status: "running", pushed: 5, accepted: 2, duplicate: 1, deferred: 0 },
      ...{ rejected: { "invalid-url": 1, scheme: 1 }, pending: 1, done: 1, seen: 2, hosts: 2 },
      ...{ depths: [2], startedAt: 1_000_000, waitingUntil: undefined },
    });
    expect(report.toString()).toContain("pending 1");
    expect(structuredClone({ ...report, toString: undefined }).pushed).toBe(5);
  });
});

describe("Verdicts", () => {
  it("are frozen singletons with every reason of the contract", async () => {
    const { frontier } = await open({
      ...{ capacity: 3, maxUrlBytes: 100 },
      rules: [{ id: "r", match: { domains: ["a.example", "b.example"] }, maxDepth: 3 }],
      accept: ({ url }) => !url.endsWith("/hooked"),
    });
    const push = (request: outrider.RequestLike): string => {
      const verdict = frontier.push(request);
      expect(Object.isFrozen(verdict)).toBe(true);
      expect(frontier.push({ url: "nonsense" })).toBe(frontier.push("also nonsense"));
      return `${verdict.status} ${verdict.reason ?? ""} ${verdict.admitted}`;
    };
    expect(push(A)).toBe("accepted  true");
    expect(push({ url: B, notBefore: 2_000_000 })).toBe("deferred  true");
    expect(push(A)).toBe("duplicate  false");
    for (const url of ["", "nonsense", "http://", "http://a b/"]) {
      expect(push(url), url).toBe("rejected invalid-url false");
    }
    for (const url of ["mailto:a@b", "javascript:1", "ftp://h/", "data:,"]) {
      expect(push(url), url).toBe("rejected scheme false");
    }
    expect(push(`${A}${"x".repeat(200)}`)).toBe("rejected too-long false");
    expect(push("http://other.example/")).toBe("rejected no-rule false");
    expect(push({ url: `${A}1`, depth: 4 })).toBe("rejected too-deep false");
    expect(push({ url: `${A}2`, data: () => {} })).toBe("rejected unserializable false");
    expect(push(`${A}hooked`)).toBe("rejected hook false");
    expect(push(`${A}3`)).toBe("accepted  true");
    expect(push(`${A}4`)).toBe("full  false");
  });
});

describe("Events", () => {
  it("have the names of the contract, come batched, and stop when their listener goes", async () => {
    const { frontier, clock } = await open({ leaseMs: 100, defaults: { maxAttempts: 2 } });
    const told: Record<string, string[][]> = {};
    const names = [
      ...(["accepted", "duplicate", "rejected", "leased", "done", "retried"] as const),
      ...(["failed", "expired", "released"] as const),
    ];
    const offs = names.map((name) =>
      frontier.on(name, (batch: Array<{ url: string }>) => {
        told[name] ??= [];
        told[name]?.push(batch.map(({ url }) => url));
      }),
    );
    for (const name of ["empty", "ready", "idle", "finished", "resumed", "rulesApplied"] as const) {
      frontier.on(name, () => {});
    }
    for (const name of ["snapshot", "error", "status"] as const) frontier.on(name, () => {});
    frontier.pushMany([A, B, A, "nonsense"]);
    const [a, b] = frontier.pollMany(2);
    a?.release();
    b?.retry();
    frontier.pollMany(2);
    clock.advance(100);
    const [again] = frontier.pollMany(1);
    again?.done();
    expect(told).toEqual({
      accepted: [[A, B]],
      duplicate: [[A]],
      rejected: [["nonsense"]],
      leased: [[A, B], [A, B], [A]],
      released: [[A]],
      retried: [[B]],
      expired: [[A]],
      failed: [[B]],
      done: [[A]],
    });
    for (const off of offs) off();
    frontier.push("http://c.example/");
    expect(told.accepted).toHaveLength(1);
  });
});

describe("Errors", () => {
  it("are FrontierErrors with the code of what was wrong, naming field, value and what was expected", async () => {
    const { frontier } = await open();
    const bad = (value: unknown): never => value as never;
    const cases: Array<[string, () => unknown]> = [
      ["REQUEST_INVALID", () => frontier.push(bad(42))],
      ["REQUEST_INVALID", () => frontier.push(bad({ url: A, priority: 0.5 }))],
      ["REQUEST_INVALID", () => frontier.pushMany([A, bad({ uri: A })])],
      ["ARGUMENT_INVALID", () => frontier.pushMany(bad(7))],
      ["ARGUMENT_INVALID", () => frontier.pollMany(-1)],
      ["ARGUMENT_INVALID", () => frontier.peek(Number.NaN)],
      ["ARGUMENT_INVALID", () => frontier.on(bad("nothing"), () => {})],
      ["ARGUMENT_INVALID", () => frontier.host("")],
      ["ARGUMENT_INVALID", () => frontier.host("a.example").blockUntil(bad("soon"))],
      ["ARGUMENT_INVALID", () => frontier.update(A, { notBefore: Number.NaN })],
      ["RULE_INVALID", () => frontier.setRules([bad({})])],
      ["RULE_INVALID", () => frontier.setRules([{ id: "a" }, { id: "a" }])],
      ["RULE_INVALID", () => frontier.setRules([{ id: "a", match: { pattern: "(" } }])],
      ["RULE_INVALID", () => frontier.setRules([{ id: "a", share: { priority: 0 } }])],
    ];
    for (const [code, act] of cases) expect(codeOf(act), String(act)).toBe(code);
    expect(frontier.report()).toMatchObject({ pushed: 0, accepted: 0 });
    const message = /^request\.priority: 0\.5 \(expected: .+\)$/;
    expect(() => frontier.push({ url: A, priority: 0.5 })).toThrow(message);
    for (const options of [{ nosuch: 1 }, { capacity: -1 }, { leaseMs: 0 }, { name: "" }]) {
      await expect(openFrontier(bad(options))).rejects.toMatchObject({ code: "OPTION_INVALID" });
    }
    await expect(openFrontier({ rules: [bad({ id: 3 })] })).rejects.toMatchObject({
      code: "RULE_INVALID",
    });
    expect(frontier.push(A).status).toBe("accepted");
  });
});

describe("Functions", () => {
  it("canonicalize, fingerprint, expandSeed, resolveLinks, createVirtualClock and presets", () => {
    const { canonicalize, fingerprint, expandSeed, resolveLinks, presets } = outrider;
    expect(canonicalize("HTTP://A.example:80/b?z=1&a=2#f")).toBe("http://a.example/b?a=2&z=1");
    expect(canonicalize("mailto:a@b")).toBeUndefined();
    expect(fingerprint(A)).toMatch(/^[0-9a-f]{32}$/);
    expect(fingerprint(`${A}#x`)).toBe(fingerprint({ url: A }));
    expect(fingerprint(A)).not.toBe(fingerprint({ url: A, method: "POST" }));
    expect([...expandSeed("http://x/list_#.html#1#5#2")]).toEqual(
      [1, 3, 5].map((n) => `http://x/list_${n}.html`),
    );
    expect([...expandSeed("http://x/[1-3]")]).toEqual([1, 2, 3].map((n) => `http://x/${n}`));
    expect([...expandSeed("http://x/[3-1]")]).toEqual([]);
    const hrefs = ["b", "#", "", " ", "javascript:x", "http://o/?q#f", "mailto:x"];
    expect(resolveLinks("http://h/a/c", hrefs)).toEqual(expect.arrayContaining(["http://h/a/b"]));
    expect(Object.keys(presets).sort()).toEqual(
      ["gopcp", "neocrawler", "scrapy", "vscrawler", "webmagic"].sort(),
    );
    const clock = createVirtualClock(5);
    const rung: number[] = [];
    clock.schedule(20, () => rung.push(clock.now()));
    const cancel = clock.schedule(15, () => rung.push(-1));
    clock.schedule(10, () => rung.push(clock.now()));
    cancel();
    clock.advance(30);
    expect([rung, clock.now(), clock.monotonic()]).toEqual([[10, 20], 35, 30]);
  });
});
