/**
 * The messages between the crawl's thread and its workers, beside the frontier's rings. Plain data only, in batches: the messages of one
 * turn of an event loop cross together.
 *
 *   channel of the crawl     worker ── hello ─▶ owner, once: its own channel is listened to from then on
 *   channel of the worker    owner ── welcome ─▶ worker: it may begin to send
 *                            worker ── batch { asks, offers, cookies, ends …, counts } ─▶ owner
 *                            owner ── answers { robots.txt, page budget, validators, cookies } ─▶ worker
 *                            owner ── last ─▶ worker ── batch, isLast ─▶ owner: nothing is under way between the two
 *
 *   I1  Messages here have no order with those of the rings: data that must come with a lease is in its request.
 *   I2  A worker has a channel of its own: no message is read, or even copied, by a thread that it is not for.
 */
import type { GateRequest, GateAnswer } from "../robots/robots-gate.ts";
import type { RequestInput } from "../../index.ts";
import type { SitemapReading } from "../robots/sitemap-times.ts";
import type { PolicyStatement } from "../policy/page-policy.ts";
import type { CrawlOptions } from "../run/crawl-options.ts";
import type { CrawlStage } from "../report/fault-stream.ts";
import type { PageState, ValidatorHeaders } from "../http/conditional-requests.ts";
import type { Visit } from "../report/visit-statistics.ts";
import type { Visited } from "../http/pending-validators.ts";
import type { VisitedPage, VisitEnd, VisitLimits } from "../run/visit-context.ts";

/** What a worker needs to make its modules: the options that can be sent, paths instead of objects. */
export interface ThreadSetup {
  readonly channel: string;
  readonly options: CrawlOptions;
  readonly userAgent: string;
  readonly perHost: number;
  readonly cookies: boolean;
  readonly limits: VisitLimits;
  /** Shared by all threads (paused-hosts.ts). */
  readonly paused: SharedArrayBuffer;
}

/** Counters since the last message, latencies one by one. */
export interface CountsPart {
  readonly counts: Record<string, number>;
  readonly statuses: Record<string, number>;
  readonly latencies: number[];
}

export type ToOwner =
  | (GateRequest & { kind: "ask"; id: number })
  | (Visited & { kind: "offer"; id: number; page: PageState })
  | { kind: "cookies"; id: number; url: string; lines: readonly string[] }
  | (SitemapReading & { kind: "sitemap"; id: number })
  | { kind: "fault"; type: CrawlStage; what: string; url?: string; module?: string }
  | { kind: "item"; item: unknown; url: string }
  | {
      kind: "end";
      url: string;
      how: VisitEnd;
      page: VisitedPage | undefined;
      visit: Visit | undefined;
      /** Hand-outs of the URL, this one among them. */
      deliveries: number;
    };

/** A question as the worker makes it; the channel adds its id. */
export type Question = WithoutId<Extract<ToOwner, { id: number }>>;

type WithoutId<M> = M extends unknown ? Omit<M, "id"> : never;

/** One crossing towards the owner. */
export interface Batch {
  readonly messages: readonly ToOwner[];
  /** undefined: nothing was counted. */
  readonly part: CountsPart | undefined;
  readonly isLast: boolean;
}

/** On the channel of the crawl. */
export interface Hello {
  readonly worker: number;
}

export interface AskAnswer {
  readonly id: number;
  readonly answer: GateAnswer;
  /** What robots.txt declares about the use of the page. */
  readonly statements: readonly PolicyStatement[];
  /** undefined: the page is not asked for conditionally, and nothing is to be learned of it. */
  readonly validators: ValidatorHeaders | undefined;
  /** Hash of the text that the page had; undefined: it is not known. */
  readonly content: string | undefined;
  /** To be sent with the request. */
  readonly cookie: string | undefined;
  /** Whether new cookies were stored. */
  readonly isKnownAnew: boolean;
  /** What of a sitemap is to be pushed. */
  readonly found?: readonly RequestInput[];
}

export type ToWorker =
  | { kind: "welcome" }
  | { kind: "answers"; list: readonly AskAnswer[]; hasPageListener: boolean }
  | { kind: "last" };

/** Name of a worker's own channel. */
export function channelOf(crawl: string, worker: number): string {
  return `${crawl}-${worker}`;
}
