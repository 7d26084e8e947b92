import { describe, expect, it } from "vitest";
import type { FrontierOptions, RequestView } from "../../../../src/engine/types/frontier-types.ts";
import type { KeyPolicy } from "../../../../src/url/keys/key-policy.ts";
import { openBench, thrownBy } from "../../../support/bench-frontier.ts";

const A = "http://a.com/1";
const B = "http://a.com/2";
type Accept = NonNullable<FrontierOptions["accept"]>;

describe("the hook accept", () => {
  it("changes priority and data, of plain, rich and volatile requests", () => {
    const { frontier, check } = openBench({ accept: () => ({ priority: 7, data: "hooked" }) });
    frontier.pushMany([
      A,
      { url: B, data: "own" },
      { url: "http://a.com/3", volatile: true, data: Math.abs },
    ]);
    for (const { data, priority } of frontier.pollMany(3)) {
      expect([data, priority]).toEqual(["hooked", 7]);
    }
    check();
  });

  it("is told the page that a link or a redirect was found on, and none for what comes from outside", () => {
    const asked: [string, string | undefined][] = [];
    const { frontier, check } = openBench({
      accept: ({ url, parent }) => {
        asked.push([url, parent]);
        return true;
      },
    });
    frontier.push(A);
    expect(frontier.explain(A).verdict.status).toBe("duplicate");
    const page = frontier.poll();
    page?.redirect("http://a.com/moved");
    page?.done({ found: [B, { url: "http://a.com/3", data: 1 }] });
    const from = page?.fingerprint;
    expect(asked).toEqual([
      [A, undefined],
      ["http://a.com/moved", from],
      [B, from],
      ["http://a.com/3", from],
    ]);
    check();
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a number", 5],
    ["a promise", Promise.resolve(false)],
    ["an unknown field", { prority: 1 }],
    ["half a priority", { priority: 0.5 }],
    ["data of functions", { data: () => 1 }],
  ])("that answers %s refuses, and is told as an error", (_, answer) => {
    const { frontier, check } = openBench({ accept: (() => answer) as Accept });
    const faults: string[] = [];
    frontier.on("error", ({ kind, stage }) => faults.push(`${kind} ${stage}`));
    expect(frontier.push(A).reason).toBe("hook");
    expect(faults).toEqual(["hook accept"]);
    check();
  });

  it("and keyOf and by can not come back in: what they push harms nothing", () => {
    const errors: unknown[] = [];
    const back = (): void => {
      const calls = [
        () => bench.frontier.push("http://evil.com/"),
        () => bench.frontier.record(A),
        () => bench.frontier.explain(A),
        () => bench.frontier.poll(),
        () => bench.frontier.clear(),
      ];
      for (const call of calls) errors.push((thrownBy(call) as { code?: string })?.code);
      bench.frontier.pause();
      bench.frontier.resume();
    };
    const key: KeyPolicy = {
      keyOf: ({ url }) => {
        back();
        return url;
      },
    };
    const by = (url: string): string => {
      back();
      return url.length % 2 === 0 ? "Even" : "Odd";
    };
    const accept = (_: RequestView): boolean => {
      back();
      return true;
    };
    const bench = openBench({ accept, defaults: { key, politeness: { by } } });
    expect(bench.frontier.pushMany([A, B, `${A}/x`]).accepted).toBe(3);
    bench.frontier.record(A);
    bench.frontier.explain(B);
    bench.check();
    expect(new Set(errors)).toEqual(new Set(["STATE_INVALID"]));
    expect(bench.frontier.report().pending).toBe(3);
    bench.frontier.host("Even").hold();
    expect(bench.frontier.host("Even").held).toBe(true);
    expect(bench.frontier.pollMany(5).map(({ url }) => url)).toEqual(
      [A, B, `${A}/x`].filter((u) => u.length % 2),
    );
  });

  it("may close the frontier, which ends once what is being admitted is", async () => {
    const accept = (): boolean => {
      void bench.frontier.close();
      return true;
    };
    const bench = openBench({ accept });
    expect(bench.frontier.pushMany([A, B]).accepted).toBe(2);
    expect(bench.frontier.report().pending).toBe(2);
    await bench.frontier.close();
    expect(bench.frontier.status).toBe("stopped");
  });
});

describe("memory that is exhausted", () => {
  it("is the verdict full, loses nothing, and ends when records go", async () => {
    const { frontier, check } = openBench({}, { pageCountMax: 330 });
    const pad = "x".repeat(6_000);
    let count = 0;
    let verdict = frontier.push(`http://a.com/${count}/${pad}`);
    for (; verdict.admitted; verdict = frontier.push(`http://a.com/${count}/${pad}`)) count++;
    expect([verdict.status, verdict.reason]).toEqual(["full", "memory"]);
    expect(frontier.record(`http://a.com/${count}/${pad}`)).toBeUndefined();
    expect(frontier.report().pending).toBe(count);
    check();
    const more = Array.from({ length: 50 }, (_, index) => `http://b.com/${index}/${pad}`);
    const pushed = frontier.pushFrom(more);
    const urls = new Set<string>();
    for await (const lease of frontier) {
      urls.add(lease.url);
      lease.done();
    }
    expect((await pushed).accepted).toBe(50);
    expect(urls.size).toBe(count + 50);
    check();
  });
});

describe("hosts that are idle", () => {
  it("are forgotten beyond a number, but not while their clock or a setting matters", () => {
    const politeness = { delayMs: 1_000 };
    const { frontier, clock, check } = openBench(
      { defaults: { politeness } },
      { hostIdleCountMax: 4 },
    );
    frontier.host("kept.com").delayMs = 5;
    frontier.pushMany(Array.from({ length: 30 }, (_, index) => `http://h${index}.com/`));
    for (const lease of frontier.pollMany(30)) lease.done();
    for (let index = 0; index < 30; index++) {
      frontier.push(`http://h${index}.com/again`);
      expect(frontier.poll()).toBeUndefined();
      expect(frontier.nextDueAt()).toBe(clock.now() + 1_000);
    }
    expect(frontier.report().hosts).toBe(31);
    clock.advance(1_000);
    for (const lease of frontier.pollMany(30)) lease.done();
    clock.advance(1_000);
    for (let index = 0; index < 60; index++) frontier.push("http://h0.com/again");
    expect(frontier.report().hosts).toBeLessThanOrEqual(6);
    expect(frontier.host("kept.com").delayMs).toBe(5);
    check();
    frontier.poll();
    check();
  });

  it.each(["one by one", "many at a time"])(
    "go as leases end, where nobody pushes any more: %s",
    (way) => {
      const { frontier, check } = openBench({}, { hostIdleCountMax: 16 });
      const count = 10_000;
      frontier.pushMany(Array.from({ length: count }, (_, index) => `http://h${index}.com/`));
      const { hosts, memory } = frontier.report();
      expect(hosts).toBe(count);
      for (let left = count; left > 0; left -= 100) {
        const leases = frontier.pollMany(100);
        if (way === "one by one") for (const lease of leases) lease.done();
        else frontier.done(leases);
        expect(frontier.report().hosts).toBeLessThan(left + 16);
      }
      expect(frontier.report().hosts).toBeLessThanOrEqual(16);
      const bytes = frontier.report().memory.offHeapBytes;
      // What a host takes at least.
      expect(memory.offHeapBytes - bytes).toBeGreaterThan(count * 128);
      check();
    },
  );

  it("go while polls give something or not, those whose clock runs or that are set by hand excepted", () => {
    const politeness = { delayMs: 1_000 };
    const { frontier, clock, check } = openBench(
      { defaults: { politeness } },
      { hostIdleCountMax: 4 },
    );
    for (let index = 0; index < 5; index++) frontier.host(`kept${index}.com`).delayMs = 5;
    frontier.pushMany(Array.from({ length: 40 }, (_, index) => `http://h${index}.com/`));
    for (const lease of frontier.pollMany(40)) lease.done();
    for (let poll = 0; poll < 50; poll++) expect(frontier.poll()).toBeUndefined();
    expect(frontier.report().hosts).toBe(45); // their clocks run
    frontier.push("http://h7.com/again");
    expect(frontier.poll()).toBeUndefined();
    clock.advance(1_000);
    expect(frontier.poll()?.url).toBe("http://h7.com/again");
    for (let poll = 0; poll < 60; poll++) expect(frontier.poll()).toBeUndefined();
    expect(frontier.report().hosts).toBe(6); // h7.com works, five are kept
    check();
  });
});
