/**
 * Room `src/engine/records`: records as users see them, and the whole history of each where `records: 'full'` keeps it.
 * Never ahead of the journal.
 */

/**
 * RecordArchive: the whole history of every identity (`records: 'full'`), written from the same transitions as the journal.
 *
 *   transition ─▶ event ── group whole, frame sealed ─▶ marked ── journal durable ─▶ ready ── in slices ─▶ RecordTier
 *                   └─────────────────────── a question is answered from both ────────────────────┘
 *
 *   K1  The journal is the truth: an event reaches the store only after its entry is durable, and a segment goes only after the
 *       store has all of it. What a crash cut off between the two is replayed.
 *   K2  Hearing an event again changes nothing: an event of a time and state that the trail holds, or that is older than a full
 *       trail, is passed over. Times come from the journal at replay, in notes before the entries.
 *   K3  What state an identity is in, and whether it is known at all, the seen-set decides; the store adds the rest.
 */
import { type Core, ruleOf } from "../../frontier/core.ts";
import {
  LOG_ADMITTED,
  LOG_CHANGED,
  LOG_DONE,
  LOG_MOVED,
  LOG_REMOVED,
} from "../../frontier/records/transition-log.ts";
import { recordHost } from "../../frontier/records/record-walk.ts";
import type { TransitionListener } from "../../persistence/journal/transition-listener.ts";
import { packr, packValue } from "../../persistence/msgpack.ts";
import type { RecordChange, RecordTier } from "../../persistence/tier.ts";
import {
  blobBytes,
  parentFingerprint,
  recordAttempt,
  recordBlob,
  recordDeliveries,
  recordDepth,
  recordHi,
  recordLo,
  recordParent,
  recordPriority,
  recordState,
} from "../../structures/records/record.ts";
import { recordUrl } from "../../structures/records/kernel-scratch.ts";
import { nextTurn } from "../next-turn.ts";
import { STATES } from "./record-view.ts";

/** States and times that a trail keeps; older ones go. */
const TRAIL_MAX = 16;
/** Events that one slice brings into the store: some milliseconds. */
const SLICE_EVENTS = 256;
/** Events that may wait; more are stored at once, so that memory stays bounded. */
const EVENTS_MAX = 200_000;

/** One identity as the store has it. */
export interface RecordHistory {
  url: string;
  host: string;
  rule: string;
  depth: number;
  priority: number;
  deliveries: number;
  attempts: number;
  parent?: string;
  /** Packed extras. */
  extras?: Uint8Array;
  admittedAt: number;
  /** state, time, state, time … */
  trail: Array<string | number>;
}

interface Event {
  readonly lo: number;
  readonly hi: number;
  readonly at: number;
  /** undefined: nothing for the trail. */
  readonly state: string | undefined;
  /** What the record holds; undefined: it is not there any more. */
  readonly facts: Omit<RecordHistory, "trail" | "admittedAt"> | undefined;
  readonly isNew: boolean;
  readonly isForgotten: boolean;
  /** Everything before it is forgotten, of every identity. */
  readonly isAll: boolean;
  /** How often all had been forgotten before it. */
  readonly generation: number;
}

const NOTHING = { at: 0, state: undefined, facts: undefined, isNew: false };

export class RecordArchive implements TransitionListener {
  readonly #tier: RecordTier;
  readonly #now: () => number;
  /** Events of groups that are not sealed yet; the first `#whole` are of whole groups. */
  #logged: Event[] = [];
  #whole = 0;
  #sealed: Array<{ mark: number; events: Event[] }> = [];
  #ready: Event[] = [];
  #readyAt = 0;
  /** Events not stored yet, by identity. */
  readonly #waiting = new Map<string, Event[]>();
  #drain: Promise<void> | undefined;
  #generation = 0;
  /** The generation that the store is in. */
  #stored = 0;

  constructor(tier: RecordTier, now: () => number) {
    this.#tier = tier;
    this.#now = now;
  }

  timeMs(): number {
    return this.#now();
  }

  onTransition(core: Core, kind: number, record: number, at: number): void {
    const { store } = core;
    const lo = recordLo(store, record);
    const hi = recordHi(store, record);
    const facts = factsOf(core, record);
    const isNew = kind === LOG_ADMITTED;
    const state = stateAfter(core, kind, record);
    this.#push({ lo, hi, at, state, facts, isNew });
  }

  onTransitionByHash(kind: number, lo: number, hi: number, at: number): void {
    const state = kind === LOG_DONE ? "done" : kind === LOG_REMOVED ? "removed" : undefined;
    if (state === undefined) return;
    this.#push({ ...NOTHING, lo, hi, at, state });
  }

  onForgotten(lo: number, hi: number): void {
    this.#push({ ...NOTHING, lo, hi, isForgotten: true });
  }

  /** A new generation, or a cleared frontier: no identity has a history any more. */
  onAllForgotten(): void {
    this.#generation++;
    this.#logged.push({ ...NOTHING, lo: 0, hi: 0, ...this.#plain(), isAll: true });
  }

  onGroupEnd(): void {
    this.#whole = this.#logged.length;
  }

  /** What was logged so far stands in frames up to `mark` of the journal's total. */
  onSealed(mark: number): void {
    if (this.#whole === 0) return;
    this.#sealed.push({ mark, events: this.#logged.splice(0, this.#whole) });
    this.#whole = 0;
  }

  /** The journal is durable up to `total`: what was logged by then may go to the store (K1). */
  durable(total: number): void {
    while (this.#sealed.length > 0 && (this.#sealed[0]?.mark as number) <= total) {
      for (const event of this.#sealed.shift()?.events ?? []) this.#ready.push(event);
    }
    while (this.#ready.length - this.#readyAt > EVENTS_MAX) this.#slice();
    if (this.#ready.length > this.#readyAt) this.#drain ??= this.#drainAll();
  }

  /** All events are of entries that are durable already: at replay. */
  replayed(): void {
    this.onGroupEnd();
    this.onSealed(0);
    this.durable(0);
  }

  /** Resolves when the store has, durably, all that the journal had durably at this call. */
  async drained(): Promise<void> {
    await this.#drain;
    await this.#tier.flushed();
  }

  /** What is known of an identity. */
  history(lo: number, hi: number): RecordHistory | undefined {
    let history = this.#stored === this.#generation ? this.#read(lo, hi) : undefined;
    for (const event of this.#waiting.get(nameOf(lo, hi)) ?? []) {
      if (event.generation === this.#generation) history = applied(history, event);
    }
    return history;
  }

  /** Every identity that is stored; what waits is stored first. */
  *histories(): Generator<{ lo: number; hi: number; history: RecordHistory }> {
    while (this.#readyAt < this.#ready.length) this.#slice();
    const waiting = [...this.#waiting.entries()];
    const yielded = new Set<string>();
    for (const [name, [event]] of waiting) {
      const { lo, hi } = event as Event;
      yielded.add(name);
      const history = this.history(lo, hi);
      if (history !== undefined) yield { lo, hi, history };
    }
    for (const { lo, hi, bytes } of this.#tier.each()) {
      if (yielded.has(nameOf(lo, hi))) continue;
      const history = this.history(lo, hi);
      if (history !== undefined && bytes.length > 0) yield { lo, hi, history };
    }
  }

  /** Closes the store; with `isDiscard` it is deleted. */
  async close(isDiscard: boolean): Promise<void> {
    if (isDiscard) {
      this.#ready = [];
      this.#readyAt = 0;
      await this.#drain;
      this.#tier.clear();
    }
    while (this.#readyAt < this.#ready.length) this.#slice();
    await this.drained();
    await this.#tier.close();
  }

  #plain(): Pick<Event, "isForgotten" | "isAll" | "generation"> {
    return { isForgotten: false, isAll: false, generation: this.#generation };
  }

  #push(fields: Omit<Event, "isForgotten" | "isAll" | "generation"> & Partial<Event>): void {
    const event: Event = { ...this.#plain(), ...fields };
    this.#logged.push(event);
    const name = nameOf(event.lo, event.hi);
    const waiting = this.#waiting.get(name);
    if (waiting === undefined) this.#waiting.set(name, [event]);
    else waiting.push(event);
  }

  async #drainAll(): Promise<void> {
    while (this.#readyAt < this.#ready.length) {
      await nextTurn();
      this.#slice();
    }
    this.#drain = undefined;
  }

  #slice(): void {
    const last = Math.min(this.#ready.length, this.#readyAt + SLICE_EVENTS);
    const histories = new Map<string, { event: Event; history: RecordHistory | undefined }>();
    let at = this.#readyAt;
    for (; at < last; at++) {
      const event = this.#ready[at] as Event;
      if (event.isAll) break;
      const name = nameOf(event.lo, event.hi);
      const before = histories.get(name);
      const history = before === undefined ? this.#read(event.lo, event.hi) : before.history;
      histories.set(name, { event, history: applied(history, event) });
    }
    const changes: RecordChange[] = [];
    for (const { event, history } of histories.values()) {
      const bytes = history === undefined ? undefined : Uint8Array.from(packValue(history));
      changes.push({ lo: event.lo, hi: event.hi, bytes });
    }
    this.#tier.apply(changes);
    if (at < last) {
      this.#tier.clear();
      this.#stored = (this.#ready[at++] as Event).generation;
    }
    for (; this.#readyAt < at; this.#readyAt++) this.#settled(this.#ready[this.#readyAt] as Event);
    if (at < this.#ready.length) return;
    this.#ready = [];
    this.#readyAt = 0;
  }

  /** The oldest event of an identity is in the store. */
  #settled({ lo, hi, isAll }: Event): void {
    if (isAll) return;
    const name = nameOf(lo, hi);
    const waiting = this.#waiting.get(name);
    waiting?.shift();
    if (waiting?.length === 0) this.#waiting.delete(name);
  }

  #read(lo: number, hi: number): RecordHistory | undefined {
    const bytes = this.#tier.get(lo, hi);
    return bytes === undefined ? undefined : (packr.unpack(bytes) as RecordHistory);
  }
}

/** A history with one event more (K2). */
function applied(history: RecordHistory | undefined, event: Event): RecordHistory | undefined {
  if (event.isForgotten) return undefined;
  const { at, facts, isNew, state } = event;
  if (history === undefined && facts === undefined) return undefined;
  const before = history?.trail ?? [];
  const trail = state === undefined ? before : withStep(before, state, at);
  const admittedAt = history?.admittedAt ?? at;
  if (facts === undefined) return { ...(history as RecordHistory), trail };
  // Admitted anew after it was forgotten or done: its times begin again, unless this event comes for the second time.
  const isAnew = isNew && trail !== before;
  return { ...facts, admittedAt: isAnew ? at : admittedAt, trail };
}

function withStep(
  trail: ReadonlyArray<string | number>,
  state: string,
  at: number,
): Array<string | number> {
  const list = trail as Array<string | number>;
  if (list.length === TRAIL_MAX * 2 && at < (list[1] as number)) return list;
  for (let step = list.length - 2; step >= 0 && (list[step + 1] as number) >= at; step -= 2) {
    if (list[step] === state && list[step + 1] === at) return list;
  }
  return [...list.slice(list.length === TRAIL_MAX * 2 ? 2 : 0), state, at];
}

function factsOf(core: Core, record: number): Event["facts"] {
  const { store } = core;
  const parent = recordParent(store, record);
  const blob = recordBlob(store, record);
  const extras = blob === 0 ? undefined : blobBytes(store, blob);
  return {
    url: recordUrl(core.scratch, record),
    host: recordHost(core, record),
    rule: ruleOf(core, record).id,
    depth: recordDepth(store, record),
    priority: recordPriority(store, record),
    deliveries: recordDeliveries(store, record),
    attempts: recordAttempt(store, record),
    ...(parent === 0 ? {} : { parent: parentFingerprint(store, parent) }),
    ...(extras === undefined || extras.length === 0 ? {} : { extras: Uint8Array.from(extras) }),
  };
}

function stateAfter(core: Core, kind: number, record: number): string | undefined {
  if (kind === LOG_DONE) return "done";
  if (kind === LOG_REMOVED) return "removed";
  if (kind === LOG_CHANGED || kind === LOG_MOVED) return undefined;
  return STATES[recordState(core.store, record)];
}

export function nameOf(lo: number, hi: number): string {
  return `${hi}:${lo}`;
}
