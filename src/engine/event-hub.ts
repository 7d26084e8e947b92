/**
 * EventHub: the events of listeners, built only where there is a listener, delivered after the call that caused it.
 *
 *   transition ─▶ batch per event ──(end of the public call)──▶ listeners
 *   fault      ─▶ bounded list    ──(when there is a listener)───▶ error listeners
 *
 *   I1  A listener that throws is reported as a fault; the others are still called.
 *   I2  A listener may call the frontier: its events are delivered after the running ones.
 *   I3  Faults without a listener are kept up to FAULTS_KEPT, the oldest dropped and counted.
 */
import { misuse } from "../base/errors.ts";
import { publishFault, publishSnapshot } from "./lifecycle/call-channels.ts";
import { MODE_ACCEPTED, MODE_REFUSED } from "../frontier/admission/admission-mode.ts";
import type { TransitionKind } from "../frontier/core.ts";
import type { FrontierEvents, FrontierFault, RequestView } from "./types/frontier-types.ts";

type EventName = keyof FrontierEvents;

const BATCHED = new Set<EventName>([
  "accepted",
  "duplicate",
  "rejected",
  "leased",
  "done",
  "retried",
  "failed",
  "expired",
  "released",
]);

const CLOCKED: readonly EventName[] = ["expired", "failed", "ready", "idle", "finished", "status"];

const NAMES = new Set<EventName>([
  ...BATCHED,
  "empty",
  "ready",
  "idle",
  "finished",
  "resumed",
  "rulesApplied",
  "snapshot",
  "error",
  "status",
]);

const FAULTS_KEPT = 1000;

export function checkEvent(name: unknown): void {
  if (NAMES.has(name as EventName)) return;
  throw misuse("ARGUMENT_INVALID", "event", name, "the name of an event");
}

/** Its answer is nothing, or the promise of an async function. */
type Listener = (payload: never) => unknown;

/** One call of `on`: the same function may be added twice, and each is removed by itself. */
interface Listening {
  readonly listener: Listener;
}

export class EventHub {
  /** Whose snapshots and faults are published; undefined: another thread publishes them. */
  readonly #frontier: string | undefined;
  /** Which events have a listener; the hot path reads it before it builds anything. */
  readonly wants: Record<TransitionKind | "duplicate" | "rejected", boolean> = {
    accepted: false,
    leased: false,
    done: false,
    retried: false,
    failed: false,
    expired: false,
    released: false,
    duplicate: false,
    rejected: false,
  };
  /** What listeners ask of admission: MODE_ACCEPTED, MODE_REFUSED (frontier/admission/admission-mode.ts). */
  mode = 0;
  /** Whether a listener needs what the clock alone brings about. */
  isClocked = false;
  dropped = 0;
  readonly #listeners = new Map<EventName, Listening[]>();
  #queue: Array<{ name: EventName; payload: unknown }> = [];
  #isDelivering = false;
  #faults: FrontierFault[] = [];
  /** Delivered once, to the first listener: events from before there could be one. */
  readonly #early = new Map<EventName, unknown>();

  constructor(frontier?: string) {
    this.#frontier = frontier;
  }

  on(name: EventName, listener: Listener): () => void {
    const list = this.#listeners.get(name) ?? [];
    const own: Listening = { listener };
    this.#listeners.set(name, [...list, own]);
    this.#want(name);
    if (name === "error") this.#deliverKept();
    this.#deliverEarly(name);
    return () => {
      const left = (this.#listeners.get(name) ?? []).filter((one) => one !== own);
      this.#listeners.set(name, left);
      this.#want(name);
    };
  }

  has(name: EventName): boolean {
    return (this.#listeners.get(name)?.length ?? 0) > 0;
  }

  /** One transition of a batched event. */
  transition(kind: TransitionKind, view: RequestView): void {
    this.#batch(kind, view);
  }

  duplicate(sighting: FrontierEvents["duplicate"][number]): void {
    if (this.wants.duplicate) this.#batch("duplicate", sighting);
  }

  rejected(url: string, reason: string): void {
    if (this.wants.rejected) this.#batch("rejected", { url, reason });
  }

  emit<E extends EventName>(name: E, payload: FrontierEvents[E]): void {
    if (name === "snapshot" && this.#frontier !== undefined) {
      publishSnapshot(this.#frontier, payload as FrontierEvents["snapshot"]);
    }
    if (this.has(name)) this.#queue.push({ name, payload });
  }

  /** An event of the opening: kept for the first listener. */
  emitEarly<E extends EventName>(name: E, payload: FrontierEvents[E]): void {
    this.#early.set(name, payload);
  }

  /** Reports a fault. */
  fault(fault: FrontierFault): void {
    if (this.#frontier !== undefined) publishFault(this.#frontier, fault);
    this.#report(fault);
  }

  /** Delivers a fault to the listeners, or keeps it for the first one. */
  #report(fault: FrontierFault): void {
    if (this.has("error")) {
      this.#queue.push({ name: "error", payload: fault });
      return;
    }
    this.#faults.push(fault);
    if (this.#faults.length <= FAULTS_KEPT) return;
    this.#faults.shift();
    this.dropped++;
  }

  /** Reports that a user's function threw, or returned an invalid value; the URL's verdict shows the effect. */
  hookFault(stage: string, cause: unknown, url: string | undefined): void {
    this.fault({ kind: "hook", stage, cause, ...(url === undefined ? {} : { url }) });
  }

  /** Delivers what has gathered; called at the end of every public call. */
  flush(): void {
    if (this.#isDelivering || this.#queue.length === 0) return;
    this.#isDelivering = true;
    try {
      while (this.#queue.length > 0) {
        const queue = this.#queue;
        this.#queue = [];
        for (const { name, payload } of queue) this.#deliver(name, payload);
      }
    } finally {
      this.#isDelivering = false;
    }
  }

  #batch(name: EventName, item: unknown): void {
    const last = this.#queue.at(-1);
    if (last !== undefined && last.name === name) (last.payload as unknown[]).push(item);
    else this.#queue.push({ name, payload: [item] });
  }

  #deliver(name: EventName, payload: unknown): void {
    const listenings = this.#listeners.get(name) ?? [];
    // The last listener left after the fault was queued (I3).
    if (name === "error" && listenings.length === 0) this.#report(payload as FrontierFault);
    for (const { listener } of listenings) {
      try {
        const answer = listener(payload as never);
        if (answer instanceof Promise) answer.catch((cause) => this.#failLate(name, cause));
      } catch (cause) {
        this.#fail(name, cause);
      }
    }
  }

  /** A failing error listener is not reported to itself: that would never end. */
  #fail(name: EventName, cause: unknown): void {
    if (name === "error") this.dropped++;
    else this.fault({ kind: "listener", stage: name, cause });
  }

  /** An async listener fails after the call whose event it received. */
  #failLate(name: EventName, cause: unknown): void {
    this.#fail(name, cause);
    this.flush();
  }

  #deliverKept(): void {
    const kept = this.#faults;
    this.#faults = [];
    for (const payload of kept) this.#queue.push({ name: "error", payload });
    queueMicrotask(() => this.flush());
  }

  #deliverEarly(name: EventName): void {
    if (!this.#early.has(name)) return;
    this.#queue.push({ name, payload: this.#early.get(name) });
    this.#early.delete(name);
    queueMicrotask(() => this.flush());
  }

  #want(name: EventName): void {
    if (name in this.wants) this.wants[name as keyof EventHub["wants"]] = this.has(name);
    this.isClocked = CLOCKED.some((clocked) => this.has(clocked));
    const { accepted, duplicate, rejected } = this.wants;
    this.mode = (accepted ? MODE_ACCEPTED : 0) | (duplicate || rejected ? MODE_REFUSED : 0);
  }
}
