/**
 * FrontierRequestManager: the queue of a crawler of Crawlee's, on a frontier. It implements `IRequestManager` of versions 3 and 4; a
 * method that was renamed in version 4 has both names.
 *
 *   crawler                      manager                    frontier
 *   is a task ready?         ─▶  isEmpty                ─▶  peek(1): what a poll would return now, clocks of hosts included
 *   run a task               ─▶  fetchNextRequest       ─▶  poll, until requestLockSecs
 *   it succeeded, or failed  ─▶  markRequestHandled     ─▶  done
 *   it failed                ─▶  reclaimRequest         ─▶  due again; after a 429 its host rests
 *   nothing runs: is it over?─▶  isFinished             ─▶  nothing pending, waiting, leased or being added
 *
 *   I1  isEmpty and isFinished query the frontier each time: no count of ours can be out of date.
 *   I2  A batch that failed in the background makes isFinished reject: no request is lost without an error.
 */
import { openFrontier } from "../../index.ts";
import { type Clock, createSystemClock, dateOf } from "../../base/clock.ts";
import { FrontierError, misuse } from "../../base/errors.ts";
import { addInBatches } from "./batched-adds.ts";
import { loadRequestClass, type RequestClass } from "./crawlee-packages.ts";
import type {
  BatchedOptions,
  BatchedResult,
  BatchResult,
  CrawleeRequest,
  OperationInfo,
  OperationOptions,
  ProcessedRequest,
  QueueCounts,
  RequestSource,
  RequestSources,
  StoredRequest,
  UnprocessedRequest,
} from "./crawlee-types.ts";
import { DomainThrottle } from "./domain-throttle.ts";
import {
  type FrontierRequestManagerOptions,
  LOCK_SECS,
  type OpenManagerOptions,
  readManagerOptions,
  splitOpenOptions,
} from "./manager-options.ts";
import type { PacingSignal, Readiness } from "./pacing-types.ts";
import { type Added, type AnyFrontier, priorityOfUserData, RequestStore } from "./request-store.ts";
import { requestId } from "./request-id.ts";
import { type MakeRequest, requestMaker } from "./request-instances.ts";
import { readSources } from "./request-sources.ts";
import { isLater, type Soon } from "./soon.ts";

/** Refusals that are due to the caller's request, not to a rule. */
const WRONG = new Set(["invalid-url", "scheme", "too-long", "unserializable", "invalid-request"]);
/** Batches in a row that find no room, before the rest of a batch is reported as refused. */
const FULL_TRIES = 3;
/** What Crawlee's crawlers write into a request whose response was a 429. */
const TOO_SOON = /\breceived 429 status code\b/;

/**
 * The queue of a crawler of Crawlee's, on a frontier of yours. Pass it to the crawler as `requestQueue` (version 3) or as
 * `requestManager` (version 4).
 *
 * Each request comes back with its userData, headers, retry count and error messages; the unique key alone decides what is a duplicate.
 * What rules ask for holds: politeness, priorities, scope, recrawl, the memory bound, durability.
 *
 * @example
 * const manager = await FrontierRequestManager.open({ directory: "crawl-data" });
 * const crawler = new CheerioCrawler({ requestQueue: manager, requestHandler });
 * await crawler.run(["https://example.org/"]);
 * await manager.close();
 */
export class FrontierRequestManager {
  /** Id of the queue: the frontier's name. */
  readonly id: string;
  /** Name of the queue; none, so that a crawler that runs twice does not replace it by a queue of its own. */
  readonly name: string | undefined = undefined;
  /** The frontier below. */
  readonly frontier: AnyFrontier;
  /**
   * How long a request may be in progress before it is handed out again, in seconds, and never less than the frontier's `leaseMs`. A
   * crawler sets it to its time limit.
   */
  requestLockSecs: number | undefined = undefined;
  /** Set by crawlers of version 3; ignored here. */
  internalTimeoutMillis = 0;
  readonly #store: RequestStore;
  readonly #throttle: DomainThrottle;
  readonly #clock: Clock;
  readonly #onRefused: ((request: CrawleeRequest, reason: string) => void) | undefined;
  #Request: RequestClass | undefined;
  #make: MakeRequest | undefined;
  #isOwner = false;
  #batches = 0;
  #fault: unknown;
  #textMs: number | undefined;
  #text = "";
  /** On a frontier elsewhere: the counts as they were last seen. */
  #counts: QueueCounts = { totalRequestCount: 0, handledRequestCount: 0, pendingRequestCount: 0 };

  /** Throws `OPTION_INVALID`. Nothing of Crawlee's is loaded before the first request. */
  constructor(options: FrontierRequestManagerOptions) {
    const { frontier, clock = createSystemClock(), ...settings } = readManagerOptions(options);
    const { baseDelaySecs = 2, maxDelaySecs = 60, maxRetryAfterSecs = 3_600 } = settings;
    const {
      maxDomainStallSecs = 900,
      priority = priorityOfUserData,
      keepHandled = false,
    } = settings;
    this.frontier = frontier;
    this.id = frontier.name;
    this.#store = new RequestStore(frontier, { priorityOf: priority, keepHandled, clock });
    this.#throttle = new DomainThrottle(frontier, clock, {
      baseDelayMs: baseDelaySecs * 1_000,
      maxDelayMs: maxDelaySecs * 1_000,
      maxRetryAfterMs: maxRetryAfterSecs * 1_000,
      maxStallMs: maxDomainStallSecs * 1_000,
    });
    this.#clock = clock;
    this.#onRefused = settings.onRefused;
    this.#Request = settings.Request;
  }

  /**
   * Opens a frontier of this process, and the manager on it; `close` closes both. With a directory it continues where the last process
   * ended: what was in progress is pending again. Rejects as `openFrontier` does.
   */
  static async open(options: OpenManagerOptions = {}): Promise<FrontierRequestManager> {
    const { settings, frontier: asked, purge } = splitOpenOptions(options);
    const frontier = await openFrontier(asked);
    if (purge) frontier.clear();
    const { clock } = asked;
    const manager = new FrontierRequestManager({ ...settings, frontier, ...(clock && { clock }) });
    manager.#isOwner = true;
    manager.requestLockSecs = LOCK_SECS;
    return manager;
  }

  /**
   * Adds a request, or a list behind `requestsFromUrl`: resolves with what became of the first one, of an empty list with `forefront` alone,
   * as in Crawlee. Rejects with `REQUEST_INVALID` for what is not a request. Costs a push.
   */
  async addRequest(source: RequestSource, options: OperationOptions = {}): Promise<OperationInfo> {
    const forefront = options.forefront === true;
    const [added] = await this.#addBatch([source], forefront);
    return { ...(added?.result as Added), forefront };
  }

  /** Adds many requests in one call. Resolves with what the queue holds and what it refused. */
  async addRequests(sources: RequestSources, options: OperationOptions = {}): Promise<BatchResult> {
    const given: RequestSource[] = [];
    for await (const source of sources) given.push(source);
    const processedRequests: ProcessedRequest[] = [];
    const unprocessedRequests: UnprocessedRequest[] = [];
    for (const { request, result } of await this.#addBatch(given, options.forefront === true)) {
      const { uniqueKey, url } = request;
      if (result.refusal === undefined) processedRequests.push(processed(result));
      else unprocessedRequests.push({ uniqueKey, url });
    }
    return { processedRequests, unprocessedRequests };
  }

  /**
   * Adds requests in batches: resolves with the first one, the others follow in the background. Requests that a rule refuses are left out;
   * those for which there is no room are tried three times. Costs a push each.
   */
  async addRequestsBatched(
    sources: RequestSources,
    options: BatchedOptions = {},
  ): Promise<BatchedResult> {
    this.#batches += 1;
    const forefront = options.forefront === true;
    const add = async (batch: RequestSource[]): Promise<ProcessedRequest[]> => {
      const added = await this.#addBatch(batch, forefront);
      return added.flatMap(({ result }) => (result.refusal === undefined ? processed(result) : []));
    };
    try {
      const result = await addInBatches(sources, options, add);
      const rest = result.waitForAllRequestsToBeAdded;
      this.#batches += 1;
      void rest.catch(this.#fail).finally(() => {
        this.#batches -= 1;
      });
      return result;
    } finally {
      this.#batches -= 1;
    }
  }

  readonly #fail = (error: unknown): void => {
    this.#fault ??= error;
  };

  async #addBatch(
    sources: RequestSource[],
    forefront: boolean,
  ): Promise<Array<{ request: CrawleeRequest; result: Added }>> {
    const requests = await readSources(sources, this.#requestClass);
    const results = await this.#addUntilFull(requests, forefront);
    this.#counts.totalRequestCount += results.filter((each) => !each.wasAlreadyPresent).length;
    let wrong: FrontierError | undefined;
    for (const [index, { requestId, refusal }] of results.entries()) {
      const request = requests[index] as CrawleeRequest;
      request.id = requestId;
      if (refusal === undefined) continue;
      this.#onRefused?.(request, refusal.reason);
      if (!WRONG.has(refusal.reason)) continue;
      wrong ??= misuse(
        "REQUEST_INVALID",
        "request.url",
        request.url,
        `a URL, not ${refusal.reason}`,
      );
    }
    if (wrong !== undefined) throw wrong;
    return results.map((result, index) => ({ request: requests[index] as CrawleeRequest, result }));
  }

  async #addUntilFull(requests: CrawleeRequest[], forefront: boolean): Promise<Added[]> {
    const results = await this.#store.addMany(requests, forefront);
    for (let tries = 1; tries < FULL_TRIES; tries++) {
      const full = [...results.keys()].filter(
        (index) => results[index]?.refusal?.status === "full",
      );
      if (full.length === 0) break;
      const again = full.map((index) => requests[index] as CrawleeRequest);
      const added = await this.#store.addMany(again, forefront);
      for (const [row, index] of full.entries()) results[index] = added[row] as Added;
    }
    return results;
  }

  readonly #requestClass = (): RequestClass => {
    this.#Request ??= loadRequestClass();
    return this.#Request;
  };

  /** The next request, which is in progress from then on; null: none is due now. Costs a poll. */
  async fetchNextRequest<R = CrawleeRequest>(): Promise<R | null> {
    const { requestLockSecs } = this;
    const lockMs = requestLockSecs === undefined ? undefined : requestLockSecs * 1_000;
    for (;;) {
      const fetched = this.#store.fetch(lockMs);
      const stored = isLater(fetched) ? await fetched : fetched;
      if (stored === undefined) return null;
      if (this.#throttle.mustWait(stored.url)) {
        await this.#store.unlock(stored.id, false);
        continue;
      }
      this.#throttle.dispatched(stored.url);
      return this.#instance(stored) as R;
    }
  }

  #instance(stored: StoredRequest): CrawleeRequest {
    this.#make ??= requestMaker(this.#requestClass());
    return this.#make(stored);
  }

  /** The requests that are due, one by one, until none is. */
  async *[Symbol.asyncIterator]<R = CrawleeRequest>(): AsyncGenerator<R, void, unknown> {
    for (let next = await this.fetchNextRequest<R>(); next !== null; ) {
      yield next;
      next = await this.fetchNextRequest<R>();
    }
  }

  /** Ends a request for good. Resolves with null where its time was over and another process has it by now: nothing was changed. */
  async markRequestHandled(request: CrawleeRequest): Promise<OperationInfo | null> {
    request.handledAt ??= this.#timeText(this.#clock.now());
    const finished = this.#store.finish(request);
    const info = isLater(finished) ? await finished : finished;
    if (info === undefined) return null;
    if (!info.wasAlreadyHandled) this.#counts.handledRequestCount += 1;
    this.#throttle.served(request.url);
    return info;
  }

  /** As text; many requests end within one millisecond. */
  #timeText(nowMs: number): string {
    if (nowMs !== this.#textMs) this.#text = dateOf(nowMs).toISOString();
    this.#textMs = nowMs;
    return this.#text;
  }

  /**
   * Returns a request for another attempt, with its fields as they are now. After a 429 its host rests first. Resolves with null where it is
   * handled, or was never there: nothing was changed.
   */
  async reclaimRequest(
    request: CrawleeRequest,
    options: OperationOptions = {},
  ): Promise<OperationInfo | null> {
    if ((await this.#isHandled(request)) !== false) return null;
    if (TOO_SOON.test(request.errorMessages?.at(-1) ?? ""))
      this.#throttle.refused(request.url, null);
    await this.#throttle.settled();
    return (await this.#store.reclaim(request, options.forefront === true)) ?? null;
  }

  /** A request by its id, or as in version 4 by its unique key; null: unknown, or handled and not kept. */
  async getRequest<R = CrawleeRequest>(id: string): Promise<R | null> {
    const stored = (await this.#store.get(id)) ?? (await this.#store.get(requestId(id)));
    if (stored === undefined) return null;
    return this.#instance(stored) as R;
  }

  /** Whether `fetchNextRequest` would resolve with null now. Costs a view of the next request. */
  async isEmpty(): Promise<boolean> {
    return this.#store.isEmpty();
  }

  /**
   * Whether every request is handled: none is due, waits, is in progress or is being added. Rejects with what made a batch fail in the
   * background. Costs a report.
   */
  async isFinished(): Promise<boolean> {
    if (this.#fault !== undefined) throw this.#fault;
    if (this.#batches > 0) return false;
    return this.#store.isFinished();
  }

  /** Requests that were handled. */
  async handledCount(): Promise<number> {
    return (await this.#countNow()).handledRequestCount;
  }

  /** Requests in all, handled ones included: a number, which version 4 awaits. On a frontier elsewhere an approximation. */
  getTotalCount<N = number>(): N {
    return this.#countHere().totalRequestCount as N;
  }

  /** Requests that are not handled yet: a number, which version 4 awaits. On a frontier elsewhere an approximation. */
  getPendingCount<N = number>(): N {
    const { totalRequestCount, handledRequestCount } = this.#countHere();
    return (totalRequestCount - handledRequestCount) as N;
  }

  /** Counts of the queue. */
  async getInfo(): Promise<QueueCounts & { id: string }> {
    return { id: this.id, ...(await this.#countNow()) };
  }

  #countHere(): QueueCounts {
    const counted = this.#store.countsHere();
    if (counted !== undefined) this.#counts = counted;
    return this.#counts;
  }

  async #countNow(): Promise<QueueCounts> {
    this.#counts = await this.#store.counts();
    return this.#counts;
  }

  /**
   * Blocks a URL's host, because it answered 429: for `retryAfterMs`, or for a time that doubles with each refusal. Returns false for what is
   * no URL. Several refusals of requests that were under way together count as one.
   */
  recordDomainDelay(url: string, retryAfterMs?: number | null): boolean {
    return this.#throttle.refused(url, retryAfterMs);
  }

  /** Sets the least time between two visits of a URL's host in seconds, as robots.txt asks for it. Never below what the rules ask for. */
  setCrawlDelay(url: string, delaySeconds: number): boolean {
    return this.#throttle.delay(url, delaySeconds * 1_000);
  }

  /** Rejects with `STATE_INVALID` where a host has refused everything for `maxDomainStallSecs`. Its requests stay. */
  async assertNoStalledDomains(): Promise<void> {
    const [first, ...others] = this.#throttle.stalled();
    if (first === undefined) return;
    const more = others.length === 0 ? "" : ` and ${others.length} others`;
    const expected = "another status within maxDomainStallSecs";
    const message = `host ${first}${more}: rate limited (expected: ${expected})`;
    throw new FrontierError("STATE_INVALID", message);
  }

  /**
   * Version 4: takes a rate limit or a least interval into the clocks of hosts; returns false for another signal. A least
   * interval for every URL may be one of registrable domains, as that of `sameDomainDelaySecs`, but not on a frontier elsewhere. Throws
   * `UNSUPPORTED` for any other scope wider than a host.
   */
  recordPacingSignal(signal: PacingSignal): boolean {
    const { reason, scope = "hostname" } = signal;
    const isOfAll = reason === "minIntervalEverywhere";
    const isOfDomains = isOfAll && scope === "registrableDomain";
    if (isOfDomains && this.#throttle.delayDomains(signal.intervalMs)) return true;
    if (scope !== "hostname") {
      const message = `signal.scope: ${scope} (expected: hostname; domains are for rules)`;
      throw new FrontierError("UNSUPPORTED", message);
    }
    if (reason === "rateLimited") return this.#throttle.refused(signal.url, signal.waitMs);
    if (reason === "minInterval") return this.#throttle.delay(signal.url, signal.intervalMs);
    if (isOfAll) this.#throttle.delayEverywhere(signal.intervalMs);
    return isOfAll;
  }

  /** Version 4: whether a request is ready, and if not, why and until when. */
  async checkReadiness(): Promise<Readiness> {
    if (!(await this.isEmpty())) return { status: "ready" };
    if (await this.isFinished()) return { status: "finished" };
    const [host] = this.#throttle.stalled();
    if (host !== undefined)
      return { status: "stalled", reason: `${host} answers 429 to everything` };
    const due = this.frontier.nextDueAt();
    const readyAt = isLater(due) ? await due : due;
    return readyAt === undefined ? { status: "waiting" } : { status: "waiting", readyAt };
  }

  /** Version 4: as `markRequestHandled`; null also for a request that was never there, or was purged. */
  async markRequestAsHandled(request: CrawleeRequest): Promise<OperationInfo | null> {
    if ((await this.#isHandled(request)) === undefined) return null;
    return await this.markRequestHandled(request);
  }

  /** What is in progress here is not, nor what has another's id, which the store refuses; undefined: the request is not known. */
  #isHandled({
    uniqueKey,
    id = requestId(uniqueKey),
    url,
  }: CrawleeRequest): Soon<boolean | undefined> {
    if (this.#store.lease(id) !== undefined || id !== requestId(uniqueKey)) return false;
    return this.#store.isHandled(id, url);
  }

  /** Version 4: as `handledCount`. */
  async getHandledCount(): Promise<number> {
    return await this.handledCount();
  }

  /** Version 4: how long a request may be in progress, in seconds; only ever raised. */
  async setExpectedRequestProcessingTimeSecs(secs: number): Promise<void> {
    this.requestLockSecs = Math.max(this.requestLockSecs ?? 0, secs);
  }

  /** Version 4: moves the time until which a request may be in progress. False: it is no longer this process's. */
  async extendRequestProcessingTimeSecs(request: CrawleeRequest, secs: number): Promise<boolean> {
    const { id } = request;
    return id !== undefined && (await this.#store.prolong(id, secs * 1_000)) !== undefined;
  }

  /** Resolves when everything so far is on the disk. */
  async persistState(): Promise<void> {
    await this.frontier.flush();
  }

  /** Removes every request; the queue itself stays. */
  async purge(): Promise<void> {
    await this.#store.clear();
    this.#fault = undefined;
  }

  /** Removes every request and, where `open` made the frontier, its files. Does nothing once that is closed. */
  async drop(): Promise<void> {
    if (this.#isOwner && this.frontier.status === "stopped") return;
    await this.purge();
    this.#countHere();
    if (this.#isOwner) await this.frontier.close({ discard: true });
  }

  /** Closes the frontier, where `open` made it; flushes it otherwise. A crawler that still runs reads the last counts. */
  async close(): Promise<void> {
    this.#countHere();
    if (this.#isOwner) await this.frontier.close();
    else await this.frontier.flush();
  }

  /** This manager, for TypeScript: version 3 declares `requestQueue` as a class of its own. */
  asRequestQueue<Q = unknown>(): Q {
    return this as unknown as Q;
  }
}

function processed({ refusal: _, ...result }: Added): ProcessedRequest {
  return result;
}
