/** G: what the scheduler of gopcp.v2's web crawler does, row by row, and the faults it has. */
import { describe, expect, it } from "vitest";
import { FrontierError } from "../../src/base/errors.ts";
import { createRandom } from "../../src/base/random.ts";
import { presets } from "../../src/engine/options/presets.ts";
import type {
  Frontier,
  FrontierOptions,
  Lease,
  RequestLike,
} from "../../src/engine/types/frontier-types.ts";
import { registrableDomain } from "../../src/url/parsing/registrable-domain.ts";
import { openBench, settled, thrownBy } from "../support/bench-frontier.ts";
import { testSeed } from "../support/seed.ts";

const A = "http://a.com/1";
const B = "http://a.com/2";

describe("gopcp.v2", () => {
  it("G1: every state answers pause, resume, drain and close as the table says, and tells each change", async () => {
    // From each state what each call leads to; "-": it stays.
    const table: Record<string, [pause: string, resume: string, drain: string, close: string]> = {
      running: ["paused", "-", "draining", "stopped"],
      paused: ["-", "running", "draining", "stopped"],
      draining: ["paused", "running", "-", "stopped"],
      stopped: ["FRONTIER_CLOSED", "FRONTIER_CLOSED", "FRONTIER_CLOSED", "-"],
    };
    const reach: Record<string, (frontier: Frontier) => unknown> = {
      running: () => undefined,
      paused: (frontier) => frontier.pause(),
      draining: (frontier) => void frontier.drain().catch(() => undefined),
      stopped: (frontier) => frontier.close(),
    };
    for (const [from, expected] of Object.entries(table)) {
      for (const [at, call] of (["pause", "resume", "drain", "close"] as const).entries()) {
        const { frontier } = openBench();
        frontier.pushMany([A, B]);
        frontier.poll(); // one is out: a drain does not end by itself
        await reach[from]?.(frontier);
        expect(frontier.status).toBe(from);
        const told: string[] = [];
        if (from !== "stopped")
          frontier.on("status", (each) => told.push(`${each.from} ${each.to}`));
        let answer: unknown;
        try {
          const result = frontier[call]();
          if (call === "drain") void (result as Promise<void>).catch(() => undefined);
          else await result;
          if (call === "drain" && from === "stopped") await result;
        } catch (error) {
          answer = (error as { code: string }).code;
        }
        await settled();
        const to = expected[at] as string;
        const isRefused = to === "FRONTIER_CLOSED";
        expect([from, call, answer, frontier.status]).toEqual([
          ...[from, call, isRefused ? to : undefined],
          to === "-" || isRefused ? from : to,
        ]);
        if (to === "-" || isRefused) expect(told).toEqual([]);
        else if (to === "stopped") expect(told).toEqual([`${from} stopping`, "stopping stopped"]);
        else expect(told).toEqual([`${from} ${to}`]);
      }
    }
  });

  it("G3: every wrong option is refused by its name, before anything is built", () => {
    const wrong: Record<string, unknown[]> = {
      name: [5, "", "x".repeat(201), null],
      directory: [5, "", null],
      from: [5, ""],
      readOnly: [1, true],
      clock: [{}, 5, { now: () => 0 }, null],
      rules: [5, {}, [5], [{}], [{ id: "" }], [{ id: "a" }, { id: "a" }], [{ id: "a", colour: 1 }]],
      defaults: [5, [], { colour: 1 }, null],
      seen: [5, { mode: "other" }, { mode: "tiered" }, { capacity: 0 }, { falsePositiveRate: 1 }],
      "seen.memoryBytes": [0, -1, 0.5, "1"],
      capacity: [-1, 0.5, "5", Number.NaN],
      maxFound: [-1, 0.5],
      memoryBytes: [0, "1"],
      durability: ["sync", "always", { everyMs: -1 }, 5],
      snapshots: [5, { keep: 0 }, { everyBytes: 0 }, { everyMs: -1 }],
      records: ["some", "full"],
      leaseMs: [0, -1, Number.POSITIVE_INFINITY],
      maxLeases: [0, 0.5],
      maxDeliveries: [0, "3"],
      maxUrlBytes: [0, 15, 1e9],
      keepOpen: [1, "yes"],
      idleTimeoutMs: [-1, "1s"],
      onIdle: [5, {}],
      accept: [5, "yes"],
      breaker: [5, {}, { failures: 0, withinMs: 1, pauseMs: 1 }, { failures: 1, withinMs: -1 }],
      onProgress: [5],
      seed: [0.5, "1"],
      "defaults.key": [5, { profile: "other" }, { keepParams: 5 }, { keyOf: 5 }, { colour: 1 }],
      "defaults.epoch": ["never", { every: 0 }, { calendar: "year" }, { every: 1, version: 1 }, {}],
      "defaults.order": ["random", 1],
      "defaults.startLast": [1],
      "defaults.priority": [0.5, "1", 2 ** 53],
      "defaults.depthPriority": [0.5],
      "defaults.maxDepth": [-1, 0.5],
      "defaults.follow": ["no"],
      "defaults.maxAttempts": [0, 0.5],
      "defaults.backoff": [5, { baseMs: -1 }, { baseMs: 1, factor: 0 }, { baseMs: 1, jitter: 2 }],
      "defaults.retryPriority": [0.5, { set: 0.5 }, { add: 1 }],
      "defaults.redirectPriority": [0.5, { set: 0.5 }, { add: 1 }],
      "defaults.politeness": [5, { delayMs: -1 }, { perHost: 0 }, { by: "ip" }, { colour: 1 }],
      "defaults.politeness.groups": [5, [{}], [{ by: "domain", limit: 0 }]],
      "defaults.politeness.adaptive": [5, { factor: -1, minMs: 0, maxMs: 1 }],
      "defaults.politeness.hostBackoff": [5, { after: 0, baseMs: 1, maxMs: 1 }],
      "defaults.politeness.budget": [5, { urls: -1 }, { bytes: -1 }],
      colour: [1],
    };
    const known = [...Object.keys(wrong)];
    for (const [path, values] of Object.entries(wrong)) {
      for (const value of values) {
        const options = path
          .split(".")
          .reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
        const error = thrownBy(() => openBench(options as FrontierOptions)) as FrontierError;
        const said = `${path} ${JSON.stringify(value)}: ${error?.message}`;
        expect(error, said).toBeInstanceOf(FrontierError);
        expect(["OPTION_INVALID", "RULE_INVALID"], said).toContain(error.code);
        expect(error.message, said).toContain(path.split(".").at(-1)?.replace("rules", "rule"));
      }
    }
    // Whatever a preset sets is checked by its name too.
    for (const preset of Object.values(presets)) {
      for (const field of Object.keys(preset()).filter((name) => name !== "defaults")) {
        expect(known).toContain(field);
      }
      for (const field of Object.keys(preset().defaults ?? {})) {
        expect(known).toContain(`defaults.${field}`);
      }
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
    for (const none of [undefined, null, 5, {}, { url: 5 }]) {
      expect(thrownBy(() => frontier.push(none as never))).toMatchObject({
        code: "REQUEST_INVALID",
      });
    }
    const { seen, accepted, rejected } = frontier.report();
    expect({ seen, accepted }).toEqual({ seen: 2, accepted: 2 });
    expect(rejected).toEqual({ "invalid-url": 1, scheme: 1, "no-rule": 1, "too-deep": 1 });
    void frontier.close();
    expect(frontier.push("http://a.com/new").status).toBe("closed");
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
    expect(frontier.report()).toMatchObject({ done: 1, leased: 1 });
    // Nobody listens: so many are kept for whoever comes, the rest is counted.
    const deaf = openBench();
    deaf.frontier.push(A);
    deaf.frontier.poll()?.done({ errors });
    expect(deaf.frontier.report().droppedEvents).toBe(19_000);
    const heard: unknown[] = [];
    deaf.frontier.on("error", ({ cause }) => heard.push(cause));
    expect(heard).toEqual(errors.slice(19_000)); // the oldest are dropped
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
    const random = createRandom(testSeed("G-B3"));
    const parts = [
      "http",
      "https:",
      ":",
      "//",
      "/",
      "a.com",
      "bing.net",
      "@",
      "%",
      "%zz",
      "\u00fc",
    ];
    parts.push(
      "#",
      "?",
      "&",
      "=",
      "[::1]",
      "[",
      "127.1",
      ".",
      "..",
      "\ud800",
      "\0",
      " ",
      "99999",
      "\\",
    );
    for (let round = 0; round < 3_000; round++) {
      let link = random.below(2) === 0 ? "http://a.com/" : "";
      for (let left = random.below(8); left > 0; left--) link += parts[random.below(parts.length)];
      const { admitted, status, reason } = frontier.push(link);
      if (!admitted) expect(status === "duplicate" || reason !== undefined).toBe(true);
      const lease = frontier.poll();
      if (lease === undefined) continue;
      expect(new URL(lease.url).hostname).toMatch(/^([^.]+\.)*a\.com$/);
      lease.done({ found: [link, `${link}x`] });
    }
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
    const hosts = ["localhost", "127.0.0.1", "example.dev:8080"];
    const { frontier } = openBench({ rules: [{ id: "r", match: { hosts } }] });
    const asked = [
      "localhost/",
      "localhost:3000/",
      "127.0.0.1/",
      "example.dev:8080/",
      "example.dev/",
    ];
    expect(asked.map((each) => frontier.push(`http://${each}`).admitted)).toEqual([
      ...[true, true, true, true],
      false, // a port that is named is the only one
    ]);
  });

  it("G-B10: a shallower sighting lowers the depth of a pending page", () => {
    const { frontier } = openBench(presets.gopcp({ maxDepth: 3 }));
    frontier.push({ url: A, depth: 3 });
    expect(frontier.push({ url: A, depth: 1 }).status).toBe("duplicate");
    const lease = frontier.poll() as Lease;
    expect(lease.depth).toBe(1);
    expect(lease.done({ found: [B] }).accepted).toBe(1);
    const told: unknown[] = [];
    frontier.on("duplicate", (sightings) => told.push(...sightings));
    frontier.push({ url: A, depth: 0 });
    frontier.push({ url: A, depth: 1 });
    expect(frontier.record(A)).toMatchObject({ state: "done", depth: 1 });
    expect(told).toEqual([{ url: A, depth: 0, finishedDepth: 1 }, { url: A }]);
  });

  it("G-B12: every listener gets every error, and a removed one gets none", () => {
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
