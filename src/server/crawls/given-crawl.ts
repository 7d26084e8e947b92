/**
 * GivenCrawl: a crawl over a frontier that a program opened itself, in this thread or another one, and that both use.
 *
 *   URL         ─▶ the request that the program itself would push: its rules, its identity, once in the frontier
 *   queue key   ─▶ `hostKey`, where it is not the URL's own host
 *   due queue   ◀─ what `peek` shows: the frontier's own order and politeness; a queue that may not go is blocked there
 *                  until the next second, so that another one comes up
 *   counts      ◀─ the frontier's report, and a pass over its records for single queues: the program changes them too
 *
 *   I1  A lease that was not sent goes back to its place.
 *   I2  Peeking and leasing are one step among the calls of the server. The program may lease in between, so what was leased is checked
 *       again.
 *   I3  Nothing is leased only to inspect it: each hand-out counts toward the frontier's `maxDeliveries`.
 *
 * Crash: what the frontier keeps is restored; delays and limits of queues, and which leases were out, are not.
 */
import type { AsyncLease, HostView, Lease, RecordView, RequestInput } from "../../index.ts";
import { FAILED, OK, SKIPPED } from "../grpc/messages.ts";
import {
  countMatching,
  CHUNK_URLS,
  type Crawl,
  type FoundUrl,
  type KnownUrl,
  type QueueChange,
  type QueueCounts,
  type SendUrls,
  type StoredUrl,
  type UrlFilter,
  type UrlsAsked,
} from "./crawl.ts";
import { createGivenRecords, type Given, queueKeyOf, shownOf } from "./given-records.ts";
import { missingKey } from "./missing-key.ts";
import { closedUntil, createQueueTable, type Queue, queueFor } from "./queue-table.ts";
import {
  createLeaseNames,
  dueOf,
  isOver,
  type LeaseNames,
  named,
  reservedOf,
} from "./reserved-metadata.ts";
import { isPut, keyOf, leaseName, SECONDS_MAX } from "./stored-url.ts";
import { isPlainUrl, isWhole, packWhole, unpackData } from "./url-data.ts";

type GivenLease = Lease | AsyncLease;
type HostFacts = Omit<HostView, "blockUntil" | "hold" | "unhold">;

export interface GivenCrawlContext {
  readonly frontier: Given;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Seconds between two hand-outs of a queue that has no delay of its own. */
  readonly delayDefault: () => number;
}

/** What one GetURLs may take, and has taken: URLs by queue. */
interface Taking {
  readonly asked: UrlsAsked;
  readonly queuesMax: number;
  readonly taken: Map<Queue, number>;
}

/** Clocks of queues that are kept before those without a setting are dropped. */
const CLOCKS_MIN = 10_000;

export class GivenCrawl implements Crawl {
  readonly id: string;
  readonly #context: GivenCrawlContext;
  /** Clocks and limits of queues; their counts are the frontier's. */
  #table = createQueueTable();
  #clocksMax = CLOCKS_MIN;
  /** Leases that are out, by queue and URL, the oldest first. */
  readonly #leases = new Map<string, GivenLease>();
  /** The last of the steps that lease or close (I2). */
  #turn: Promise<unknown> = Promise.resolve();
  readonly #records;
  readonly #names: LeaseNames;

  constructor(context: GivenCrawlContext) {
    this.#names = createLeaseNames(context.now());
    this.id = context.frontier.name;
    this.#context = context;
    this.#records = createGivenRecords(context.frontier);
  }

  get #second(): number {
    return Math.floor(this.#context.now() / 1_000);
  }

  async discover(urls: readonly FoundUrl[]): Promise<Uint8Array> {
    const statuses = new Uint8Array(urls.length).fill(SKIPPED);
    const requests: RequestInput[] = [];
    const places: number[] = [];
    for (const [index, found] of urls.entries()) {
      const { isWrong, notBefore, priority } = reservedOf(found.metadata);
      if (keyOf(found) === undefined || isWrong) continue;
      const data = packWhole(found, isPlainUrl(found.url), this.#second, 0);
      requests.push({
        ...requestOf(found),
        data,
        priority,
        notBefore,
      });
      places.push(index);
    }
    const result = await this.#context.frontier.pushMany(requests);
    for (const [index, place] of places.entries()) {
      const { admitted, status } = result.verdict(index);
      if (admitted) statuses[place] = OK;
      else if (status === "full" || status === "closed") statuses[place] = FAILED;
    }
    return statuses;
  }

  async putKnown(urls: readonly KnownUrl[]): Promise<Uint8Array> {
    const statuses = new Uint8Array(urls.length);
    for (const [at, known] of urls.entries()) statuses[at] = await this.#putKnownOne(known);
    return statuses;
  }

  async #putKnownOne(known: KnownUrl): Promise<number> {
    const reserved = reservedOf(known.metadata);
    if (keyOf(known) === undefined || reserved.isWrong) return SKIPPED;
    const { frontier } = this.#context;
    const request = requestOf(known);
    const before = await frontier.record(request);
    const { due, dueAt } = dueOf(known, reserved);
    const name = before?.state === "leased" ? leaseName(queueKeyOf(before), known.url) : "";
    const lease = this.#leases.get(name);
    if (isOver(reserved, lease, this.#names)) return SKIPPED;
    this.#leases.delete(name);
    if (lease !== undefined && reserved.failure !== undefined && due === 0) {
      return (await lease.fail(reserved.failure)) ? OK : SKIPPED;
    }
    await lease?.done();
    const { status } = await frontier.put(request, {
      ...(dueAt === undefined ? {} : { dueAt }),
      ...this.#dataOf(known, before, due),
    });
    if (isPut(status)) return OK;
    return status === "rejected" && before === undefined ? SKIPPED : FAILED;
  }

  /** The program's own data stay where the client has no metadata for the URL. */
  #dataOf(known: KnownUrl, before: RecordView | undefined, due: number): { data: unknown } {
    const old = before?.data;
    const isMine = isWhole(old);
    if (!isMine && old !== undefined && known.metadata === undefined) return { data: old };
    const createdAt = isMine ? unpackData(old).createdAt : this.#second;
    return { data: packWhole(known, isPlainUrl(known.url), createdAt, due) };
  }

  async serveQueues(queuesMax: number, asked: UrlsAsked, send: SendUrls): Promise<number> {
    const taking: Taking = { asked, queuesMax, taken: new Map() };
    try {
      while (!asked.isGone()) {
        const leases = await this.#alone(() => this.#takeNext(taking));
        if (leases.length === 0) break;
        await this.#send(leases, asked, send);
      }
    } finally {
      await this.#alone(() => this.#close([...taking.taken.keys()]));
    }
    return taking.taken.size;
  }

  async serveQueue(key: string, asked: UrlsAsked, send: SendUrls): Promise<number> {
    let room = await this.#alone(() => this.#roomOf(key, asked));
    let count = 0;
    while (room > 0 && !asked.isGone()) {
      const most = Math.min(room, CHUNK_URLS);
      const leases = await this.#alone(() => this.#takeOf(key, most, asked));
      count += leases.length;
      room = leases.length < most ? 0 : room - leases.length;
      await this.#send(leases, asked, send);
    }
    if (count > 0) await this.#alone(() => this.#close([this.#queue(key)]));
    return count;
  }

  /** Runs a step when those before it have ended. */
  #alone<T>(step: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(step);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  /** Leases of the queues that come up next, as far as a call may have them; [] at its end. */
  async #takeNext(taking: Taking): Promise<GivenLease[]> {
    const { frontier } = this.#context;
    const options = { leaseMs: taking.asked.delay * 1_000 };
    for (;;) {
      const keys = (await frontier.peek(CHUNK_URLS)).map(queueKeyOf);
      const { count, shut } = await this.#fitting(taking, keys);
      const leases = count === 0 ? [] : await frontier.pollMany(count, options);
      const fitting = await this.#keepFitting(taking, leases);
      // The program may have taken what was peeked at: its queue stays open for the rest.
      await this.#close(shut.filter((queue) => isFull(taking, queue)));
      if (fitting.length > 0 || (leases.length === 0 && shut.length === 0)) return fitting;
    }
  }

  /** How many of the next URLs a call may have, and the queues that block those after them (I3). */
  async #fitting(
    { asked, queuesMax, taken }: Taking,
    keys: readonly string[],
  ): Promise<{ count: number; shut: Queue[] }> {
    const counts = new Map(taken);
    const shut = new Set<Queue>();
    let count = 0;
    for (const key of keys) {
      const queue = this.#queue(key);
      const held = counts.get(queue) ?? 0;
      if (held === 0 && !shut.has(queue)) {
        if (counts.size >= queuesMax) break;
        if (!(await this.#mayGo(queue, asked))) shut.add(queue);
      } else if (held >= asked.urlsMax) shut.add(queue);
      // The caller closes those queues, and peeks again at the next ones.
      if (shut.size > 0) continue;
      counts.set(queue, held + 1);
      count++;
    }
    return { count, shut: [...shut] };
  }

  /** Counts leases to a call; those that the program put in the way go back (I1, I2). */
  async #keepFitting(
    { asked, queuesMax, taken }: Taking,
    leases: GivenLease[],
  ): Promise<GivenLease[]> {
    const kept: GivenLease[] = [];
    const surplus: GivenLease[] = [];
    for (const lease of leases) {
      const queue = this.#queue(queueKeyOf(lease));
      const count = taken.get(queue) ?? 0;
      const fits = count === 0 ? taken.size < queuesMax : count < asked.urlsMax;
      (fits ? kept : surplus).push(lease);
      if (!fits) continue;
      taken.set(queue, count + 1);
      queue.producedAt = this.#second;
    }
    await releaseAll(surplus);
    return kept;
  }

  /** Leases of one queue. Under a rule without politeness they are in one order with all others. */
  async #takeOf(key: string, most: number, asked: UrlsAsked): Promise<GivenLease[]> {
    const { frontier } = this.#context;
    const options = { leaseMs: asked.delay * 1_000 };
    let leases: GivenLease[] = await frontier.pollMany(most, { ...options, host: key });
    if (leases.length === 0) {
      const others = (await frontier.peek(most)).findIndex((view) => queueKeyOf(view) !== key);
      const count = others < 0 ? most : others;
      if (count > 0) leases = await frontier.pollMany(count, options);
      await releaseAll(leases.filter((lease) => queueKeyOf(lease) !== key)); // I2
      leases = leases.filter((lease) => queueKeyOf(lease) === key);
    }
    if (leases.length > 0) this.#queue(key).producedAt = this.#second;
    return leases;
  }

  /** How many URLs of a queue a call may have: no more than the frontier's own politeness allows. */
  async #roomOf(key: string, asked: UrlsAsked): Promise<number> {
    const { held, blockedUntil, readyAt, delayMs, limit, leased } = await this.#host(key);
    const nowMs = this.#context.now();
    if (held || blockedUntil > nowMs || readyAt > nowMs || leased >= limit) return 0;
    const queue = this.#table.queues.get(key);
    if (queue !== undefined && !(await this.#mayGo(queue, asked))) return 0;
    if (leased >= asked.urlsMax) return 0;
    return delayMs > 0 ? 1 : Math.min(asked.urlsMax, limit - leased);
  }

  async #mayGo(queue: Queue, { urlsMax }: UrlsAsked): Promise<boolean> {
    if (closedUntil(queue, this.#context.delayDefault()) >= this.#second) return false;
    if (queue.limit > 0 && (await this.counts(queue.key)).completed >= queue.limit) return false;
    if (urlsMax === Number.MAX_SAFE_INTEGER) return true;
    return (await this.#host(queue.key)).leased < urlsMax;
  }

  async #host(key: string): Promise<HostFacts> {
    const host = this.#context.frontier.host(key);
    return "view" in host ? await host.view() : host;
  }

  /** Blocks queues in the frontier until they may go again, or longer where the program blocked them. */
  async #close(queues: readonly Queue[]): Promise<void> {
    await Promise.all(
      queues.map(async (queue) => {
        const until = Math.max(closedUntil(queue, this.#context.delayDefault()), this.#second);
        const atMs = Math.min(until + 1, SECONDS_MAX) * 1_000;
        const { blockedUntil } = await this.#host(queue.key);
        if (blockedUntil < atMs) await this.#context.frontier.host(queue.key).blockUntil(atMs);
      }),
    );
  }

  async #send(leases: GivenLease[], asked: UrlsAsked, send: SendUrls): Promise<void> {
    if (asked.isGone()) return await releaseAll(leases);
    if (leases.length > 0) await send(leases.map((lease) => this.#hold(lease)));
  }

  #hold(lease: GivenLease): StoredUrl {
    const key = queueKeyOf(lease);
    const shown = shownOf({ state: "leased", data: lease.data }, key, lease.url);
    const stored = named(shown, lease, this.#names);
    this.#leases.set(leaseName(key, stored.url), lease);
    const nowMs = this.#context.now();
    for (const [name, { deadlineMs }] of this.#leases) {
      if (deadlineMs > nowMs) break;
      this.#leases.delete(name); // the frontier handed its URL out again, or will
    }
    return stored;
  }

  /** The clock of a queue. Those that hold nothing any more are dropped when there are many. */
  #queue(key: string): Queue {
    const { queues } = this.#table;
    if (queues.size >= this.#clocksMax && !queues.has(key)) {
      const second = this.#second;
      for (const [name, queue] of queues) {
        const isSet = queue.delay !== undefined || queue.limit > 0;
        if (!isSet && closedUntil(queue, this.#context.delayDefault()) < second)
          queues.delete(name);
      }
      this.#clocksMax = Math.max(CLOCKS_MIN, 2 * queues.size);
    }
    return queueFor(this.#table, key);
  }

  async queues(isAll: boolean): Promise<string[]> {
    const { active, all } = await this.#records.sums();
    if (isAll) return [...all.keys()];
    const second = this.#second;
    const isOpen = (key: string): boolean =>
      (this.#table.queues.get(key)?.blockedUntil ?? 0) < second;
    return [...active.keys()].filter(isOpen);
  }

  async counts(key: string): Promise<QueueCounts> {
    const { active, all } = await this.#records.sums();
    if (key === "") {
      const { pending, waiting, leased, failed, done } = await this.#context.frontier.report();
      const live = pending + waiting + leased + failed;
      const queues = { queues: all.size, activeQueues: active.size };
      return { active: live, completed: done, inProcess: leased, ...queues };
    }
    const live = active.get(key) ?? 0;
    const sum = all.get(key) ?? 0;
    const inProcess = sum === 0 ? 0 : (await this.#host(key)).leased;
    const queues = { queues: Number(sum > 0), activeQueues: Number(live > 0) };
    return { active: live, completed: sum - live, inProcess, ...queues };
  }

  async change(key: string, change: QueueChange): Promise<boolean> {
    if (!(await this.#records.has(key))) return false;
    await this.#alone(async () => {
      const queue = this.#queue(key);
      Object.assign(queue, change);
      if (change.limit === undefined) await this.#reopen(queue);
    });
    return true;
  }

  /** A queue whose clock was set may go by that clock, also sooner than before. */
  async #reopen(queue: Queue): Promise<void> {
    const until = closedUntil(queue, this.#context.delayDefault());
    const atMs = until === 0 ? 0 : Math.min(until + 1, SECONDS_MAX) * 1_000;
    await this.#context.frontier.host(queue.key).blockUntil(atMs);
  }

  delayChanged(): void {
    const those = [...this.#table.queues.values()].filter(
      ({ delay, producedAt }) => delay === undefined && producedAt > 0,
    );
    // If the frontier has been closed meanwhile, the next call fails with FRONTIER_CLOSED.
    this.#alone(() => Promise.all(those.map((queue) => this.#reopen(queue)))).catch(
      () => undefined,
    );
  }

  async status(url: string, key: string): Promise<StoredUrl | undefined> {
    const view = await this.#context.frontier.record({ url });
    if (view === undefined) return undefined;
    const own = queueKeyOf(view);
    const isThere =
      own === "" || own === key || (view.hostKey === undefined && key === missingKey(url));
    return isThere ? shownOf(view, own === "" ? key : own, url) : undefined;
  }

  urls(filter: UrlFilter): AsyncIterable<StoredUrl> {
    return this.#records.urls(filter);
  }

  count(filter: UrlFilter): Promise<number> {
    return countMatching(this, filter);
  }

  async deleteQueue(key: string): Promise<number> {
    let count = 0;
    for await (const { url } of this.urls({ key, text: "", ignoreCase: false })) {
      count += await this.#forget(key, url);
    }
    const { frontier } = this.#context;
    // What the program pushed under a key of its own is not found by its URL.
    if (await this.#records.isAlone(key)) count += await frontier.remove({ host: key });
    const queue = this.#table.queues.get(key);
    if (queue === undefined) return count;
    this.#table.queues.delete(key);
    await frontier.host(key).blockUntil(0);
    return count;
  }

  /** A URL that the program has leased stays: 0. */
  async #forget(key: string, url: string): Promise<number> {
    const name = leaseName(key, url);
    await this.#leases.get(name)?.release();
    this.#leases.delete(name);
    return await this.#context.frontier.forget({ request: url });
  }

  async deleteAll(): Promise<number> {
    const { active, completed } = await this.counts("");
    const { frontier } = this.#context;
    await frontier.clear();
    const queues = [...this.#table.queues.values()];
    this.#table = createQueueTable();
    this.#leases.clear();
    const delayDefault = this.#context.delayDefault();
    const blocked = queues.filter((queue) => closedUntil(queue, delayDefault) >= this.#second);
    for (const { key } of blocked) await frontier.host(key).blockUntil(0);
    return active + completed;
  }

  async purge(key: string, before: number): Promise<number> {
    let count = 0;
    for await (const one of this.urls({ key, text: "", ignoreCase: false })) {
      // What the program pushed has no date without full records.
      if (one.createdAt === 0 || one.createdAt >= before) continue;
      count += await this.#forget(one.key, one.url);
    }
    return count;
  }
}

/** What the program itself would push; the URL's own host is not named again. */
function requestOf({ key, url }: FoundUrl): RequestInput {
  return key === "" || key === missingKey(url) ? { url } : { url, hostKey: key };
}

/** Whether a call takes no more of a queue. */
function isFull({ asked, taken }: Taking, queue: Queue): boolean {
  const count = taken.get(queue) ?? 0;
  return count === 0 || count >= asked.urlsMax;
}

/** The last one first, so that each finds its place. */
async function releaseAll(leases: readonly GivenLease[]): Promise<void> {
  for (const lease of leases.toReversed()) await lease.release();
}
