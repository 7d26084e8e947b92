/**
 * What of a comparison there is time for.
 *
 *   quickest ─▶ slowest    one by one; before each:  at the pace so far, has it ROUNDS_LEAST rounds in what is left?
 *                            yes: it runs, with a share of what the others that fit leave over
 *                            no:  it and all slower ones are left out, and named at the end
 *
 * Five rounds, since a verdict is asked to stand among all phases that are compared: three rounds that agree to a percent would have to be
 * 40 % from level for that among 45, five 6 %, nine 2 %.
 */
import { type BenchCase, type Params, ROUNDS } from "../harness/case.ts";
import { costOf, type Estimates } from "../harness/estimates.ts";
import { paramText, type TimeFrame } from "../harness/run-case.ts";
import { matches } from "./named.ts";
import { type Pace, suiteSizes } from "./suite.ts";

/** What was asked for. */
export interface CompareFlags {
  readonly cases: readonly BenchCase[];
  readonly revision: string;
  readonly isSmoke: boolean;
  readonly params: string | undefined;
  readonly rounds: number | undefined;
  /** Seconds for all cases together, builds apart. */
  readonly budgetSeconds: number;
  readonly json: boolean;
  readonly strict: boolean;
}

/** A case at a size, with what a round of it is thought to take. */
export interface Bout {
  readonly bench: BenchCase;
  readonly side: string;
  readonly params: Params;
  readonly roundSeconds: number;
}

/** One of each version, and the first once more. */
const SEATS = 3;
export const ROUNDS_LEAST = ROUNDS.fresh;
/** More tell little apart that these do not. */
export const ROUNDS_MOST = 9;

/** What is compared, in the order of the cases; each at one size unless --params names more. */
export function boutsOf(
  { cases, isSmoke, params: wanted }: Pick<CompareFlags, "cases" | "isSmoke" | "params">,
  estimates: Estimates,
): Bout[] {
  return cases.flatMap((bench) => {
    const [side] = bench.pairs[0] ?? [];
    if (side === undefined) return [];
    const { smoke, real, large = [] } = bench.sizes;
    const usual = isSmoke ? smoke : suiteSizes(bench, false);
    const all = isSmoke ? smoke : [...usual, ...real, ...large];
    const asked = all.filter((params) => matches(params, wanted));
    const sizes = wanted === undefined ? usual.slice(0, 1) : asked.slice(0, 1);
    return sizes.flatMap((params) => {
      if (bench.missing?.(side, params) !== undefined) return [];
      const { setup, sides } = costOf(estimates, bench, params);
      const roundSeconds = SEATS * (setup + (sides[side] ?? 0));
      return [{ bench, side, params, roundSeconds }];
    });
  });
}

interface Affordable {
  readonly bouts: Bout[];
  readonly left: Bout[];
}

/** What has its rounds in a time, the quickest first; the quickest of all whatever the time, where one must run. */
export function affordable(
  all: readonly Bout[],
  {
    rounds = ROUNDS_MOST,
    budgetSeconds,
  }: Pick<CompareFlags, "budgetSeconds"> & { rounds?: number | undefined },
  mustRun = true,
): Affordable {
  const quickest = [...all].sort((a, b) => a.roundSeconds - b.roundSeconds);
  let seconds = 0;
  const from = quickest.findIndex((bout) => {
    seconds += leastSeconds(bout, rounds);
    return seconds > budgetSeconds;
  });
  const count = from === -1 ? quickest.length : Math.max(from, mustRun ? 1 : 0);
  return { bouts: quickest.slice(0, count), left: quickest.slice(count) };
}

function leastSeconds({ roundSeconds }: Bout, rounds: number): number {
  return roundSeconds * Math.min(rounds, ROUNDS_LEAST);
}

/** Seconds in which all of them have their rounds. */
export function secondsFor(bouts: readonly Bout[], rounds: number): number {
  return Math.ceil(bouts.reduce((sum, bout) => sum + leastSeconds(bout, rounds), 0));
}

/** What will run, and how long that takes, before it begins. */
export function planText(
  all: readonly Bout[],
  { rounds = ROUNDS_MOST, budgetSeconds }: Pick<CompareFlags, "rounds" | "budgetSeconds">,
): string {
  const { bouts, left } = affordable(all, { rounds, budgetSeconds });
  const least = Math.min(rounds, ROUNDS_LEAST);
  const count = least === rounds ? `${rounds}` : `${least} to ${rounds}`;
  const sizes = bouts.map(({ bench, params }) => `${bench.name} (${paramText(params)})`);
  const rows = `${count} rounds of ${SEATS} processes in ${budgetSeconds} s`;
  const about = `compare: ${sizes.join(", ")}: ${rows}`;
  if (left.length === 0) return about;
  const names = left.map(({ bench }) => bench.name).join(", ");
  const enough = `--budget ${secondsFor(all, rounds)} has some for all, names take fewer`;
  return `${about}\ncompare: no time for ${names}; ${enough}`;
}

interface Clock {
  readonly pace: Pace;
  readonly rounds: number;
  readonly budgetSeconds: number;
  readonly startMs: number;
}

/** The first of these has its rounds, and its share of what is left over when all have theirs; never more than there is. */
export function frameOf(
  bouts: readonly Bout[],
  clock: Clock,
  nowMs = performance.now(),
): TimeFrame {
  const { pace, rounds, budgetSeconds, startMs } = clock;
  const [bout] = bouts as readonly [Bout];
  const leftMs = Math.max(0, startMs + budgetSeconds * 1e3 - nowMs);
  const left = pace.left();
  const spare = Math.max(0, left - secondsFor(bouts, rounds));
  const all = bouts.reduce((sum, { roundSeconds }) => sum + roundSeconds, 0);
  const own = leastSeconds(bout, rounds) + (spare * bout.roundSeconds) / all;
  const shareMs = left === 0 ? 0 : (leftMs * own) / left;
  const softMs = nowMs + Math.min(leftMs, shareMs);
  return { softMs, hardMs: nowMs + leftMs, roundsLeast: ROUNDS_LEAST };
}
