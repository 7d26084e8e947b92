/**
 * RequestStore: what Crawlee does with a queue, in the calls of a frontier. The request manager and the storages of both versions are
 * built on it.
 *
 *   Crawlee                 frontier
 *   add                     push; put, where it comes in as handled
 *   fetch, lock             poll; the lease is kept by its id until it ends
 *   mark as handled         done; with `keepHandled` then put, so that the request stays readable
 *   reclaim                 retry for later, then put: due now, with what the attempt has changed
 *   forefront               a priority above every other, the last one highest
 *   lock of a batch         a lease that outlasts the lock, on a frontier of this thread: `expireLocks` returns it (I4)
 *
 * The frontier is this process's own, its own thread's, or Redis: a result that comes at once is not awaited, so that a call of several
 * steps on a frontier of this thread is one turn.
 *
 *   I1  A lease that has ended, or whose deadline has passed, changes nothing: the lock is fenced by the frontier.
 *   I2  Between `retry` and `put` of a reclaim the request can not be leased: it waits for a time in the future.
 *   I3  A crash between two steps leaves the request waiting or pending as it was before the attempt, or handled without its data.
 *   I4  A caller that fetches or lists requests calls `expireLocks` first. Until then the client of an expired lock can prolong it, as on
 *       Crawlee's own storage: its queue keeps 25 locked requests, of which the last may have expired when their turn comes.
 */
import type {
  AsyncFrontier,
  AsyncLease,
  Frontier,
  Lease,
  RecordView,
  Report,
  RequestInput,
} from "../../index.ts";
import { hasDue, leaseKey, liveCount, pollFor } from "../../engine/api/work-left.ts";
import { type Clock, dateOf } from "../../base/clock.ts";
import { FrontierError, type FrontierErrorCode, misuse } from "../../base/errors.ts";
import type {
  CrawleeRequest,
  OperationInfo,
  ProcessedRequest,
  QueueCounts,
  StoredRequest,
} from "./crawlee-types.ts";
import { decodeRequest, decodeShaped, encodeRequest, isOwnData } from "./request-codec.ts";
import { LockEnds } from "./lock-ends.ts";
import { requestId } from "./request-id.ts";
import { ignoreLater, isLater, type Soon, whenKnown } from "./soon.ts";

/** A frontier that answers at once, or one that answers later: on a thread, or over Redis. */
export type AnyFrontier = Frontier | AsyncFrontier;
type AnyLease = Lease | AsyncLease;

/** What is known of a request that was added: processed, or why it was not taken. */
export interface Added extends ProcessedRequest {
  readonly refusal?: { readonly status: string; readonly reason: string };
}

export interface StoreOptions {
  /** Priority of a request; undefined: the rule's. */
  readonly priorityOf?: ((request: CrawleeRequest) => number | undefined) | undefined;
  /** Whether handled requests keep their data. */
  readonly keepHandled: boolean;
  /** Whether requests come back with the fields that they had, for the clients of storages. */
  readonly keepsShape?: boolean;
  /** The clock of locks and forefront priorities. */
  readonly clock: Pick<Clock, "now">;
}

/** Priorities from here on are those of `forefront`. Callers' own stay below half of it. */
const FOREFRONT = 2 ** 50;
const PRIORITY_MOST = 2 ** 49;
/** Forefront priorities rise by the clock, over restarts too; so many a millisecond differ. */
const FOREFRONT_EACH_MS = 8;
/** I2: longer than any two steps that follow each other. */
const RECLAIM_MS = 60_000;
/** A time that has passed by every clock. */
const PAST = 0;
/** As many as a frontier shows. */
export const PEEK_MOST = 1_000;
/** A year: the longest that a lease can be made at once. Crawlers without a time limit ask for a lock without end. */
const LOCK_MS_MOST = 31_536_000_000;
/** How long a lease outlasts its lock: longer than the last of a batch waits for its turn (I4). */
const RENEWABLE_MS = 3_600_000;
/** Any URL: the identity is the key alone. */
const ANY_URL = "http://any.invalid/";

/** Why a request that is known finds no place again; any other reason is a rule's. */
const CODES: Record<string, FrontierErrorCode> = {
  closed: "FRONTIER_CLOSED",
  disk: "DISK_FULL",
  memory: "MEMORY_FULL",
};

export class RequestStore {
  readonly frontier: AnyFrontier;
  readonly #options: StoreOptions;
  readonly #decode: typeof decodeRequest;
  readonly #inProgress = new Map<string, AnyLease>();
  #forefront = 0;
  readonly #ends = new LockEnds();
  /** Locks whose requests go to another place when they end unhandled: the priority of each. */
  readonly #places = new Map<AnyLease, number>();

  constructor(frontier: AnyFrontier, options: StoreOptions) {
    this.frontier = frontier;
    this.#options = options;
    this.#decode = options.keepsShape ? decodeShaped : decodeRequest;
  }

  /** Whether a lease of this process is out for the request. */
  lease(id: string): AnyLease | undefined {
    return this.#inProgress.get(id);
  }

  /** Adds a batch in one call; those that come in as handled, one by one. Requests of the batch have different unique keys. */
  async addMany(requests: readonly CrawleeRequest[], forefront: boolean): Promise<Added[]> {
    const added: Added[] = new Array(requests.length);
    const inputs: RequestInput[] = [];
    const places: number[] = [];
    for (const [index, request] of requests.entries()) {
      const id = requestId(request.uniqueKey);
      added[index] = fresh(id, request.uniqueKey);
      if (request.handledAt) {
        added[index] = await this.#addHandled(request, id);
        continue;
      }
      inputs.push(this.#input(request, id, forefront));
      places.push(index);
    }
    if (inputs.length > 0) await this.#push(inputs, places, added);
    return added;
  }

  async #push(inputs: RequestInput[], places: number[], added: Added[]): Promise<void> {
    const pushed = this.frontier.pushMany(inputs);
    const result = isLater(pushed) ? await pushed : pushed;
    if (result.accepted + result.deferred === result.size) return;
    const refused = inputs.map(async ({ url }, row) => {
      const { status, reason = status, admitted } = result.verdict(row);
      if (admitted) return;
      const place = places[row] as number;
      const request = added[place] as Added;
      if (status !== "duplicate") added[place] = { ...request, refusal: { status, reason } };
      else added[place] = await this.#present(request, url);
    });
    await Promise.all(refused);
  }

  async #addHandled(request: CrawleeRequest, id: string): Promise<Added> {
    const { uniqueKey, url } = request;
    const added = fresh(id, uniqueKey);
    if ((await this.#record(id, url)) !== undefined) return await this.#present(added, url);
    const put = this.frontier.put(this.#input(request, id, false));
    const { status, reason = status } = isLater(put) ? await put : put;
    return status === "done" ? added : { ...added, refusal: { status, reason } };
  }

  async #present(added: Added, url: string): Promise<Added> {
    const { requestId: id } = added;
    const isLeased = this.#inProgress.has(id);
    const wasAlreadyHandled = !isLeased && isHandled((await this.#record(id, url))?.state);
    return { ...added, wasAlreadyPresent: true, wasAlreadyHandled };
  }

  /** The next requests, locked for `lockMs`; fewer, or none, where no more are due. */
  async fetchMany(max: number, lockMs: number): Promise<StoredRequest[]> {
    const polled = this.frontier.pollMany(max);
    if (isLater(polled))
      return Array.from<AnyLease, StoredRequest>(await polled, (lease) =>
        this.#lock(lease, lockMs),
      );
    const endMs = this.#options.clock.now() + Math.min(lockMs, LOCK_MS_MOST);
    return Array.from<AnyLease, StoredRequest>(polled, (lease) => {
      const request = this.#lock(lease, lockMs + RENEWABLE_MS);
      this.#ends.set(request.id, endMs);
      return request;
    });
  }

  #endOf(id: string, { deadlineMs }: AnyLease): number {
    return this.#ends.get(id) ?? deadlineMs;
  }

  #forget(id: string): void {
    this.#inProgress.delete(id);
    this.#ends.delete(id);
  }

  /** The next request, locked for at least `lockMs`; undefined: none is due. At once where the frontier answers at once. */
  fetch(lockMs = 0): Soon<StoredRequest | undefined> {
    const lease = pollFor(this.frontier, Math.min(lockMs, LOCK_MS_MOST));
    if (lease !== null) return lease && this.#begin(lease);
    return whenKnown<AnyLease | undefined, StoredRequest | undefined>(
      this.frontier.poll(),
      (later) => later && this.#lock(later, lockMs),
    );
  }

  #begin(lease: AnyLease): StoredRequest {
    const request = this.#decode(lease.url, lease.data, leaseKey(lease));
    this.#inProgress.set(request.id, lease);
    return request;
  }

  #lock(lease: AnyLease, lockMs = 0): StoredRequest {
    const untilMs = this.#options.clock.now() + Math.min(lockMs, LOCK_MS_MOST);
    const missingMs = untilMs - lease.deadlineMs;
    if (missingMs > 0) ignoreLater(lease.extend(missingMs));
    return this.#begin(lease);
  }

  /** Makes a request handled. Undefined: another process has it, and nothing was changed. */
  finish(request: CrawleeRequest): Soon<OperationInfo | undefined> {
    const id = request.id ?? requestId(request.uniqueKey);
    const lease = this.#inProgress.get(id);
    if (lease === undefined) {
      checkId(request, id);
      return this.#putHandled(request, infoOf(id, request.uniqueKey, lease), false);
    }
    const ended = lease.done();
    if (isLater(ended)) return ended.then(({ late }) => this.#ended(request, id, lease, late));
    return this.#ended(request, id, lease, ended.late);
  }

  #ended(
    request: CrawleeRequest,
    id: string,
    lease: AnyLease,
    isLate: boolean,
  ): Soon<OperationInfo | undefined> {
    this.#forget(id);
    const info = infoOf(id, request.uniqueKey, lease);
    if (!isLate && !this.#options.keepHandled) return info;
    if (!isOwnData(lease.data)) return isLate ? undefined : info;
    return this.#putHandled(request, info, !isLate);
  }

  async #putHandled(
    request: CrawleeRequest,
    info: OperationInfo,
    isDone: boolean,
  ): Promise<OperationInfo | undefined> {
    const id = info.requestId;
    const wasAlreadyHandled = !isDone && isHandled((await this.#record(id, request.url))?.state);
    const isPut = await this.#put(this.#input(request, id, false), undefined);
    return isPut || isDone ? { ...info, wasAlreadyHandled } : undefined;
  }

  /** Returns a request for another attempt, with its fields as they are now. Undefined: another process has it. */
  async reclaim(request: CrawleeRequest, forefront: boolean): Promise<OperationInfo | undefined> {
    const id = request.id ?? requestId(request.uniqueKey);
    const lease = this.#inProgress.get(id);
    const info = { ...infoOf(id, request.uniqueKey, lease), forefront };
    if (lease !== undefined) {
      const isOwn = isOwnData(lease.data);
      const back = lease.retry(isOwn ? { delayMs: RECLAIM_MS } : {});
      const outcome = isLater(back) ? await back : back;
      this.#forget(id);
      if (!isOwn) return outcome === "late" ? undefined : info;
    } else checkId(request, id);
    const isPut = await this.#put(this.#input(request, id, forefront), PAST);
    return isPut ? info : undefined;
  }

  /** Whether the request was put; false: another process has it. Throws where the frontier has no place for it. */
  async #put(input: RequestInput, dueAt: number | undefined): Promise<boolean> {
    const put = this.frontier.put(input, { dueAt });
    const { status, reason = status } = isLater(put) ? await put : put;
    if (status === "leased") return false;
    if (status !== "rejected" && status !== "full" && status !== "closed") return true;
    const message = `request ${input.url}: ${reason} (expected: a place in the frontier)`;
    throw new FrontierError(CODES[reason] ?? "REQUEST_INVALID", message);
  }

  /** Ends a lock, as if the request had never been fetched. False: no lock of this process, or it has expired. */
  async unlock(id: string, forefront: boolean): Promise<boolean> {
    const lease = this.#inProgress.get(id);
    if (lease === undefined) return false;
    const isLocked = this.#isLive(id, lease);
    this.#forget(id);
    const released = lease.release();
    const isReleased = isLater(released) ? await released : released;
    const isToFront = forefront && isLocked;
    const priority = isToFront ? this.#nextForefront() : this.#places.get(lease);
    this.#places.delete(lease);
    if (isReleased && priority !== undefined)
      ignoreLater(this.frontier.update({ url: lease.url, key: id }, { priority }));
    return isReleased && isLocked;
  }

  /** Locks a request that is due, until its end at its place. Undefined: it is not due, or another client's. */
  async lock(id: string, ms: number, forefront = false): Promise<Date | undefined> {
    const { state, url, priority } = (await this.#record(id)) ?? {};
    if (state !== "pending" || url === undefined || priority === undefined) return undefined;
    // A frontier has no lease by name: the request goes to the front, and the front is fetched.
    await this.frontier.update({ url, key: id }, { priority: this.#nextForefront() });
    const [first] = await this.due(1);
    const fetched = first?.id === id ? await this.fetch(ms) : undefined;
    const lease = this.#inProgress.get(id);
    if (lease !== undefined) {
      this.#places.set(lease, forefront ? this.#nextForefront() : priority);
      return dateOf(lease.deadlineMs);
    }
    if (fetched !== undefined) await this.unlock(fetched.id, false);
    await this.frontier.update({ url, key: id }, { priority });
    return undefined;
  }

  /** Moves the end of a lock by `ms`; one that has expired ends then from now. Undefined: no lock of this process, or it has expired for good. */
  async prolong(id: string, ms: number, forefront = false): Promise<Date | undefined> {
    const lease = this.#inProgress.get(id);
    if (lease === undefined) return undefined;
    const addedMs = Math.min(ms, LOCK_MS_MOST);
    const fromMs = Math.max(this.#endOf(id, lease), this.#options.clock.now());
    const untilMs = fromMs + addedMs;
    const extended = lease.extend(addedMs);
    if (isLater(extended) ? await extended : extended) {
      if (this.#ends.get(id) !== undefined) this.#ends.set(id, untilMs);
      if (forefront) this.#places.set(lease, this.#nextForefront());
      return dateOf(untilMs);
    }
    this.#forget(id);
    return undefined;
  }

  /** Returns a request whose lock has expired. */
  async expireLock(id: string): Promise<void> {
    const endMs = this.#ends.get(id) ?? Number.POSITIVE_INFINITY;
    if (endMs <= this.#options.clock.now()) await this.unlock(id, false);
  }

  /** Returns requests whose locks have expired: to their places, or to the front if they were prolonged to go there. */
  async expireLocks(): Promise<void> {
    const nowMs = this.#options.clock.now();
    for (const id of this.#ends.ended(nowMs)) await this.unlock(id, false);
    for (const [lease, priority] of this.#places) {
      const { id, url } = decodeRequest(lease.url, lease.data);
      const isOver = this.#endOf(id, lease) <= nowMs;
      const isOurs = this.#inProgress.get(id) === lease;
      if (isOurs && isOver) await this.frontier.update({ url, key: id }, { priority });
      if (!isOurs || isOver) this.#places.delete(lease);
    }
  }

  /** A request by its id, and by its URL where the rules decide by it. Undefined: unknown, or handled without its data being kept. */
  async get(id: string, url?: string): Promise<StoredRequest | undefined> {
    const record = await this.#record(id, url);
    if (record?.url === undefined) return undefined;
    return this.#decode(record.url, record.data, id);
  }

  /** Whether a request is handled; undefined: it is not known. */
  async isHandled(id: string, url?: string): Promise<boolean | undefined> {
    const record = await this.#record(id, url);
    return record === undefined ? undefined : isHandled(record.state);
  }

  async #record(id: string, url: string = ANY_URL): Promise<RecordView | undefined> {
    const found = this.frontier.record({ url, key: id });
    return isLater(found) ? await found : found;
  }

  /** Whether `fetch` would return nothing now. */
  isEmpty(): Soon<boolean> {
    const isDue = hasDue(this.frontier);
    if (isDue !== undefined) return !isDue;
    return whenKnown<ArrayLike<unknown>, boolean>(
      this.frontier.peek(1),
      ({ length }) => length === 0,
    );
  }

  /** Whether every request is handled: none is due, waits for a time or a host, or is in progress here or elsewhere. */
  isFinished(): Soon<boolean> {
    // A crawler asks after each request, and once more for each when it has ended. Only what no clock brings about needs the report.
    if (liveCount(this.frontier) === 0) return true;
    if (this.#hasLiveLock()) return false;
    return whenKnown(this.frontier.nextDueAt(), (dueAt) => {
      if (dueAt !== undefined) return false;
      return whenKnown(this.counts(), ({ pendingRequestCount }) => pendingRequestCount === 0);
    });
  }

  /** Whether a request is in progress here for sure; one whose time is over may have been ended by another process. */
  #hasLiveLock(): boolean {
    for (const [id, lease] of this.#inProgress) if (this.#isLive(id, lease)) return true;
    return false;
  }

  #isLive(id: string, lease: AnyLease): boolean {
    return this.#endOf(id, lease) > this.#options.clock.now();
  }

  /** Requests that are due, in their order; none is taken. */
  async due(limit: number): Promise<StoredRequest[]> {
    await this.expireLocks();
    const peeked = this.frontier.peek(Math.max(1, Math.min(limit, PEEK_MOST)));
    const views = isLater(peeked) ? await peeked : peeked;
    return views.map(({ url, data }) => this.#decode(url, data));
  }

  /** Requests whose locks are this client's and have time left. */
  locked(): StoredRequest[] {
    return [...this.#inProgress]
      .filter(([id, lease]) => this.#isLive(id, lease))
      .map(([id, { url, data }]) => this.#decode(url, data, id));
  }

  counts(): Soon<QueueCounts> {
    return whenKnown<Report, QueueCounts>(this.frontier.report(), countsOf);
  }

  /** The counts at once; undefined on a frontier that is elsewhere, or closed. */
  countsHere(): QueueCounts | undefined {
    const { status } = this.frontier;
    if (isElsewhere(this.frontier) || status === "stopping" || status === "stopped")
      return undefined;
    const report = this.frontier.report();
    return isLater(report) ? undefined : countsOf(report);
  }

  /** Forgets every request. Locks that are out change nothing from now on. */
  async clear(): Promise<void> {
    this.forgetLocks();
    await this.frontier.clear();
  }

  /** For a frontier that is cleared elsewhere. */
  forgetLocks(): void {
    this.#places.clear();
    this.#inProgress.clear();
    this.#ends.clear();
  }

  #input(request: CrawleeRequest, id: string, forefront: boolean): RequestInput {
    const input = encodeRequest(request, id, this.#options.keepsShape);
    const priority = forefront ? this.#nextForefront() : this.#options.priorityOf?.(request);
    if (priority === undefined) return input;
    input.priority = forefront ? priority : within(priority);
    return input;
  }

  #nextForefront(): number {
    this.#forefront = Math.max(
      this.#forefront + 1,
      Math.floor(this.#options.clock.now() * FOREFRONT_EACH_MS),
    );
    return FOREFRONT + this.#forefront;
  }
}

/** Whether its calls go to another thread or machine. */
export function isElsewhere({ status }: AnyFrontier): boolean {
  return typeof status === "function";
}

/** What `userData.priority` asks for; undefined: nothing. */
export function priorityOfUserData({ userData }: CrawleeRequest): number | undefined {
  const priority = (userData as { priority?: unknown } | undefined)?.priority;
  return Number.isSafeInteger(priority) ? (priority as number) : undefined;
}

function countsOf({ pending, waiting, leased, done, failed }: Report): QueueCounts {
  const pendingRequestCount = pending + waiting + leased;
  const handledRequestCount = done + failed;
  const totalRequestCount = pendingRequestCount + handledRequestCount;
  return { totalRequestCount, handledRequestCount, pendingRequestCount };
}

function within(priority: number): number {
  return Math.max(-PRIORITY_MOST, Math.min(Math.round(priority), PRIORITY_MOST));
}

function fresh(id: string, uniqueKey: string): Added {
  return { requestId: id, uniqueKey, wasAlreadyPresent: false, wasAlreadyHandled: false };
}

function infoOf(requestId: string, uniqueKey: string, lease: AnyLease | undefined): OperationInfo {
  const forefront = lease !== undefined && lease.priority >= FOREFRONT;
  return { requestId, uniqueKey, wasAlreadyPresent: true, wasAlreadyHandled: false, forefront };
}

/** Throws for a request under another one's id, or one that was never in a queue: it would be a new one. */
function checkId({ uniqueKey }: CrawleeRequest, id: string): void {
  if (id === requestId(uniqueKey)) return;
  throw misuse("REQUEST_INVALID", "request.id", id, "the id of its uniqueKey");
}

function isHandled(state: string | undefined): boolean {
  return state === "done" || state === "failed";
}
