/** S: what Scrapy's scheduler and queuelib do, row by row, and the faults they have. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import { presets } from "../../src/engine/options/presets.ts";
import type { FrontierOptions, Lease, RequestLike } from "../../src/engine/types/frontier-types.ts";
import { canonicalize, fingerprint } from "../../src/engine/api/url-functions.ts";
import { openBench, settled } from "../support/bench-frontier.ts";
import { testSeed } from "../support/seed.ts";

const A = "http://a.com/1";
const B = "http://a.com/2";
const W3LIB = { profile: "w3lib" } as const;

const openJob = (options: FrontierOptions = {}) => openBench(presets.scrapy(options));
const urlsOf = (leases: Iterable<{ url: string }>): string[] =>
  Array.from(leases, (one) => one.url);

function verdictsOf(options: FrontierOptions, requests: RequestLike[]): string[] {
  const { frontier } = openBench(options);
  return requests.map((request) => frontier.push(request).status);
}

describe("Scrapy", () => {
  it("S1: key, order and seen-set are options of one engine", () => {
    const { frontier } = openJob({
      seen: { mode: "bloom" },
      defaults: { key: { profile: "url" }, order: "fifo" },
    });
    frontier.pushMany([`${A}#a`, `${A}#b`]);
    expect(frontier.report().seenSet.mode).toBe("bloom");
    expect(urlsOf(frontier.pollMany(2))).toEqual([`${A}#a`, `${A}#b`]);
  });

  it("S2: the fingerprint is over method, canonical URL and body, and always the same", () => {
    const print = (request: RequestLike): string => fingerprint(request, W3LIB);
    const base = print(A);
    expect(base).toMatch(/^[0-9a-f]{32}$/);
    expect(print({ url: A, method: "GET" })).toBe(base);
    const others = [
      print({ url: A, method: "POST" }),
      print({ url: A, method: "POST", body: "x" }),
      print(B),
    ];
    expect(new Set([base, ...others]).size).toBe(4);
    // The same on every machine, and for ever under one profile.
    expect(base).toBe("ef9324986539336f88aa3d0d6c3f9430");
    expect(others[1]).toBe("24b5cae92e414cfe791c29c9fab16fd3");
    expect(print("http://x/?cat=222&id=111")).toBe("930bed1af2c68a47438581bfff6142e1");
  });

  it("S3: parameters are sorted, percent-encoding is brought to one form, the fragment goes", () => {
    const same = (a: string, b: string): boolean =>
      canonicalize(a, W3LIB) === canonicalize(b, W3LIB);
    expect(same("http://x/?id=111&cat=222", "http://x/?cat=222&id=111")).toBe(true);
    expect(same("http://x/a%7eb", "http://x/a~b")).toBe(true);
    expect(same("http://X/a#top", "http://x/a")).toBe(true);
    expect(same("http://x", "http://x/")).toBe(true);
    expect(same("http://x/a", "http://x/a/")).toBe(false);
    expect(same("http://www.x/", "http://x/")).toBe(false);
    expect(canonicalize("http://x/?b=1&a=", W3LIB)).toBe("http://x/?a=&b=1");
    for (const [pushed, key] of [
      [" http://x/a\n", "http://x/a"],
      ["http://Us:Pw@B\u00fccher.de/", "http://Us:Pw@xn--bcher-kva.de/"],
      ["http://x:/", "http://x/"],
      ["http://x/?b=1;a=2&c", "http://x/?a=2&b=1&c="],
      ["http://x/?a=b c&d=e+f&g=h%20i", "http://x/?a=b+c&d=e+f&g=h+i"],
      ["http://x/?b=2&a=2&a=1", "http://x/?a=1&a=2&b=2"],
      ["http://x/r\u00e9s%c3%a9", "http://x/r%C3%A9s%C3%A9"],
      ["http://x/a%2fb%3fc", "http://x/a%2Fb%3Fc"],
      ["http://x?a", "http://x/?a="],
      ["http://x:80/a/../b/", "http://x:80/a/../b/"],
    ]) {
      expect(canonicalize(pushed as string, W3LIB)).toBe(key);
    }
    expect(canonicalize("http://x/a#b", { ...W3LIB, fragment: "keep" })).toBe("http://x/a#b");
  });

  it("S4: headers do not count unless they are chosen", () => {
    const pair = (name: string): RequestLike[] =>
      ["1", "2"].map((value) => ({ url: A, headers: { [name]: value } }));
    expect(verdictsOf(presets.scrapy(), pair("Cookie"))).toEqual(["accepted", "duplicate"]);
    const chosen = presets.scrapy({ defaults: { key: { headers: ["accept-language"] } } });
    expect(verdictsOf(chosen, pair("Accept-Language"))).toEqual(["accepted", "accepted"]);
  });

  it("S5: dedup 'skip' neither asks nor remembers, 'record' remembers and is never refused", () => {
    expect(verdictsOf({}, [{ url: A, dedup: "skip" }, A, { url: A, dedup: "skip" }])).toEqual([
      "accepted",
      "accepted",
      "accepted",
    ]);
    expect(verdictsOf({}, [{ url: A, dedup: "record" }, { url: A, dedup: "record" }, A])).toEqual([
      "accepted",
      "accepted",
      "duplicate",
    ]);
  });

  it("S6: what is dropped is reported with its reason, and nothing more is tried", () => {
    const { frontier } = openJob();
    const told: unknown[] = [];
    frontier.on("rejected", (list) => told.push(...list));
    frontier.on("duplicate", (list) => told.push(...list));
    frontier.pushMany([A, A, "ftp://a.com/"]);
    expect(told).toEqual([{ url: A }, { url: "ftp://a.com/", reason: "scheme" }]);
    expect(frontier.pollMany(9).length).toBe(1);
  });

  it("S7: every duplicate is counted", () => {
    const { frontier } = openJob();
    frontier.pushMany(Array.from({ length: 1_000 }, () => A));
    expect(frontier.report().duplicate).toBe(999);
  });

  it("S8: a thousand priorities over 2³¹ both ways come in exact order", () => {
    const random = createRandom(testSeed("S8"));
    const { frontier } = openJob({ defaults: { politeness: { perHost: 9_999 } } });
    const pending: number[] = [];
    for (let index = 0; index < 3_000; index++) {
      const priority = random.word() - 2 ** 31;
      frontier.push({ url: `${A}?${index}`, priority });
      pending.push(priority);
      if (index % 3 > 0) continue;
      pending.sort((a, b) => a - b);
      expect(frontier.poll()?.priority).toBe(pending.pop());
    }
    expect(new Set(pending).size).toBeGreaterThan(1_000);
    const given = frontier.pollMany(3_000).map(({ priority }) => priority);
    expect(given).toEqual(pending.sort((a, b) => b - a));
  });

  it("S9: last in, first out by default; first in where the rule says so; depth breaks the tie", () => {
    const order = (defaults: FrontierOptions["defaults"]): string[] => {
      const { frontier } = openJob({ defaults: defaults ?? {} });
      frontier.pushMany([{ url: A, depth: 1 }, B, "http://a.com/3"]);
      return urlsOf(frontier.pollMany(3)).map((url) => url.slice(-1));
    };
    expect(order({})).toEqual(["3", "2", "1"]);
    expect(order({ order: "fifo" })).toEqual(["1", "2", "3"]);
    expect(order({ order: "fifo", depthPriority: 1 })).toEqual(["2", "3", "1"]);
  });

  it("S10: start requests are served after found ones of equal priority, in their own order", () => {
    const start = [1, 2].map((n) => ({ url: `${A}?s${n}`, start: true }));
    const { frontier } = openJob();
    frontier.pushMany([...start, A, B, { url: `${A}?high`, start: true, priority: 1 }]);
    expect(urlsOf(frontier.pollMany(9))).toEqual([`${A}?high`, B, A, `${A}?s1`, `${A}?s2`]);
    const off = openJob({ defaults: { startLast: false } });
    off.frontier.pushMany([A, { url: B, start: true }]);
    expect(urlsOf(off.frontier.pollMany(2))).toEqual([B, A]);
  });

  it("S17: nothing ready differs from nothing pending, and what it waits for is reported", () => {
    const { frontier, clock } = openJob({ defaults: { politeness: { delayMs: 50 } } });
    frontier.pushMany([A, B]);
    frontier.poll()?.done();
    expect(frontier.poll()).toBe(undefined);
    expect(frontier.report()).toMatchObject({ pending: 1, waitingUntil: clock.now() + 50 });
    expect(frontier.explain(A)).toMatchObject({ heldBy: "delay", dueAt: clock.now() + 50 });
  });

  it("S18: what came in less what went out is what is pending", () => {
    const { frontier } = openJob();
    frontier.pushMany(Array.from({ length: 100 }, (_, index) => `${A}?${index}`));
    for (const lease of frontier.pollMany(8)) lease.done();
    const { accepted, done, pending, leased, spilled } = frontier.report();
    expect(accepted - done - leased).toBe(pending);
    expect(spilled).toEqual({ records: 0, out: 0, in: 0 }); // nothing but memory here
  });

  it("S19: three attempts, one priority less each, or as the request and the rule say", () => {
    const run = (options: FrontierOptions, request: RequestLike): number[] => {
      const { frontier } = openJob(options);
      frontier.push(request);
      const seen: number[] = [];
      for (let lease = frontier.poll(); lease !== undefined; lease = frontier.poll()) {
        seen.push(lease.priority);
        lease.retry({ reason: "status 503" });
      }
      return seen;
    };
    expect(run({}, A)).toEqual([0, -1, -2]);
    expect(run({}, { url: A, maxAttempts: 1 })).toEqual([0]);
    expect(run({ defaults: { retryPriority: -5 } }, { url: A, maxAttempts: 2 })).toEqual([0, -5]);
  });

  it("S19: retries and failures are counted by reason, those that nobody bounds by no more than a hundred names", () => {
    const { frontier, clock } = openJob({ leaseMs: 100 });
    frontier.pushMany([A, B]);
    for (const reason of ["status 503", "timeout", "status 503"])
      frontier.poll()?.retry({ reason });
    frontier.poll()?.retry();
    expect(frontier.report().reasons).toEqual({
      retried: { "status 503": 2, timeout: 1, unsaid: 1 },
      failed: {},
    });
    frontier.poll()?.retry({ reason: "status 503" }); // its third attempt
    frontier.poll()?.fail("status 404");
    expect(frontier.report().reasons.failed).toEqual({ "status 503": 1, "status 404": 1 });
    frontier.push({ url: `${A}?late`, maxAttempts: 1 });
    frontier.poll();
    clock.advance(100);
    const many = Array.from({ length: 500 }, (_, index) => `${A}?${index}`);
    frontier.pushMany(many);
    for (const [index, url] of many.entries())
      expect(frontier.poll()?.fail(`no ${index}`)).toBe(url !== "");
    const { retried, failed } = frontier.report().reasons;
    expect(retried).toEqual({ "status 503": 2, timeout: 1, unsaid: 1 });
    expect(failed).toMatchObject({ expired: 1, "no 0": 1, other: 403 });
    expect(Object.keys(failed).length).toBe(101);
    const sum = Object.values(failed).reduce((all, count) => all + count, 0);
    expect(sum).toBe(frontier.report().failed);
  });

  it("S20: children are one deeper, too deep ones refused, depths counted and weighed", () => {
    const { frontier } = openJob({ defaults: { maxDepth: 1, depthPriority: 2 } });
    frontier.push(A);
    frontier.poll()?.done({ found: [B] });
    const lease = frontier.poll() as Lease;
    expect([lease.depth, lease.priority]).toEqual([1, -2]);
    expect(lease.done({ found: ["http://a.com/3"] }).verdict(0).reason).toBe("too-deep");
    expect(frontier.report().depths).toEqual([1, 1]);
    expect(frontier.report().rejected).toEqual({ "too-deep": 1 });
  });

  it("S21: a host or any of its subdomains is on site, anything else is counted as off it", () => {
    const rules = [{ id: "site", match: { domains: ["a.com"] } }];
    const { frontier } = openJob({ rules });
    const urls = ["http://a.com/", "http://x.a.com/", "http://ba.com/", "http://a.com.evil.org/"];
    const result = frontier.pushMany(urls);
    expect(urls.map((_, index) => result.verdict(index).reason ?? "in")).toEqual([
      "in",
      "in",
      "no-rule",
      "no-rule",
    ]);
    expect(frontier.report().rejected).toEqual({ "no-rule": 2 });
  });

  it("S22: a redirect is a push with this page as parent, at the same depth", () => {
    const { frontier } = openJob();
    frontier.push({ url: A, depth: 3 });
    const lease = frontier.poll() as Lease;
    expect(lease.redirect(B).status).toBe("accepted");
    expect(lease.redirect(A).status).toBe("duplicate");
    expect(frontier.poll()).toMatchObject({ url: B, depth: 3, parent: lease.fingerprint });
  });

  it("S22: a redirect goes on with what its request said, two priorities higher, and unfiltered as it was", () => {
    const { frontier } = openJob();
    const request = { priority: 5, handler: "parse", data: { page: 1 } };
    frontier.push({ url: A, ...request });
    frontier.poll()?.redirect(B);
    const target = frontier.poll() as Lease;
    expect(target).toMatchObject({ url: B, ...request, priority: 7, redirects: 1 });
    frontier.push({ url: A, dedup: "skip" });
    const unfiltered = frontier.poll() as Lease;
    expect(unfiltered.redirect(B).status).toBe("accepted");
    expect(target.redirect(A).status).toBe("duplicate");
  });

  it("S23: each round takes each host once", () => {
    const { frontier } = openJob();
    const hosts = Array.from({ length: 7 }, (_, index) => `h${index}.com`);
    for (const host of hosts) {
      for (let page = 0; page < 5; page++) frontier.push(`http://${host}/${page}`);
    }
    for (let round = 0; round < 5; round++) {
      const leases = frontier.pollMany(7);
      expect(new Set(leases.map(({ host }) => host)).size).toBe(7);
      frontier.done(leases);
    }
    expect(frontier.poll()).toBe(undefined);
  });

  it("S24: no more leases than allowed, and who is asked may keep it open", async () => {
    let vetoes = 2;
    const { frontier, clock } = openJob({ maxLeases: 2, onIdle: () => vetoes-- > 0 });
    frontier.pushMany([A, B, "http://a.com/3"]);
    const leases = frontier.pollMany(9);
    expect(leases.length).toBe(2);
    frontier.done(leases);
    frontier.done(frontier.pollMany(9));
    const taken = frontier.take();
    expect(vetoes).toBeLessThan(2);
    for (let turn = 0; turn < 100; turn++) clock.advance(1_000);
    expect(await taken).toEqual([]);
  });

  it("S24: no more leases of one host than its rule allows, and whoever is asked may push instead of a veto", async () => {
    let left = 1;
    const { frontier } = openJob({
      defaults: { politeness: { perHost: 2 } },
      onIdle: () => {
        if (left-- > 0) frontier.push(B);
      },
    });
    frontier.pushMany([1, 2, 3].flatMap((n) => [`http://a.com/${n}`, `http://b.com/${n}`]));
    const leases = frontier.pollMany(9);
    expect(leases.map(({ host }) => host).sort()).toEqual(["a.com", "a.com", "b.com", "b.com"]);
    frontier.remove({ pattern: "." });
    frontier.done(leases);
    expect(urlsOf(await frontier.take())).toEqual([]); // B is seen: this push changed nothing
    let pushes = 0;
    const more = openJob({ onIdle: () => void (pushes++ === 0 && more.frontier.push(B)) });
    more.frontier.push(A);
    more.frontier.done(more.frontier.pollMany(9));
    const [lease] = await more.frontier.take();
    expect(lease?.url).toBe(B);
    lease?.done();
    expect(await more.frontier.take()).toEqual([]);
  });

  it("S25: peek is what poll would give, and changes nothing", () => {
    const { frontier, check } = openJob();
    frontier.pushMany(
      Array.from({ length: 30 }, (_, index) => `http://h${index % 4}.com/${index}`),
    );
    const seen = frontier.peek(20).map(({ url }) => url);
    expect(frontier.peek(20).map(({ url }) => url)).toEqual(seen);
    expect(urlsOf(frontier.pollMany(20))).toEqual(seen);
    check();
  });

  it("S27: a hook changes priority and data before admission, and may refuse", () => {
    const { frontier } = openJob({
      accept: ({ url }) => (url === A ? { priority: 9, data: "hot" } : url !== B),
    });
    const result = frontier.pushMany(["http://a.com/3", A, B]);
    expect(result.verdict(2).reason).toBe("hook");
    expect(frontier.poll()).toMatchObject({ url: A, priority: 9, data: "hot" });
  });

  it("S29: drain hands out nothing new and ends when no lease is out; close ends at once", async () => {
    const { frontier } = openJob();
    frontier.pushMany([A, B]);
    const lease = frontier.poll() as Lease;
    let isDrained = false;
    const drained = frontier.drain().then(() => {
      isDrained = true;
    });
    expect(frontier.poll()).toBe(undefined);
    expect(frontier.push("http://a.com/3").status).toBe("accepted");
    await settled();
    expect([isDrained, frontier.status]).toEqual([false, "draining"]);
    lease.done();
    await drained;
    expect(frontier.poll()).toBe(undefined);
    await frontier.close();
    expect(lease.done().late).toBe(true);
  });

  it("S-B5: a hundred thousand URLs are fingerprinted and kept off the heap", () => {
    const { frontier } = openBench();
    const urls = Array.from({ length: 100_000 }, (_, index) => `http://a.com/?b=${index}&a=1`);
    expect(frontier.pushMany(urls).accepted).toBe(100_000);
    expect(frontier.report().seenSet.bytes / 100_000).toBeLessThan(40);
  });

  it("S-B7: peek and poll agree on start requests too", () => {
    const { frontier } = openJob();
    frontier.pushMany([{ url: A, start: true }, B]);
    const [first] = frontier.peek();
    expect(frontier.poll()?.url).toBe(first?.url);
    const random = createRandom(testSeed("peek and poll"));
    for (let round = 0; round < 30; round++) {
      const requests = Array.from({ length: random.below(12) }, (_, at) => {
        const url = `http://h${random.below(3)}.com/${round}/${at}`;
        return { url, start: random.below(2) === 0, priority: random.below(3) - 1 };
      });
      frontier.pushMany(requests);
      const count = 1 + random.below(9);
      const shown = frontier.peek(count);
      expect(urlsOf(frontier.peek(count))).toEqual(urlsOf(shown)); // without side effects
      const polled = frontier.pollMany(count);
      expect(urlsOf(polled)).toEqual(urlsOf(shown));
      frontier.done(polled);
    }
  });

  it("S-B8: whether repeated keys are sorted is a choice", () => {
    const same = (key: object): boolean =>
      canonicalize("http://x/?a=2&a=1", key) === canonicalize("http://x/?a=1&a=2", key);
    expect([same({}), same({ sortQuery: false })]).toEqual([true, false]);
    expect(canonicalize("http://x/?a=1;b=2")).toBe("http://x/?a=1;b=2");
  });
});
