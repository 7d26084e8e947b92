/** The report of a frontier, as a type. */
import type { Latency } from "../../base/time/latency-histogram.ts";
import type { FrontierStatus } from "./event-types.ts";

/**
 * Counters and gauges, as plain data. A counter only rises; a gauge is a current value. What is kept over a restart needs a directory, or
 * the file of `snapshot`; after a kill, counters that no record holds (`pushed`, `duplicate`, `rejected`, `full`, `expired`,
 * `lateResults`) are those of the last flush.
 *
 * accepted + deferred = pending + waiting + leased + done + failed + forgotten + removed, always.
 */
export interface Report {
  /** The frontier's status. Gauge of this process. */
  readonly status: FrontierStatus;
  /** When something can be handed out again, where everything left waits for a clock. Gauge, kept over a restart. */
  readonly waitingUntil: number | undefined;
  /** Requests that were pushed, links of pages too. Counter, kept over a restart. */
  readonly pushed: number;
  /** Requests that were admitted at once. Counter, kept over a restart. */
  readonly accepted: number;
  /** Requests that were admitted for later. Counter, kept over a restart. */
  readonly deferred: number;
  /** Requests whose identity was known. Counter, kept over a restart. */
  readonly duplicate: number;
  /** Requests that were refused, by reason. Counter, kept over a restart. */
  readonly rejected: Record<string, number>;
  /** Requests for which there was no room. Counter, kept over a restart. */
  readonly full: number;
  /** Attempts after the first. Counter, kept over a restart. */
  readonly retried: number;
  /** Leases whose deadline passed. Counter, kept over a restart. */
  readonly expired: number;
  /** Results that came after their deadline. Counter, kept over a restart. */
  readonly lateResults: number;
  /** Why records were retried and why they failed since opening; at most 100 reasons. Counter since opening. */
  readonly reasons: {
    /** Retries by reason. */
    retried: Record<string, number>;
    /** Failures by reason. */
    failed: Record<string, number>;
  };
  /**
   * How long visits took, by the frontier's clock. Percentiles are at most 1 % too high. `clear` begins anew. Counter since
   * opening.
   */
  readonly latency: {
    /**
     * Leases, from the call that handed them out to `done`, `retry` or `fail`. Those that were released, ran out or came too late
     * are not counted. In a worker pool the time includes the wait in the worker's queue.
     */
    leases: Latency;
    /** Fetches, as results reported them: `Outcome.latencyMs`. `crawl` reports the time to the first byte. */
    fetches: Latency;
  };
  /** Faults that were dropped because no listener was there, and `error` listeners that threw. Counter since opening. */
  readonly droppedEvents: number;
  /** Records that could go now, or when their host may. Gauge, kept over a restart. */
  readonly pending: number;
  /** Records that wait for their time. Gauge, kept over a restart. */
  readonly waiting: number;
  /** Records that are handed out. Gauge of this process. */
  readonly leased: number;
  /** Identities that were finished. Gauge, kept over a restart. */
  readonly done: number;
  /** Records that failed and are kept. Gauge, kept over a restart. */
  readonly failed: number;
  /** Finished and failed ones that `forget` dropped. Counter, kept over a restart. */
  readonly forgotten: number;
  /** Records that `remove` took out. Counter, kept over a restart. */
  readonly removed: number;
  /** Hosts in memory. Gauge of this process. */
  readonly hosts: number;
  /** Queues in memory, one for each order class. Gauge of this process. */
  readonly lanes: number;
  /** Identities in the seen-set. Gauge, kept over a restart. */
  readonly seen: number;
  /** Admitted requests by depth. Counter, kept over a restart. */
  readonly depths: number[];
  /** Counts by rule id. */
  readonly rules: Record<
    string,
    {
      /** Pending records. Gauge, kept over a restart. */
      pending: number;
      /** Records that are handed out. Gauge of this process. */
      leased: number;
      /** Records that were finished. Counter, kept over a restart. */
      done: number;
      /** Records that failed. Gauge, kept over a restart. */
      failed: number;
      /** Hand-outs. Counter, kept over a restart. */
      served: number;
    }
  >;
  /** How seen identities are kept. */
  readonly seenSet: {
    /** The mode. Gauge of this process. */
    mode: "exact" | "tiered" | "bloom";
    /** Memory in bytes. Gauge of this process. */
    bytes: number;
    /** Share of its places in use. Gauge of this process. */
    load: number;
    /** Memory for an identity in bits. Gauge of this process. */
    bitsPerUrl: number;
    /** Share of new URLs that the filter takes for seen, as measured by its load. Gauge of this process. */
    falsePositiveRate: number;
    /** New URLs that mode `bloom` has lost by now, as expected. Gauge of this process. */
    expectedLost: number;
    /** Times that the filter answered maybe and the disk answered no. Counter since opening. */
    maybeButNew: number;
    /** Blocks of 4 KiB that were read from disk. Counter since opening. */
    coldReads: number;
    /** Digests of another program's requests that count as seen. Gauge, kept over a restart. */
    imported: number;
  };
  /** Epochs other than `forever`. Gauge, kept over a restart. */
  readonly epochs: {
    /** Epochs that hold identities. */
    open: number;
    /** Identities in them. */
    identities: number;
  };
  /** Pending records on disk. */
  readonly spilled: {
    /** Pending records on disk now. Gauge of this process. */
    records: number;
    /** Records that moved to disk since opening. Counter since opening. */
    out: number;
    /** Records that came back. Counter since opening. */
    in: number;
  };
  /** Finished records that come again by themselves. Gauge, kept over a restart. */
  readonly resting: number;
  /** Memory of the frontier. Gauge of this process. */
  readonly memory: {
    /** JavaScript heap of the whole process in bytes. */
    heapBytes: number;
    /** Memory outside the heap in bytes. */
    offHeapBytes: number;
    /** Bytes on disk of what was spilled. */
    spilledBytes: number;
    /** Bytes outside the heap for each live record. */
    bytesPerUrl: number;
  };
  /** What is durable, and the size of the journal. Gauge of this process. */
  readonly durability: {
    /** Last flush, in milliseconds since 1970; undefined: none yet. */
    readonly flushedAt: number | undefined;
    /** Size of the journal since the last snapshot, in bytes. */
    readonly journalBytes: number;
    /** Last snapshot, in milliseconds since 1970; undefined: none yet. */
    readonly snapshotAt: number | undefined;
  };
  /** Averages per second since opening. Gauge of this process. */
  readonly rates: {
    /** Requests pushed. */
    pushed: number;
    /** Leases handed out. */
    leased: number;
    /** Pages finished. */
    done: number;
  };
  /** When the frontier was opened, in milliseconds since 1970. Gauge of this process. */
  readonly startedAt: number;
  /** The report as lines of text. */
  toString(): string;
}
