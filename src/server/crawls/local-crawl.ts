/**
 * LocalCrawl: a crawl over a frontier in this process, in memory or in a directory.
 *
 *   queue key   ─▶ epoch `q:` + key (one identity per queue and URL; a queue is forgotten by it) and, where it is not the
 *                  URL's own host, `hostKey`
 *   due queue   ◀─ the frontier's host rotation; a queue that may not go yet is blocked there until it may, so that it does
 *                  not come up again
 *   held URL    ─▶ a lease of `delay_requestable` seconds; one that ran out is pending again in its old place
 *   known URL   ─▶ the lease ends, then `put`: both stand in one turn, and a client that got no OK sends it again; where the URL and its
 *                  metadata are as they were handed out, the lease ends and the record stays, in one step
 *
 *   I1  A lease that was not sent goes back to its place.
 *   I2  Counts of queues change with what the frontier answered, never before.
 *   I3  However many queues may not go, a call that searches for one yields to other calls.
 */
import type { Frontier, Lease, RecordView, RequestInput } from "../../index.ts";
import { removeUnit } from "../../engine/api/edit-records.ts";
import { handOutNumber, HeldLeases } from "../../engine/api/held-leases.ts";
import { finishKept, finishPending } from "../../engine/api/keep-finished.ts";
import { blockUnit, leasedOfUnit } from "../../engine/api/unit-blocks.ts";
import { pushNamed } from "../../engine/api/push-list.ts";
import { FAILED, OK, SKIPPED } from "../grpc/messages.ts";
import {
  CHUNK_URLS,
  countMatching,
  type Crawl,
  type FoundUrl,
  type KnownUrl,
  NO_COUNTS,
  type QueueChange,
  type QueueCounts,
  type SendUrls,
  type Soon,
  type StoredUrl,
  textMatcher,
  type UrlFilter,
  type UrlsAsked,
} from "./crawl.ts";
import {
  closedUntil,
  countUrls,
  createQueueTable,
  EPOCH_PREFIX,
  isLimitReached,
  type Queue,
  queueFor,
  removeQueue,
  ROOM_ANY,
} from "./queue-table.ts";
import { KEY_LENGTH_MAX } from "./missing-key.ts";
import { foundRequests, requestOf, requestsOf } from "./queue-request.ts";
import {
  isPut,
  keyOf,
  pastPriority,
  SCAN_RECORDS,
  SECONDS_MAX,
  storedOf,
  viewOf,
} from "./stored-url.ts";
import { dueOf, isOver, type LeaseNames, named, reservedOf } from "./reserved-metadata.ts";
import { isPlainUrl, isSameData, isSameUrl, packData, unpackData } from "./url-data.ts";

export interface LocalCrawlContext {
  readonly frontier: Frontier;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Seconds between two hand-outs of a queue that has no delay of its own. */
  readonly delayDefault: () => number;
}

/** Settings of queues as the frontier's state keeps them. */
type Kept = Record<string, { delay?: number; blockedUntil?: number; limit?: number }>;

/** The one key that is no name of a property, and what stands for it: longer than any key. */
const PROTO = "__proto__";
const PROTO_KEPT = PROTO.padEnd(KEY_LENGTH_MAX + 1);

function keptName(key: string): string {
  return key === PROTO ? PROTO_KEPT : key;
}

/** Queues that may not go and are held back before the call yields to others: each takes some 0.1 ms. */
const HELD_BACK_MAX = 32;
/** In place of a number of URLs: that many were held back, and there may be more. */
const HELD_BACK = -1;

export class LocalCrawl implements Crawl {
  readonly id: string;
  readonly #context: LocalCrawlContext;
  readonly #table = createQueueTable();
  /** Leases that are out. */
  readonly #leases = new HeldLeases();
  /** Queues whose number in process is limited in the frontier. */
  readonly #narrow = new Set<Queue>();
  /** None of them is limited to fewer. */
  #narrowest = ROOM_ANY;
  readonly #names: LeaseNames;
  readonly #began: number;

  constructor(id: string, context: LocalCrawlContext) {
    this.id = id;
    this.#context = context;
    this.#began = this.#second;
    const begun = context.now().toString(36);
    this.#names = { of: (lease) => `${begun}-${handOutNumber(lease as Lease)}` };
    this.#restore();
  }

  /** Restores the queues of an existing frontier, in the order in which they were created. */
  #restore(): void {
    const { frontier } = this.#context;
    for (const epoch of [...frontier.epochs()].reverse()) {
      if (!epoch.name.startsWith(EPOCH_PREFIX)) continue;
      const { pending, waiting, leased, failed, done } = epoch;
      const queue = queueFor(this.#table, epoch.name.slice(EPOCH_PREFIX.length));
      countUrls(this.#table, queue, pending + waiting + leased + failed, done);
      const host = frontier.host(queue.key);
      queue.roomMax = host.limit;
      queue.isHeld = host.held;
      if (queue.roomMax < ROOM_ANY) this.#narrowTo(queue, queue.roomMax);
    }
    for (const [name, kept] of Object.entries(this.#kept())) {
      Object.assign(queueFor(this.#table, name === PROTO_KEPT ? PROTO : name), kept);
    }
    for (const queue of this.#table.queues.values()) {
      const until = Math.floor(frontier.host(queue.key).blockedUntil / 1_000) - 1;
      const delay = queue.delay ?? this.#context.delayDefault(); // runs on over a restart
      if (until > Math.max(queue.blockedUntil, delay)) queue.producedAt = until - delay;
    }
  }

  #kept(): Kept {
    const { state } = this.#context.frontier;
    state.queues ??= {};
    return state.queues as Kept;
  }

  get #second(): number {
    return Math.floor(this.#context.now() / 1_000);
  }

  discover(urls: readonly FoundUrl[]): Uint8Array {
    const statuses = new Uint8Array(urls.length).fill(SKIPPED);
    const found = foundRequests(urls, this.#table, this.#second);
    const { others, places, queues } = found;
    const { frontier } = this.#context;
    const result =
      others.size === 0 ? pushNamed(frontier, found) : frontier.pushMany(requestsOf(found));
    for (let index = 0; index < places.length; index++) {
      const { admitted, status } = result.verdict(index);
      if (admitted) {
        const queue = queues[index] as Queue | string;
        const known =
          typeof queue === "string" ? queueFor(this.#table, queue, found.epochs[index]) : queue;
        countUrls(this.#table, known, 1, 0);
        statuses[places[index] as number] = OK;
      } else if (status === "full" || status === "closed") {
        statuses[places[index] as number] = FAILED;
      }
    }
    return statuses;
  }

  putKnown(urls: readonly KnownUrl[]): Uint8Array {
    return Uint8Array.from(urls, (known) => this.#putKnownOne(known));
  }

  #putKnownOne(known: KnownUrl): number {
    const key = keyOf(known);
    const reserved = reservedOf(known.metadata);
    if (key === undefined || reserved.isWrong) return SKIPPED;
    const { frontier } = this.#context;
    const isPlain = isPlainUrl(known.url, known.hostEnd);
    const request = requestOf(known.url, key, isPlain, this.#table.queues.get(key)?.epoch);
    const held = this.#heldOf(known.url, request);
    const isOut = held !== undefined; // its record need not be looked up
    const { due, dueAt } = dueOf(known, reserved);
    if (!isOut && due === 0 && reserved.lease === undefined) {
      const isSame = (data: unknown): boolean => isSameUrl(data, known, isPlain);
      const finished = finishPending(frontier, request, isSame);
      if (finished === "now") return this.#finished(key);
      if (finished === "before") return OK;
    }
    const before = isOut ? held : frontier.record(request);
    const state = isOut ? "leased" : (before as RecordView | undefined)?.state;
    const createdAt = before === undefined ? this.#second : unpackData(before.data).createdAt;
    if (due > 0) Object.assign(request, pastPriority(due, this.#began));
    const data = packData(known, isPlain, createdAt, due);
    let wasDone = state === "done";
    if (isOver(reserved, held, this.#names)) return SKIPPED;
    if (isOut && reserved.failure !== undefined && due === 0) {
      const hasFailed = held.fail(reserved.failure);
      this.#leases.delete(held);
      return hasFailed ? OK : SKIPPED;
    }
    const isSame = isOut && due === 0 && isSameData(data, held.data);
    const isKept = isSame && finishKept(held);
    if (isOut && !isKept) wasDone = !held.done().late;
    if (isOut) this.#leases.delete(held); // where nothing was refused
    if (isKept) return this.#finished(key);
    if (isOut && !wasDone) return this.#putKnownOne(known); // it was over already
    const { status } = frontier.put(request, dueAt === undefined ? { data } : { data, dueAt });
    const isDone = status === "done" || (wasDone && !isPut(status));
    if (!isPut(status) && before === undefined) return status === "rejected" ? SKIPPED : FAILED;
    const queue = queueFor(this.#table, key);
    const stood = before === undefined ? undefined : state === "done";
    if (stood !== isDone) {
      const active = Number(!isDone) - Number(stood === false);
      countUrls(this.#table, queue, active, Number(isDone) - Number(stood === true));
      this.#settleLimit(queue);
    }
    return isPut(status) ? OK : FAILED;
  }

  /** A URL that was active is finished. */
  #finished(key: string): number {
    const queue = queueFor(this.#table, key);
    countUrls(this.#table, queue, -1, 1);
    this.#settleLimit(queue);
    return OK;
  }

  async serveQueues(queuesMax: number, asked: UrlsAsked, send: SendUrls): Promise<number> {
    let queues = 0;
    while (queues < queuesMax && !asked.isGone()) {
      const sent = this.#serveNext(asked, send);
      const count = typeof sent === "number" ? sent : await sent;
      if (count === 0) break;
      if (count === HELD_BACK) await new Promise(setImmediate);
      else queues++;
    }
    return queues;
  }

  /** Sends URLs of the next queue that may go; how many: 0 when there is no such queue, HELD_BACK when the search must yield. */
  #serveNext(asked: UrlsAsked, send: SendUrls): Soon<number> {
    const { frontier } = this.#context;
    const leaseMs = asked.delay * 1_000;
    this.#widen(asked.urlsMax);
    for (let left = HELD_BACK_MAX; left > 0; left--) {
      const [lease] = frontier.pollMany(1, { leaseMs });
      if (lease === undefined) return 0;
      const queue = queueFor(this.#table, lease.hostKey ?? lease.host);
      if (this.#mayGo(queue, asked.urlsMax, 1)) return this.#serve(queue, asked, send, [lease]);
      lease.release();
      this.#holdBack(queue, asked.urlsMax);
    }
    return HELD_BACK;
  }

  serveQueue(key: string, asked: UrlsAsked, send: SendUrls): Soon<number> {
    const queue = this.#table.queues.get(key);
    if (queue === undefined || !this.#mayGo(queue, asked.urlsMax, 0)) return 0;
    return this.#serve(queue, asked, send, []);
  }

  /** `own`: leases of this very call that the frontier counts already. */
  #mayGo(queue: Queue, urlsMax: number, own: number): boolean {
    if (closedUntil(queue, this.#context.delayDefault()) >= this.#second) return false;
    if (isLimitReached(queue)) return false;
    return leasedOfUnit(this.#context.frontier, queue.key) - own < urlsMax;
  }

  /** Keeps a queue that may not go from coming up before it may. */
  #holdBack(queue: Queue, urlsMax: number): void {
    const { frontier } = this.#context;
    if (isLimitReached(queue)) {
      queue.isHeld = true;
      frontier.host(queue.key).hold();
    } else if (closedUntil(queue, this.#context.delayDefault()) >= this.#second) {
      this.#blockThere(queue);
    } else {
      frontier.host(queue.key).limit = this.#narrowTo(queue, urlsMax);
    }
  }

  #narrowTo(queue: Queue, urlsMax: number): number {
    this.#narrow.add(queue);
    this.#narrowest = Math.min(this.#narrowest, urlsMax);
    queue.roomMax = urlsMax;
    return urlsMax;
  }

  #blockThere(queue: Queue): void {
    this.#context.frontier.host(queue.key).blockUntil(this.#opensAtMs(queue));
  }

  /** When the queue may go; 0: at once. */
  #opensAtMs(queue: Queue): number {
    const until = closedUntil(queue, this.#context.delayDefault());
    return until === 0 ? 0 : Math.min(until + 1, SECONDS_MAX) * 1_000;
  }

  /** A caller who takes more at once than the one before: queues that were full for that one may go. */
  #widen(urlsMax: number): void {
    if (urlsMax <= this.#narrowest) return;
    this.#narrowest = urlsMax;
    for (const queue of this.#narrow) {
      if (queue.roomMax >= urlsMax) continue;
      queue.roomMax = ROOM_ANY;
      this.#context.frontier.host(queue.key).limit = ROOM_ANY;
      this.#narrow.delete(queue);
    }
  }

  #settleLimit(queue: Queue): void {
    if (!queue.isHeld || isLimitReached(queue)) return;
    queue.isHeld = false;
    this.#context.frontier.host(queue.key).unhold();
  }

  /** Hands out and sends up to `urlsMax` URLs of a queue, in chunks: no more are leased than are on their way (I1). */
  #serve(queue: Queue, asked: UrlsAsked, send: SendUrls, first: Lease[]): Soon<number> {
    const { frontier } = this.#context;
    const producedBefore = queue.producedAt;
    const options = { host: queue.key, leaseMs: asked.delay * 1_000 };
    queue.producedAt = this.#second;
    let count = 0;
    let leases = first;
    const next = (): Soon<number> => {
      for (;;) {
        const most = Math.min(CHUNK_URLS, asked.urlsMax - count) - leases.length;
        if (most > 0) leases = [...leases, ...frontier.pollMany(most, options)];
        if (asked.isGone()) {
          for (const lease of leases.reverse()) lease.release();
          leases = [];
        }
        if (leases.length === 0) break;
        count += leases.length;
        const sent = send(leases.map((lease) => this.#hold(queue, lease)));
        const isLast = leases.length < CHUNK_URLS || count >= asked.urlsMax;
        leases = [];
        if (isLast) {
          if (sent !== undefined) return sent.then(end);
          break;
        }
        if (sent !== undefined) return sent.then(next);
      }
      return end();
    };
    const end = (): number => {
      if (count === 0) queue.producedAt = producedBefore;
      else this.#close(queue, asked.urlsMax);
      return count;
    };
    return next();
  }

  /**
   * Closes a queue that handed out URLs until its delay has passed, and one that has as many in process as a caller takes, and more pending,
   * until some of them have ended: else it comes up to be held back.
   */
  #close(queue: Queue, urlsMax: number): void {
    const { frontier } = this.#context;
    const { active, key, roomMax } = queue;
    const leased = roomMax > urlsMax && active > urlsMax ? leasedOfUnit(frontier, key) : 0;
    const isFull = leased >= urlsMax && active > leased;
    const limit = isFull ? this.#narrowTo(queue, urlsMax) : undefined;
    blockUnit(frontier, key, this.#opensAtMs(queue), limit);
  }

  #hold(queue: Queue, lease: Lease): StoredUrl {
    const stored = storedOf(queue.key, lease.url, lease.data);
    this.#leases.set(stored.url, lease, this.#context.now());
    return named(stored, lease, this.#names);
  }

  /** The lease that is out of a URL. */
  #heldOf(url: string, { hostKey }: RequestInput): Lease | undefined {
    return this.#leases.get(
      url,
      hostKey,
      (lease) => lease.hostKey === hostKey && storedOf("", lease.url, lease.data).url === url,
    );
  }

  *queues(isAll: boolean): Iterable<string> {
    const second = this.#second;
    for (const { key, active, blockedUntil } of this.#table.queues.values()) {
      if (isAll || (active > 0 && blockedUntil < second)) yield key;
    }
  }

  counts(key: string): QueueCounts {
    const { frontier } = this.#context;
    if (key === "") {
      const { active, completed, queues, activeQueues } = this.#table;
      const inProcess = frontier.report().leased;
      return { active, completed, inProcess, queues: queues.size, activeQueues };
    }
    const queue = this.#table.queues.get(key);
    if (queue === undefined) return NO_COUNTS;
    const { active, completed } = queue;
    const inProcess = leasedOfUnit(frontier, key);
    return { active, completed, inProcess, queues: 1, activeQueues: Number(active > 0) };
  }

  change(key: string, change: QueueChange): boolean {
    const queue = this.#table.queues.get(key);
    if (queue === undefined) return false;
    this.#blockThere({ ...queue, ...change }); // throws before anything has changed
    Object.assign(queue, change);
    const kept = this.#kept();
    const name = keptName(key);
    kept[name] = { ...kept[name], ...change };
    this.#settleLimit(queue);
    return true;
  }

  delayChanged(): void {
    for (const queue of this.#table.queues.values()) {
      if (queue.delay === undefined && queue.producedAt > 0) this.#blockThere(queue);
    }
  }

  status(url: string, key: string): StoredUrl | undefined {
    const view = this.#context.frontier.record(requestOf(url, key, isPlainUrl(url)));
    return view === undefined ? undefined : viewOf(view, key, url);
  }

  async *urls(filter: UrlFilter): AsyncGenerator<StoredUrl> {
    const { frontier } = this.#context;
    const where = filter.key === "" ? {} : { host: filter.key };
    const isWanted = textMatcher(filter);
    let readCount = 0;
    for (const state of ["done", "leased", "pending", "waiting", "failed"] as const) {
      if (state === "done" && this.#table.completed === 0) continue;
      for (const view of frontier.records({ ...where, state })) {
        if (++readCount % SCAN_RECORDS === 0) await new Promise(setImmediate);
        const queueKey = view.hostKey ?? view.host ?? "";
        if (filter.key !== "" && queueKey !== filter.key) continue; // another queue's, on this host
        const stored = viewOf(view, queueKey, view.url ?? "");
        if (isWanted(stored.url)) yield stored;
      }
    }
  }

  count(filter: UrlFilter): Promise<number> {
    return countMatching(this, filter);
  }

  deleteQueue(key: string): number {
    const queue = this.#table.queues.get(key);
    if (queue === undefined) return 0;
    const { frontier } = this.#context;
    for (const lease of this.#leases.all()) {
      if ((lease.hostKey ?? lease.host) !== key) continue;
      this.#leases.delete(lease);
      lease.release();
    }
    removeUnit(frontier, key);
    frontier.forget({ epoch: EPOCH_PREFIX + key });
    const host = frontier.host(key);
    host.blockUntil(0);
    if (queue.isHeld) host.unhold();
    if (queue.roomMax < ROOM_ANY) host.limit = ROOM_ANY;
    this.#narrow.delete(queue);
    delete this.#kept()[keptName(key)];
    return removeQueue(this.#table, queue);
  }

  deleteAll(): number {
    const { active, completed, queues } = this.#table;
    this.#context.frontier.clear();
    this.#context.frontier.state.queues = {};
    queues.clear();
    this.#leases.clear();
    this.#narrow.clear();
    Object.assign(this.#table, createQueueTable(), { queues });
    return active + completed;
  }

  async purge(key: string, before: number): Promise<number> {
    const { frontier } = this.#context;
    let count = 0;
    for await (const { url, key: queueKey, createdAt } of this.urls({
      key,
      text: "",
      ignoreCase: false,
    })) {
      if (createdAt >= before) continue;
      const queue = this.#table.queues.get(queueKey);
      if (queue === undefined) continue;
      const request = requestOf(url, queueKey, isPlainUrl(url));
      const view = frontier.record(request);
      // It may have changed since it was read.
      if (view === undefined || unpackData(view.data).createdAt >= before) continue;
      const held = this.#heldOf(url, request);
      if (held !== undefined) this.#leases.delete(held);
      held?.release();
      if (frontier.forget({ request }) === 0) continue;
      const isDone = view.state === "done";
      countUrls(this.#table, queue, isDone ? 0 : -1, isDone ? -1 : 0);
      this.#settleLimit(queue);
      count++;
    }
    return count;
  }
}
