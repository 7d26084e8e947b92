/** The user's functions, when they fail: what becomes of the URL, who is told, and that nobody comes in by them. */
import { describe, expect, it } from "vitest";
import type {
  FrontierFault,
  FrontierOptions,
} from "../../../../src/engine/types/frontier-types.ts";
import { type Bench, openBench, thrownBy } from "../../../support/bench-frontier.ts";

const A = "http://a.com/1";
const B = "http://b.com/2";

function fail(): never {
  throw new Error("mine");
}

interface Heard extends Bench {
  readonly faults: FrontierFault[];
}

function openHeard(options: FrontierOptions): Heard {
  const bench = openBench(options);
  const faults: FrontierFault[] = [];
  bench.frontier.on("error", (fault) => faults.push(fault));
  return { ...bench, faults };
}

const told = (faults: readonly FrontierFault[]): unknown[] =>
  faults.map(({ kind, stage, cause, url }) => [kind, stage, (cause as Error).message, url]);

describe("a function of the user's that throws", () => {
  it.each<[string, FrontierOptions]>([
    ["accept", { accept: fail }],
    ["keyOf", { defaults: { key: { keyOf: fail } } }],
    ["of", { defaults: { epoch: { of: fail } } }],
  ])("%s: the URL is refused with reason hook, and it is told", (stage, options) => {
    const { frontier, faults, check } = openHeard(options);
    const pushed = frontier.pushMany([A, B]);
    expect([pushed.rejected, pushed.verdict(0).reason]).toEqual([2, "hook"]);
    expect(told(faults)).toEqual([
      ["hook", stage, "mine", A],
      ["hook", stage, "mine", B],
    ]);
    faults.length = 0;
    expect(frontier.explain(A).verdict).toBe(frontier.push(A));
    expect(told(faults)).toEqual([
      ["hook", stage, "mine", A],
      ["hook", stage, "mine", A],
    ]);
    check();
  });

  it.each<[string, FrontierOptions, string | undefined]>([
    ["by", { defaults: { politeness: { by: fail, delayMs: 5 } } }, A],
    ["groups", { defaults: { politeness: { groups: [{ by: fail, limit: 1 }] } } }, undefined],
  ])("%s: the host stands in for what it did not say, and it is told", (stage, options, url) => {
    const { frontier, faults, check } = openHeard(options);
    expect(frontier.push(A).status).toBe("accepted");
    const lease = frontier.poll();
    expect(lease?.url).toBe(A);
    expect(frontier.host("a.com").leased).toBe(1);
    lease?.done();
    expect(new Set(told(faults).map(String))).toEqual(
      new Set([["hook", stage, "mine", url].join()]),
    );
    check();
  });

  it("onIdle: its fault is reported, and the frontier is finished", async () => {
    const { frontier, faults } = openHeard({ onIdle: fail });
    frontier.push(A);
    const [lease] = await frontier.take();
    lease?.done();
    expect(await frontier.take()).toEqual([]);
    expect(told(faults)).toEqual([["hook", "onIdle", "mine", undefined]]);
  });
});

describe("a function of the user's that answers nothing of use", () => {
  it.each<[string, FrontierOptions, string]>([
    ["keyOf", { defaults: { key: { keyOf: () => 7 as never } } }, "keyOf(request): 7"],
    ["of", { defaults: { epoch: { of: () => "" } } }, 'of(timeMs): ""'],
    ["accept", { accept: () => undefined as never }, "answer: undefined"],
  ])("%s: the URL is refused, and what was expected is told", (stage, options, message) => {
    const { frontier, faults } = openHeard(options);
    expect(frontier.push(A).reason).toBe("hook");
    expect(told(faults)).toEqual([["hook", stage, expect.stringContaining(message), A]]);
  });
});

describe("a function of the user's that calls the frontier", () => {
  const calls: Array<[string, (frontier: Bench["frontier"]) => unknown]> = [
    ["push", (frontier) => frontier.push(B)],
    ["poll", (frontier) => frontier.poll()],
    ["setRules", (frontier) => frontier.setRules([])],
    ["explain", (frontier) => frontier.explain(B)],
  ];

  it.each(calls)("is refused %s, wherever it is asked", (_, call) => {
    let thrown: unknown[] = [];
    let frontier: Bench["frontier"] | undefined;
    const ask = (): string => {
      if (frontier !== undefined) thrown.push(thrownBy(() => call(frontier as Bench["frontier"])));
      return "one";
    };
    const politeness = { by: ask, groups: [{ by: ask }] };
    const asking = {
      ...{ politeness, budget: { urls: 9 }, key: { keyOf: ask }, epoch: { of: ask } },
    };
    const { budget, ...policy } = asking;
    const opened = openBench({
      accept: () => ask() === "one",
      rules: [{ id: "a", ...policy, politeness: { ...politeness, budget } }],
    });
    frontier = opened.frontier;
    const stateInvalid = (): void => {
      expect(thrown.length).toBeGreaterThan(0);
      for (const error of thrown) expect(error).toMatchObject({ code: "STATE_INVALID" });
      thrown = [];
    };
    frontier.pushMany([A, "http://c.com/3"]);
    stateInvalid();
    frontier.explain("http://d.com/4");
    stateInvalid();
    // What is pending finds its unit under the new rule, in the sweep or in its turn.
    frontier.setRules([{ id: "b", politeness: { by: ask, delayMs: 1 } }]);
    opened.clock.advance(1_000);
    frontier.pollMany(9);
    stateInvalid();
    opened.check();
  });

  it("may resume it: who waits is served when the call under way is over", async () => {
    const asked: number[] = [];
    let frontier: Bench["frontier"] | undefined;
    const resuming = (url: string): string => {
      frontier?.resume();
      asked.push(served);
      return url.slice(0, 10);
    };
    const politeness = { by: resuming, groups: [{ by: resuming }] };
    const opened = openBench({ rules: [{ id: "a" }] });
    frontier = opened.frontier;
    frontier.pushMany(Array.from({ length: 9 }, (_, at) => `http://h${at}.com/${at}`));
    frontier.pause();
    let served = 0;
    frontier.on("leased", (views) => {
      served += views.length;
    });
    const waiting = frontier.take({ max: 9 });
    frontier.setRules([{ id: "b", politeness }]);
    opened.clock.advance(1_000);
    expect(new Set(asked)).toEqual(new Set([0]));
    expect(await waiting).toHaveLength(9);
    opened.check();
  });
});
