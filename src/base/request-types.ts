/** What goes into a frontier and comes out of it, as types: the same on the owner's thread, on a caller's and in a worker. */
import type { Outcome } from "./arguments.ts";

export type RequestLike = string | RequestInput;

export interface RequestInput {
  url: string;
  /** Default GET. */
  method?: string;
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  /** Any safe integer, larger first, default 0. */
  priority?: number;
  /** Seeds 0; set by the engine for children. */
  depth?: number;
  /** Deferred until then. */
  notBefore?: number | Date;
  /** Names the epoch of the identity directly. */
  epoch?: string;
  /** Takes the place of the URL in the dedup key. */
  key?: string;
  /** record: never refused but remembered; skip: neither. */
  dedup?: "check" | "record" | "skip";
  /** A start request: served after found ones of equal priority where the rule says so. */
  start?: boolean;
  /** Name of the handler that shall work on it. */
  handler?: string;
  maxAttempts?: number;
  /** Never written to disk. */
  volatile?: boolean;
  /**
   * Anything msgpack can carry; comes back equal, from memory, disk and worker threads alike: plain objects, lists, sets, dates, bytes,
   * typed arrays, strings, numbers (also NaN and −0), integers of 64 bits. Functions, symbols, maps, class instances, cycles
   * are refused as `unserializable`.
   */
  data?: unknown;
}

/** What a redirect changes of the request that it goes on with; what is left out stays as it was. */
export interface RedirectChange extends Omit<Partial<RequestInput>, "url" | "depth"> {
  /**
   * The answer's status, default 302. Of 301 and 302 a POST becomes a GET without body, of 303 all but HEAD does; of any other method and
   * body stay.
   */
  status?: number;
}

/** What `done` takes along. */
export interface LeaseResult {
  /** Links and requests of the page, admitted together with its end. */
  found?: Iterable<RequestLike>;
  /** Reported by the event `error`. */
  errors?: unknown[];
  outcome?: Outcome;
}

/** The request that a lease hands out. */
export interface LeaseFields {
  readonly url: string;
  readonly method: string;
  readonly body?: Uint8Array | undefined;
  readonly headers?: Record<string, string> | undefined;
  readonly priority: number;
  readonly depth: number;
  /** This attempt, from 1. */
  readonly attempt: number;
  /** Hand-outs of this record so far, this one included. */
  readonly deliveries: number;
  readonly host: string;
  readonly rule: string;
  /** Fingerprint of the page it was found on. */
  readonly parent?: string | undefined;
  readonly handler?: string | undefined;
  /** Redirects that led here, one after another: `redirect` counts them, whoever handles them. */
  readonly redirects: number;
  readonly data: unknown;
  readonly fingerprint: string;
  readonly deadlineMs: number;
}
