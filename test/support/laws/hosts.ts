/** Laws of hosts: delays, blocks, failures in a row, the breaker, and what a clear leaves. */
import type { SyncPoliteness } from "../frontier-surface.ts";
import type { ModelHost } from "../model-state.ts";

type Adaptive = NonNullable<SyncPoliteness["adaptive"]>;

export const HOST_LAWS = {
  /** The delay starts again at the end of a visit. */
  readyAfterVisit: (_host: ModelHost, endMs: number, delayMs: number): number => endMs + delayMs,

  /** Retry-After counts from the end of the visit. */
  endOfRetryAfter: (now: number, retryAfterMs: number): number => now + retryAfterMs,

  /** A block can only be made longer. */
  blockedUntil: (before: number, untilMs: number): number => Math.max(before, untilMs),

  /** The delay learned from a latency stays between the bounds of the rule. */
  learnedDelay: (latencyMs: number, { factor, minMs, maxMs }: Adaptive): number =>
    Math.min(Math.max(factor * latencyMs, minMs), maxMs),

  /** A success ends a row of failures. */
  failuresAfterSuccess: (_failuresInRow: number): number => 0,

  /** Back-off begins with this failure in a row. */
  isBackedOff: (failuresInRow: number, after: number): boolean => failuresInRow >= after,

  /** A host gives up with this failure in a row. */
  givesUp: (failuresInRow: number, giveUpAfter: number): boolean => failuresInRow >= giveUpAfter,

  /** The breaker counts the failures of its window. */
  countsForBreaker: (failedAt: number, now: number, withinMs: number): boolean =>
    failedAt > now - withinMs,

  /** What was set by hand, and a known address, outlive a clear. */
  outlivesClear: ({ isSet, isHeld, address }: ModelHost): boolean =>
    isSet || isHeld || address !== undefined,
};
