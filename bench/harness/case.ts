/**
 * The shape of a benchmark: what is measured, on which sides, at which sizes.
 *
 *   case ── sizes.smoke | sizes.real ──▶ params ─┬─ side "outrider" ── setup ─▶ job ── run ─▶ measured
 *                                               └─ side "plain"    ── setup ─▶ job ── run ─▶ measured
 *                                                             checksums of a pair must be equal
 *
 *   I1  `run` times its own work and nothing else: what is made for it is made outside the clock.
 *   I2  `checksum` is that of the last run's answers; two sides of a pair that differ are a fault of the
 *       case, and its numbers are not shown.
 */
import type { Percentiles } from "./histogram.ts";

export type Params = Readonly<Record<string, number | string>>;

/** What one run of one side gave. */
export interface Measured {
  /** Nanoseconds per unit by phase; phases that both sides of a pair have are compared. */
  readonly times: Readonly<Record<string, number>>;
  /** Anything else worth a line: bytes per URL, shares, counts. Not compared. */
  readonly facts?: Readonly<Record<string, number>>;
  /** Latencies of single calls, nanoseconds. */
  readonly latencies?: Readonly<Record<string, Percentiles>>;
}

export interface Job {
  run(): Measured | Promise<Measured>;
  checksum(): string;
  close?(): void | Promise<void>;
}

export type Suite =
  | "kernel"
  | "core"
  | "rules"
  | "durability"
  | "workers"
  | "crawl"
  | "peers"
  | "crawlee"
  | "server"
  | "redis";

export interface BenchSizes {
  /** Run by the tests: every side in milliseconds. */
  readonly smoke: readonly Params[];
  readonly real: readonly Params[];
  /** What the suite of ten minutes takes, the size that the case is about first; where missing, the first of `real`. Empty: nothing. */
  readonly suite?: readonly Params[];
  /** Taken besides by a suite with --large. */
  readonly large?: readonly Params[];
}

export interface BenchCase {
  readonly name: string;
  readonly suite: Suite;
  /** One sentence for the list and the table's head. */
  readonly about: string;
  /** What a reader asks, as the report's heading; `about` where it is missing. */
  readonly question?: string;
  /** What one count of the times is: "URL", "operation". */
  readonly unit: string;
  /** shared: all sides take turns in one process. fresh: a new process for every observation. */
  readonly process: "shared" | "fresh";
  /** [subject, peer]: the ratio shown is the peer's time divided by the subject's. */
  readonly pairs: readonly (readonly [subject: string, peer: string])[];
  /** False where the sides do different work on purpose, as a latency probe beside a table. */
  readonly isSameWork?: boolean;
  /** What TARGETS or the issue asks of the ratio, in words. */
  readonly target?: string;
  readonly sizes: BenchSizes;
  /** Rounds of a real run, where it takes fewer than usual. */
  readonly rounds?: number | ((params: Params) => number);
  /** What a second of it is worth to the suite, against 1 of any other. */
  readonly worth?: number;
  /** The sizes of the suite are one picture: none is left out for a second round of another case. */
  readonly isPicture?: boolean;
  /** Sides that are programs of others: one that fails is reported as not measured, and the case continues. */
  isGuest?(side: string): boolean;
  setup(side: string, params: Params): Job | Promise<Job>;
  /** Sides that cannot run here, with the reason: they are listed as not measured. */
  missing?(side: string, params: Params): string | undefined;
}

export const ROUNDS = { smoke: 1, shared: 15, fresh: 5 } as const;

/** Rounds of a real run at a size. */
export function roundsOf({ rounds, process: where }: BenchCase, params: Params): number {
  return (typeof rounds === "function" ? rounds(params) : rounds) ?? ROUNDS[where];
}

/** The sides of a case, each once, in the order of its pairs. */
export function sidesOf(bench: BenchCase): string[] {
  return [...new Set(bench.pairs.flat())];
}

export function numberOf(params: Params, name: string): number {
  const value = params[name];
  if (typeof value !== "number") throw new Error(`param ${name}: ${value} (expected: a number)`);
  return value;
}

/** A run of fewer shows that it works and times nothing worth a warm-up. */
const COLD_MAX = 10_000;
const WARM_MAX = 20_000;

/** How many of something a process does before the clock runs, so that compilers have done their work; none before a small run. */
export function warmSize(count: number): number {
  return count <= COLD_MAX ? 0 : Math.min(WARM_MAX, count);
}

/** Nanoseconds now, as a double: exact to a fraction of a microsecond over a day. */
export function nowNs(): number {
  return performance.now() * 1e6;
}
