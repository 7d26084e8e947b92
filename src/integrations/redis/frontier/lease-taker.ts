/**
 * LeaseTaker: leases for callers: asks the source, matches records of removed rules again, waits while there is nothing, and detects when
 * everything is done.
 *
 *   idle       a partition that had live records is asked alone until it has none, so that waiting costs a call a second and not one for each
 *              partition; every half minute all are asked, since a process that died may have left links in an outbox
 *   finished   two equal rounds over all partitions' counters: nothing live, and no parcel in an outbox; no rule that seeds again,
 *              no `pushFrom` under way, `onIdle` and `idleTimeoutMs` agree
 */
import type { EventHub } from "../../../engine/event-hub.ts";
import { readPoll } from "../../../engine/leases/poll-chosen.ts";
import type { AsyncLease } from "../../../engine/types/async-frontier.ts";
import type { PollOptions } from "../../../engine/types/frontier-types.ts";
import { NO_RULE_NUMBER } from "../requests/rule-set.ts";
import { ruleAt } from "../requests/record-bytes.ts";
import { recordOf, type RequestReader } from "../requests/request-reader.ts";
import type { LeaseSource, RawLease } from "./lease-source.ts";
import { placesToPoll } from "./redis-host.ts";
import { type LeaseHome, RedisLease } from "./redis-lease.ts";
import type { Outbox } from "./outbox.ts";
import { emitApplied } from "./shared-rules.ts";
import { MACHINE } from "../server/waiting.ts";
import type { ServerLink } from "../server/server-link.ts";
import { isLive, isOver, isSame, livePartition, readStates, wasAdmitted } from "./state-report.ts";

export interface TakerParts {
  readonly link: ServerLink;
  readonly source: LeaseSource;
  readonly home: LeaseHome;
  readonly reader: RequestReader;
  readonly outbox: Outbox;
  readonly events: EventHub;
  readonly keepOpen: boolean;
  readonly idleTimeoutMs: number | undefined;
  // biome-ignore lint/suspicious/noConfusingVoidType: most hooks answer nothing.
  readonly onIdle: (() => boolean | void) | undefined;
  /** Pushes seeds that are due. */
  seed(): Promise<void>;
  /** Nothing is asked for: draining, closing. */
  isHeld(): boolean;
  isPaused(): boolean;
  isClosed(): boolean;
}

/** How often a process without work checks whether everything is done, and what processes that ended have left. */
const FINISH_CHECK_MS = 2_000;
const ROUND_MS = 30_000;
const LIVE_MIN = 1_024;

export class LeaseTaker {
  readonly #parts: TakerParts;
  #live: RedisLease[] = [];
  readonly #polling = new Set<Promise<unknown>>();
  /** Number of held leases at which those that are over are dropped. */
  #pruneAt = LIVE_MIN;
  sources = 0;
  #nextCheckMs = 0;
  /** Answers of polls before the last check: without a new one, those that wait share it. */
  #pollsAtCheck = -1;
  /** A partition that had live records when last asked; -1: none. */
  #livePartition = -1;
  #roundAt = 0;
  #sweepAt = 0;
  #idleSince: number | undefined;
  #hasEmittedFinished = false;
  /** How often everything was found done. */
  #finishes = 0;

  constructor(parts: TakerParts) {
    this.#parts = parts;
  }

  /** Up to `most` leases now; `isAsked`: by a caller, who must get what there is. */
  async poll(most: number, isAsked = true, leaseMs?: number): Promise<AsyncLease[]> {
    const { source } = this.#parts;
    return await this.#take(most, () => source.poll(most, isAsked, leaseMs));
  }

  async #take(most: number, poll: () => Promise<RawLease[]>): Promise<AsyncLease[]> {
    const { isClosed, isHeld, events } = this.#parts;
    if (isClosed() || isHeld() || most === 0) return [];
    // What could not be forwarded is by the next round, and keeps no lease from a caller.
    await this.#sweepOutboxes().catch(() => undefined);
    await this.#parts.seed();
    const polling = poll().then((raws) => this.#own(raws));
    this.#polling.add(polling);
    const leases = await polling.finally(() => this.#polling.delete(polling));
    if (leases.length > 0) {
      this.#idleSince = undefined;
      this.#hasEmittedFinished = false;
    }
    if (events.wants.leased)
      for (const lease of leases) events.transition("leased", lease as never);
    events.flush();
    return leases as unknown as AsyncLease[];
  }

  /** The same with options: of one host alone, for a time of their own. */
  async pollChosen(most: number, options: PollOptions = {}): Promise<AsyncLease[]> {
    const { host, leaseMs } = readPoll(options);
    if (host === undefined) return await this.poll(most, true, leaseMs);
    const { source } = this.#parts;
    for (const place of await placesToPoll(this.#parts, host)) {
      const leases = await this.#take(most, () => source.pollHost(place, most, leaseMs));
      if (leases.length > 0) return leases;
    }
    return [];
  }

  /** Waits for leases; [] when everything is done, the frontier is closed, or the time is over. */
  async take(
    max: number,
    waitMs: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<AsyncLease[]> {
    try {
      return await this.#waitFor(max, waitMs, signal);
    } catch (cause) {
      // The link of a frontier that was closed meanwhile is gone.
      if (this.#parts.isClosed() && signal?.aborted !== true) return [];
      throw cause;
    }
  }

  async #waitFor(
    max: number,
    waitMs: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<AsyncLease[]> {
    const { source, isClosed, isHeld } = this.#parts;
    signal?.throwIfAborted();
    const until = waitMs === undefined ? Number.POSITIVE_INFINITY : source.now() + waitMs;
    const finishes = this.#finishes;
    for (let round = 0; ; round++) {
      const leases = await this.poll(max, false);
      if (signal?.aborted === true) {
        await Promise.all(leases.map((lease) => lease.release()));
        throw signal.reason;
      }
      if (leases.length > 0 || isClosed() || source.now() >= until) return leases;
      if (this.#finishes === finishes && (await this.#isFinished(round > 0))) {
        this.#finishes++;
        source.endWaits();
      }
      // Another call may have found it meanwhile; the result of this one is older.
      if (this.#finishes !== finishes) return [];
      await source.wait(until, signal, isHeld());
    }
  }

  /** Returns every lease that this process still holds. */
  async releaseAll(): Promise<void> {
    await Promise.allSettled(this.#polling);
    const leases = this.#live.filter(({ hasEnded }) => !hasEnded);
    this.#live = [];
    await Promise.all(leases.map((lease) => lease.release()));
  }

  async #own(raws: readonly RawLease[]): Promise<RedisLease[]> {
    const { home } = this.#parts;
    this.#prune();
    const { specs } = home.rules();
    const kept: RedisLease[] = [];
    const gone: RedisLease[] = [];
    for (const raw of raws) {
      const isGone = specs[ruleAt(raw.record)] === undefined;
      (isGone ? gone : kept).push(new RedisLease(home, raw));
    }
    for (const lease of kept) this.#live.push(lease);
    try {
      if (gone.length > 0) await this.#rematch(gone);
    } catch (cause) {
      if (kept.length === 0) throw cause; // else they come again when their time is over
    }
    return kept;
  }

  /** Leases that are over, ended or not, are forgotten as new ones come. */
  #prune(): void {
    if (this.#live.length < this.#pruneAt) return;
    const nowMs = this.#parts.source.now();
    this.#live = this.#live.filter((lease) => !lease.hasEnded && lease.deadlineMs > nowMs);
    this.#pruneAt = Math.max(LIVE_MIN, 2 * this.#live.length);
  }

  /** Records of a rule that is gone go on under the one that takes their URL now; none: they fail. */
  async #rematch(leases: readonly RedisLease[]): Promise<void> {
    const { reader, home, source } = this.#parts;
    const unmatched: string[] = [];
    await Promise.all(
      leases.map(async (lease) => {
        const row = reader.readAgain(lease.record, source.now());
        if (row === undefined) unmatched.push(lease.url);
        await lease.rematch(row === undefined ? [NO_RULE_NUMBER] : [row.rule, recordOf(row)]);
      }),
    );
    const version = home.rules().label;
    emitApplied(this.#parts.events, { version, moved: leases.length, unmatched });
    source.wake();
  }

  /** `isAgain`: of a call that has waited; a new one may follow the end of the last lease. */
  async #isFinished(isAgain: boolean): Promise<boolean> {
    const { source, keepOpen, home, idleTimeoutMs, isClosed, link, events } = this.#parts;
    const isHeld = this.#parts.isHeld() || this.#parts.isPaused();
    if (this.sources > 0 || keepOpen || isHeld || source.nextAt() <= source.now()) return false;
    // What a partition has that is being asked is not known: whether all is over can wait for its answer, but not for every answer.
    const isTimed = source.isAsking || source.nextAt() !== Number.POSITIVE_INFINITY;
    const mayWait = isTimed || (isAgain && source.polls === this.#pollsAtCheck);
    if (mayWait && MACHINE.monotonic() < this.#nextCheckMs) return false;
    if (home.rules().list.specs.some(({ everyMs }) => everyMs !== undefined)) return false;
    if (await this.#isStillLive()) return false;
    const first = await readStates(link, false);
    if (!isOver(first)) {
      this.#nextCheckMs = MACHINE.monotonic() + FINISH_CHECK_MS;
      this.#roundAt = MACHINE.monotonic() + ROUND_MS;
      this.#livePartition = livePartition(first);
      this.#idleSince = undefined;
      if (first.parcels > 0) await this.#sweepOutboxes(true);
      return false;
    }
    if (!wasAdmitted(first)) return false;
    const second = await readStates(link, false);
    if (isClosed() || !isSame(first, second) || !isOver(second)) return false;
    this.#idleSince ??= source.now();
    if (idleTimeoutMs !== undefined && source.now() < this.#idleSince + idleTimeoutMs) return false;
    if (this.#parts.onIdle?.() === true) return false;
    if (!this.#hasEmittedFinished) {
      this.#hasEmittedFinished = true;
      events.emit("finished", { atMs: source.now() });
      events.flush();
    }
    return true;
  }

  /** Whether the partition that had live records when last asked has some: then nothing is finished. */
  async #isStillLive(): Promise<boolean> {
    const { link, source } = this.#parts;
    this.#pollsAtCheck = source.polls;
    if (this.#livePartition < 0 || MACHINE.monotonic() > this.#roundAt) return false;
    const isSo = await isLive(link, this.#livePartition);
    if (isSo) this.#nextCheckMs = MACHINE.monotonic() + FINISH_CHECK_MS;
    else this.#livePartition = -1;
    return isSo;
  }

  /** Links that a process has left in an outbox go on: at the first call, every half minute, and where an end waits for them. */
  async #sweepOutboxes(isAsked = false): Promise<void> {
    const { link, outbox, source, isClosed } = this.#parts;
    if (isClosed() || (!isAsked && MACHINE.monotonic() < this.#sweepAt)) return;
    this.#sweepAt = MACHINE.monotonic() + ROUND_MS;
    const failed = (partition: number, cause: unknown): void => {
      if (!isClosed()) source.showFailure(partition, cause);
    };
    await Promise.all(link.keys.map((_, partition) => outbox.sweep(partition, failed)));
  }
}
