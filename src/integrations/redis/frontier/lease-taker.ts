/**
 * LeaseTaker: leases for callers: asks the source, matches again what a vanished rule has left, waits where there is nothing, and finds
 * out when everything is done.
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
import type { RequestReader } from "../requests/request-reader.ts";
import type { LeaseSource, RawLease } from "./lease-source.ts";
import { placesOf } from "./redis-host.ts";
import { type LeaseHome, RedisLease } from "./redis-lease.ts";
import type { Outbox } from "./outbox.ts";
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
  /** Nothing may be handed out: paused, draining. */
  isHeld(): boolean;
  isClosed(): boolean;
}

/** How often a process without work checks whether everything is done, and what processes that ended have left. */
const LOOK_MS = 2_000;
const ROUND_MS = 30_000;
const LIVE_MIN = 1_024;

export class LeaseTaker {
  readonly #parts: TakerParts;
  readonly #live = new Set<RedisLease>();
  readonly #polling = new Set<Promise<unknown>>();
  /** So many held leases are looked through for those that are over. */
  #pruneAt = LIVE_MIN;
  sources = 0;
  #lookAt = 0;
  /** A partition that had live records when last asked; -1: none. */
  #livePartition = -1;
  #roundAt = 0;
  #sweepAt = 0;
  #idleSince: number | undefined;
  #saidFinished = false;
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
    await this.#parts.seed();
    const polling = poll().then((raws) => this.#own(raws));
    this.#polling.add(polling);
    const leases = await polling.finally(() => this.#polling.delete(polling));
    if (leases.length > 0) {
      this.#idleSince = undefined;
      this.#saidFinished = false;
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
    const { source, reader } = this.#parts;
    for (const place of placesOf(host, reader)) {
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
    const { source, isClosed } = this.#parts;
    signal?.throwIfAborted();
    const until = waitMs === undefined ? Number.POSITIVE_INFINITY : source.now() + waitMs;
    const finishes = this.#finishes;
    for (;;) {
      await this.#sweepOutboxes();
      const leases = await this.poll(max, false);
      if (signal?.aborted === true) {
        await Promise.all(leases.map((lease) => lease.release()));
        throw signal.reason;
      }
      if (leases.length > 0 || isClosed() || source.now() >= until) return leases;
      if (this.#finishes === finishes && (await this.#isFinished())) {
        this.#finishes++;
        source.rouse();
      }
      // Another call may have found it while this one looked; what this one saw is older.
      if (this.#finishes !== finishes) return [];
      await source.wait(until, signal);
    }
  }

  /** Returns every lease that this process still holds. */
  async releaseAll(): Promise<void> {
    await Promise.allSettled(this.#polling);
    const leases = [...this.#live].filter(({ hasEnded }) => !hasEnded);
    this.#live.clear();
    await Promise.all(leases.map((lease) => lease.release()));
  }

  async #own(raws: readonly RawLease[]): Promise<RedisLease[]> {
    const { home } = this.#parts;
    const leases = raws.map(({ partition, member, token, unit, record, deadlineMs }) => {
      return new RedisLease(home, { partition, member, token, unit }, record, deadlineMs);
    });
    this.#prune();
    const kept: RedisLease[] = [];
    const gone: RedisLease[] = [];
    for (const lease of leases) {
      const isGone = home.rules().specs[lease.record.rule] === undefined;
      (isGone ? gone : kept).push(lease);
    }
    if (gone.length > 0) await this.#rematch(gone);
    for (const lease of kept) this.#live.add(lease);
    return kept;
  }

  /** Leases that are over, ended or not, are forgotten as new ones come. */
  #prune(): void {
    if (this.#live.size < this.#pruneAt) return;
    const nowMs = this.#parts.source.now();
    for (const lease of this.#live)
      if (lease.hasEnded || lease.deadlineMs <= nowMs) this.#live.delete(lease);
    this.#pruneAt = Math.max(LIVE_MIN, 2 * this.#live.size);
  }

  /** Records of a rule that is gone go on under the one that takes their URL now; none: they fail. */
  async #rematch(leases: readonly RedisLease[]): Promise<void> {
    const { reader, home, source } = this.#parts;
    const unmatched: string[] = [];
    await Promise.all(
      leases.map(async (lease) => {
        const row = reader.readAgain(lease.record, source.now());
        if (row === undefined) unmatched.push(lease.url);
        await lease.rematch(row === undefined ? [NO_RULE_NUMBER] : [row.rule, row.record]);
      }),
    );
    const { events } = this.#parts;
    events.emit("rulesApplied", {
      version: home.rules().label,
      unmatched: unmatched.slice(0, 1_000),
      unmatchedCount: unmatched.length,
      moved: leases.length,
    });
    source.wake();
  }

  async #isFinished(): Promise<boolean> {
    const { source, keepOpen, home, idleTimeoutMs, isClosed, isHeld, link, events } = this.#parts;
    const isBusy = this.sources > 0 || keepOpen || isHeld();
    if (isBusy || source.nextAt() <= source.now()) return false;
    if (MACHINE.monotonic() < this.#lookAt && source.nextAt() !== Number.POSITIVE_INFINITY)
      return false;
    if (home.rules().list.specs.some(({ everyMs }) => everyMs !== undefined)) return false;
    if (await this.#isStillLive()) return false;
    const first = await readStates(link, false);
    if (!isOver(first)) {
      this.#lookAt = MACHINE.monotonic() + LOOK_MS;
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
    if (!this.#saidFinished) {
      this.#saidFinished = true;
      events.emit("finished", { atMs: source.now() });
      events.flush();
    }
    return true;
  }

  /** Whether the partition that had live records when last asked has some: then nothing is finished. */
  async #isStillLive(): Promise<boolean> {
    const { link } = this.#parts;
    if (this.#livePartition < 0 || MACHINE.monotonic() > this.#roundAt) return false;
    const isSo = await isLive(link, this.#livePartition);
    if (isSo) this.#lookAt = MACHINE.monotonic() + LOOK_MS;
    else this.#livePartition = -1;
    return isSo;
  }

  /** Links that a process has left in an outbox go on: at the first call, every half minute, and where an end waits for them. */
  async #sweepOutboxes(isAsked = false): Promise<void> {
    const { link, outbox, isClosed } = this.#parts;
    if (isClosed() || (!isAsked && MACHINE.monotonic() < this.#sweepAt)) return;
    this.#sweepAt = MACHINE.monotonic() + ROUND_MS;
    await Promise.all(link.keys.map((_, partition) => outbox.sweep(partition)));
  }
}
