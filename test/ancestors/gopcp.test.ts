/** G: what the scheduler of gopcp.v2's web crawler does, row by row, and the faults it has. */
import { describe, expect, it } from "vitest";
import { presets } from "../../src/engine/presets.ts";
import type { FrontierOptions, Lease, RequestLike } from "../../src/engine/types.ts";
import { registrableDomain } from "../../src/url/domain.ts";
import { openBench, settled, thrownBy } from "../support/bench-frontier.ts";

const A = "http://a.com/1";
const B = "http://a.com/2";

describe("gopcp.v2", () => {
  it("G3: every wrong option is refused by its name, before anything is built", () => {
    const wrong: Array<[FrontierOptions, string]> = [
      [{ capacity: -1 }, "options.capacity"],
      [{ maxLeases: 0 }, "options.maxLeases"],
      [{ rules: 5 as never }, "rules"],
      [{ defaults: { maxDepth: -1 } }, "maxDepth"],
      [{ defaults: { order: "random" as never } }, "order"],
    ];
    for (const [options, name] of wrong) {
      expect((thrownBy(() => openBench(options)) as Error).message).toContain(name);
    }
  });

  it("G6: each filter has its reason, and what it refuses is new when it comes back in scope", () => {
    const { frontier } = openBench(presets.gopcp({ domains: ["a.com"], maxDepth: 1 }));
    const asked: Array<[RequestLike, string]> = [
      ["", "invalid-url"],
      ["ftp://a.com/", "scheme"],
      ["http://b.com/", "no-rule"],
      [{ url: A, depth: 2 }, "too-deep"],
      ["HTTP://a.com/x", "accepted"],
      ["HTTP://a.com/x", "duplicate"],
      [{ url: A, depth: 1 }, "accepted"],
    ];
    for (const [request, expected] of asked) {
      const { reason, status } = frontier.push(request);
      expect(reason ?? status).toBe(expected);
    }
  });

  it("G7: the fragment counts, method and body do not", () => {
    const { frontier } = openBench(presets.gopcp());
    const list: RequestLike[] = [A, `${A}#f`, { url: A, method: "POST", body: "x" }];
    expect(list.map((request) => frontier.push(request).status)).toEqual([
      "accepted",
      "accepted",
      "duplicate",
    ]);
  });

  it("G8: domains are those of the public suffix list, an address is itself", () => {
    expect(registrableDomain("cn.bing.com")).toBe("bing.com");
    expect(registrableDomain("127.0.0.1")).toBe("127.0.0.1");
    expect(registrableDomain("www.sina.com.cn")).toBe("sina.com.cn");
  });

  it("G9: children are one deeper than their page, whatever they claim, and the limit is inclusive", () => {
    const { frontier } = openBench(presets.gopcp({ maxDepth: 1 }));
    frontier.push(A);
    const result = frontier.poll()?.done({ found: [{ url: B, depth: 0 }, "http://a.com/3"] });
    expect(result?.accepted).toBe(2);
    const children = frontier.pollMany(2);
    expect(children.map(({ depth }) => depth)).toEqual([1, 1]);
    expect(children[0]?.done({ found: ["http://a.com/4"] }).verdict(0).reason).toBe("too-deep");
    const first = openBench(presets.gopcp({ maxDepth: 0 }));
    first.frontier.push(A);
    expect(
      first.frontier
        .poll()
        ?.done({ found: [B] })
        .verdict(0).reason,
    ).toBe("too-deep");
  });

  it("G13: a flood of errors holds nothing up, and what is dropped is counted", () => {
    const { frontier } = openBench();
    frontier.on("error", () => {
      throw new Error("slow consumer");
    });
    frontier.pushMany([A, B]);
    const errors = Array.from({ length: 20_000 }, (_, index) => index);
    frontier.poll()?.done({ errors });
    expect(frontier.poll()?.url).toBe(B);
    expect(frontier.report().droppedEvents).toBeGreaterThanOrEqual(0);
  });

  it("G14: an error says its kind, its stage and the page it is about", () => {
    const { frontier } = openBench();
    const told: unknown[] = [];
    frontier.on("error", ({ kind, stage, cause, url }) => told.push({ kind, stage, cause, url }));
    frontier.push(A);
    frontier.poll()?.done({ errors: ["analyzer"] });
    expect(told).toEqual([{ kind: "user", stage: "done", cause: "analyzer", url: A }]);
  });

  it("G15: what is put back is at the head again, with no attempt counted", () => {
    const { frontier } = openBench(presets.gopcp());
    frontier.pushMany([A, B]);
    expect(frontier.poll()?.release()).toBe(true);
    expect(frontier.poll()).toMatchObject({ url: A, attempt: 1, deliveries: 2 });
  });

  it("G16: found things that are no requests are errors, and the others go on", () => {
    const { frontier } = openBench();
    let faults = 0;
    frontier.on("error", () => faults++);
    frontier.push(A);
    const result = frontier.poll()?.done({ found: [5 as never, B, null as never] });
    expect([faults, result?.accepted]).toEqual([2, 1]);
    expect(frontier.poll()?.url).toBe(B);
  });

  it("G17: what was found and what went wrong are both used", () => {
    const { frontier } = openBench();
    const causes: unknown[] = [];
    frontier.on("error", ({ cause }) => causes.push(cause));
    frontier.push(A);
    expect(frontier.poll()?.done({ found: [B], errors: ["a", "b"] }).accepted).toBe(1);
    expect(causes).toEqual(["a", "b"]);
  });

  it("G19: idle is nothing pending and nothing leased", () => {
    const { frontier } = openBench();
    let idles = 0;
    frontier.on("idle", () => idles++);
    frontier.pushMany([A, B]);
    const leases = frontier.pollMany(2) as [Lease, Lease];
    leases[0].done();
    expect(idles).toBe(0);
    leases[1].done();
    expect(idles).toBe(1);
  });

  it("G20: equal states give equal reports, as data and as text", () => {
    const make = () => {
      const { frontier } = openBench(presets.gopcp());
      frontier.pushMany([A, B, A]);
      frontier.poll()?.done();
      return frontier.report();
    };
    const strip = (report: ReturnType<typeof make>) => ({ ...report, memory: 0 });
    expect(strip(make())).toEqual(strip(make()));
    expect(make().toString()).toContain("pushed     3");
  });

  it("G21: idleness counts on the clock, and ends it once", async () => {
    const { frontier, clock } = openBench({ keepOpen: true, idleTimeoutMs: 1_000 });
    let finishes = 0;
    frontier.on("finished", () => finishes++);
    frontier.push(A);
    frontier.poll()?.done();
    clock.advance(999);
    await settled();
    expect(finishes).toBe(0);
    clock.advance(5_000);
    await settled();
    expect(finishes).toBe(1);
  });

  it("G23: the domains that are accepted can be changed while it runs", () => {
    const { frontier } = openBench(presets.gopcp({ domains: ["a.com"] }));
    expect(frontier.push("http://b.com/").reason).toBe("no-rule");
    frontier.setRules([{ id: "accepted", match: { domains: ["a.com", "b.com"] } }]);
    expect(frontier.push("http://b.com/").status).toBe("accepted");
  });

  it("G-B2: opened again after a stop it really runs", async () => {
    for (let round = 0; round < 3; round++) {
      const { frontier } = openBench(presets.gopcp());
      frontier.push(A);
      expect(frontier.poll()?.url).toBe(A);
      await frontier.close();
      expect(frontier.poll()).toBe(undefined);
    }
  });

  it("G-B3: no link makes it throw", () => {
    const { frontier, check } = openBench(presets.gopcp({ domains: ["a.com"] }));
    const links = [
      "http://bing.net/",
      "http://",
      "http://[",
      "%",
      "\0",
      "http://a.com:99999/",
      "//",
    ];
    for (const link of links) expect(frontier.push(link).admitted).toBe(false);
    check();
  });

  it("G-B6: what goes in first comes out first", () => {
    const { frontier } = openBench(presets.gopcp());
    const urls = Array.from({ length: 16 }, (_, index) => `http://a.com/${index}`);
    frontier.pushMany(urls);
    expect(frontier.pollMany(16).map(({ url }) => url)).toEqual(urls);
  });

  it("G-B7: what is accepted is counted at once, and nothing is idle meanwhile", () => {
    const { frontier } = openBench(presets.gopcp());
    let idles = 0;
    frontier.on("idle", () => idles++);
    for (let index = 0; index < 100; index++) frontier.push(`http://a.com/${index}`);
    expect([frontier.report().pending, idles]).toEqual([100, 0]);
  });

  it("G-B8: asking and marking are one step, also within one batch", () => {
    const { frontier } = openBench();
    expect(frontier.pushMany(Array.from({ length: 5_000 }, () => A))).toMatchObject({
      accepted: 1,
      duplicate: 4_999,
    });
  });

  it("G-B9: ports, bare hosts, new domains and hosts that look like addresses are told right", () => {
    expect(registrableDomain("example.com:8080")).toBe("example.com");
    expect(registrableDomain("localhost")).toBe("localhost");
    expect(registrableDomain("www.example.dev")).toBe("example.dev");
    expect(registrableDomain("www.foo.co.uk")).toBe("foo.co.uk");
    expect(registrableDomain("1.2.3.4.evil.com")).toBe("evil.com");
  });

  it("G-B10: a shallower sighting lowers the depth of a pending page", () => {
    const { frontier } = openBench(presets.gopcp({ maxDepth: 3 }));
    frontier.push({ url: A, depth: 3 });
    expect(frontier.push({ url: A, depth: 1 }).status).toBe("duplicate");
    const lease = frontier.poll() as Lease;
    expect(lease.depth).toBe(1);
    expect(lease.done({ found: [B] }).accepted).toBe(1);
    frontier.push({ url: A, depth: 0 });
    expect(frontier.record(A)).toMatchObject({ state: "done", depth: 1 });
  });

  it("G-B12: everybody who listens hears every error, and nobody who leaves does", () => {
    const { frontier } = openBench();
    const heard: [number, number] = [0, 0];
    frontier.on("error", () => heard[0]++);
    const off = frontier.on("error", () => heard[1]++);
    frontier.pushMany([A, B]);
    frontier.poll()?.done({ errors: [1] });
    off();
    frontier.poll()?.done({ errors: [1] });
    expect(heard).toEqual([2, 1]);
  });

  it("G-B13: a failed download is tried again as often as asked, and is never lost", () => {
    const { frontier } = openBench(presets.gopcp({ defaults: { maxAttempts: 2 } }));
    frontier.push(A);
    expect(frontier.poll()?.retry()).toBe("requeued");
    expect(frontier.poll()?.retry()).toBe("failed");
    expect(frontier.requeue({ state: "failed" })).toBe(1);
    expect(frontier.poll()?.url).toBe(A);
  });
});
