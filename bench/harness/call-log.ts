/**
 * Latencies of calls, and how long the longest of them were without the collections that fell into them.
 *
 * A garbage collection belongs to whoever filled the heap, which need not be the call it interrupts; so the histogram holds
 * whole calls, and beside it stands the longest call after its collections are taken off. That is judged among the
 * KEPT longest calls: all others are shorter than those were with their collections.
 */
import { nowNs } from "./case.ts";
import { createHistogram, type Percentiles, percentilesOf, recordNs } from "./histogram.ts";
import { watchPauses } from "./machine.ts";

const KEPT = 256;

export interface CallLog {
  /** A call that began at `start` (nowNs) ends now; returns how long it took. */
  end(start: number): number;
  stop(): Promise<CallFacts>;
}

export interface CallFacts {
  readonly percentiles: Percentiles;
  /** Longest collection, and longest call without collections. */
  readonly facts: Record<"longest GC ms" | "longest call without GC ms", number>;
}

export function createCallLog(): CallLog {
  const histogram = createHistogram();
  const pauses = watchPauses();
  const longest: { start: number; took: number }[] = [];
  let least = 0;
  return {
    end(start) {
      const took = nowNs() - start;
      recordNs(histogram, took);
      if (took > least) {
        longest.push({ start, took });
        if (longest.length >= 2 * KEPT) {
          longest.sort((a, b) => b.took - a.took);
          longest.length = KEPT;
          least = longest.at(-1)?.took ?? 0;
        }
      }
      return took;
    },
    async stop() {
      const { list, maxMs } = await pauses.stop();
      let own = 0;
      for (const { start, took } of longest) {
        let inside = 0;
        for (const pause of list) {
          const from = Math.max(start, pause.startMs * 1e6);
          const to = Math.min(start + took, (pause.startMs + pause.lengthMs) * 1e6);
          if (to > from) inside += to - from;
        }
        own = Math.max(own, took - inside);
      }
      return {
        percentiles: percentilesOf(histogram),
        facts: { "longest GC ms": maxMs, "longest call without GC ms": own / 1e6 },
      };
    },
  };
}
