/**
 * Runs a case at one size: rounds of observations in alternating order, then ratios.
 *
 *   round 1   A  B  C  A′      shared: one job per side, run again and again in this process
 *   round 2   A′ C  B  A       fresh:  each letter is a child process of its own
 *   …
 *
 * Where time is short, rounds end early, always as whole rounds.
 * A′ is the first side once more: A′ / A is the A/A row; runs that are too short for it have none. A shared case warms every job with one run that
 * does not count.
 *
 *   I1  The checksums of a pair's sides are equal in every round, or the case is at fault.
 *   I2  A side that takes longer than it may is reported as not measured (LeftOut), and so is a guest that fails; the others continue without it.
 */
import { type BenchCase, type Measured, type Params, sidesOf } from "./case.ts";
import { medianOf, type Ratio, ratioOf, ROUNDS_MIN } from "./statistics.ts";

/** One run of one side, wherever it ran. */
export interface Observation {
  readonly measured: Measured;
  readonly checksum: string;
}

export type Observe = (side: string) => Promise<Observation>;

export interface Comparison {
  readonly subject: string;
  readonly peer: string;
  readonly phase: string;
  readonly ratio: Ratio;
}

export interface CaseResult {
  readonly params: Params;
  readonly rounds: number;
  /** By side. */
  readonly observations: Readonly<Record<string, readonly Observation[]>>;
  readonly comparisons: readonly Comparison[];
  /** The first side against itself, by phase. */
  readonly same: readonly Comparison[];
  /** Sides that did not run, with the reason. */
  readonly missing: Readonly<Record<string, string>>;
  /** Of an observation of each side, the median, and of the setup of all where they share a process. */
  readonly seconds: Readonly<Record<string, number>>;
}

/** The name of the A/A row's second side. */
const AGAIN = "′";
/** Among the seconds of a result: what was made before the first round. */
export const SETUP = "setup";

/** Thrown by an observation that was ended because time was up. */
export class TimeUp extends Error {}

/** Why a side takes no further part; thrown by an observation that takes longer than it may. */
export class LeftOut extends Error {}

export interface RunOptions {
  readonly bench: BenchCase;
  readonly params: Params;
  readonly rounds: number;
  /** Makes an observation in a child process. */
  readonly observeFresh: (side: string, params: Params) => Promise<Observation>;
  /** `share`: how much of all rounds is over. */
  readonly progress: (text: string, share: number) => void;
  /** Where time is short; without it every round runs. */
  readonly time?: TimeFrame;
  /** The first side runs twice also where there are too few rounds for a verdict. */
  readonly isLevelled?: boolean;
}

/** On the clock of performance.now(). */
export interface TimeFrame {
  /** After so many rounds, ROUNDS_MIN where none are said, none begins that would not end by then. */
  readonly softMs: number;
  readonly roundsLeast?: number;
  /** None begins at all that would not. */
  readonly hardMs: number;
}

export async function runCase(options: RunOptions): Promise<CaseResult> {
  const { bench, params, rounds, isLevelled } = options;
  const missing: Record<string, string> = {};
  for (const side of sidesOf(bench)) {
    const reason = bench.missing?.(side, params);
    if (reason !== undefined) missing[side] = reason;
  }
  const sides = sidesOf(bench).filter((side) => missing[side] === undefined);
  const watch = createWatch();
  const stage = bench.process === "shared" ? await shared(options, sides, watch) : fresh(options);
  const taken = new Map<string, Observation[]>();
  let done = 0;
  try {
    const first = sides[0];
    const isJudged = rounds >= ROUNDS_MIN || isLevelled === true;
    let seats = first !== undefined && isJudged ? [...sides, first + AGAIN] : sides;
    const most = sides.length === 0 ? 0 : rounds;
    for (let longestMs = 0; done < most && hasTime(options.time, done, longestMs); done++) {
      const startMs = performance.now();
      const order = done % 2 === 0 ? seats : seats.toReversed();
      const say = (seat: string): void =>
        options.progress(
          `${bench.name} ${paramText(params)}, round ${done + 1} of ${rounds}: ${sideOf(seat)}`,
          (done + order.indexOf(seat) / order.length) / rounds,
        );
      const round = await roundOf(stage, order, { watch, say, bench });
      if (round === undefined) break;
      for (const [seat, observation] of round) {
        if (observation instanceof LeftOut) {
          missing[sideOf(seat)] = observation.message;
          continue;
        }
        const list = taken.get(seat) ?? [];
        list.push(observation);
        taken.set(seat, list);
      }
      seats = seats.filter((seat) => missing[sideOf(seat)] === undefined);
      longestMs = Math.max(longestMs, performance.now() - startMs);
    }
  } finally {
    await stage.close();
  }
  // Its rounds before do not pair with those of the others.
  for (const seat of taken.keys()) if (missing[sideOf(seat)] !== undefined) taken.delete(seat);
  return { ...resultOf(bench, taken), params, rounds: done, missing, seconds: watch.seconds() };
}

/** How long observations took as a whole, which is more than what they measured. */
interface Watch {
  time<T>(name: string, work: () => Promise<T>): Promise<T>;
  seconds(): Record<string, number>;
}

function createWatch(): Watch {
  const lists = new Map<string, number[]>();
  return {
    async time(name, work) {
      const startMs = performance.now();
      const value = await work();
      const list = lists.get(name) ?? [];
      list.push((performance.now() - startMs) / 1e3);
      lists.set(name, list);
      return value;
    },
    seconds: () =>
      Object.fromEntries(
        [...lists].map(([name, list]) => [name, Number(medianOf(list).toFixed(3))]),
      ),
  };
}

/** One observation of each seat, or why it has none; undefined where time was up before the last. */
async function roundOf(
  stage: Stage,
  seats: readonly string[],
  { watch, say, bench }: { watch: Watch; say: (seat: string) => void; bench: BenchCase },
): Promise<(readonly [seat: string, Observation | LeftOut])[] | undefined> {
  const round: (readonly [seat: string, Observation | LeftOut])[] = [];
  for (const seat of seats) {
    const side = sideOf(seat);
    say(seat);
    try {
      round.push([seat, await watch.time(side, () => stage.observe(side))]);
    } catch (error) {
      if (error instanceof TimeUp) return undefined;
      if (!(error instanceof LeftOut) && bench.isGuest?.(side) !== true) throw error;
      const why = error instanceof Error ? error.message : String(error);
      round.push([seat, error instanceof LeftOut ? error : new LeftOut(`it failed: ${why}`)]);
    }
  }
  return round;
}

/** Whose seat it is. */
function sideOf(seat: string): string {
  return seat.endsWith(AGAIN) ? seat.slice(0, -AGAIN.length) : seat;
}

/** Whether one more round fits after so many, of which the longest took so long. */
function hasTime(time: TimeFrame | undefined, done: number, longestMs: number): boolean {
  if (time === undefined) return true;
  const endMs = performance.now() + longestMs;
  return endMs <= (done < (time.roundsLeast ?? ROUNDS_MIN) ? time.hardMs : time.softMs);
}

export function paramText(params: Params): string {
  const text = (value: number | string): string =>
    typeof value === "number" ? value.toLocaleString("en-US") : value;
  return Object.entries(params)
    .map(([name, value]) => `${name} ${text(value)}`)
    .join(", ");
}

interface Stage {
  readonly observe: Observe;
  close(): Promise<void>;
}

function fresh({ params, observeFresh }: RunOptions): Stage {
  return { observe: (side) => observeFresh(side, params), close: async () => {} };
}

async function shared(
  { bench, params }: RunOptions,
  sides: readonly string[],
  watch: Watch,
): Promise<Stage> {
  const jobs = new Map<string, Awaited<ReturnType<BenchCase["setup"]>>>();
  const observe: Observe = async (side) => {
    const job = jobs.get(side);
    if (job === undefined) throw new Error(`side: ${side} (expected: one of ${sides.join(", ")})`);
    const measured = await job.run();
    return { measured, checksum: job.checksum() };
  };
  await watch.time(SETUP, async () => {
    for (const side of sides) jobs.set(side, await bench.setup(side, params));
    for (const side of sides) await observe(side);
  });
  return {
    observe,
    async close() {
      for (const job of jobs.values()) await job.close?.();
    },
  };
}

type Ratios = Pick<CaseResult, "observations" | "comparisons" | "same">;

function resultOf(bench: BenchCase, taken: Map<string, Observation[]>): Ratios {
  const observations: Record<string, Observation[]> = {};
  for (const [seat, list] of taken) if (!seat.endsWith(AGAIN)) observations[seat] = list;
  const comparisons: Comparison[] = [];
  for (const [subject, peer] of bench.pairs) {
    const ours = taken.get(subject);
    const others = taken.get(peer);
    if (ours === undefined || others === undefined) continue;
    if (bench.isSameWork !== false) checkSums(bench, [subject, ours], [peer, others]);
    comparisons.push(...compare([subject, ours], [peer, others]));
  }
  const same: Comparison[] = [];
  for (const [seat, list] of taken) {
    if (!seat.endsWith(AGAIN)) continue;
    const side = sideOf(seat);
    const ours = taken.get(side) as Observation[];
    checkSums(bench, [side, ours], [seat, list]);
    same.push(...compare([side, ours], [side, list]));
  }
  return { observations, comparisons, same };
}

type Seat = readonly [side: string, observations: readonly Observation[]];

function checkSums(bench: BenchCase, [subject, ours]: Seat, [peer, others]: Seat): void {
  ours.forEach(({ checksum }, round) => {
    const other = others[round]?.checksum;
    if (checksum === other) return;
    const answers = `${subject} answers ${checksum}, ${peer} answers ${other}`;
    throw new Error(`${bench.name}: ${answers} (expected: the same)`);
  });
}

/** A ratio for every phase that both have. */
function compare([subject, ours]: Seat, [peer, others]: Seat): Comparison[] {
  const phases = Object.keys(ours[0]?.measured.times ?? {});
  const both = phases.filter((phase) => others[0]?.measured.times[phase] !== undefined);
  const timesOf = (list: readonly Observation[], phase: string): number[] =>
    list.map(({ measured }) => measured.times[phase] as number);
  return both.map((phase) => {
    const ratio = ratioOf(timesOf(ours, phase), timesOf(others, phase));
    return { subject, peer, phase, ratio };
  });
}
