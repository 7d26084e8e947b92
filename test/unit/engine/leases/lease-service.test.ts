import { describe, expect, it } from "vitest";
import { FrontierError } from "../../../../src/base/errors.ts";
import type { Lease, RequestLike } from "../../../../src/engine/types/frontier-types.ts";
import { openBench, thrownBy } from "../../../support/bench-frontier.ts";

const A = "http://a.com/1";
const B = "http://a.com/2";
const bomb = {
  get url(): string {
    throw new Error("gotcha");
  },
};

describe("a wrong argument", () => {
  it("of any call is named, and nothing is changed", async () => {
    const { frontier, check } = openBench();
    frontier.pushMany([A, B]);
    const lease = frontier.poll() as Lease;
    const any = frontier as unknown as Record<string, (...args: unknown[]) => unknown>;
    const out = lease as unknown as Record<string, (...args: unknown[]) => unknown>;
    const host = frontier.host("a.com") as unknown as Record<string, (...args: unknown[]) => void>;
    const calls: Array<[name: string, call: () => unknown]> = [
      ["result", () => out.done?.(null)],
      ["result", () => out.done?.(5)],
      ["result.fund", () => out.done?.({ fund: [] })],
      ["result.found", () => out.done?.({ found: 5 })],
      ["result.found", () => out.done?.({ found: "http://a.com" })],
      ["result.errors", () => out.done?.({ errors: 5 })],
      ["outcome", () => out.done?.({ outcome: 5 })],
      ["outcome.status", () => out.done?.({ outcome: { status: "500" } })],
      ["outcome.latencyMs", () => out.done?.({ outcome: { latencyMs: Number.NaN } })],
      ["outcome.bytes", () => out.fail?.("x", { bytes: -1 })],
      ["outcome.changed", () => out.fail?.("x", { changed: 1 })],
      ["outcome.latency", () => out.retry?.({ outcome: { latency: 1 } })],
      ["reason", () => out.fail?.(5)],
      ["options", () => out.retry?.(null)],
      ["options.delay", () => out.retry?.({ delay: 5 })],
      ["delayMs", () => out.retry?.({ delayMs: "5" })],
      ["priority", () => out.retry?.({ priority: 0.5 })],
      ["url", () => out.redirect?.(5)],
      ["ms", () => out.extend?.("5")],
      ["ms", () => out.extend?.(0)],
      ["leases", () => any.done?.(5)],
      ["leases[1]", () => any.done?.([lease, null])],
      ["requests", () => any.pushMany?.("text")],
      ["max", () => any.pollMany?.("5")],
      ["filter.hosts", () => any.remove?.({ hosts: "a.com" })],
      ["filter.host", () => any.remove?.({ host: 5 })],
      ["filter.pattern", () => any.remove?.({ pattern: "(" })],
      ["filter", () => any.requeue?.(null)],
      ["filter.state", () => any.requeue?.({ state: "pending" })],
      ["filter.state", () => any.records?.({ state: "x" })],
      ["filter.epoch", () => any.forget?.({ epoch: 5 })],
      ["change", () => any.update?.(A, null)],
      ["change.depth", () => any.update?.(A, { depth: 1 })],
      ["change.priority", () => any.update?.(A, { priority: "1" })],
      ["change.notBefore", () => any.update?.(A, { notBefore: "now" })],
      ["key", () => any.host?.("")],
      ["delayMs", () => Object.assign(host, { delayMs: "5" })],
      ["limit", () => Object.assign(host, { limit: 0 })],
      ["address", () => Object.assign(host, { address: 5 })],
      ["at", () => host.blockUntil?.("later")],
      ["rules", () => any.setRules?.(5)],
    ];
    const state = (): string => JSON.stringify({ ...frontier.report(), memory: 0, rates: 0 });
    const before = state();
    for (const [name, call] of calls) {
      const error = thrownBy(call) as FrontierError;
      expect(error, name).toBeInstanceOf(FrontierError);
      expect(error.message.slice(0, name.length + 1)).toBe(`${name}:`);
      expect(error.message).toMatch(/: .+ \(expected: .+\)$/s);
    }
    await expect(frontier.snapshot()).rejects.toThrow(/^options.path/);
    await expect(any.take?.({ max: 0 })).rejects.toThrow(/^max: /);
    await expect(any.take?.({ timeoutMs: "5" })).rejects.toThrow(/^timeoutMs: /);
    await expect(any.take?.({ timeoutMs: -1 })).rejects.toThrow(/^timeoutMs: /);
    await expect(any.take?.({ signal: {} })).rejects.toThrow(/^signal: /);
    await expect(frontier.close({ discard: 5 as never })).rejects.toThrow(/^options.discard/);
    expect(state()).toBe(before);
    check();
    expect(lease.done().late).toBe(false);
  });
});

describe("done({ found })", () => {
  it("tells what is no request as errors, counts it, and admits the rest with depth and parent", () => {
    const { frontier, check } = openBench({ maxFound: 3 });
    const faults: string[] = [];
    frontier.on("error", ({ kind, stage, url }) => faults.push(`${kind} ${stage} ${url}`));
    frontier.push({ url: A, depth: 4 });
    const lease = frontier.poll() as Lease;
    const found = [B, 5, { url: "http://a.com/3", depth: 0 }, bomb, A, "http://a.com/late"];
    const result = lease.done({ found: found as RequestLike[] });
    const reasons = found.map(
      (_, index) => result.verdict(index).reason ?? result.verdict(index).status,
    );
    expect(reasons).toEqual([
      "accepted",
      "invalid-request",
      "accepted",
      "invalid-request",
      "duplicate",
      "max-found",
    ]);
    expect(faults).toEqual(Array(2).fill(`request found ${A}`));
    const { pushed, accepted, duplicate, rejected } = frontier.report();
    const refused = Object.values(rejected).reduce((sum, count) => sum + count, 0);
    expect(pushed).toBe(accepted + duplicate + refused);
    for (const child of frontier.pollMany(2)) {
      expect([child.depth, child.parent]).toEqual([5, lease.fingerprint]);
    }
    check();
  });

  it("follows nothing where the rule says so, and counts what it refused", () => {
    const { frontier, check } = openBench({ defaults: { follow: false } });
    const told: unknown[] = [];
    frontier.on("rejected", (list) => told.push(...list));
    frontier.push(A);
    const result = frontier.poll()?.done({ found: [B] });
    expect(result?.verdict(0).reason).toBe("no-follow");
    expect(told).toEqual([{ url: B, reason: "no-follow" }]);
    expect(frontier.report().rejected).toEqual({ "no-follow": 1 });
    check();
  });

  it("is judged after its list was read: a list that ends the lease makes it late", () => {
    const { frontier, check } = openBench();
    frontier.push(A);
    const lease = frontier.poll() as Lease;
    const found = (function* (): Generator<string> {
      lease.done();
      yield B;
    })();
    expect(lease.done({ found }).late).toBe(true);
    expect(frontier.record(B)).toBeUndefined();
    expect(frontier.report().done).toBe(1);
    check();
  });
});

describe("a lease", () => {
  it("of before a clear never ends a record of after it", () => {
    const { frontier, check } = openBench();
    frontier.pushMany([A, B]);
    const old = frontier.pollMany(2);
    frontier.clear();
    check();
    frontier.pushMany([A, B]);
    const fresh = frontier.pollMany(2);
    for (const lease of old) {
      expect([lease.done().late, lease.release(), lease.extend(5)]).toEqual([true, false, false]);
    }
    check();
    expect(frontier.done(fresh)).toBe(2);
  });

  it("redirects at its own depth with itself as parent", () => {
    const { frontier, check } = openBench();
    frontier.push({ url: A, depth: 3 });
    const lease = frontier.poll() as Lease;
    expect(lease.redirect(B).status).toBe("accepted");
    const target = frontier.poll() as Lease;
    expect([target.depth, target.parent]).toEqual([3, lease.fingerprint]);
    check();
  });

  it("counts the redirects behind a URL, whatever becomes of it on the way", () => {
    const { frontier, check } = openBench({ accept: () => ({ data: "hooked" }) });
    frontier.push(A);
    const counts: unknown[] = [];
    for (let hop = 0; hop < 4; hop++) {
      frontier.poll()?.retry({ delayMs: 0 });
      frontier.poll()?.release();
      const lease = frontier.poll() as Lease;
      counts.push([lease.redirects, lease.data]);
      lease.redirect(`${A}${hop}`);
      lease.done({ found: hop === 3 ? [B] : [] });
      check();
    }
    expect(counts).toEqual([0, 1, 2, 3].map((hop) => [hop, "hooked"]));
    // Each retry has cost it a priority.
    expect(frontier.pollMany(9).map(({ redirects }) => redirects)).toEqual([0, 4]);
  });
});

describe("records", () => {
  it("may be changed while they are walked", () => {
    const { frontier, check } = openBench();
    frontier.pushMany(
      Array.from({ length: 20 }, (_, index) => `http://h${index % 2}.com/${index}`),
    );
    const seen: string[] = [];
    for (const { url = "" } of frontier.records({ state: "pending" })) {
      seen.push(url);
      frontier.remove({ host: "H1.com" });
      check();
    }
    expect(seen.every((url) => url.startsWith("http://h0") || url === "http://h1.com/1")).toBe(
      true,
    );
    expect(frontier.report().removed).toBe(10);
    expect([...frontier.records({ host: "H0.COM" })].length).toBe(10);
    const walk = frontier.records({})[Symbol.iterator]();
    walk.next();
    frontier.clear();
    expect(walk.next().done).toBe(true);
  });
});

describe("a hundred thousand priorities at once", () => {
  const sides = [
    { how: "without hosts", defaults: {}, COUNT: 100_000 },
    { how: "ten thousand by hosts", defaults: { politeness: { perHost: 1e6 } }, COUNT: 10_000 },
  ];
  for (const { how, defaults, COUNT } of sides) {
    /** The step shares no factor with the count, so that no two are the same; they span all safe integers. */
    const priorityOf = (index: number): number =>
      ((index * 61_803) % COUNT) * Math.floor(2 ** 54 / COUNT) - Number.MAX_SAFE_INTEGER;

    it(`come in exact order, ${how}`, () => {
      const { frontier, check } = openBench({ defaults });
      const requests = Array.from({ length: COUNT }, (_, index) => {
        return { url: `http://h${index % 50}.test/${index}`, priority: priorityOf(index) };
      });
      expect(frontier.pushMany(requests).accepted).toBe(COUNT);
      const wanted = requests.map(({ priority }) => priority).sort((a, b) => b - a);
      expect(new Set(wanted).size).toBe(COUNT);
      const next = frontier.peek(1_000).map(({ priority }) => priority);
      expect(next).toEqual(wanted.slice(0, 1_000));
      const given: number[] = [];
      while (given.length < COUNT) {
        const leases = frontier.pollMany(1_000);
        expect(leases.length).toBe(1_000);
        for (const { priority } of leases) given.push(priority);
        expect(frontier.done(leases)).toBe(1_000);
      }
      expect(given.every((priority, at) => priority === wanted[at])).toBe(true);
      expect(frontier.report()).toMatchObject({ pending: 0, lanes: 0, done: COUNT });
      check();
    });
  }
});
