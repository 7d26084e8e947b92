/** The watch for traps: what it takes in, and what it reports. */
import type { TextDigest } from "../page/text-digest.ts";

/** A family of URLs that is left, and why. */
export interface TrapReport {
  /** The family: `#` stands for numbers, `*` and `**` for anything. A variable is its site and name. */
  readonly shape: string;
  /** What was seen: the same text under many URLs, a family that only leads on to itself, filters that multiply. */
  readonly kind: "same-text" | "grows" | "filters";
  /** A URL of it that was visited. */
  readonly example: string;
  /** Visits of it. */
  readonly visits: number;
  /** Those that showed nothing new. */
  readonly empty: number;
  /** Links and pending URLs that were left, for good or until all others were visited. */
  readonly left: number;
  /** Whether it is left now; false: its visits showed something new again. */
  readonly active: boolean;
}

export interface TrapWatch {
  /** What becomes of a link; `hasPlain`: another URL would be visited in its place. */
  linkOf(url: string, hasPlain?: boolean): "follow" | "aside" | "leave";
  /** What becomes of a URL that is about to be visited; "wait": the next end of a last visit decides. */
  leaseOf(lease: WatchedLease): "visit" | "aside" | "wait" | "leave";
  /** Resolves when the next of those visits has ended for which URLs wait; true: it led to others that go first. */
  nextEnd(): Promise<boolean>;
  /** The URL without a part that means nothing, where that one is to be visited in its place. */
  plainOf(url: string): string | undefined;
  /** From 0 to 1, how much of the visits like that of a URL showed nothing so far: others go first. */
  doubtOf(url: string): number;
  /** A page was visited. */
  visited(page: VisitedText): void;
  /** The lease of a URL has ended, with a visit or without. */
  ended(url: string, isVisited: boolean): void;
  /** A URL was visited that has no page: it led to another one, or to none. */
  missed(url: string, target: string | undefined, isNew: (url: string) => boolean): void;
  /** Those that were recognised, the most left first; at most REPORT_MAX. */
  report(): TrapReport[];
}

export interface WatchedLease {
  readonly url: string;
  readonly rule?: string | undefined;
  /** Whether another URL led to it by a redirect. */
  readonly isRedirected?: boolean;
  /** Whether it was set aside before. */
  readonly isAside?: () => boolean;
}

export interface VisitedText {
  readonly url: string;
  readonly digest: TextDigest;
  /** Its links, resolved. */
  readonly links: Iterable<string>;
  /** Whether a URL is unknown to the frontier. */
  readonly isNew: (url: string) => boolean;
}
