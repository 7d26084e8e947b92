/** The context of a visit: the parts of a crawl that it may use, its limits, and the listeners to its end. */
import type { Clock } from "../../base/clock.ts";
import { givenOf } from "../../base/plain-copy.ts";
import type { Lease, Outcome, RequestInput, RequestLike } from "../../index.ts";
import type { SitemapTimes } from "../robots/sitemap-times.ts";
import type { LastPlaces } from "../traps/last-places.ts";
import type { TrapWatch } from "../traps/trap-watch.ts";
import type { UrlBudgets } from "../traps/url-budgets.ts";
import type { Cookies } from "../http/cookie-jar.ts";
import type { InflateRoom } from "../http/decoding/inflate-room.ts";
import type { PausedHosts } from "../threads/paused-hosts.ts";
import type { FaultHub } from "../report/fault-stream.ts";
import type { RobotsGate } from "../robots/robots-gate.ts";
import type { PagePolicy } from "../policy/page-policy.ts";
import type { PolicyHook, TakenDecision } from "../policy/policy-hook.ts";
import type { Download, ModuleRegistry } from "../module-registry.ts";
import type { CrawlCounters } from "../report/crawl-summary.ts";
import type { LinkPatterns } from "../page/link-patterns.ts";
import type { Visit } from "../report/visit-statistics.ts";
import type { BodyFolder } from "../files.ts";
import type { Visited } from "../http/pending-validators.ts";
import type { PageState, Validators } from "../http/conditional-requests.ts";

/** What a visit does with its lease: the owner's, or a worker's, whose methods return nothing. */
export interface VisitLease
  extends Pick<
    Lease,
    | "url"
    | "host"
    | "hostKey"
    | "method"
    | "body"
    | "headers"
    | "depth"
    | "rule"
    | "data"
    | "handler"
    | "redirects"
    | "parent"
    | "deliveries"
  > {
  // biome-ignore-start lint/suspicious/noConfusingVoidType: a worker's lease answers nothing.
  done(result: {
    found?: Iterable<RequestLike>;
    errors?: unknown[];
    outcome?: Outcome;
    /** The page's policy, and the decision on it: for the visit, not for the frontier. */
    policy?: PagePolicy;
    decision?: TakenDecision;
  }): { accepted: number; deferred: number } | void;
  // biome-ignore-end lint/suspicious/noConfusingVoidType: as above.
  retry(options: { reason?: string; outcome?: Outcome }): unknown;
  fail(reason: string, outcome?: Outcome): unknown;
  release(): unknown;
  redirect(
    url: string,
    change?: { status?: number; notBefore?: number; dedup?: "record" },
  ): unknown;
}

export interface VisitContext {
  readonly clock: Clock;
  readonly modules: ModuleRegistry;
  readonly faults: FaultHub;
  readonly counters: CrawlCounters;
  readonly userAgent: string;
  /** undefined: robots.txt is not asked. */
  readonly gate: RobotsGate | undefined;
  /** Whether the host of a URL has asked for a pause; undefined: that takes a call to the owner. */
  readonly isPaused: ((url: string) => boolean) | undefined;
  /** What hosts have asked for, known to all threads as soon as the headers of an answer are there. */
  readonly paused: PausedHosts;
  readonly validators: VisitValidators;
  readonly sitemapTimes: VisitSitemapTimes;
  /** undefined: traps are not recognised. */
  readonly traps: TrapWatch | undefined;
  /** Puts URLs behind others; undefined: traps are not recognised. */
  readonly places: LastPlaces | undefined;
  /** undefined: there are none but those of hosts. */
  readonly budgets: UrlBudgets | undefined;
  /** Whether a URL is unknown to the frontier; undefined: that takes a call to the owner. */
  readonly isNew: ((url: string) => boolean) | undefined;
  /** undefined: nothing is to be decided. */
  readonly policyHook: PolicyHook | undefined;
  /** undefined: none are kept or sent. */
  readonly cookies: VisitCookies | undefined;
  readonly limits: VisitLimits;
  /** What is followed of all links; undefined: any. */
  readonly patterns: LinkPatterns | undefined;
  /** Where bodies go; undefined: nowhere. */
  readonly bodies: BodyFolder | undefined;
  /** Of what is inflated at the same time. */
  readonly room: InflateRoom;
  readonly signal: AbortSignal;
  /** There is no downloader: nothing can go on until one is registered. */
  readonly onNoDownloader: () => void;
  readonly onPage: (page: VisitedPage) => void;
  /** Called before the lease ends: the last moment to hold its host back. Whether a retry is another attempt is open. */
  readonly onEnding: (visit: Visit) => void;
  readonly onVisit: (visit: Visit) => void;
  readonly onItem: (item: unknown, url: string) => void;
}

/** A page is offered before its lease ends, and the offer is awaited: the next visit may be on another thread. */
interface VisitValidators extends Pick<Validators, "isWanted" | "headersFor" | "contentFor"> {
  offer(visited: Visited, page: PageState): unknown;
}

/** The entries of a sitemap are compared before its lease ends. */
interface VisitSitemapTimes {
  take(...reading: Parameters<SitemapTimes["take"]>): Promise<RequestInput[]>;
}

/** The cookies of an answer are stored before its lease ends. */
interface VisitCookies extends Pick<Cookies, "headerFor"> {
  learn(url: string, lines: readonly string[]): boolean | Promise<boolean>;
}

export interface VisitLimits {
  readonly maxRedirects: number;
  readonly maxLinks: number;
  readonly maxRetryAfterMs: number;
  readonly types: readonly string[] | undefined;
  readonly trapFilter: boolean;
  readonly sampleItems: boolean;
  readonly include: readonly string[] | undefined;
  readonly exclude: readonly string[] | undefined;
  /** Links of pages are not followed, only what sitemaps list. */
  readonly sitemapOnly: boolean;
  /** A header for some origins. */
  readonly auth: { readonly origins: readonly string[]; readonly value: string } | undefined;
}

/** A page that was visited. */
export interface VisitedPage {
  /** URL of the page. */
  readonly url: string;
  /** HTTP status. */
  readonly status: number;
  /** Distance from a seed. */
  readonly depth: number;
  /** Bytes of the body as they came. */
  readonly bytes: number;
  /** Time to the first byte in milliseconds. */
  readonly latencyMs: number;
  /** Content type, without parameters. */
  readonly contentType: string;
  /** Text of the title. */
  readonly title: string;
  /** Links that were found. */
  readonly found: number;
  /** Links that were new; undefined on worker threads. */
  readonly accepted: number | undefined;
  /** What robots.txt, headers and markup declare about its use; missing: nothing. */
  readonly policy?: PagePolicy;
}

/** How a visit ended; only `page` uses up the crawl's page budget. */
export type VisitEnd = "page" | "other" | "back";

/** An answer and what the frontier shall learn of it. */
export interface Answered {
  readonly answer: Download;
  readonly outcome: Outcome;
}

/** The content type alone, in lower case. */
export function typeOf(headers: Download["headers"]): string {
  const [type = ""] = String(headers["content-type"] ?? "").split(";");
  return type.trim().toLowerCase();
}

/** What was thrown, as text. Total. */
export function textOf(cause: unknown): string {
  if (cause instanceof Error) return cause.message;
  try {
    return String(cause);
  } catch {
    return `a ${typeof cause}`;
  }
}

/**
 * A lease that calls `onEnding` and `onVisit` before each of its ends; `onVisit` after a retry, whose result is whether there is another
 * attempt.
 */
export function withVisit(
  lease: VisitLease,
  { clock, onEnding, onVisit }: VisitContext,
): VisitLease {
  const visitOf = (
    outcome: Visit["outcome"],
    answer?: Outcome,
    more?: Pick<Visit, "reason" | "policy" | "decision">,
  ): Visit => {
    const { status, bytes, latencyMs } = answer ?? {};
    const { url, depth, parent } = lease;
    return {
      ...{ url, outcome, atMs: clock.now(), depth },
      ...more,
      ...givenOf({ status, bytes, latencyMs, parent }),
    };
  };
  const announce = (visit: Visit): void => {
    onEnding(visit);
    onVisit(visit);
  };
  const ends: Pick<VisitLease, "done" | "retry" | "fail" | "release" | "redirect"> = {
    done({ policy, decision, ...result }) {
      const policyFields = { ...(policy && { policy }), ...(decision && { decision }) };
      announce(visitOf("done", result.outcome, policyFields));
      return lease.done(result);
    },
    retry(options) {
      const { outcome, reason } = options;
      const visit = visitOf("retried", outcome, reason === undefined ? {} : { reason });
      onEnding(visit);
      const answer = lease.retry(options);
      const ended = (end: unknown): void =>
        onVisit(end === "failed" ? { ...visit, outcome: end } : visit);
      // A frontier that is elsewhere answers later.
      if (answer instanceof Promise) void answer.then(ended);
      else ended(answer);
      return answer;
    },
    fail(reason, outcome) {
      announce(visitOf("failed", outcome, { reason }));
      return lease.fail(reason, outcome);
    },
    release: () => lease.release(),
    redirect: (url, change) => lease.redirect(url, change),
  };
  const { url, host, hostKey, method, depth, rule, handler, redirects, parent, deliveries } = lease;
  return {
    ...ends,
    ...{ url, host, hostKey, method, depth, rule, redirects, deliveries, handler, parent },
    get body() {
      return lease.body;
    },
    get headers() {
      return lease.headers;
    },
    get data() {
      return lease.data;
    },
  } as VisitLease;
}
