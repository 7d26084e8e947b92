/** Counters and times of a server since its start: what URLFrontier's own service counts, and how long calls took. */
import {
  createLatencyHistogram,
  type Latency,
  latencyOf,
  recordLatency,
} from "../../base/time/latency-histogram.ts";
import { SKIPPED } from "../grpc/messages.ts";

export interface ServerMetrics {
  getCalls: number;
  putCalls: number;
  urlsSent: number;
  put: number;
  discovered: number;
  known: number;
  /** Discovered ones that were known already. */
  ignored: number;
  completed: number;
  countPut(count: number, isKnown: boolean, statuses: Uint8Array): void;
  /** How long GetURLs took, from its request to its last URL. */
  countGet(ms: number): void;
  /** How long a run of messages took, from its start to its last answer. */
  countRun(ms: number): void;
  getTimes(): Latency;
  putTimes(): Latency;
}

export function createServerMetrics(): ServerMetrics {
  const gets = createLatencyHistogram();
  const puts = createLatencyHistogram();
  return {
    getCalls: 0,
    putCalls: 0,
    urlsSent: 0,
    put: 0,
    discovered: 0,
    known: 0,
    ignored: 0,
    completed: 0,
    countPut(count, isKnown, statuses) {
      this.put += count;
      if (isKnown) {
        this.known += count;
        return;
      }
      this.discovered += count;
      for (const status of statuses) if (status === SKIPPED) this.ignored++;
    },
    countGet: (ms) => recordLatency(gets, ms),
    countRun: (ms) => recordLatency(puts, ms),
    getTimes: () => latencyOf(gets),
    putTimes: () => latencyOf(puts),
  };
}
