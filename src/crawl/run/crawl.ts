/**
 * Room `src/crawl/run`: one crawl: options, scope, visits, their ends, when it is over. Takes leases through the public
 * entry alone.
 */

/**
 * crawl(): a complete crawler over one frontier. Takes leases as long as there is room for visits, and ends when the frontier is
 * finished, when the page budget is used up, or by `stop`.
 *
 *   opening ─▶ running ⇄ paused      running ─▶ draining ─▶ stopping ─▶ stopped
 *
 *   frontier.take(free places) ─▶ visit × concurrency ─▶ done, retry, fail, release
 *
 *   I1  Visits under way + pages done never exceed maxPages: the budget is reserved when a lease is taken.
 *   I2  stop() lets visits end, flushes and closes; stop({ now: true }) aborts them, and their leases go back.
 *   I3  Whatever happens, the frontier is closed (if it is ours), modules are closed, streams end: once.
 */
import { setMaxListeners } from "node:events";
import { after } from "../../base/clock.ts";
import { misuse } from "../../base/errors.ts";
import type { ListenOptions } from "../../base/listen-options.ts";
import {
  type AsyncFrontier,
  type Frontier,
  type Lease,
  openFrontier,
  type Rule,
} from "../../index.ts";
import { createEmitter, type Emitter } from "../report/emitter.ts";
import type { CrawlHost } from "../report/host-health.ts";
import { createFaultHub, type FaultHub, type FaultStream } from "../report/fault-stream.ts";
import { createModuleRegistry, type ModuleRegistry } from "../module-registry.ts";
import { CRAWL_EVENTS, type CrawlEvents, Monitor } from "./crawl-monitor.ts";
import type { CrawlOptions, CrawlSettings } from "./crawl-options.ts";
import { isElsewhere, SharedFrontier } from "../shared/shared-frontier.ts";
import { normalizeCrawl } from "./normalize-crawl.ts";
import { prepareCrawl, watchFamilies } from "./prepare-crawl.ts";
import { withinScope } from "./crawl-scope.ts";
import { startSlowly } from "./slow-start.ts";
import type {
  CrawlReason,
  CrawlSample,
  CrawlStatus,
  CrawlSummary,
} from "../report/crawl-summary.ts";
import { lineFileBeside } from "../files.ts";
import { createPendingValidators, type PendingValidators } from "../http/pending-validators.ts";
import { createValidators, type Validators } from "../http/conditional-requests.ts";
import { createSitemapTimes, type SitemapTimes } from "../robots/sitemap-times.ts";
import type { UrlBudgets } from "../traps/url-budgets.ts";
import { visit } from "./visit.ts";
import { textOf, type VisitContext } from "./visit-context.ts";

/** A crawl under way. `await using` stops it at the end of the block, as `stop()` does. */
export interface Crawl<Item = unknown> extends AsyncDisposable {
  /** The summary, when everything is closed. Rejects when the frontier cannot be opened, or breaks. */
  readonly finished: Promise<CrawlSummary>;
  /** Where the crawl stands. */
  readonly status: CrawlStatus;
  /** Its modules; register or unregister them while it runs. */
  readonly modules: ModuleRegistry;
  /** Its frontier, from status `running` on; undefined where that is elsewhere. */
  readonly frontier: Frontier | undefined;
  /** Its frontier where that is elsewhere, in another thread or on Redis, from status `running` on. */
  readonly shared: AsyncFrontier | undefined;
  /** Listens to an event; returns a function that ends that. */
  on<E extends keyof CrawlEvents>(
    event: E,
    listener: (payload: CrawlEvents<Item>[E]) => void,
    options?: ListenOptions,
  ): () => void;
  /** A new stream of faults, from now on. It ends with the crawl. */
  errors(): FaultStream;
  /** The summary so far, as plain data; its `toString()` is for people. */
  report(): CrawlSummary;
  /** The frontier's view of a host, and how well the host answers; undefined before status `running` and after the end. */
  host(key: string): CrawlHost | undefined;
  /** Samples over the whole time, at most some hundred, for charts. */
  samples(): readonly CrawlSample[];
  /** Replaces the rules, as `Frontier.setRules`, within the crawl's scope. */
  setRules(rules: Rule[], version?: number | string): void;
  /** Begins no more visits until `resume`, also before status `running`. */
  pause(): void;
  /** Ends `pause`. */
  resume(): void;
  /**
   * Ends the crawl. Visits under way are finished; with `now` they are aborted and their leases return, after a second
   * at the latest. Resolves when everything is closed.
   */
  stop(options?: {
    /**
     * Aborts visits under way; their leases return.
     * @defaultValue false
     */
    now?: boolean;
  }): Promise<CrawlSummary>;
}

/**
 * Starts a crawl, polite by default: one visit per host at a time, one second apart, obeying robots.txt, only the seeds' own domains, no
 * private addresses.
 *
 * Throws `OPTION_INVALID` at once for a wrong option. Later faults are reported by the event `error` and do not
 * stop the crawl. `finished` rejects when the frontier cannot be opened, for instance because of wrong rules, or
 * breaks. `Item` is the type of what analyzers find for the pipelines. Costs an `openFrontier`, and no thread unless `threads` asks for some.
 *
 * @example
 * const run = crawl({ seeds: "https://example.org/", maxPages: 100 });
 * run.on("page", ({ url, status }) => console.log(status, url));
 * const { pages } = await run.finished;
 */
export function crawl<Item = unknown>(options: CrawlOptions<Item>): Crawl<Item> {
  // The caller chooses the type of items; no code here reads them.
  return startCrawl(normalizeCrawl(options as CrawlOptions)) as Crawl as Crawl<Item>;
}

/** A crawl of options that were checked. */
export function startCrawl(settings: CrawlSettings): Crawl {
  return new CrawlRun(settings);
}

/** How long visits may take to end after an abort, before their leases go back without them. */
const ABORT_MS = 1_000;

class CrawlRun implements Crawl {
  readonly finished: Promise<CrawlSummary>;
  readonly modules: ModuleRegistry = createModuleRegistry();
  readonly #settings: CrawlSettings;
  readonly #events: Emitter<CrawlEvents>;
  readonly #faults: FaultHub;
  readonly #monitor: Monitor;
  readonly #taking = new AbortController();
  readonly #working = new AbortController();
  #validators: Validators | undefined;
  #pendingValidators: PendingValidators | undefined;
  #sitemapTimes: SitemapTimes | undefined;
  #budgets: UrlBudgets | undefined;
  #frontier: Frontier | undefined;
  /** The adapter behind #frontier, if the frontier is elsewhere. */
  #shared: SharedFrontier | undefined;
  #status: CrawlStatus = "opening";
  #reason: CrawlReason | undefined;
  #last: CrawlSummary | undefined;
  /** Leases of visits under way. */
  readonly #visited = new Set<Lease>();
  #wake: (() => void) | undefined;
  #isWaitingForModule = false;
  #isToPause = false;
  #broken: { readonly cause: unknown } | undefined;
  #cancelTime: (() => void) | undefined;

  constructor(settings: CrawlSettings) {
    this.#settings = settings;
    this.#events = createEmitter(CRAWL_EVENTS, (cause) =>
      this.#faults.report({ type: "scheduler", what: `listener: ${String(cause)}`, cause }),
    );
    this.#faults = createFaultHub((fault) => this.#events.emit("error", fault));
    this.#monitor = new Monitor({
      settings,
      events: this.#events,
      faults: this.#faults,
      modules: this.modules,
      standing: () => ({ status: this.#status, reason: this.#reason }),
    });
    setMaxListeners(0, this.#working.signal); // every wait for a host's turn listens
    const { signal } = settings.given;
    if (signal?.aborted) this.#stopTaking("stopped");
    signal?.addEventListener("abort", () => void this.stop(), { once: true });
    this.finished = this.#run();
    this.finished.catch(() => {}); // a program need not await it
  }

  get status(): CrawlStatus {
    return this.#status;
  }

  get frontier(): Frontier | undefined {
    return this.#shared === undefined ? this.#frontier : undefined;
  }

  get shared(): AsyncFrontier | undefined {
    return this.#shared?.frontier;
  }

  on<E extends keyof CrawlEvents>(
    event: E,
    listener: (payload: CrawlEvents[E]) => void,
    options?: ListenOptions,
  ): () => void {
    return this.#events.on(event, listener, options);
  }

  errors(): FaultStream {
    return this.#faults.open();
  }

  samples(): readonly CrawlSample[] {
    return this.#monitor.samples;
  }

  host(key: string): CrawlHost | undefined {
    const isOpen = this.#status !== "stopped" && this.#last === undefined;
    const view = isOpen ? this.#frontier?.host(key) : undefined;
    if (view === undefined) return undefined;
    const sick = this.#monitor.health.of(key);
    return { view, score: sick?.score ?? 100, ...(sick === undefined ? {} : { sick }) };
  }

  report(): CrawlSummary {
    if (this.#last !== undefined) return this.#last;
    const frontier = this.#frontier;
    if (frontier === undefined) {
      throw misuse("STATE_INVALID", "status", this.#status, "a crawl that is running");
    }
    return this.#monitor.summary(frontier);
  }

  setRules(rules: Rule[], version?: number | string): void {
    const frontier = this.#frontier;
    if (frontier === undefined)
      throw misuse("STATE_INVALID", "status", this.#status, "a running crawl");
    frontier.setRules(withinScope(rules, this.#settings.scope), version);
    this.#validators?.setRules(frontier.rules() ?? []);
  }

  pause(): void {
    this.#isToPause = true;
    if (this.#status !== "running") return;
    this.#frontier?.pause();
    this.#become("paused");
  }

  resume(): void {
    this.#isToPause = false;
    if (this.#status !== "paused") return;
    this.#isWaitingForModule = false;
    this.#frontier?.resume();
    this.#become("running");
  }

  async stop({ now = false }: { now?: boolean } = {}): Promise<CrawlSummary> {
    this.#stopTaking("stopped");
    if (now) {
      this.#working.abort();
      this.finished.catch(() => undefined).finally(after(ABORT_MS, () => this.#abandon()));
    }
    return this.finished;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop().catch(() => {}); // `finished` rejects with it
  }

  async #run(): Promise<CrawlSummary> {
    const { given } = this.#settings;
    try {
      const frontier = await this.#openFrontier();
      this.#frontier = frontier;
      // Only now: the directory is ours.
      const validators = validatorsFor(this.#settings);
      this.#validators = validators;
      this.#pendingValidators = createPendingValidators(validators, frontier);
      this.#sitemapTimes = createSitemapTimes({
        ...{ frontier, clock: this.#settings.clock, file: lineFileBeside(given, "lastmod.jsonl") },
        onDue: () => void this.#monitor.counters.renewed++,
      });
      const { isWanted, headersFor, contentFor } = validators;
      const { offer } = this.#pendingValidators;
      const context = await this.#prepare(frontier, { isWanted, headersFor, contentFor, offer });
      // Without rules in the options, the stored ones of a directory stay in force; the scope has its own.
      validators.setRules(frontier.rules() ?? []);
      await this.#shared?.flush(); // seeds are there, and are counted
      if (!this.#taking.signal.aborted) this.#become("running");
      if (this.#isToPause) this.pause();
      this.#endInTime();
      this.#monitor.begin(frontier, () => {
        const { flushedAt } = frontier.report().durability;
        if (flushedAt !== undefined) this.#keepNotes(flushedAt);
      });
      if (this.#settings.threads === 0) await this.#work(frontier, context);
      else if (!this.#isIdle(frontier)) await this.#workOnThreads(frontier, context);
      this.#reason ??= "finished";
    } catch (cause) {
      this.#reason = "fault";
      throw cause;
    } finally {
      await this.#close();
    }
    return this.report();
  }

  async #openFrontier(): Promise<Frontier> {
    const { given, frontier: options } = this.#settings;
    const opened = given.frontier ?? (await (given.open ?? openFrontier)(options));
    if (!isElsewhere(opened)) return opened;
    try {
      this.#shared = await SharedFrontier.open({
        ...{ frontier: opened, settings: this.#settings },
        onFault: (cause, url) => {
          const what = `frontier: ${textOf(cause)}`;
          this.#faults.report({ type: "scheduler", what, cause, ...(url && { url }) });
        },
      });
    } catch (cause) {
      if (given.frontier === undefined) await opened.close({ discard: true });
      throw cause;
    }
    return this.#shared.asFrontier();
  }

  #prepare(frontier: Frontier, validators: VisitContext["validators"]): Promise<VisitContext> {
    this.modules.onRegister((kind) => {
      if (kind === "downloader" && this.#isWaitingForModule) this.resume();
    });
    const families = watchFamilies(frontier, this.#settings.given);
    ({ budgets: this.#budgets, traps: this.#monitor.traps } = families);
    return prepareCrawl({
      ...{ frontier, shared: this.#shared },
      sitemapTimes: this.#sitemapTimes as SitemapTimes,
      families,
      settings: this.#settings,
      modules: this.modules,
      faults: this.#faults,
      events: this.#events,
      monitor: this.#monitor,
      validators,
      signal: this.#working.signal,
      onNoDownloader: () => {
        this.#isWaitingForModule = true;
        this.pause();
      },
    });
  }

  async #work(frontier: Frontier, context: VisitContext): Promise<void> {
    if (this.#isIdle(frontier)) return; // a frontier that never held anything waits for ever
    const { clock, concurrency: most, given } = this.#settings;
    const start = startSlowly({ clock, overMs: given.rampMs, most, onStep: () => this.#wake?.() });
    try {
      await this.#takeAndVisit(frontier, context, () => start.allowed());
    } finally {
      start.stop();
    }
    while (this.#visited.size > 0) await this.#place();
    if (this.#broken !== undefined) throw this.#broken.cause;
  }

  async #takeAndVisit(
    frontier: Frontier,
    context: VisitContext,
    allowed: () => number,
  ): Promise<void> {
    const { maxPages } = this.#settings;
    const { signal } = this.#taking;
    while (!signal.aborted) {
      const left = maxPages - this.#monitor.counters.pages;
      if (left <= 0) {
        this.#stopTaking("max-pages");
        break;
      }
      const free = Math.min(allowed(), left) - this.#visited.size;
      if (free <= 0) {
        await this.#place();
        continue;
      }
      let leases: Lease[];
      try {
        leases = await frontier.take({ max: free, signal });
      } catch (cause) {
        if (signal.aborted) break;
        throw cause;
      }
      if (leases.length === 0 && this.#visited.size === 0) break; // finished, or closed under us
      if (leases.length === 0) await this.#place();
      for (const lease of leases) this.#begin(lease, context);
    }
  }

  async #workOnThreads(frontier: Frontier, context: VisitContext): Promise<void> {
    const { runCrawlThreads } = await import("../threads/crawl-threads.ts");
    await runCrawlThreads({
      frontier,
      settings: this.#settings,
      context,
      stop: this.#taking.signal,
      onBudget: () => this.#stopTaking("max-pages"),
      hasPageListener: () => this.#events.hasListener("page"),
      onQuietPage: (url) => this.#monitor.quietPage(url),
    });
  }

  /** The time of the whole crawl, from the first visit on. */
  #endInTime(): void {
    const { given, clock } = this.#settings;
    const { maxTimeMs } = given;
    if (maxTimeMs === undefined) return;
    this.#cancelTime = clock.schedule(clock.now() + maxTimeMs, () => this.#stopTaking("max-time"));
  }

  /** Nothing to do, and no rule that will bring something. */
  #isIdle(frontier: Frontier): boolean {
    const rules = frontier.rules() ?? [];
    const { pending, waiting, leased } = frontier.report();
    return pending + waiting + leased === 0 && !rules.some(({ every }) => every !== undefined);
  }

  #begin(lease: Lease, context: VisitContext): void {
    if (this.#taking.signal.aborted) {
      lease.release();
      return;
    }
    this.#visited.add(lease);
    visit(lease, context)
      .catch((cause: unknown) => {
        this.#broken ??= { cause }; // the frontier took no end of it
        this.#stopTaking("fault");
      })
      .finally(() => {
        this.#visited.delete(lease);
        this.#wake?.();
      });
  }

  /** Returns the leases of visits that a module holds up; what it does later is ignored. */
  #abandon(): void {
    for (const lease of this.#visited) lease.release();
    this.#visited.clear();
    this.#wake?.();
  }

  /** Resolves when a visit has ended, or one more may begin. */
  #place(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #stopTaking(reason: CrawlReason): void {
    if (this.#reason !== undefined || this.#status === "stopped") return;
    this.#reason = reason;
    this.#become("draining");
    this.#taking.abort();
    // After this, stopping at once loses nothing. An error of the disk is reported at the end.
    this.#frontier?.flush().catch(() => {});
  }

  async #close(): Promise<void> {
    this.#cancelTime?.();
    this.#become("stopping");
    try {
      await this.#closeFrontier();
    } finally {
      await this.modules.close().finally(() => {
        this.#become("stopped");
        if (this.#last !== undefined) this.#events.emit("finished", this.#last);
        this.#faults.close();
      });
    }
  }

  async #closeFrontier(): Promise<void> {
    const frontier = this.#frontier;
    if (frontier === undefined) return;
    this.#monitor.end(frontier);
    const isOurs = this.#settings.given.frontier === undefined;
    if (this.#shared !== undefined) await this.#shared.end(this.#reason === "fault");
    else if (isOurs) await frontier.flush();
    this.#monitor.leave();
    this.#pendingValidators?.close();
    if (this.#reason !== "fault") this.#keepNotes(Number.POSITIVE_INFINITY);
    const summary = this.report();
    this.#last = Object.assign(summary, { status: "stopped" as const });
    if (this.#shared !== undefined) await this.#shared.close(isOurs);
    else if (isOurs) await frontier.close();
  }

  #keepNotes(flushedAtMs: number): void {
    try {
      this.#budgets?.flushed();
      this.#sitemapTimes?.flushed(flushedAtMs);
      this.#validators?.flushed(flushedAtMs);
    } catch (cause) {
      // They only save traffic: without them pages are read whole, or once more.
      this.#faults.report({ type: "scheduler", what: `validators: ${String(cause)}`, cause });
    }
  }

  #become(to: CrawlStatus): void {
    const from = this.#status;
    if (from === to) return;
    this.#status = to;
    this.#events.emit("status", { from, to });
  }
}

/** In a directory they outlive the process. */
function validatorsFor({ clock, given }: CrawlSettings): Validators {
  const file = lineFileBeside(given, "validators.jsonl");
  return createValidators({ clock, defaults: given.defaults, file });
}
