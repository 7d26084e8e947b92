/**
 * The meanings of the public API, sentence by sentence, through the public surface alone: URL and Place. Each title is a sentence of the
 * contract.
 */
import { describe, expect, it } from "vitest";
import type { KeyPolicy } from "../../../src/index.ts";
import { open } from "../../support/meanings.ts";

const paths = (leases: Iterable<{ url: string }>): string =>
  Array.from(leases, ({ url }) => new URL(url).pathname.slice(1)).join(" ");

describe("URL", () => {
  it("lease.url is the pushed URL as the WHATWG parser serialises it, without fragment", async () => {
    const { frontier } = await open();
    const given = [
      "HTTP://EXAMPLE.com:80/a/../b?z=1&a=2#top",
      "https://user:pass@h.example:8443/%7Ex/ y?q=ü#f",
      "http://bücher.example",
      "http://0x7f.1/p",
    ];
    frontier.pushMany(given);
    const urls = frontier.pollMany(9).map(({ url }) => url);
    expect(urls).toEqual(given.map((url) => Object.assign(new URL(url), { hash: "" }).href));
  });

  it("… unless the policy keeps it", async () => {
    const { frontier } = await open({ defaults: { key: { fragment: "keep" } } });
    expect(frontier.push("http://a.example/p#one").status).toBe("accepted");
    expect(frontier.push("http://a.example/p#two").status).toBe("accepted");
    expect(frontier.pollMany(9).map(({ url }) => url)).toEqual([
      "http://a.example/p#one",
      "http://a.example/p#two",
    ]);
  });

  it("the key policy shapes only the dedup key (unless visit: 'canonical')", async () => {
    const url = "http://a.example/p?b=2&a=1&utm=x";
    const key: KeyPolicy = { dropParams: ["utm"], sortQuery: true };
    const { frontier } = await open({ defaults: { key } });
    frontier.push(url);
    expect(frontier.push("http://a.example/p?a=1&b=2").status).toBe("duplicate");
    expect(frontier.poll()?.url).toBe(url);
    const other = await open({ defaults: { key: { ...key, visit: "canonical" } } });
    other.frontier.push(url);
    expect(other.frontier.poll()?.url).toBe("http://a.example/p?a=1&b=2");
  });

  it("the first sighting's data win", async () => {
    const { frontier } = await open();
    frontier.push({ url: "http://a.example/p", data: { n: 1 }, priority: 1, handler: "one" });
    const again = { url: "http://a.example/p", data: { n: 2 }, priority: 9, handler: "two" };
    expect(frontier.push(again).status).toBe("duplicate");
    const lease = frontier.poll();
    expect([lease?.data, lease?.priority, lease?.handler]).toEqual([{ n: 1 }, 1, "one"]);
  });
});

describe("Place", () => {
  const abc = ["http://a.example/a", "http://b.example/b", "http://c.example/c"];

  it("release keeps it", async () => {
    for (const order of ["fifo", "lifo"] as const) {
      const { frontier } = await open({ defaults: { order } });
      frontier.pushMany(abc);
      const [first, second] = frontier.pollMany(2);
      frontier.push("http://d.example/d");
      second?.release();
      first?.release();
      const left = order === "fifo" ? "a b c d" : "d c b a";
      expect(paths(frontier.pollMany(9))).toBe(left);
    }
  });

  it("expiry keeps it", async () => {
    const { frontier, clock } = await open({ leaseMs: 1000 });
    frontier.pushMany(abc);
    frontier.pollMany(2);
    clock.advance(1000);
    frontier.push("http://d.example/d");
    const leases = frontier.pollMany(9);
    expect(paths(leases)).toBe("a b c d");
    expect(leases.map(({ attempt }) => attempt)).toEqual([2, 2, 1, 1]);
    expect(leases.map(({ deliveries }) => deliveries)).toEqual([2, 2, 1, 1]);
  });

  it("rule swap keeps it", async () => {
    const { frontier } = await open({ rules: [{ id: "one" }] });
    frontier.pushMany(abc);
    frontier.setRules([{ id: "one", maxAttempts: 7 }]);
    frontier.push("http://d.example/d");
    frontier.setRules([{ id: "other" }]);
    const leases = frontier.pollMany(9);
    expect(paths(leases)).toBe("a b c d");
    expect(leases.map(({ rule }) => rule)).toEqual(["other", "other", "other", "other"]);
  });

  it("update changes priority and keeps the sequence", async () => {
    const { frontier } = await open();
    frontier.pushMany(abc);
    expect(frontier.update(abc[0] as string, { priority: 5 })).toBe(true);
    expect(paths(frontier.peek(3))).toBe("a b c");
    frontier.update(abc[0] as string, { priority: -5 });
    expect(paths(frontier.peek(3))).toBe("b c a");
    frontier.update(abc[0] as string, { priority: 0 });
    expect(paths(frontier.peek(3))).toBe("a b c");
    expect(frontier.update("http://no.example/", { priority: 1 })).toBe(false);
    const lease = frontier.poll();
    expect(frontier.update(lease?.url as string, { priority: 1 })).toBe(false);
  });

  it("a shallower sighting changes depth and keeps the sequence", async () => {
    for (const order of ["fifo", "lifo"] as const) {
      const { frontier } = await open({ defaults: { order, depthPriority: 10 } });
      frontier.push({ url: abc[0] as string, depth: 5 });
      frontier.push({ url: abc[1] as string, depth: 3 });
      frontier.push({ url: abc[2] as string, depth: 3 });
      expect(paths(frontier.peek(3)).at(-1)).toBe("a");
      expect(frontier.push({ url: abc[0] as string, depth: 7 }).status).toBe("duplicate");
      expect(frontier.record(abc[0] as string)?.depth).toBe(5);
      expect(frontier.push({ url: abc[0] as string, depth: 3 }).status).toBe("duplicate");
      expect(frontier.record(abc[0] as string)).toMatchObject({ depth: 3, priority: -30 });
      expect(paths(frontier.pollMany(3))).toBe(order === "fifo" ? "a b c" : "c b a");
    }
  });

  it("retry takes a new sequence", async () => {
    const { frontier } = await open({ defaults: { retryPriority: 0 } });
    frontier.pushMany(abc);
    expect(frontier.poll()?.retry()).toBe("requeued");
    frontier.push("http://d.example/d");
    expect(paths(frontier.pollMany(9))).toBe("b c a d");
  });

  it("requeue takes a new sequence", async () => {
    const { frontier } = await open();
    frontier.pushMany(abc);
    expect(frontier.poll()?.fail("gone")).toBe(true);
    expect(frontier.requeue({ state: "failed" })).toBe(1);
    frontier.push("http://d.example/d");
    const leases = frontier.pollMany(9);
    expect(paths(leases)).toBe("b c a d");
    expect(leases[2]).toMatchObject({ attempt: 1, deliveries: 2 });
  });

  it("becoming due takes a new sequence", async () => {
    const { frontier, clock } = await open();
    const now = clock.now();
    const late = { url: "http://l.example/late", notBefore: now + 50 };
    expect(frontier.push(late).status).toBe("deferred");
    expect(frontier.push({ url: "http://e.example/early", notBefore: new Date(now + 20) })).toEqual(
      { status: "deferred", admitted: true },
    );
    frontier.push(abc[0] as string);
    clock.advance(60);
    frontier.push(abc[1] as string);
    expect(paths(frontier.pollMany(9))).toBe("a early late b");
  });

  it("an update of notBefore defers, and becoming due again takes a new sequence", async () => {
    const { frontier, clock } = await open();
    frontier.pushMany(abc);
    expect(frontier.update(abc[0] as string, { notBefore: clock.now() + 10 })).toBe(true);
    expect(frontier.record(abc[0] as string)?.state).toBe("waiting");
    expect(frontier.report()).toMatchObject({ pending: 2, waiting: 1 });
    clock.advance(10);
    expect(paths(frontier.pollMany(9))).toBe("b c a");
  });

  it("lease.priority is (request ?? rule ?? 0) − depth × depthPriority", async () => {
    const { frontier } = await open({
      rules: [
        { id: "own", match: { hosts: ["own.example"] }, priority: 100, depthPriority: 7 },
        { id: "rest", depthPriority: 1 },
      ],
    });
    frontier.push({ url: "http://own.example/a", depth: 2 });
    frontier.push({ url: "http://own.example/b", depth: 2, priority: 3 });
    frontier.push({ url: "http://rest.example/c", depth: 4 });
    frontier.push({ url: "http://rest.example/d", priority: 0 });
    const found = frontier.pollMany(9).map(({ url, priority }) => `${url.at(-1)} ${priority}`);
    expect(found.sort()).toEqual(["a 86", "b -11", "c -4", "d 0"]);
  });

  it("… changed by retryPriority at each retry (default −1, or set)", async () => {
    for (const [retryPriority, wanted] of [
      [undefined, [4, 3, 2]],
      [-10, [4, -6, -16]],
      [{ set: 0 }, [4, 0, 0]],
    ] as const) {
      const defaults = retryPriority === undefined ? {} : { retryPriority };
      const { frontier } = await open({ defaults: { ...defaults, maxAttempts: 9 } });
      frontier.push({ url: "http://a.example/", priority: 4 });
      const seen: number[] = [];
      for (let attempt = 0; attempt < 3; attempt++) {
        const lease = frontier.poll();
        seen.push(lease?.priority ?? Number.NaN);
        lease?.retry();
      }
      expect(seen).toEqual(wanted);
    }
  });

  it("… clamped to safe integers", async () => {
    const { MAX_SAFE_INTEGER, MIN_SAFE_INTEGER } = Number;
    const { frontier } = await open({ defaults: { depthPriority: 2 ** 50, retryPriority: -5 } });
    frontier.push({ url: "http://a.example/", depth: 1000, priority: MIN_SAFE_INTEGER });
    frontier.push({ url: "http://b.example/", priority: MAX_SAFE_INTEGER });
    expect(frontier.pollMany(2).map(({ priority }) => priority)).toEqual([
      MAX_SAFE_INTEGER,
      MIN_SAFE_INTEGER,
    ]);
    const other = await open({ defaults: { retryPriority: -5 } });
    other.frontier.push({ url: "http://a.example/", priority: MIN_SAFE_INTEGER + 2 });
    other.frontier.poll()?.retry();
    expect(other.frontier.poll()?.priority).toBe(MIN_SAFE_INTEGER);
  });

  it("start requests come after found ones of equal priority where the rule says so", async () => {
    const { frontier } = await open({ defaults: { startLast: true } });
    frontier.push({ url: "http://a.example/s1", start: true });
    frontier.push({ url: "http://a.example/s2", start: true });
    frontier.pushMany(abc);
    frontier.push({ url: "http://a.example/low", priority: -1 });
    expect(paths(frontier.pollMany(9))).toBe("a b c s1 s2 low");
    const plain = await open();
    plain.frontier.push({ url: "http://a.example/s1", start: true });
    plain.frontier.pushMany(abc);
    expect(paths(plain.frontier.pollMany(9))).toBe("s1 a b c");
  });
});
