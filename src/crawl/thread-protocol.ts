/**
 * What the crawl's thread and its workers tell each other beside the frontier's rings, over one broadcast channel of the
 * crawl's own name. Plain data only.
 *
 *   worker ── ask { id, url } ─▶ owner: robots.txt, page budget, redirects so far ── answer { id, answer, hops } ─▶ worker
 *   worker ── hop, learn, fault, item, page, end { how, counts } ─▶ owner
 *
 *   I1  A `hop` is told before its redirect is pushed, so that the owner knows it before anybody asks about its target.
 */
import type { GateAnswer } from "./gate.ts";
import type { CrawlOptions } from "./options.ts";
import type { CrawlStage } from "./faults.ts";
import type { ValidatorHeaders } from "./validators.ts";
import type { VisitedPage, VisitEnd, VisitLimits } from "./visit-context.ts";

/** What a worker needs to make its modules: the options that can be sent, paths instead of objects. */
export interface ThreadSetup {
  readonly channel: string;
  readonly options: CrawlOptions;
  readonly userAgent: string;
  readonly perHost: number;
  readonly limits: VisitLimits;
}

/** Counters since the last message, latencies one by one. */
export interface CountsPart {
  readonly counts: Record<string, number>;
  readonly statuses: Record<string, number>;
  readonly latencies: number[];
}

export type ToOwner =
  | { kind: "ask"; worker: number; id: number; url: string; rule: string }
  | { kind: "hop"; url: string; hops: number }
  | { kind: "learn"; url: string; validators: ValidatorHeaders | undefined }
  | { kind: "fault"; type: CrawlStage; what: string; url?: string; module?: string }
  | { kind: "item"; item: unknown; url: string }
  | { kind: "page"; page: VisitedPage }
  | { kind: "end"; url: string; how: VisitEnd; part: CountsPart };

export interface ToWorker {
  readonly kind: "answer";
  readonly worker: number;
  readonly id: number;
  readonly answer: GateAnswer;
  readonly hops: number;
  readonly validators: ValidatorHeaders;
}
