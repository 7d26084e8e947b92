/** What a frontier reports as it happens, as types: its status, its events, and what they carry. */
import type { FailureView, RequestView } from "./view-types.ts";

/** The status of a frontier: `opening` → `running` ⇄ `paused`, `draining` → `stopping` → `stopped`. */
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
  /** Records that failed for good; `failure`: when, with what status, and on which page they were found. */
  failed: Array<RequestView<Data> & { reason?: string; failure?: FailureView }>;
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
  /** A fault. It never stops the crawl. */
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

/** One fault, which does not stop the crawl. */
export interface FrontierFault {
  /**
   * `hook` and `listener`: a function of yours. `handler`: a worker's. `user`: `done({ errors })`. `disk`: the
   * directory. `server`: a partition on Redis, beside leases of others. `request`: a request found to be wrong later.
   */
  readonly kind: "listener" | "hook" | "handler" | "request" | "disk" | "server" | "user";
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
  /** Live records in it; of a partial one, in the whole one and the journal that it continues. */
  readonly records: number;
  /** Size of the file in bytes: all that was written. */
  readonly bytes: number;
}
