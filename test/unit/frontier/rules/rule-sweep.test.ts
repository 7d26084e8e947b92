/** The sweep after a change of rules: how much one slice does, counted, and what becomes of rules that have gone. */
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Rule } from "../../../../src/engine/types/frontier-types.ts";
import { coreOf } from "../../../../src/engine/api/verify-frontier.ts";
import { RuleState } from "../../../../src/frontier/rules/rule-state.ts";
import { type Bench, createSpyClock, openBench } from "../../../support/bench-frontier.ts";

/** A slice's budget in records whose URLs are read, moves without that for the price of one, and looks. */
const READ_MAX = 400;
const MOVED_PER_READ = 4;
const MOVED_MAX = READ_MAX * MOVED_PER_READ;
const LOOKS_PER_MOVE = 20;
/** The last part of a slice may end with a dear piece. */
const PART = 1;

afterEach(() => vi.restoreAllMocks());

/** So many rules, one a host; the last takes what is left. */
function setOf(prefix: string, count: number, politeness?: Rule["politeness"]): Rule[] {
  const rules = Array.from({ length: count }, (_, n) => ({
    id: `${prefix}${n}`,
    match: { hosts: [`h${n}.test`] },
    ...(politeness === undefined ? {} : { politeness }),
  }));
  return [...rules, { id: `${prefix}rest` }];
}

interface Slice {
  readonly moved: number;
  readonly looks: number;
  /** URLs of records made into strings. */
  readonly reads: number;
}

/** Runs the sweep to its end, one slice of one timer at a time. */
function sweepOut({ frontier, clock }: Bench): Slice[] {
  const core = coreOf(frontier);
  const gone = vi.spyOn(RuleState.prototype, "isGone", "get");
  const text = vi.spyOn(Buffer.prototype, "latin1Slice");
  const slices: Slice[] = [];
  for (let before = core.sweep?.moved ?? 0; clock.armed > 0; before = core.sweep?.moved ?? 0) {
    gone.mockClear();
    text.mockClear();
    expect(clock.turn()).toBe(true);
    const moved = (core.sweep?.moved ?? 0) - before;
    slices.push({ moved, looks: gone.mock.calls.length, reads: text.mock.calls.length });
  }
  gone.mockRestore();
  text.mockRestore();
  return slices;
}

describe("a slice of the sweep", () => {
  it("moves at most so many records and looks at at most so many rules, whatever there is", () => {
    const bench = openBench({ keepOpen: true, rules: setOf("a", 12_000) });
    const { frontier, clock, check } = bench;
    const due = clock.now() + 1_000;
    frontier.pushMany(Array.from({ length: 3_000 }, (_, n) => `http://h${n % 9}.test/${n}`));
    frontier.pushMany(
      Array.from({ length: 3_000 }, (_, n) => `http://h${n % 70}.test/later/${n}`),
      { notBefore: due },
    );
    frontier.setRules(setOf("b", 12_000));
    expect(coreOf(frontier).sweep?.moved).toBeLessThanOrEqual(MOVED_MAX + 1); // the first slice
    const slices = sweepOut(bench);
    check();
    expect(slices.length).toBeGreaterThanOrEqual(6_000 / (MOVED_MAX + 1) - 1);
    for (const { moved, looks, reads } of slices) {
      // Each of 70 queues is read about once in a slice.
      expect(reads).toBeLessThanOrEqual(85);
      expect((moved - reads) / MOVED_PER_READ + reads).toBeLessThanOrEqual(READ_MAX + PART);
      // A record that moves is asked for its rule too.
      const left = READ_MAX + PART - (moved - reads) / MOVED_PER_READ - reads;
      expect(looks).toBeLessThanOrEqual(left * LOOKS_PER_MOVE + 4 * moved + 30);
    }
    expect(coreOf(frontier).sweep).toMatchObject({ moved: 6_000, isDone: true });
    expect(frontier.report()).toMatchObject({ pending: 3_000, waiting: 3_000 });
    const { rules, spare } = coreOf(frontier);
    expect(rules.length - spare.length).toBe(12_002);
  });

  it("reads the URL of each record where more than its host decides, and then moves fewer", () => {
    const bench = openBench({ keepOpen: true, rules: [{ id: "all" }] });
    const { frontier, check } = bench;
    frontier.pushMany(Array.from({ length: 3_000 }, (_, n) => `http://h${n % 9}.test/${n}`));
    const even = { id: "even", match: { pattern: "[02468]$" } };
    frontier.setRules([even, { id: "odd" }]);
    for (const { moved, reads } of sweepOut(bench)) {
      expect(reads).toBe(moved);
      expect(moved).toBeLessThanOrEqual(READ_MAX + PART);
    }
    check();
    const { rules } = frontier.report();
    expect([rules.even?.pending, rules.odd?.pending]).toEqual([1_500, 1_500]);
  });

  it("is over when its time is, with a few records moved at least, and the next one goes on", () => {
    const virtual = createSpyClock();
    let nowMs = 0;
    // Whoever looks at it finds a millisecond gone.
    const bench = openBench({
      ...{ keepOpen: true, rules: setOf("a", 5) },
      clock: { ...virtual, monotonic: () => nowMs++ },
    });
    const { frontier, check } = bench;
    frontier.pushMany(Array.from({ length: 2_000 }, (_, n) => `http://h${n % 5}.test/${n}`));
    frontier.setRules(setOf("b", 5));
    const core = coreOf(frontier);
    let slices = 0;
    for (let before = core.sweep?.moved ?? 0; virtual.turn(); slices++) {
      const moved = (core.sweep?.moved ?? 0) - before;
      before += moved;
      expect(moved).toBeLessThan(MOVED_MAX / 20);
      if (core.sweep?.isDone !== true) expect(moved).toBeGreaterThan(0);
    }
    expect(slices).toBeGreaterThan(3);
    check();
    expect(core.sweep).toMatchObject({ moved: 2_000, isDone: true });
  });

  it("settles and frees at most so many host queues", () => {
    const polite = (perHost: number): Rule[] => [{ id: "all", politeness: { perHost } }];
    const bench = openBench({ keepOpen: true, rules: polite(1) });
    const { frontier, check } = bench;
    // With a priority of their own their hosts are made at once.
    const urls = Array.from({ length: 9_000 }, (_, n) => `http://h${n}.test/`);
    frontier.pushMany(urls, { priority: 1 });
    frontier.setRules(polite(2)); // every host is settled anew
    const settled = sweepOut(bench).length;
    expect(settled).toBeGreaterThanOrEqual(Math.floor(9_000 / (READ_MAX * 5)) - 1);
    frontier.done(frontier.pollMany(9_000));
    frontier.setRules([{ id: "other", match: { hosts: ["other.test"] } }]); // every queue is freed
    expect(sweepOut(bench).length).toBeGreaterThanOrEqual(settled);
    check();
    expect(coreOf(frontier).rules.filter(({ isGone }) => isGone)).toHaveLength(2);
  });
});

describe("sets that follow each other sooner than a sweep takes", () => {
  it("leave no rules piling up, and nothing pending behind", () => {
    const bench = openBench({ keepOpen: true, rules: setOf("first", 50) });
    const { frontier, clock, check } = bench;
    frontier.pushMany(Array.from({ length: 2_000 }, (_, n) => `http://h${n % 200}.test/${n}`));
    for (let swap = 0; swap < 300; swap++) frontier.setRules(setOf(`s${swap}-`, 50));
    // Each rule that has gone is of use to a record, or will be seen by the pass that is under way.
    expect(coreOf(frontier).rules.length).toBeLessThan(2_000 + 51 * 10);
    check();
    while (clock.turn()) expect(clock.armed).toBeLessThanOrEqual(1);
    check();
    expect(frontier.report()).toMatchObject({ pending: 2_000, failed: 0 });
    expect(Object.keys(frontier.report().rules)).toHaveLength(51);
  });
});
