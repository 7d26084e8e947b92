/**
 * Latencies of calls, and how long the longest of them were without the collections that fell into them.
 *
 * A garbage collection is caused by the code that filled the heap, which need not be the call that it interrupts. So the histogram holds
 * whole calls, and beside it is the longest call less its collections. That is chosen among the
 * KEPT longest calls: all others are shorter than those were with their collections.
 *
 * Time that a call stood in the run queue is the machine's, not ours: where calls are opened with `begin`, the log also
 * reports the longest call less its collections and its waits, and the longest wait. What a host takes from a virtual
 * machine is counted nowhere, and a wait that ends in the call's last moments is counted late: a loop of 0.3 ms that does
 * nothing was so said to take 4.8. No call has worked longer than all threads of the process were on a core meanwhile,
 * so that is the most that such a call is charged with. That time holds what the host takes all the same. So the number of the call is
 * reported as well: a call that is itself long is the same in every process, and what the machine adds differs each time.
 */
import { nowNs } from "./case.ts";
import { createHistogram, type Percentiles, percentilesOf, recordNs } from "./histogram.ts";
import { watchPauses } from "./machine.ts";
import { openThreadWait } from "./thread-wait.ts";

const KEPT = 256;

export interface CallLog {
  /** Opens a call whose waits for a core are looked at too; returns nowNs. */
  begin(): number;
  /** A call that began at `start` (nowNs) ends now; returns how long it took. */
  end(start: number): number;
  stop(): Promise<CallFacts>;
}

export interface CallFacts {
  readonly percentiles: Percentiles;
  /** Longest collection, longest call without collections; with `begin`, also without waits, and the longest wait. */
  readonly facts: Readonly<Record<string, number>>;
}

/** One of the longest calls so far. */
interface KeptCall {
  /** How many calls ended before it. */
  readonly number: number;
  readonly start: number;
  readonly took: number;
  readonly waited: number;
  readonly worked: number;
}

export function createCallLog(): CallLog {
  const histogram = createHistogram();
  const pauses = watchPauses();
  const longest: KeptCall[] = [];
  let ended = 0;
  let least = 0;
  const waitNow = openThreadWait();
  let waitBefore: number | undefined;
  let workBefore: NodeJS.CpuUsage | undefined;
  let waitMost = 0;
  return {
    begin() {
      waitBefore = waitNow?.();
      workBefore = process.cpuUsage();
      return nowNs();
    },
    end(start) {
      const took = nowNs() - start;
      const worked = workBefore === undefined ? Number.POSITIVE_INFINITY : workedNs(workBefore);
      const waited = waitBefore === undefined ? 0 : (waitNow?.() ?? 0) - waitBefore;
      waitMost = Math.max(waitMost, waited);
      recordNs(histogram, took);
      const number = ended++;
      if (took > least) {
        longest.push({ number, start, took, waited, worked });
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
      let ownOnCore = 0;
      let longestNumber = 0;
      for (const { number, start, took, waited, worked } of longest) {
        let inside = 0;
        for (const pause of list) {
          const from = Math.max(start, pause.startMs * 1e6);
          const to = Math.min(start + took, (pause.startMs + pause.lengthMs) * 1e6);
          if (to > from) inside += to - from;
        }
        own = Math.max(own, took - inside);
        const onCore = Math.min(took - inside - waited, worked);
        if (onCore > ownOnCore) longestNumber = number;
        ownOnCore = Math.max(ownOnCore, onCore);
      }
      return {
        percentiles: percentilesOf(histogram),
        facts: {
          "longest GC ms": maxMs,
          "longest call without GC ms": own / 1e6,
          ...(waitBefore === undefined
            ? {}
            : {
                "longest call without GC and waits ms": ownOnCore / 1e6,
                "number of that call": longestNumber,
                "longest wait for a core ms": waitMost / 1e6,
              }),
        },
      };
    },
  };
}

/** What all threads of the process have worked since. */
function workedNs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) * 1e3;
}
