/**
 * CircuitBreaker: enough failures within a short time pause the frontier, and the clock ends that pause.
 *
 *   I1  A pause by hand is the user's to end: the breaker neither ends it nor makes it its own.
 */
import type { Settings } from "../options/normalize-options.ts";
import type { FrontierStatus } from "../types/frontier-types.ts";

export class CircuitBreaker {
  readonly #settings: Settings;
  /** Times of the latest failures, as many as trip it. */
  readonly #failures: number[] = [];
  /** When its pause ends; undefined: it holds none. */
  untilMs: number | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Notes a failure; true: a pause begins now, or the one it holds grows longer. */
  failure(nowMs: number, status: FrontierStatus): boolean {
    const { breaker } = this.#settings;
    if (breaker === undefined) return false;
    this.#failures.push(nowMs);
    if (this.#failures.length > breaker.failures) this.#failures.shift();
    const isMany = this.#failures.length === breaker.failures;
    if (!isMany || nowMs - (this.#failures[0] as number) >= breaker.withinMs) return false;
    this.#failures.length = 0;
    if (status !== "running" && this.untilMs === undefined) return false; // I1
    this.untilMs = nowMs + breaker.pauseMs;
    return true;
  }

  /** Whether its pause has just ended by the clock. */
  reset(nowMs: number): boolean {
    if (this.untilMs === undefined || nowMs < this.untilMs) return false;
    this.untilMs = undefined;
    return true;
  }

  /** A caller has changed the status. */
  disarm(): void {
    this.untilMs = undefined;
  }
}
