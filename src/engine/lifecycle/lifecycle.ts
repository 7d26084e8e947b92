/**
 * Lifecycle: status, waiters and timers of one frontier.
 *
 *   opening ─▶ running ⇄ paused ⇄ draining ⇄ running      any ─▶ stopping ─▶ stopped
 *
 * docs/guides/embedding.md lists what each call does in each status. stopping is closed to callers, so that it ends.
 * Every public call is `begin` … `end`. `end` serves waiters, emits edges (empty, ready, idle, finished) and arms one timer, only while a
 * caller waits for a clock.
 *
 *   I1  A waiter is served by the call, or the clock, that makes its lease possible: no wake-up is lost, because
 *       whatever changes the core ends in `end`, and `end` polls for the waiters itself.
 *   I2  At most one timer is armed; none while no caller waits or nothing waits for a clock.
 */
import { type Clock, scheduleAfter } from "../../base/clock.ts";
import { FrontierError, frontierAsking, frontierClosed, isMemoryFull } from "../../base/errors.ts";
import type { Core, SteppedMs } from "../../frontier/core.ts";
import { isOverdue, step } from "../../frontier/leases/leases.ts";
import { deadlineAt, isReady, nextDueAt, soonestDueAt } from "../../frontier/scheduling/due.ts";
import { areCallsObserved, CallChannels } from "./call-channels.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { KeepAlive } from "./keep-alive.ts";
import { BackgroundWork } from "./background-work.ts";
import type { Durability } from "../durable/durability.ts";
import { Completion } from "./completion.ts";
import type { EventHub } from "../event-hub.ts";
import type { IntakeContext } from "../intake/intake-context.ts";
import type { Settings } from "../options/normalize-options.ts";
import type { Runtime } from "../runtime.ts";
import type { FrontierStatus, Lease } from "../types/frontier-types.ts";
import { type Asked, freedOf, type LeaseSource, type Room, type Waiter } from "./waiters.ts";

export class Lifecycle {
  readonly settings: Settings;
  readonly events: EventHub;
  readonly clock: Clock;
  readonly startedAt: number;
  /** Of a frontier with a directory. */
  durable: Durability | undefined;
  status: FrontierStatus = "opening";
  readonly background: BackgroundWork;
  readonly #completion: Completion;
  readonly #breaker: CircuitBreaker;
  readonly #channels: CallChannels;
  readonly #alive = new KeepAlive(() => this.settings.keepOpen);
  /** Sources being pushed from: not finished while there are any. */
  sources = 0;
  #runtime: Runtime | undefined;
  /** The status before `shut`. */
  #shut: { readonly runtime: Runtime; readonly status: FrontierStatus } | undefined;
  #leases: LeaseSource | undefined;
  readonly #waiters: Waiter[] = [];
  readonly #rooms: Room[] = [];
  readonly #drains: Array<() => void> = [];
  #cancelTimer: (() => void) | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #isEmpty = false;
  #isSettling = false;
  /** Something changed while settling: once more. */
  #isUnsettled = false;

  constructor(settings: Settings, events: EventHub) {
    this.settings = settings;
    this.events = events;
    this.clock = settings.clock;
    this.startedAt = settings.clock.now();
    const background = new BackgroundWork(() => this.intake, events, settings.clock);
    this.background = background;
    const { seeds } = background;
    this.#completion = new Completion({ settings, events, seeds, core: () => this.#runtime?.core });
    this.#breaker = new CircuitBreaker(settings);
    this.#channels = new CallChannels(settings.name);
  }

  start(runtime: Runtime, leases: LeaseSource): void {
    this.#runtime = runtime;
    this.#leases = leases;
    this.#become("running");
    this.background.begin(runtime.core, this.startedAt);
    this.end(this.startedAt);
  }

  /** A cleared frontier goes on with new memory. */
  replace(runtime: Runtime): void {
    this.#runtime = runtime;
  }

  get intake(): IntakeContext {
    return (this.#open() as Runtime).intake;
  }

  /** For tests: the core as the last call left it; between calls alone. */
  get coreAsLeft(): Core {
    const { intake } = this;
    if (intake.isBusy) throw frontierAsking();
    return intake.core;
  }

  /** The status as the clock has it: the breaker's pause ends by itself. */
  get statusNow(): FrontierStatus {
    const { untilMs } = this.#breaker;
    const isMended = untilMs !== undefined && this.clock.now() >= untilMs;
    return this.status === "paused" && isMended ? "running" : this.status;
  }

  /** Finished, as waiters see it. */
  get isFinished(): boolean {
    return this.#completion.isFinished;
  }

  get isClosed(): boolean {
    return this.#runtime === undefined;
  }

  /** A call is asking a function of the user. */
  get isAsking(): boolean {
    const runtime = this.#runtime;
    return runtime !== undefined && (runtime.intake.isBusy || runtime.core.isAsking);
  }

  /**
   * Opens a call: the core, if there still is one, and the time of this call. What the clock brought about before it
   * happens before it, whatever was read between: what became due takes its place before a push of later.
   */
  begin(): { core: Core | undefined; nowMs: number } {
    const nowMs = this.clock.now();
    const runtime = this.#runtime;
    if (runtime === undefined) return { core: undefined, nowMs };
    if (runtime.intake.isBusy || runtime.core.isAsking) throw frontierAsking();
    if (this.#breaker.untilMs !== undefined) this.#resetBreaker(nowMs);
    if (isOverdue(runtime.core, nowMs)) {
      step(runtime.core, nowMs);
      runtime.core.log?.end(); // a group of its own: the call after it may be refused, or cut off
    }
    return { core: runtime.core, nowMs };
  }

  /** Opens a call that is refused on a closed frontier. */
  need(): { core: Core; nowMs: number } {
    this.#open();
    return this.begin() as { core: Core; nowMs: number };
  }

  /** Leases for a caller who does not wait. */
  poll(max: number): Lease[] {
    const { core, nowMs } = this.begin();
    if (core === undefined) return [];
    const leases = this.#pollAt(core, max, nowMs);
    this.endGiven(leases.length > 0, nowMs);
    return leases;
  }

  /** The next lease for a caller who does not wait; for `leaseMs`, where that is given. */
  pollOne(leaseMs?: number): Lease | undefined {
    const { core, nowMs } = this.begin();
    if (core === undefined) return undefined;
    let lease: Lease | undefined;
    if (this.status === "running") {
      lease = this.#leases?.takeOne(core, step(core, nowMs), leaseMs ?? core.limits.leaseMs);
      this.noteTaken(lease !== undefined, nowMs);
    }
    this.endGiven(lease !== undefined, nowMs);
    return lease;
  }

  /** After a poll of any host: the event where no lease may go out, once until one does. */
  noteTaken(isTaken: boolean, nowMs: number): void {
    if (this.#isEmpty !== isTaken) return;
    this.#isEmpty = !isTaken;
    if (!isTaken) this.events.emit("empty", { atMs: nowMs });
  }

  /** Leases for a caller who waits; [] when finished, closed or timed out. */
  take(
    max: number,
    timeoutMs: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Lease[]> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const leases = this.poll(max);
    if (leases.length > 0 || this.isClosed || this.#completion.isFinished || timeoutMs === 0) {
      return Promise.resolve(leases);
    }
    return new Promise((resolve, reject) =>
      this.#wait({ max, timeoutMs, signal, resolve, reject }),
    );
  }

  /** How many more records may come from outside. */
  get roomCount(): number {
    const counters = this.#runtime?.core.counters;
    if (counters === undefined) return 0;
    return Math.max(this.settings.capacity - counters.pending - counters.waiting, 0);
  }

  /** Resolves when pushing again makes sense, or the frontier is closed; `leave` stops the waiting. */
  room(isMemory: boolean): { promise: Promise<void>; leave: () => void } {
    const { core } = this.need();
    const freed = freedOf(core);
    const { capacity } = this.settings;
    const isMet = (open: Core): boolean => {
      if (isMemory) return open !== core || freedOf(open) !== freed;
      return open.counters.pending + open.counters.waiting < capacity;
    };
    let room: Room | undefined;
    const promise = new Promise<void>((resolve) => {
      room = { resolve, isMet };
      this.#rooms.push(room);
      this.end(this.clock.now());
    });
    const leave = (): void => {
      const at = this.#rooms.indexOf(room as Room);
      if (at >= 0) this.#rooms.splice(at, 1);
    };
    return { promise, leave };
  }

  /** Closes a call: serves waiters, emits edges, arms the timer, delivers events. */
  end(nowMs: number): void {
    if (this.isAsking) return; // the call that asks the user's function ends it
    if (this.#isSettling) this.#isUnsettled = true;
    else if (!this.#isQuiet()) this.#settleAll(nowMs);
    const core = this.#runtime?.core;
    try {
      core?.log?.end();
      if (core !== undefined) this.durable?.commit(nowMs);
    } finally {
      if (core !== undefined && areCallsObserved()) this.#channels.publish(core);
      this.events.flush(); // also where the disk has refused: the rest has happened
    }
  }

  /** When a poll can next return a lease; undefined: no clock brings it about. */
  dueAt(core: Core, nowMs: SteppedMs): number | undefined {
    if (this.status === "running") return this.background.before(nextDueAt(core, nowMs));
    return this.status === "paused" ? this.#breaker.untilMs : undefined;
  }

  pause(): void {
    this.#open();
    this.#breaker.disarm(); // who pauses by hand resumes by hand
    if (this.status === "running" || this.status === "draining") this.#become("paused");
    this.end(this.clock.now());
  }

  resume(): void {
    this.#open();
    this.#breaker.disarm();
    if (this.status === "paused" || this.status === "draining") this.#become("running");
    for (const resolve of this.#drains.splice(0)) resolve();
    this.end(this.clock.now());
  }

  drain(): Promise<void> {
    this.#open();
    this.#breaker.disarm();
    if (this.status === "running" || this.status === "paused") this.#become("draining");
    return new Promise((resolve) => {
      this.#drains.push(resolve);
      this.end(this.clock.now());
    });
  }

  /** Closed to every caller from here on, while files may still have to be written; `reopen` takes it back. */
  shut(): void {
    if (this.#runtime === undefined) return;
    this.#shut = { runtime: this.#runtime, status: this.status };
    this.#become("stopping");
    this.#runtime = undefined;
    this.#disarm();
    this.#dismissWaiters();
    for (const { resolve } of this.#rooms.splice(0)) resolve();
    for (const resolve of this.#drains.splice(0)) resolve();
    queueMicrotask(() => this.events.flush()); // its receiver may close again
  }

  /** The disk refused the last writes: open as before, so that the caller can try again. */
  reopen(): void {
    if (this.#shut === undefined) return;
    this.#runtime = this.#shut.runtime;
    this.#become(this.#shut.status);
    this.#shut = undefined;
    this.end(this.clock.now());
  }

  close(): void {
    this.shut();
    this.#shut = undefined;
    this.#become("stopped");
    this.events.flush();
  }

  /** One failure of a lease; enough of them in a short time pause the frontier. */
  failure(nowMs: number): void {
    if (this.#breaker.failure(nowMs, this.status)) this.#become("paused", "breaker");
  }

  #open(): Runtime {
    if (this.#runtime !== undefined) return this.#runtime;
    throw frontierClosed();
  }

  #become(to: FrontierStatus, reason?: string): void {
    const from = this.status;
    if (from === to) return;
    this.status = to;
    this.#alive.onStatus(to);
    this.events.emit("status", { from, to, ...(reason === undefined ? {} : { reason }) });
  }

  #pollAt(core: Core, max: number, nowMs: number): Lease[] {
    if (this.status !== "running") return [];
    const leases = this.#leases?.take(core, max, step(core, nowMs)) ?? [];
    this.noteTaken(leases.length > 0 || max === 0, nowMs);
    return leases;
  }

  /** The breaker's pause ends by the clock. */
  #resetBreaker(nowMs: number): void {
    if (this.#breaker.reset(nowMs) && this.status === "paused") this.#become("running");
  }

  #wait(asked: Asked): void {
    const { max, timeoutMs, signal, resolve, reject } = asked;
    const leave = (): boolean => {
      const at = this.#waiters.indexOf(waiter);
      if (at < 0) return false;
      this.#waiters.splice(at, 1);
      waiter.release();
      return true;
    };
    const onTimeout = (): void => {
      this.end(this.clock.now()); // what is due at this very moment still counts
      if (!leave()) return;
      resolve([]);
      this.end(this.clock.now());
    };
    const onAbort = (): void => {
      leave();
      reject(signal?.reason);
      this.end(this.clock.now());
    };
    const untime =
      timeoutMs === undefined ? undefined : scheduleAfter(this.clock, timeoutMs, onTimeout);
    signal?.addEventListener("abort", onAbort);
    const release = (): void => {
      untime?.();
      signal?.removeEventListener("abort", onAbort);
    };
    const waiter: Waiter = { max, resolve, reject, release };
    this.#waiters.push(waiter);
    this.end(this.clock.now());
  }

  /** Whether a call may end at once: no timer is armed, no one waits, and no listener needs the clock. */
  #isQuiet(): boolean {
    const core = this.#runtime?.core;
    if (core === undefined) return true;
    if (this.#isEmpty || this.events.isClocked || this.#timerAt !== Number.POSITIVE_INFINITY)
      return false;
    if (this.#waiters.length + this.#rooms.length + this.#drains.length > 0) return false;
    return this.#completion.isAtWork(core) && this.background.isResting(core);
  }

  /** Settles until nothing changes any more: onIdle may have pushed, paused or closed meanwhile. */
  #settleAll(nowMs: number): void {
    this.#isSettling = true;
    try {
      do {
        this.#isUnsettled = false;
        const core = this.#runtime?.core;
        if (core !== undefined) this.#settle(core, nowMs);
      } while (this.#isUnsettled);
    } finally {
      this.#isSettling = false;
    }
  }

  #settle(core: Core, nowMs: number): void {
    if (this.#isWatched()) step(core, nowMs);
    if (this.#waiters.length > 0) this.#serve(core, nowMs);
    const { counters } = core;
    for (const room of this.#rooms.length > 0 ? [...this.#rooms] : []) {
      if (!room.isMet(core)) continue;
      this.#rooms.splice(this.#rooms.indexOf(room), 1);
      room.resolve();
    }
    if (counters.leased === 0 && this.#drains.length > 0) {
      for (const resolve of this.#drains.splice(0)) resolve();
    }
    if (this.#isEmpty && this.status === "running" && isReady(core, nowMs)) {
      this.#isEmpty = false;
      this.events.emit("ready", { atMs: nowMs });
    }
    this.#completion.update(core, this.sources, nowMs);
    if (this.#completion.isFinished) this.#dismissWaiters();
    if (this.#runtime?.core === core) this.#arm(core, nowMs);
  }

  #serve(core: Core, nowMs: number): void {
    while (this.#waiters.length > 0) {
      const waiter = this.#waiters[0] as Waiter;
      const leases = this.#pollFor(core, waiter, nowMs);
      if (leases === undefined) continue;
      if (leases.length === 0) return;
      this.#waiters.shift();
      waiter.release();
      waiter.resolve(leases);
    }
  }

  /** Leases for a caller who waits, within another call. undefined: it was rejected, since there is no memory. */
  #pollFor(core: Core, waiter: Waiter, nowMs: number): Lease[] | undefined {
    try {
      return this.#pollAt(core, waiter.max, nowMs);
    } catch (error) {
      if (!isMemoryFull(error)) throw error;
      if (core.counters.leased > 0) return []; // each that ends makes room
      this.#waiters.shift();
      waiter.release();
      waiter.reject(error);
      return undefined;
    }
  }

  /** Nothing will come any more. */
  #dismissWaiters(): void {
    for (const waiter of this.#waiters.splice(0)) {
      waiter.release();
      waiter.resolve([]);
    }
  }

  /** One timer for the next moment at which a waiting caller can be served. */
  #arm(core: Core, nowMs: number): void {
    const choreAt = Math.max(this.background.dueAt(core, nowMs), nowMs);
    const atMs = Math.min(this.#wakeAt(core, nowMs), choreAt);
    if (atMs === this.#timerAt) return;
    this.#disarm();
    if (atMs === Number.POSITIVE_INFINITY) return;
    this.#timerAt = atMs;
    this.#cancelTimer = this.clock.schedule(atMs, () => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.#cancelTimer = undefined;
      const { core: open, nowMs: atNow } = this.begin();
      if (open === undefined) return;
      step(open, atNow);
      this.background.run(open, atNow);
      this.endGiven(true, atNow);
    });
  }

  /**
   * Closes a step of the clock, or a poll that has leases: that the disk refused was emitted as an event, and what was logged
   * waits for it.
   */
  endGiven(isGiven: boolean, nowMs: number): void {
    try {
      this.end(nowMs);
    } catch (error) {
      if (!isGiven || !(error instanceof FrontierError)) throw error;
    }
  }

  /** Whether a listener or a waiter needs what the clock alone brings about. */
  #isWatched(): boolean {
    const { events } = this;
    const { wants } = events;
    if (this.#waiters.length > 0 || this.#drains.length > 0) return true;
    if (wants.expired || wants.failed || this.#hasReadyListeners()) return true;
    return events.has("finished") || events.has("idle");
  }

  #hasReadyListeners(): boolean {
    return this.#isEmpty && this.events.has("ready");
  }

  #wakeAt(core: Core, nowMs: number): number {
    const { events, status } = this;
    const wantsLease = this.#waiters.length > 0 || this.#hasReadyListeners();
    let atMs = Number.POSITIVE_INFINITY;
    if (status === "running" && wantsLease) atMs = soonestDueAt(core, nowMs) ?? atMs;
    if (status === "paused" && (wantsLease || events.has("status"))) {
      atMs = this.#breaker.untilMs ?? atMs;
    }
    if (this.#isWatched()) atMs = Math.min(atMs, deadlineAt(core));
    const awaitsEnd = this.#waiters.length > 0 || events.has("finished");
    if (awaitsEnd) atMs = Math.min(atMs, this.#completion.dueAt(nowMs));
    // What is due already was offered in this very settling; the next chance is a change, or the next clock.
    return atMs <= nowMs ? Number.POSITIVE_INFINITY : atMs;
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }
}
