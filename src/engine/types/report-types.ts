/**
 * What a frontier reports, as types: of a request, a record, a host and an epoch, its events, its report.
 */
import type { RecordState } from "../../frontier/records/record-state.ts";
import type { Verdict } from "../../frontier/admission/verdicts.ts";

/** A request as it stands in the frontier, or would stand there. */
export interface RequestView<Data = unknown> {
  /** The URL that is visited. */
  readonly url: string;
  /** HTTP method. */
  readonly method: string;
  /** Key of its host. */
  readonly host: string;
  /** Id of its rule. */
  readonly rule: string;
  /** Effective priority. */
  readonly priority: number;
  /** Distance from a seed. */
  readonly depth: number;
  /** This attempt, or the next one, from 1. */
  readonly attempt: number;
  /** Hand-outs so far. */
  readonly deliveries: number;
  /** Name of the handler that it asks for. */
  readonly handler?: string;
  /** The request's data. */
  readonly data?: Data;
  /** Fingerprint of the page that it was found on. */
  readonly parent?: string;
}

/**
 * Why a record failed. Kept in every mode, over restarts and in exports, for the 10,000 records that failed last;
 * `requeue` and `forget` drop it.
 */
export interface FailureView {
  /**
   * What `fail` or the last `retry` gave, at most 500 characters, else what the frontier decided: `"failed"`,
   * `"attempts"`, `"expired"`, `"deliveries"`, `"host-gave-up"`, `"no-rule"`.
   */
  readonly reason: string;
  /** When it failed, in milliseconds since 1970. */
  readonly atMs: number;
  /** `Outcome.status` of the last attempt, where it was reported. */
  readonly status?: number;
  /**
   * URL of the page that it was found on. Missing for seeds and for URLs over 2,000 characters. Kept for the pages
   * whose links were admitted last, 2 to 4 MiB of URLs, and stored at each snapshot and at `close`.
   */
  readonly foundOn?: string;
}

/** What is known of one identity. Fields that are missing are not kept in its state. */
export interface RecordView<Data = unknown> {
  /** Where it stands. */
  readonly state: RecordState;
  /** Attempts that were counted. */
  readonly attempts: number;
  /** Least depth at which it was seen. */
  readonly depth: number;
  /** The URL, while it is live or with `records: "full"`. */
  readonly url?: string;
  /** Key of its host. */
  readonly host?: string;
  /** Id of its rule. */
  readonly rule?: string;
  /** Effective priority. */
  readonly priority?: number;
  /** Hand-outs so far. */
  readonly deliveries?: number;
  /** In milliseconds since 1970. `waiting`: until then. `leased`: its deadline. `done` under a rule that revisits: when it comes again. */
  readonly untilMs?: number;
  /** Fingerprint of the page that it was found on. */
  readonly parent?: string;
  /** `failed`: why, when, and on which page it was found. */
  readonly failure?: FailureView;
  /** With `records: 'full'`: the data that it was pushed with. */
  readonly data?: Data;
  /** With `records: 'full'`: when it was admitted, handed out last, and finished, failed or removed. */
  readonly times?: {
    /** When it was admitted, in milliseconds since 1970. */
    admittedAt: number;
    /** When it was handed out last, in milliseconds since 1970. */
    leasedAt?: number;
    /** When it was finished, failed or removed, in milliseconds since 1970. */
    finishedAt?: number;
  };
  /** With `records: 'full'`: the last 16 states, oldest first. */
  readonly trail?: ReadonlyArray<{
    /** The state. */
    state: RecordState;
    /** When it came into that state, in milliseconds since 1970. */
    atMs: number;
  }>;
}

/** One epoch, and what became of its identities. */
export interface EpochView {
  /** Name of the epoch. */
  readonly name: string;
  /** Identities that it holds: those below, and those that were removed. */
  readonly identities: number;
  /** Pending records. */
  readonly pending: number;
  /** Records that wait for their time. */
  readonly waiting: number;
  /** Records that are handed out. */
  readonly leased: number;
  /** Finished identities. */
  readonly done: number;
  /** Failed records. */
  readonly failed: number;
}

/** Why a URL is, or is not, handed out. A URL that cannot be read has `url` and `verdict` alone. */
export interface Explanation {
  /** The URL that would be visited. */
  readonly url: string;
  /** Its canonical form. */
  readonly canonical?: string;
  /** The 128-bit id of its identity. */
  readonly fingerprint?: string;
  /** Key of its host. */
  readonly host?: string;
  /** Registrable domain of its host. */
  readonly domain?: string;
  /** Id of the rule that takes it. */
  readonly rule?: string;
  /** The verdict that a push would return now. */
  readonly verdict: Verdict;
  /** Where its record stands; missing: there is none. */
  readonly state?: RecordState;
  /** The epoch that a push would use. */
  readonly epoch?: string;
  /**
   * What holds it back: its own time, its rule's period, a clock, limit or hold of its host or a group, or a pause
   * of the frontier.
   */
  readonly heldBy?:
    | "lease"
    | "notBefore"
    | "every"
    | "delay"
    | "block"
    | "limit"
    | "hold"
    | "group"
    | "paused"
    | "maxLeases";
  /** The earliest time at which it can be handed out, in milliseconds since 1970, where a clock holds it. */
  readonly dueAt?: number;
}

/**
 * A host: what is known of it, and what you can set. Settings are kept in the directory.
 *
 * @example
 * const host = frontier.host(lease.host);
 * host.delayMs = 5_000; // slower than the rules ask for
 * host.blockUntil(Date.now() + 60_000); // nothing of it for a minute
 */
export interface HostView {
  /** Its key, as `lease.host`. */
  readonly key: string;
  /** Least time between two visits in milliseconds. Assign to it to override the rules. */
  delayMs: number;
  /** Most leases at once. Assign to it to override the rules. */
  limit: number;
  /**
   * Its address, for groups by `"address"`. Assign to it, or report `Outcome.address`.
   * @defaultValue unknown
   */
  address?: string;
  /** Leases of it that are out. */
  readonly leased: number;
  /** When its next visit may begin, in milliseconds since 1970. */
  readonly readyAt: number;
  /** Until when `blockUntil`, Retry-After or back-off keeps it from being visited, in milliseconds since 1970; 0: never blocked. */
  readonly blockedUntil: number;
  /** Whether it is held by hand. */
  readonly held: boolean;
  /** Failures in a row. */
  readonly failures: number;
  /** Requests that were admitted; counted where a rule has a budget, otherwise 0. */
  readonly admitted: number;
  /** Bytes of its bodies, as outcomes reported them. */
  readonly bytes: number;
  /** Hands nothing of it out before this time. */
  blockUntil(at: number | Date): void;
  /** Hands nothing of it out until `unhold`. */
  hold(): void;
  /** Ends `hold`. */
  unhold(): void;
}

/** Where a frontier stands in its life: `opening` → `running` ⇄ `paused`, `draining` → `stopping` → `stopped`. */
export type FrontierStatus = "opening" | "running" | "paused" | "draining" | "stopping" | "stopped";

/**
 * Events and what their listeners get. Those with arrays are batched.
 *
 * @example
 * frontier.on("rejected", (list) => {
 *   for (const { url, reason } of list) console.log(reason, url);
 * });
 * frontier.on("error", ({ kind, cause }) => console.error(kind, cause));
 */
export interface FrontierEvents<Data = unknown> {
  /** Requests that were admitted, deferred ones too. */
  accepted: RequestView<Data>[];
  /**
   * Requests whose identity was known. `finishedDepth`: the page is done, and was deeper then than it was seen now.
   */
  duplicate: Array<{
    /** The URL as it was pushed. */
    url: string;
    /** Depth at which it was seen now. */
    depth?: number;
    /** Depth at which the page was finished, where that is deeper. */
    finishedDepth?: number;
  }>;
  /** Requests that were refused. */
  rejected: Array<{
    /** The URL as it was pushed. */
    url: string;
    /** The verdict's reason. */
    reason: string;
  }>;
  /** Records that were handed out. */
  leased: RequestView<Data>[];
  /** Pages that were finished. */
  done: RequestView<Data>[];
  /** Records that get another attempt. */
  retried: Array<RequestView<Data> & { reason?: string }>;
  /** Records that failed for good. */
  failed: Array<RequestView<Data> & { reason?: string }>;
  /** Leases whose deadline passed. */
  expired: RequestView<Data>[];
  /** Leases that were returned without an attempt. */
  released: RequestView<Data>[];
  /** Nothing is pending any more. */
  empty: {
    /** When, in milliseconds since 1970. */
    atMs: number;
  };
  /** Something is pending again. */
  ready: {
    /** When, in milliseconds since 1970. */
    atMs: number;
  };
  /** Nothing is pending or leased; something may wait for its time. */
  idle: {
    /** When, in milliseconds since 1970. */
    atMs: number;
  };
  /** Everything is done. Once, until there is work again. */
  finished: {
    /** When, in milliseconds since 1970. */
    atMs: number;
  };
  /** What an opening found in its directory. */
  resumed: Resumed;
  /** New rules have reached every record. */
  rulesApplied: {
    /** Version of the set. */
    version: number | string;
    /** URLs that no rule takes and that have failed; at most 1,000. */
    unmatched: string[];
    /** How many URLs no rule took. */
    unmatchedCount: number;
    /** Records that are under another rule now, or failed. */
    moved: number;
  };
  /** A snapshot is on the disk. */
  snapshot: SnapshotInfo;
  /** Something went wrong beside the crawl. It never stops the crawl. */
  error: FrontierFault;
  /** The status changed. */
  status: {
    /** The status before. */
    from: FrontierStatus;
    /** The status now. */
    to: FrontierStatus;
    /** Why, such as `breaker` or `died`. */
    reason?: string;
  };
}

/** What an opening found in its directory. */
export interface Resumed {
  /** Pending records, with those whose leases were out. */
  readonly pending: number;
  /** Records that wait for their time. */
  readonly waiting: number;
  /** Failed records. */
  readonly failed: number;
  /** Leases that were out when the process ended. */
  readonly leases: number;
  /** Volatile records that were lost. */
  readonly lost: number;
  /** Damaged files. What was good in them was used. */
  readonly damage: readonly string[];
}

/** How far a directory has been read. */
export interface RecoveryProgress {
  /** What is being read. */
  readonly phase: "snapshot" | "journal";
  /** Records and journal entries read so far. */
  readonly records: number;
  /** Bytes of the file read so far. */
  readonly bytes: number;
  /** Size in bytes of the file that is being read. */
  readonly size: number;
}

/** One thing that went wrong beside the crawl. */
export interface FrontierFault {
  /**
   * `hook` and `listener`: a function of yours. `handler`: a worker's. `user`: `done({ errors })`. `disk`: the
   * directory. `request`: a request that was found to be wrong later.
   */
  readonly kind: "listener" | "hook" | "handler" | "request" | "disk" | "user";
  /** What failed: the hook's, event's or handler's name. */
  readonly stage: string;
  /** What was thrown or reported. */
  readonly cause: unknown;
  /** The URL that it was about. */
  readonly url?: string;
}

/** A snapshot that was written. */
export interface SnapshotInfo {
  /** Its file. */
  readonly path: string;
  /** Live records in it. */
  readonly records: number;
  /** Size of the file in bytes. */
  readonly bytes: number;
}

/**
 * Counters and gauges, as plain data. A counter only rises; a gauge is a value of now. What is kept over a restart needs a
 * directory, or the file of `snapshot`; after a kill, counters that no record holds (`pushed`, `duplicate`, `rejected`,
 * `full`, `expired`, `lateResults`) are those of the last flush.
 *
 * accepted + deferred = pending + waiting + leased + done + failed + forgotten + removed, always.
 */
export interface Report {
  /** Where the frontier stands in its life. Gauge of this process. */
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
  /** Faults that no listener heard and that were dropped, and `error` listeners that threw. Counter since opening. */
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
  /** How far the files are. Gauge of this process. */
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
