/**
 * What a frontier tells, as types: of a request, a record, a host and an epoch, its events, its report.
 */
import type { RecordState } from "../frontier/record-state.ts";
import type { Verdict } from "../frontier/verdict.ts";

/** A request as it stands in the frontier, or would. */
export interface RequestView {
  readonly url: string;
  readonly method: string;
  readonly host: string;
  readonly rule: string;
  readonly priority: number;
  readonly depth: number;
  readonly attempt: number;
  readonly deliveries: number;
  readonly handler?: string;
  readonly data?: unknown;
  readonly parent?: string;
}

export interface RecordView {
  readonly state: RecordState;
  readonly attempts: number;
  readonly depth: number;
  readonly url?: string;
  readonly host?: string;
  readonly rule?: string;
  readonly priority?: number;
  readonly deliveries?: number;
  /** Waiting: until then. Leased: its deadline. Done under a rule that re-crawls: when it comes again. */
  readonly untilMs?: number;
  readonly parent?: string;
  /** With `records: 'full'`: what it was pushed with. */
  readonly data?: unknown;
  /** With `records: 'full'`: when it was admitted, handed out last and finished (done, failed or removed). */
  readonly times?: { admittedAt: number; leasedAt?: number; finishedAt?: number };
  /** With `records: 'full'`: the states it came into and when, oldest first; the last 16. */
  readonly trail?: ReadonlyArray<{ state: RecordState; atMs: number }>;
}

/** One epoch, and what became of its identities. */
export interface EpochView {
  readonly name: string;
  /** All that it knows: those below, and those that were removed. */
  readonly identities: number;
  readonly pending: number;
  readonly waiting: number;
  readonly leased: number;
  readonly done: number;
  readonly failed: number;
}

export interface Explanation {
  readonly url: string;
  readonly canonical?: string;
  readonly fingerprint?: string;
  readonly host?: string;
  readonly domain?: string;
  readonly rule?: string;
  /** What a push would answer now. */
  readonly verdict: Verdict;
  readonly state?: RecordState;
  /** The epoch that a push would put it into. */
  readonly epoch?: string;
  /** What keeps it: its own time, its rule's period, the host's or a group's clock, limit or hold, the frontier's pause. */
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
  /** Earliest time it can go, where a clock holds it. */
  readonly dueAt?: number;
}

export interface HostView {
  readonly key: string;
  delayMs: number;
  limit: number;
  address?: string;
  readonly leased: number;
  readonly readyAt: number;
  readonly held: boolean;
  /** In a row. */
  readonly failures: number;
  /** Requests that were admitted; counted where a rule has a budget, else 0. */
  readonly admitted: number;
  /** Of the bodies, as outcomes told them. */
  readonly bytes: number;
  blockUntil(at: number | Date): void;
  hold(): void;
  unhold(): void;
}

export type FrontierStatus = "opening" | "running" | "paused" | "draining" | "stopping" | "stopped";

export interface FrontierEvents {
  accepted: RequestView[];
  /** `finishedDepth`: the page is done, and was deeper then than it was sighted now. */
  duplicate: Array<{ url: string; depth?: number; finishedDepth?: number }>;
  rejected: Array<{ url: string; reason: string }>;
  leased: RequestView[];
  done: RequestView[];
  retried: Array<RequestView & { reason?: string }>;
  failed: Array<RequestView & { reason?: string }>;
  expired: RequestView[];
  released: RequestView[];
  empty: { atMs: number };
  ready: { atMs: number };
  idle: { atMs: number };
  finished: { atMs: number };
  resumed: Resumed;
  /** A change of rules has reached every record. */
  rulesApplied: {
    version: number | string;
    /** URLs that no rule took, which have failed; at most 1,000 of them by name. */
    unmatched: string[];
    unmatchedCount: number;
    /** Records that went on under another rule, or failed. */
    moved: number;
  };
  snapshot: SnapshotInfo;
  error: FrontierFault;
  status: { from: FrontierStatus; to: FrontierStatus; reason?: string };
}

/** What an opening found in its directory. */
export interface Resumed {
  /** Leases that were out included: they are pending again, at their place. */
  readonly pending: number;
  readonly waiting: number;
  readonly failed: number;
  /** Leases that were out. */
  readonly leases: number;
  /** Volatile records that went with the process. */
  readonly lost: number;
  /** Files that were not as they had been written; what was good was used. */
  readonly damage: readonly string[];
}

/** How far the reading of a directory has come. */
export interface RecoveryProgress {
  readonly phase: "snapshot" | "journal";
  /** Records and journal entries read so far. */
  readonly records: number;
  readonly bytes: number;
  /** Bytes of the file being read. */
  readonly size: number;
}

/** One thing that went wrong beside the crawl; it never stops it. `stage` of a hook: accept, onIdle, keyOf, of, by or groups. */
export interface FrontierFault {
  readonly kind: "listener" | "hook" | "handler" | "request" | "disk" | "user";
  readonly stage: string;
  readonly cause: unknown;
  readonly url?: string;
}

export interface SnapshotInfo {
  readonly path: string;
  readonly records: number;
  readonly bytes: number;
}

export interface Report {
  readonly status: FrontierStatus;
  readonly waitingUntil: number | undefined;
  readonly pushed: number;
  readonly accepted: number;
  readonly deferred: number;
  readonly duplicate: number;
  readonly rejected: Record<string, number>;
  readonly full: number;
  readonly retried: number;
  readonly expired: number;
  readonly lateResults: number;
  /** Why records were tried again and why they failed since opening, by reason; at most 100 of them by name. */
  readonly reasons: { retried: Record<string, number>; failed: Record<string, number> };
  readonly droppedEvents: number;
  readonly pending: number;
  readonly waiting: number;
  readonly leased: number;
  readonly done: number;
  readonly failed: number;
  readonly forgotten: number;
  readonly removed: number;
  readonly hosts: number;
  readonly lanes: number;
  readonly seen: number;
  readonly depths: number[];
  readonly rules: Record<
    string,
    { pending: number; leased: number; done: number; failed: number; served: number }
  >;
  readonly seenSet: {
    mode: "exact" | "tiered" | "bloom";
    bytes: number;
    load: number;
    bitsPerUrl: number;
    falsePositiveRate: number;
    expectedLost: number;
    maybeButNew: number;
    coldReads: number;
    /** Digests of another program's requests that count as seen beside it. */
    imported: number;
  };
  /** Epochs other than `forever`: how many are open, and the identities that they hold. */
  readonly epochs: { open: number; identities: number };
  /** Of the pending: on disk now; all that went there since opening, and that came back. */
  readonly spilled: { records: number; out: number; in: number };
  /** Done records that come again by themselves. */
  readonly resting: number;
  readonly memory: {
    heapBytes: number;
    offHeapBytes: number;
    spilledBytes: number;
    bytesPerUrl: number;
  };
  readonly durability: {
    readonly flushedAt: number | undefined;
    readonly journalBytes: number;
    readonly snapshotAt: number | undefined;
  };
  readonly rates: { pushed: number; leased: number; done: number };
  readonly startedAt: number;
  toString(): string;
}
