/**
 * BackgroundWork: what a frontier does by itself, in slices between the user's calls: the sweep after a change of rules, moves
 * between memory and disk, and seeds (rule-seeds.ts).
 *
 *   I1  One timer serves all (lifecycle.ts), however often rules are swapped, and only while there is something to do.
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

export class BackgroundWork {
  readonly seeds: RuleSeeds;
  readonly #events: EventHub;
  readonly #clock: Clock;
  #reportedSweep: Sweep | undefined;
  /** When the disk refused last. */
  #refusedAt = Number.NEGATIVE_INFINITY;
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
    const isTidy = !seenIsBusy(core.seen) && !isSpillDue(core);
    const tidyAt = isTidy ? Number.POSITIVE_INFINITY : retryAt(this.#refusedAt, nowMs);
    return Math.min(tidyAt, this.seeds.dueAt(core, nowMs));
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
      if (seenIsBusy(core.seen)) seenStep(core.seen, SLICE_ENTRIES);
    } catch (cause) {
      this.#diskRefused("seen", cause, nowMs);
    }
    if (isSpillDue(core)) spillOverBudget(core, nowMs);
    const cause = spillFault(core);
    if (cause !== undefined) this.#diskRefused("spill", cause, nowMs);
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
