/**
 * How long named cases are thought to take, said before they begin, and how much of that is left while they run.
 *
 *   bloom: urls 100,000: 5 rounds of 4 sides, about 47 s                     of results/estimates.json
 *   bloom urls 100,000, round 2 of 5: outrider, about 33 s left              at the pace so far, once a tenth is over
 *
 * --budget divides a time among the sizes by what each is thought to take: rounds end early, as whole rounds, and one of each size runs
 * whatever the time.
 */
import { type BenchCase, type Params, sidesOf } from "../harness/case.ts";
import { costOf, type Estimates, sizeKey } from "../harness/estimates.ts";
import { paramText, type TimeFrame } from "../harness/run-case.ts";
import { ROUNDS_MIN } from "../harness/statistics.ts";

/** A size of a case, with its number of rounds. */
export interface Ordered {
  readonly bench: BenchCase;
  readonly params: Params;
  readonly rounds: number;
}

/** Seconds of all rounds, the first side twice where there are enough of them for a verdict. */
export function forecast({ bench, params, rounds }: Ordered, estimates: Estimates): number {
  const { setup, sides } = costOf(estimates, bench, params);
  const each = Object.values(sides);
  const again = rounds >= ROUNDS_MIN ? (each[0] ?? 0) : 0;
  return setup + rounds * each.reduce((sum, seconds) => sum + seconds, again);
}

/** What is said before a size begins. */
export function forecastText(ordered: Ordered, estimates: Estimates): string {
  const { bench, params, rounds } = ordered;
  const sides = sidesOf(bench).filter((side) => bench.missing?.(side, params) === undefined);
  const many = `${rounds} ${rounds === 1 ? "round" : "rounds"} of ${sides.length} sides`;
  const isKnown = estimates[bench.name]?.[sizeKey(params)] !== undefined;
  const source = isKnown ? "" : ", guessed: no suite has measured this size";
  const time = durationText(forecast(ordered, estimates));
  return `${bench.name}: ${paramText(params)}: ${many}, about ${time}${source}`;
}

/** Believed once so much of a size is over. */
const SHARE_MIN = 0.1;

/** Says how long the rest takes, from how much of a size is over and what was thought of it. */
export function createCountdown(
  seconds: number,
  now: () => number = () => performance.now(),
): (share: number) => string {
  const startMs = now();
  return (share) => {
    const spent = (now() - startMs) / 1e3;
    const left = share < SHARE_MIN ? seconds - spent : (spent * (1 - share)) / share;
    return `about ${durationText(Math.max(0, left))} left`;
  };
}

/** The time of the first of these sizes; `undefined`: all that it wants. */
export function shareOf(
  left: readonly Ordered[],
  { endMs, estimates }: { endMs: number | undefined; estimates: Estimates },
  nowMs = performance.now(),
): TimeFrame | undefined {
  const [first] = left;
  if (endMs === undefined || first === undefined) return undefined;
  const all = left.reduce((sum, each) => sum + forecast(each, estimates), 0);
  const share = forecast(first, estimates) / Math.max(all, 1e-3);
  const softMs = nowMs + Math.max(0, endMs - nowMs) * share;
  return { softMs, hardMs: Number.POSITIVE_INFINITY, roundsLeast: 1 };
}

function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 120 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
