/**
 * Chores: what a frontier does by itself, in slices between the user's calls: the sweep after a change of rules, moves
 * between memory and disk, and seeds (seeds.ts).
 *
 *   I1  One timer serves all (life.ts), however often rules are swapped, and only while there is something to do.
 */
import type { Clock } from "../base/clock.ts";
import { isMemoryFull } from "../base/errors.ts";
import type { Core } from "../frontier/core.ts";
import { isSweeping, sweepSlice } from "../frontier/sweeping.ts";
import { isSpillDue, relieve, spillFault } from "../frontier/spilling.ts";
import { seenIsBusy, seenStep } from "../structures/seen-set.ts";
import type { Sweep } from "../frontier/sweep.ts";
import type { EventHub } from "./events.ts";
import type { Gate } from "./gate.ts";
import { againAt, Seeds } from "./seeds.ts";

/** A slice of the sweep is over after this long, whatever it has done. */
const SWEEP_MS = 1;

/** Entries of the seen-set moved or merged in one slice: a millisecond or two, and one wait for the disk at most. */
const SLICE_ENTRIES = 4096;

export class Chores {
  readonly seeds: Seeds;
  readonly #events: EventHub;
  readonly #clock: Clock;
  #toldSweep: Sweep | undefined;
  /** When the disk refused last. */
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** When the sweep found no room last. */
  #shortAt = Number.NEGATIVE_INFINITY;

  constructor(gate: () => Gate, events: EventHub, clock: Clock) {
    this.seeds = new Seeds(gate);
    this.#events = events;
    this.#clock = clock;
  }

  /** A core begins with the rules that it has: no sweep of its own is told of. */
  begin(core: Core, nowMs: number): void {
    this.#toldSweep = core.sweep;
    this.seeds.goOn(core);
    this.rulesChanged(core, nowMs, this.#clock.monotonic());
  }

  /** `sinceMs`: when the call began that brought them: a large set has taken a slice's time already. */
  rulesChanged(core: Core, nowMs: number, sinceMs: number): void {
    this.seeds.rulesChanged(core, nowMs);
    this.run(core, nowMs, sinceMs);
  }

  /** When there is something to do; at `nowMs`: at once. A disk that refused is not asked again at once. */
  dueAt(core: Core, nowMs: number): number {
    if (isSweeping(core)) return againAt(this.#shortAt, nowMs);
    const isTidy = !seenIsBusy(core.seen) && !isSpillDue(core);
    const tidyAt = isTidy ? Number.POSITIVE_INFINITY : againAt(this.#refusedAt, nowMs);
    return Math.min(tidyAt, this.seeds.dueAt(core, nowMs));
  }

  /** The earlier of a time and that of the next seeds; undefined: neither is known. */
  before(dueMs: number | undefined): number | undefined {
    const atMs = Math.min(dueMs ?? Number.POSITIVE_INFINITY, this.seeds.nextAt);
    return atMs === Number.POSITIVE_INFINITY ? undefined : atMs;
  }

  /** One slice of each. */
  run(core: Core, nowMs: number, sinceMs = this.#clock.monotonic()): void {
    if (isSweeping(core)) this.#sweep(core, nowMs, sinceMs + SWEEP_MS);
    this.#tell(core);
    this.#tidy(core, nowMs);
    this.seeds.run(core, nowMs);
  }

  /** A slice of the sweep; where there is no room for a record under its new rule, the rest waits for it. */
  #sweep(core: Core, nowMs: number, endMs: number): void {
    if (againAt(this.#shortAt, nowMs) > nowMs) return;
    try {
      sweepSlice(core, nowMs, () => this.#clock.monotonic() >= endMs);
    } catch (error) {
      if (!isMemoryFull(error)) throw error;
      this.#shortAt = nowMs;
    }
  }

  /** Moves between memory and disk, a slice of them; what the disk refused is told and tried again later. */
  #tidy(core: Core, nowMs: number): void {
    if (againAt(this.#refusedAt, nowMs) > nowMs) return;
    try {
      if (seenIsBusy(core.seen)) seenStep(core.seen, SLICE_ENTRIES);
    } catch (cause) {
      this.#refused("seen", cause, nowMs);
    }
    if (isSpillDue(core)) relieve(core, nowMs);
    const cause = spillFault(core);
    if (cause !== undefined) this.#refused("spill", cause, nowMs);
  }

  #refused(stage: string, cause: unknown, nowMs: number): void {
    this.#refusedAt = nowMs;
    this.#events.fault({ kind: "disk", stage, cause });
  }

  #tell(core: Core): void {
    const { sweep } = core;
    if (sweep === undefined || !sweep.isDone || sweep === this.#toldSweep) return;
    this.#toldSweep = sweep;
    const { version, unmatched, unmatchedCount, moved } = sweep;
    this.#events.emit("rulesApplied", { version, unmatched, unmatchedCount, moved });
  }
}
