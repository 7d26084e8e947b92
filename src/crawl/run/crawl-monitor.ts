/**
 * The monitor of a crawl: samples over time, the summary, and their listeners.
 *
 *   every progressMs ─▶ sample ─▶ progress, each time
 *                          └─▶ summary ─▶ only if something other than the time has changed, and there is a listener
 */
import { givenOf } from "../../base/plain-copy.ts";
import { createHostHealth, type HostHealth } from "../report/host-health.ts";
import type { Frontier } from "../../index.ts";
import type { Emitter } from "../report/emitter.ts";
import type { CrawlFault, FaultHub } from "../report/fault-stream.ts";
import type { ModuleRegistry } from "../module-registry.ts";
import { policyNames } from "../policy/page-policy.ts";
import type { CrawlSettings } from "./crawl-options.ts";
import type { Robots } from "../robots/robots-txt.ts";
import type { ScopeChange } from "./crawl-scope.ts";
import {
  type CrawlCounters,
  createCounters,
  createSampler,
  type CrawlReason,
  type CrawlSample,
  type CrawlStatus,
  type CrawlSummary,
  summarize,
} from "../report/crawl-summary.ts";
import { createNamedCounts, type NamedCounts } from "../report/named-counts.ts";
import { createVisitStatistics, type Visit } from "../report/visit-statistics.ts";
import type { TrapWatch } from "../traps/trap-watch.ts";
import type { VisitedPage } from "./visit-context.ts";

export const CRAWL_EVENTS = Object.keys({
  page: true,
  visit: true,
  item: true,
  error: true,
  progress: true,
  summary: true,
  status: true,
  scope: true,
  finished: true,
} satisfies Record<keyof CrawlEvents, true>) as Array<keyof CrawlEvents>;

/** Events of a crawl and what their listeners get. */
export interface CrawlEvents<Item = unknown> {
  /** A page was visited. */
  page: VisitedPage;
  /** A visit has ended, in whichever way. A lease that was released is not a visit. */
  visit: Visit;
  /** An item went through its pipeline. */
  item: {
    /** The item. */
    item: Item;
    /** URL of its page. */
    url: string;
  };
  /** A fault, which does not stop the crawl. */
  error: CrawlFault;
  /** A sample of the crawl, every `progressMs`. */
  progress: CrawlSample;
  /** The summary so far, at most every `progressMs`, and only when something other than the time has changed. */
  summary: CrawlSummary;
  /** The status changed. */
  status: {
    /** The status before. */
    from: CrawlStatus;
    /** The status now. */
    to: CrawlStatus;
  };
  /** A crawl that continues has another scope than before. */
  scope: ScopeChange;
  /** The crawl has ended. */
  finished: CrawlSummary;
}

interface MonitorParts {
  readonly settings: CrawlSettings;
  readonly events: Emitter<CrawlEvents>;
  readonly faults: FaultHub;
  readonly modules: ModuleRegistry;
  /** The crawl's status, and why it ended. */
  readonly standing: () => { status: CrawlStatus; reason: CrawlReason | undefined };
}

export class Monitor {
  readonly counters: CrawlCounters = createCounters();
  robots: Robots | undefined;
  traps: TrapWatch | undefined;
  readonly #parts: MonitorParts;
  readonly #sampler = createSampler();
  readonly #namedCounts: NamedCounts = createNamedCounts();
  readonly #visits = createVisitStatistics();
  readonly health: HostHealth;
  readonly #startMs: number;
  #lastFacts = "";
  #cancel: (() => void) | undefined;
  #leave: (() => void) | undefined;

  constructor(parts: MonitorParts) {
    this.#parts = parts;
    this.health = createHostHealth(parts.settings.clock);
    this.#startMs = parts.settings.clock.monotonic();
  }

  get samples(): readonly CrawlSample[] {
    return this.#sampler.samples;
  }

  /** Reports faults of a frontier from now on. */
  watch(frontier: Frontier): void {
    this.#leave = frontier.on("failed", (views) => {
      for (const { reason = "failed", url, depth, failure } of views) {
        this.#namedCounts.failed(reason);
        const { status, foundOn } = failure ?? {};
        this.#visits.failed({
          ...{ url, reason, depth },
          ...givenOf({ status, foundOn }),
        });
      }
    });
  }

  /** Counts a page for which no event is emitted. */
  quietPage(url: string): void {
    this.#namedCounts.page(url);
  }

  visit(visit: Visit): void {
    if (visit.policy !== undefined) this.#namedCounts.policy(policyNames(visit.policy));
    this.#visits.visit(visit);
    this.#parts.events.emit("visit", visit);
  }

  page(page: VisitedPage): void {
    this.quietPage(page.url);
    this.#parts.events.emit("page", page);
  }

  /** Samples until `end`. */
  begin(frontier: Frontier, onTurn: () => void): void {
    const { clock, progressMs } = this.#parts.settings;
    if (progressMs === 0) return;
    const turn = (): void => {
      this.#sample(frontier);
      onTurn();
      this.#cancel = clock.schedule(clock.now() + progressMs, turn);
    };
    turn();
  }

  /** The last sample. */
  end(frontier: Frontier): void {
    this.#cancel?.();
    this.#sample(frontier);
  }

  /** Removes its listeners; the frontier's flush has emitted what was left. */
  leave(): void {
    this.#leave?.();
  }

  summary(frontier: Frontier): CrawlSummary {
    const { faults, modules, settings, standing } = this.#parts;
    return summarize({
      frontier,
      faults,
      modules,
      counters: this.counters,
      namedCounts: this.#namedCounts,
      visits: this.#visits,
      health: this.health,
      traps: this.traps?.report() ?? [],
      ...standing(),
      elapsedMs: this.#elapsedMs,
      robotsFetched: this.robots?.fetched ?? 0,
      directory: settings.given.directory,
    });
  }

  get #elapsedMs(): number {
    return this.#parts.settings.clock.monotonic() - this.#startMs;
  }

  #sample(frontier: Frontier): void {
    const { events, faults } = this.#parts;
    const { pending, waiting, leased, failed, duplicate, accepted } = frontier.report();
    const { pages, bytes } = this.counters;
    const { downloader, analyzer, pipeline, scheduler } = faults.counts;
    const sample: CrawlSample = {
      elapsedMs: Math.round(this.#elapsedMs),
      pages,
      bytes,
      pending: pending + waiting,
      leased,
      failed,
      errors: downloader + analyzer + pipeline + scheduler,
      duplicate,
      accepted,
      residentBytes: process.memoryUsage.rss(),
    };
    this.#sampler.add(sample);
    events.emit("progress", sample);
    if (events.hasListener("summary")) this.#emitSummary(frontier);
  }

  #emitSummary(frontier: Frontier): void {
    const summary = this.summary(frontier);
    const { elapsedMs: _, pagesPerSecond: __, memory: ___, ...facts } = summary;
    const text = JSON.stringify(facts);
    if (text === this.#lastFacts) return;
    this.#lastFacts = text;
    this.#parts.events.emit("summary", summary);
  }
}
