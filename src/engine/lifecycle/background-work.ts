/**
 * BackgroundWork: what a frontier does by itself, in slices between the user's calls: the sweep after a change of rules, moves
 * between memory and disk, and seeds (rule-seeds.ts).
 *
 *   I1  One timer serves all (lifecycle.ts), however often rules are swapped, and only while there is something to do.
 *   I2  While the medium alone is waited for, it is asked again after a while, each time twice as long: a clock that is moved by hand
 *       leaves it no turn of the event loop to end in.
 */
import type { Clock } from "../../base/clock.ts";
import { isMemoryFull } from "../../base/errors.ts";
import type { Core } from "../../frontier/core.ts";
import { isSweeping, sweepSlice } from "../../frontier/rules/rule-sweep.ts";
import {
  isSpillDue,
  spillOverBudget,
  spillFault,
} from "../../frontier/scheduling/spill-control.ts";
import { seenIsBusy, seenStep } from "../../structures/seen/seen-set.ts";
import type { Sweep } from "../../frontier/rules/sweep-state.ts";
import type { EventHub } from "../event-hub.ts";
import type { IntakeContext } from "../intake/intake-context.ts";
import { retryAt, RuleSeeds } from "../intake/rule-seeds.ts";

/** A slice of the sweep is over after this long, whatever it has done. */
const SWEEP_MS = 1;

/** Entries of the seen-set moved or merged in one slice: a millisecond or two, and one wait for the disk at most. */
const SLICE_ENTRIES = 4096;

/** Waits between two questions whether the medium has ended, the first and the longest. */
const WAIT_MS = 1;
const WAIT_MS_MOST = 1_000;

export class BackgroundWork {
  readonly seeds: RuleSeeds;
  readonly #events: EventHub;
  readonly #clock: Clock;
  #reportedSweep: Sweep | undefined;
  /** When the disk refused last. */
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** The wait until the medium is asked again (I2), and when it began; 0: nothing is waited for. */
  #waitMs = 0;
  #waitedAt = Number.NEGATIVE_INFINITY;
  /** When the sweep found no room last. */
  #shortAt = Number.NEGATIVE_INFINITY;

  constructor(intake: () => IntakeContext, events: EventHub, clock: Clock) {
    this.seeds = new RuleSeeds(intake);
    this.#events = events;
    this.#clock = clock;
  }

  /** A core begins with the rules that it has: no sweep of its own is reported. */
  begin(core: Core, nowMs: number): void {
    this.#reportedSweep = core.sweep;
    this.seeds.resume(core);
    this.rulesChanged(core, nowMs, this.#clock.monotonic());
  }

  /** `sinceMs`: when the call began that brought them: a large set has taken a slice's time already. */
  rulesChanged(core: Core, nowMs: number, sinceMs: number): void {
    this.seeds.rulesChanged(core, nowMs);
    this.#shortAt = Number.NEGATIVE_INFINITY;
    this.run(core, nowMs, sinceMs);
  }

  /** When there is something to do; at `nowMs`: at once. A disk that refused is not asked again at once. */
  dueAt(core: Core, nowMs: number): number {
    if (isSweeping(core)) return retryAt(this.#shortAt, nowMs);
    return Math.min(this.#tidyAt(core, nowMs), this.seeds.dueAt(core, nowMs));
  }

  #tidyAt(core: Core, nowMs: number): number {
    const isSpilling = isSpillDue(core);
    if (!isSpilling && !seenIsBusy(core.seen)) return Number.POSITIVE_INFINITY;
    const atMs = retryAt(this.#refusedAt, nowMs);
    const isWaiting = !isSpilling && this.#waitMs > 0 && nowMs >= this.#waitedAt;
    return isWaiting ? Math.max(atMs, this.#waitedAt + this.#waitMs) : atMs;
  }

  /** Whether `dueAt` is Infinity, as it mostly is. */
  isResting(core: Core): boolean {
    const { seeds } = this;
    if (isSweeping(core) || seeds.isSeeding || seeds.nextAt !== Number.POSITIVE_INFINITY)
      return false;
    return !seenIsBusy(core.seen) && !isSpillDue(core);
  }

  /** The earlier of a time and that of the next seeds; undefined: neither is known. */
  before(dueMs: number | undefined): number | undefined {
    const atMs = Math.min(dueMs ?? Number.POSITIVE_INFINITY, this.seeds.nextAt);
    return atMs === Number.POSITIVE_INFINITY ? undefined : atMs;
  }

  /** One slice of each. */
  run(core: Core, nowMs: number, sinceMs = this.#clock.monotonic()): void {
    if (isSweeping(core)) this.#sweep(core, nowMs, sinceMs + SWEEP_MS);
    this.#emitRulesApplied(core);
    this.#moveToDisk(core, nowMs);
    this.seeds.run(core, nowMs);
  }

  /** A slice of the sweep; where there is no room for a record under its new rule, the rest waits for it. */
  #sweep(core: Core, nowMs: number, endMs: number): void {
    if (retryAt(this.#shortAt, nowMs) > nowMs) return;
    try {
      sweepSlice(core, nowMs, () => this.#clock.monotonic() >= endMs);
    } catch (error) {
      if (!isMemoryFull(error)) throw error;
      this.#shortAt = nowMs;
    }
  }

  /** Moves between memory and disk, a slice of them; what the disk refused is reported and tried again later. */
  #moveToDisk(core: Core, nowMs: number): void {
    if (retryAt(this.#refusedAt, nowMs) > nowMs) return;
    try {
      if (seenIsBusy(core.seen)) this.#moveIdentities(core, nowMs);
    } catch (cause) {
      this.#diskRefused("seen", cause, nowMs);
    }
    if (isSpillDue(core)) spillOverBudget(core, nowMs);
    const cause = spillFault(core);
    if (cause !== undefined) this.#diskRefused("spill", cause, nowMs);
  }

  #moveIdentities(core: Core, nowMs: number): void {
    const isWaiting = seenStep(core.seen, SLICE_ENTRIES) === 0;
    this.#waitMs = isWaiting ? Math.min(Math.max(WAIT_MS, this.#waitMs * 2), WAIT_MS_MOST) : 0;
    this.#waitedAt = nowMs;
  }

  #diskRefused(stage: string, cause: unknown, nowMs: number): void {
    this.#refusedAt = nowMs;
    this.#events.fault({ kind: "disk", stage, cause });
  }

  #emitRulesApplied(core: Core): void {
    const { sweep } = core;
    if (sweep === undefined || !sweep.isDone || sweep === this.#reportedSweep) return;
    this.#reportedSweep = sweep;
    const { version, unmatched, unmatchedCount, moved } = sweep;
    this.#events.emit("rulesApplied", { version, unmatched, unmatchedCount, moved });
  }
}
