/**
 * Room `src/engine/lifecycle`: status, waiters and the one timer; idle, finished, paused by failures; background work
 * between calls. Decides when the frontier acts by itself.
 */

/**
 * Completion: whether a frontier is idle, and whether it is finished.
 *
 *   work ─▶ idle: nothing pending or leased ─▶ nothing waits, rests or is being pushed ─▶ onIdle, idleTimeoutMs ─▶ finished
 *
 *   I1  `idle` and `finished` are emitted once each until there is work again.
 */
import { refusePromise } from "../../base/errors.ts";
import type { Core } from "../../frontier/core.ts";
import { heapPeekKey } from "../../structures/ordering/heap.ts";
import type { RuleSeeds } from "../intake/rule-seeds.ts";
import type { EventHub } from "../event-hub.ts";
import type { Settings } from "../options/normalize-options.ts";

/** A vetoed end is asked about again after this, as long as a caller waits. */
const IDLE_RECHECK_MS = 1_000;

/** What an end depends on beside the core's counters. */
interface CompletionSources {
  readonly settings: Settings;
  readonly events: EventHub;
  readonly seeds: RuleSeeds;
  /** The core as it is after onIdle, which may have pushed or closed. */
  readonly core: () => Core | undefined;
}

export class Completion {
  readonly #with: CompletionSources;
  #isIdle = false;
  #idleSince: number | undefined;
  #vetoedAt: number | undefined;
  /** Finished, as waiters see it. */
  isFinished = false;

  constructor(sources: CompletionSources) {
    this.#with = sources;
  }

  /** Whether there is work, and `update` has seen it. */
  isAtWork({ counters }: Core): boolean {
    return !this.#isIdle && (counters.pending > 0 || counters.leased > 0);
  }

  /** Emits idle and finished, once each. `sources`: how many are being pushed from. */
  update(core: Core, sources: number, nowMs: number): void {
    const { events, seeds } = this.#with;
    const { accepted, deferred, pending, waiting, leased } = core.counters;
    if (pending > 0 || leased > 0 || accepted + deferred === 0) {
      this.#isIdle = false;
      this.isFinished = false;
      this.#idleSince = undefined;
      this.#vetoedAt = undefined;
      return;
    }
    if (!this.#isIdle) {
      this.#isIdle = true;
      events.emit("idle", { atMs: nowMs });
    }
    const isComing = heapPeekKey(core.resting) < Number.POSITIVE_INFINITY;
    if (waiting > 0 || isComing || sources > 0 || seeds.isSeeding) {
      this.isFinished = false;
      this.#idleSince = undefined;
      return;
    }
    this.#idleSince ??= nowMs;
    if (this.isFinished || !this.#mayFinish(nowMs)) return;
    this.isFinished = true;
    events.emit("finished", { atMs: nowMs });
  }

  /** When the clock alone may bring the end about; Infinity: it can not. */
  dueAt(nowMs: number): number {
    if (this.#idleSince === undefined || this.isFinished) return Number.POSITIVE_INFINITY;
    const { settings, seeds } = this.#with;
    const { idleTimeoutMs, keepOpen, onIdle } = settings;
    let atMs = Number.POSITIVE_INFINITY;
    if (idleTimeoutMs !== undefined) atMs = this.#idleSince + idleTimeoutMs;
    if (onIdle === undefined || keepOpen || seeds.hasEvery) return atMs;
    return Math.min(atMs, (this.#vetoedAt ?? nowMs) + IDLE_RECHECK_MS);
  }

  #mayFinish(nowMs: number): boolean {
    const { settings, seeds, events } = this.#with;
    const { idleTimeoutMs, keepOpen, onIdle } = settings;
    if (idleTimeoutMs !== undefined && nowMs - (this.#idleSince ?? nowMs) >= idleTimeoutMs) {
      return true;
    }
    if (keepOpen || seeds.hasEvery) return false;
    if (onIdle === undefined) return true;
    if (this.#vetoedAt !== undefined && nowMs - this.#vetoedAt < IDLE_RECHECK_MS) return false;
    this.#vetoedAt = nowMs;
    try {
      const answer: unknown = onIdle();
      refusePromise("onIdle", answer, "true, false or nothing");
      return answer !== true && this.#isStillIdle();
    } catch (cause) {
      events.fault({ kind: "hook", stage: "onIdle", cause });
      return this.#isStillIdle();
    }
  }

  /** onIdle may have pushed or closed. */
  #isStillIdle(): boolean {
    const counters = this.#with.core()?.counters;
    return counters !== undefined && counters.pending + counters.waiting + counters.leased === 0;
  }
}
