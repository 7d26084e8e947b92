/**
 * The suite: every case at the sizes that fit into ten minutes, in one object and one table.
 *
 *   estimates of the last run ─▶ plan ─▶ limits of the machine ─▶ case by case ─▶ JSON ─▶ tables, estimates
 *                                 ▲                                    │
 *                                 └── the rest is planned again, at the pace so far ◀──┘
 *
 *   I1  Every case has a row, its A/A row in it: before each case one round of those after it is reserved (plan.ts), and a
 *       size that takes longer than thought is ended before it eats into that. What was not reached is listed as not measured.
 *   I2  A case that fails does not stop the others; the exit code is 1 then.
 */
import { type BenchCase, type Params, roundsOf, sidesOf } from "../harness/case.ts";
import { CHILD_FLAGS, observeInChild } from "../harness/child.ts";
import { costOf, type Estimates, readEstimates, sizeKey } from "../harness/estimates.ts";
import { measureLimits } from "../harness/limits.ts";
import { machineOf, ROOT } from "../harness/machine.ts";
import {
  type CaseObject,
  caseObjectOf,
  SUITE_SCHEMA,
  type SuiteObject,
} from "../harness/result-file.ts";
import { type CaseResult, paramText, runCase, type TimeFrame } from "../harness/run-case.ts";
import { columns, headText, resultText } from "../harness/table.ts";
import { progress } from "./named.ts";
import { floorSeconds, type Offer, type Plan, planOf, secondsOf } from "./plan.ts";
import { publish, RESULTS } from "./report.ts";

export interface SuiteFlags {
  readonly cases: readonly BenchCase[];
  readonly budgetSeconds: number;
  readonly large: boolean;
  /** The most of each size. */
  readonly rounds: number | undefined;
  readonly json: boolean;
  readonly write: boolean;
  /** Only says who would get what. */
  readonly isDry: boolean;
}

/** An offer with what it is made of. */
export interface Entry extends Offer {
  readonly bench: BenchCase;
  readonly params: Params;
}

/** A run that is under way when time is up may continue a little: a complete run is worth more. */
const GRACE_SECONDS = 10;
/** Limits of the machine before the first case, files after the last. */
const AROUND_SECONDS = 8;
/** A size may take so many times what was planned for it, where the others leave room. */
const OVERRUN = 2.5;

/** Returns the exit code. */
export async function runSuite(flags: SuiteFlags): Promise<number> {
  const startedAt = new Date();
  const endMs = performance.now() + (flags.budgetSeconds - GRACE_SECONDS) * 1e3;
  const entries = entriesOf(flags, readEstimates(RESULTS));
  const plan = planOf(entries, flags.budgetSeconds - GRACE_SECONDS - AROUND_SECONDS);
  if (flags.isDry) return showPlan(plan, flags);
  if (plan.isShort && !flags.large) {
    const least = Math.ceil(plan.seconds + GRACE_SECONDS + AROUND_SECONDS);
    console.error(`--budget: one round of every case is thought to take ${least} s here`);
  }
  const machine = machineOf(ROOT, CHILD_FLAGS);
  const limits = measureLimits();
  const cases: CaseObject[] = [];
  const failed: { case: string; reason: string }[] = [];
  const clock = createPace(endMs);
  for (const bench of flags.cases) {
    const caseStart = new Date();
    const left = entries.slice(entries.findIndex((entry) => entry.bench === bench));
    if (left[0]?.bench !== bench) continue;
    if (!flags.json) console.log(headText(bench));
    const results: CaseResult[] = [];
    try {
      for await (const result of caseResults(bench, left, flags.large ? undefined : clock)) {
        results.push(result);
        if (!flags.json) console.log(resultText(bench, result));
      }
    } catch (error) {
      progress("");
      const reason = error instanceof Error ? error.message : String(error);
      failed.push({ case: bench.name, reason });
      console.error(`\n${bench.name}: ${reason}`);
    }
    if (results.length > 0)
      cases.push(caseObjectOf({ bench, size: "suite", startedAt: caseStart, results }));
  }
  const suite: SuiteObject = {
    schema: SUITE_SCHEMA,
    at: startedAt.toISOString(),
    ...machine,
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    budgetSeconds: flags.budgetSeconds,
    limits,
    cases,
    failed,
  };
  if (flags.json) console.log(JSON.stringify(suite));
  if (flags.write) publish(suite);
  return failed.length === 0 ? 0 : 1;
}

/** Every case at every size that it may take, with what that is thought to cost. */
export function entriesOf(
  { cases, large, rounds }: Pick<SuiteFlags, "cases" | "large" | "rounds">,
  estimates: Estimates,
): Entry[] {
  const most = rounds ?? Number.POSITIVE_INFINITY;
  return cases.flatMap((bench) => {
    const sizes = suiteSizes(bench, large);
    const usual = sizes.map((params, at): Entry => {
      const roundsMax = Math.min(most, roundsOf(bench, params));
      return { ...costed(bench, params, estimates), kind: at === 0 ? "first" : "also", roundsMax };
    });
    const [least] = bench.sizes.smoke;
    const isThere = sizes.some(
      (params) => least !== undefined && sizeKey(params) === sizeKey(least),
    );
    if (usual.length === 0 || least === undefined || isThere) return usual;
    return [...usual, { ...costed(bench, least, estimates), kind: "spare", roundsMax: 1 }];
  });
}

function costed(
  bench: BenchCase,
  params: Params,
  estimates: Estimates,
): Omit<Entry, "kind" | "roundsMax"> {
  const { setup, sides } = costOf(estimates, bench, params);
  const each = Object.values(sides);
  const round = each.reduce((sum, seconds) => sum + seconds, each[0] ?? 0);
  const { name, isPicture = false, worth = 1 } = bench;
  return { bench, params, name, size: sizeKey(params), setup, round, isPicture, worth };
}

export function suiteSizes({ sizes }: BenchCase, isLarge: boolean): readonly Params[] {
  const usual = sizes.suite ?? sizes.real.slice(0, 1);
  return isLarge ? [...usual, ...(sizes.large ?? [])] : usual;
}

/** How much time is left, in seconds of the machine that the estimates are of. */
export interface Pace {
  left(): number;
  /** The end of a size that may take so long, where so much is reserved for others. */
  frame(planned: number, reserved: number): TimeFrame;
  took(planned: number, seconds: number): void;
}

/** So many seconds at the estimated pace are believed in before any is measured. */
const BELIEF_SECONDS = 20;

export function createPace(endMs: number, now: () => number = () => performance.now()): Pace {
  let [planned, taken] = [BELIEF_SECONDS, BELIEF_SECONDS];
  const slowness = (): number => taken / planned;
  return {
    left: () => Math.max(0, (endMs - now()) / 1e3 / slowness()),
    frame(expected, reserved) {
      const nowMs = now();
      const lastMs = Math.max(nowMs, endMs - reserved * slowness() * 1e3);
      const softMs = nowMs + expected * slowness() * 1.2 * 1e3;
      const hardMs = nowMs + (expected * slowness() * OVERRUN + GRACE_SECONDS) * 1e3;
      return { softMs: Math.min(lastMs, softMs), hardMs: Math.min(lastMs, hardMs) };
    },
    took(expected, seconds) {
      planned += expected;
      taken += seconds;
    },
  };
}

/** The results of one case, the first of the entries that are left; without a pace every size and round runs. */
export async function* caseResults(
  bench: BenchCase,
  left: readonly Entry[],
  pace: Pace | undefined,
): AsyncGenerator<CaseResult> {
  const own = left.filter((entry) => entry.bench === bench);
  const others = left.slice(own.length);
  const usual = own.filter(({ kind }) => kind !== "spare");
  if (pace === undefined) {
    for (const entry of usual) yield await observed(entry, entry.roundsMax);
    return;
  }
  const { taken } = planOf(left, pace.left());
  const isTaken = (entry: Entry): boolean => taken.some(({ offer }) => offer === entry);
  let rows = 0;
  for (const { offer, rounds } of taken.filter(({ offer }) => own.includes(offer as Entry))) {
    const planned = secondsOf(offer, rounds);
    const startMs = performance.now();
    const result = await observed(
      offer as Entry,
      rounds,
      pace.frame(planned, floorSeconds(others)),
    );
    if (result.rounds > 0) {
      rows++;
      pace.took(secondsOf(offer, result.rounds), (performance.now() - startMs) / 1e3);
    }
    yield result;
  }
  // A planned size was reported already, whether there was time for it or not.
  const spare = own.find((entry) => entry.kind === "spare" && !isTaken(entry));
  if (rows === 0 && spare !== undefined) yield await observed(spare, 1);
  for (const entry of usual) if (!isTaken(entry)) yield unmeasured(entry);
}

async function observed(
  { bench, params }: Entry,
  rounds: number,
  time?: TimeFrame,
): Promise<CaseResult> {
  const untilMs = time === undefined ? undefined : time.hardMs + (GRACE_SECONDS / 2) * 1e3;
  const result = await runCase({
    ...{ bench, params, rounds, progress, isLevelled: true },
    observeFresh: (side) =>
      observeInChild({ suite: bench.suite, bench: bench.name, side, params }, { untilMs }),
    ...(time === undefined ? {} : { time }),
  });
  progress("");
  return result.rounds > 0 ? result : { ...result, missing: unreached(bench, result.missing) };
}

function unreached(
  bench: BenchCase,
  missing: Readonly<Record<string, string>>,
): Record<string, string> {
  const all = sidesOf(bench).map((side) => [side, "no time was left in this run"]);
  return { ...Object.fromEntries(all), ...missing };
}

function unmeasured({ bench, params }: Entry): CaseResult {
  const none = { observations: {}, comparisons: [], same: [], seconds: {} };
  return { ...none, params, rounds: 0, missing: unreached(bench, {}) };
}

/** Says who gets what, and returns the exit code. */
function showPlan(plan: Plan, { json, budgetSeconds }: SuiteFlags): number {
  const { taken, left, seconds, isShort } = plan;
  if (json) {
    const rows = taken.map(({ offer: { name, size, setup, round }, rounds }) => {
      return { case: name, size, rounds, seconds: setup + round * rounds };
    });
    const without = left.map(({ name, size }) => ({ case: name, size }));
    console.log(JSON.stringify({ budgetSeconds, seconds, isShort, taken: rows, left: without }));
    return 0;
  }
  const rows = taken.map(({ offer, rounds }) => {
    const text = `${secondsOf(offer, rounds).toFixed(1)} s`;
    const note = offer.kind === "spare" ? "only its smallest size" : "";
    return [
      offer.name,
      paramText((offer as Entry).params),
      rounds === 1 ? "1 round" : `${rounds} rounds`,
      text,
      note,
    ];
  });
  console.log(columns(rows).join("\n"));
  for (const { name, params } of left as Entry[])
    console.log(`    ${name}, ${paramText(params)}: no time`);
  console.log(
    `    in all ${seconds.toFixed(0)} s of ${budgetSeconds}${isShort ? ": too short" : ""}`,
  );
  return 0;
}
