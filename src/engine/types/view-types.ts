/** What a frontier shows, as types: a request, a failure, a record, an epoch, a host, and why a URL is or is not handed out. */
import type { RecordState } from "../../frontier/records/record-state.ts";
import type { Verdict } from "../../frontier/admission/verdicts.ts";

/** A request as it is in the frontier, or would be. */
export interface RequestView<Data = unknown> {
  /** The URL that is visited. */
  readonly url: string;
  /** HTTP method. */
  readonly method: string;
  /** Key of its host. */
  readonly host: string;
  /** The politeness key that it named itself. */
  readonly hostKey?: string;
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
   * The reason of `fail` or of the last `retry`, at most 500 characters; otherwise the frontier's own: `"failed"`, `"attempts"`,
   * `"expired"`, `"deliveries"`, `"host-gave-up"`, `"no-rule"`.
   */
  readonly reason: string;
  /** When it failed, in milliseconds since 1970. */
  readonly atMs: number;
  /** `Outcome.status` of the last attempt, where it was reported. */
  readonly status?: number;
  /**
   * URL of the page that it was found on. Missing for seeds and for URLs over 2,000 characters. Kept for the pages
   * whose links were admitted last, 2 to 4 MiB of URLs, over restarts and kills too; with durability `"sync"` a kill
   * may lose the last 2 KiB of them.
   */
  readonly foundOn?: string;
}

/** What is known of one identity. Fields that are missing are not kept in its state. */
export interface RecordView<Data = unknown> {
  /** Its state. */
  readonly state: RecordState;
  /** Attempts that were counted. */
  readonly attempts: number;
  /** Least depth at which it was seen. */
  readonly depth: number;
  /** The URL, while it is live or with `records: "full"`. */
  readonly url?: string;
  /** Key of its host. */
  readonly host?: string;
  /** The politeness key that it named itself. */
  readonly hostKey?: string;
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
  /** The data that it was pushed with: of a live record, of one that was put as finished, and with `records: 'full'`. */
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
  /** The state of its record; missing: there is none. */
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
