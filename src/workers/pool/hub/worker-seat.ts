/**
 * Seat: the owner's side of one worker: the leases handed to it, those it has begun, and how many more it may get.
 *
 *   window   leases handed out and not begun: at most WINDOW_MAX, and no more than the worker begins in WINDOW_MS. It starts small
 *            and grows only by what the worker begins: one that begins nothing never gets more than it has
 *   classes  a lease goes into the last class, or into the class before the first that holds a worse one: so it overtakes
 *            leases that are not begun. Where rising priorities have taken all classes, it waits after some of the first.
 *
 *   I1  Entries of a class are begun in order; `taken` of the class counts them.
 */
import {
  LANE_CLASSES,
  SEAT_PARK_WORD,
  SEAT_THREAD_WORD,
} from "../../../layout/threads/worker-seats.ts";
import { unpark } from "../../../memory/parking.ts";
import {
  attachConsumer,
  attachProducer,
  type LaneConsumer,
  laneIsEmpty,
  laneUsed,
} from "../../../structures/threads/spsc-lane.ts";
import { RingFault } from "../../../structures/threads/ring-fault.ts";
import { begunOf } from "../../protocol/lane-credit.ts";
import { areLanesWhole, inboundPlace, lanePlace, seatWords } from "../../protocol/shared-memory.ts";
import {
  type LeaseExtras,
  type LeaseFields,
  writeCancel,
  writeLeases,
  writeRule,
} from "../../protocol/lease-message.ts";
import { writeLinkFacts } from "../../protocol/link-facts-message.ts";
import { pack } from "../../protocol/message-values.ts";
import {
  checkBeat,
  HEARTBEAT_GONE,
  HEARTBEAT_ALIVE,
  HEARTBEAT_WAITS,
  beatsLeft,
} from "../../protocol/seat-protocol.ts";
import { createSender, flushSender, type Sender } from "../../protocol/message-sender.ts";
import { OutstandingLeases } from "./outstanding-leases.ts";
import type { OwnedLease } from "./owner-port.ts";

/** Most leases handed to a worker and not begun. */
export const WINDOW_MAX = 256;
const WINDOW_START = 4;
/** A lease that waits longer than this at a worker was handed out too early. */
const WINDOW_MS = 10;
/** Interval of the heartbeat checks of a user's thread; four times as long for each wait that the thread was too busy to begin anew. */
const HEARTBEAT_MS = 250;

/** A lease at a worker, with the fields sent there. */
export interface Entry extends LeaseFields {
  readonly lease: OwnedLease;
  readonly priorityClass: number;
  /** Its number among the leases of its class. */
  readonly order: number;
  /** Released once it was written. */
  extras: Uint8Array | undefined;
  isCancelled: boolean;
}

/** What a lease is sent with beyond its columns: nothing, its own extras, or those and its fingerprint. */
export type LeaseExtra = "none" | "own" | "print";

/** What a handler has sent with `context.send`. */
export interface PoolMessage {
  /** The value. */
  readonly value: unknown;
  /** URL of the lease that it was sent from. */
  readonly url: string;
  /** Number of the worker. */
  readonly worker: number;
}

interface Lane {
  readonly sender: Sender;
  /** Priorities of the leases not begun, oldest first. */
  readonly waiting: number[];
  readonly batch: Entry[];
  sent: number;
  begun: number;
}

export class Seat {
  readonly index: number;
  readonly words: Int32Array;
  readonly inbound: LaneConsumer;
  readonly entries = new OutstandingLeases<Entry>();
  /** Whether a thread of the pool sits here, which can be ended from outside. */
  readonly isOwn: boolean;
  /** Shared memory of this seat holds what cannot be: nothing is read or written there any more. */
  fault: RingFault | undefined;
  /** The thread that sits here, noted before it gets its first lease; 0: not known yet. */
  thread = 0;
  /** Called with each value that its worker sends. */
  onSent: ((message: PoolMessage) => void) | undefined;
  /** Results that could not be applied for want of disk, in their order. */
  readonly held: Buffer[] = [];
  window = WINDOW_START;
  readonly #lanes: Lane[] = [];
  readonly #rules = new Map<string, number>();
  /** The rule of the lease before, and its number. */
  #rule = "";
  #ruleNumber = 0;
  /** Leases begun, as counted by `untaken`; then their number and the time when the window was last adjusted. */
  #begun = 0;
  #markedBegun = 0;
  #markedAt = 0;
  #last: number[] | undefined;
  /** The words were written over, so that what had begun is not certain; and the lease that counts as begun then. */
  #isUnclear = false;
  #blamed: number | undefined;
  #cancelledAt = 0;
  /** How many checks since then have found the lane unread. */
  #looks = 0;
  /** Heartbeat waits that were woken, and when the last one was. */
  #woken = 0;
  #askedAt = 0;

  constructor(memory: SharedArrayBuffer, index: number, isOwn: boolean) {
    this.index = index;
    this.isOwn = isOwn;
    this.words = seatWords(memory, index);
    this.inbound = attachConsumer(inboundPlace(memory, index));
    for (let each = 0; each < LANE_CLASSES; each++) {
      const sender = createSender(attachProducer(lanePlace(memory, index, each)));
      this.#lanes.push({ sender, waiting: [], batch: [], sent: 0, begun: 0 });
    }
  }

  /** Leases not begun, as of now. */
  get untaken(): number {
    let count = 0;
    for (let each = 0; each < LANE_CLASSES; each++) {
      const lane = this.#lanes[each] as Lane;
      const begun = begunOf(this.words, each);
      const fresh = (begun - lane.begun) | 0;
      if (fresh < 0 || fresh > lane.waiting.length) {
        this.fault ??= new RingFault(`${fresh} leases begun of ${lane.waiting.length}`);
        return 0;
      }
      if (fresh > 0) lane.waiting.splice(0, fresh);
      lane.begun = begun;
      this.#begun += fresh;
      count += lane.waiting.length;
    }
    return count;
  }

  /** Whether the worker has begun leases since the last call of `untaken`. */
  hasTaken(): boolean {
    for (let each = 0; each < LANE_CLASSES; each++) {
      if (begunOf(this.words, each) !== (this.#lanes[each] as Lane).begun) return true;
    }
    return false;
  }

  /** How many more leases the worker may get now. Also measures its speed. */
  room(nowMs: number): number {
    const { untaken } = this;
    if (this.fault !== undefined) return 0;
    const isOver = nowMs - this.#markedAt > WINDOW_MS;
    if (untaken === 0 || isOver) {
      const begun = this.#begun - this.#markedBegun;
      // It began all that it had room for in time, or less than half of that.
      if (untaken === 0 && begun >= this.window && !isOver) {
        this.window = Math.min(WINDOW_MAX, this.window * 2);
      } else if (isOver && begun * 2 < this.window && untaken > 0) {
        this.window = Math.max(1, this.window >> 1);
      }
      this.#markedAt = nowMs;
      this.#markedBegun = this.#begun;
    }
    // In blocks: a worker that has half of its window left is not woken for one more.
    const room = this.window - untaken;
    return room * 2 >= this.window ? room : 0;
  }

  /**
   * Whether the thread has ended without leaving. Checks its heartbeat when that is due (I3 of seating). Never for a thread of the pool.
   */
  isGone(nowMs: number): boolean {
    // Waits that were woken and not begun anew. A thread that died during its first few has begun no more than these.
    const left = beatsLeft(this.words, this.#woken);
    const missing = Math.min(this.#woken, HEARTBEAT_WAITS - left);
    if (nowMs - this.#askedAt < HEARTBEAT_MS * 4 ** missing) return false;
    this.#askedAt = nowMs;
    const heartbeat = checkBeat(this.words, this.#woken);
    if (heartbeat === HEARTBEAT_ALIVE) this.#woken = (this.#woken + 1) | 0;
    return heartbeat === HEARTBEAT_GONE;
  }

  /** Whether leases are out, or a cancelled one was not read yet. */
  get isOut(): boolean {
    return this.entries.size > 0 || this.#cancelledAt > 0;
  }

  /** Records for the last time which leases were begun: the words will belong to another thread. */
  noteBegun(): void {
    this.#last = [];
    for (let each = 0; each < LANE_CLASSES; each++) {
      const { begun, sent } = this.#lanes[each] as Lane;
      const last = begunOf(this.words, each);
      const isPossible = ((last - begun) | 0) >= 0 && ((sent - last) | 0) >= 0;
      this.#last.push(isPossible ? last : begun);
      if (!isPossible) this.#isUnclear = true;
    }
    // The thread may have met the fault itself, before the owner looked.
    const isWhole = areLanesWhole(this.words.buffer as SharedArrayBuffer, this.index);
    if (this.fault !== undefined || !isWhole) this.#isUnclear = true;
  }

  /**
   * Where a handler wrote over the words, they may hide what had begun. Then the best lease, of those without a result, counts as begun.
   * Otherwise it would come back, and write over the memory, until no delivery is left for any lease beside it.
   */
  blameBest(): void {
    if (!this.#isUnclear) return;
    this.#isUnclear = false;
    const left = [...this.entries.inOrder()];
    if (left.some((entry) => this.hasBegun(entry))) return;
    this.#blamed = left.toSorted((a, b) => b.lease.priority - a.lease.priority)[0]?.id;
  }

  hasBegun({ id, priorityClass, order }: Entry): boolean {
    if (id === this.#blamed) return true;
    const begun = this.#last?.[priorityClass] ?? begunOf(this.words, priorityClass);
    return ((begun - order) | 0) > 0;
  }

  /** Leases that its worker has not begun, as of now. */
  *unbegun(): Generator<OwnedLease, void, undefined> {
    for (const entry of this.entries.values()) if (!this.hasBegun(entry)) yield entry.lease;
  }

  /** Whether all of its results were applied. */
  get isQuiet(): boolean {
    if (this.fault !== undefined) return this.entries.size === 0 && this.held.length === 0;
    return this.held.length === 0 && laneIsEmpty(this.inbound);
  }

  /** Adds a lease to the batch of its class, with what the worker gets of it beyond its columns. */
  add(lease: OwnedLease, extra: LeaseExtra): void {
    if (this.thread === 0) this.thread = this.words[SEAT_THREAD_WORD] as number;
    const priorityClass = this.#classOf(lease.priority);
    const lane = this.#lanes[priorityClass] as Lane;
    const id = this.entries.next();
    const ruleNumber = this.#ruleOf(lease.rule);
    const extras = extra === "none" ? undefined : pack(extrasOf(lease, extra));
    const order = lane.sent;
    const entry = { id, lease, ruleNumber, extras, priorityClass, order, isCancelled: false };
    this.entries.add(entry);
    lane.sent = (lane.sent + 1) | 0;
    lane.waiting.push(lease.priority);
    lane.batch.push(entry);
  }

  /** Sends the worker the facts by which it may decide about links in this generation. */
  sendLinkFacts(generation: number, packed: Uint8Array): void {
    this.#write(() => writeLinkFacts((this.#lanes[0] as Lane).sender, generation, packed));
    this.flush();
  }

  /** Notifies the worker that a lease has expired. */
  cancel(entry: Entry, nowMs: number): void {
    entry.isCancelled = true;
    this.#cancelledAt = this.#cancelledAt || nowMs;
    this.#write(() => writeCancel((this.#lanes[0] as Lane).sender, entry));
  }

  /**
   * Whether the worker has not read its lanes since a lease was cancelled: for `graceMs`, and in more than `looks` checks. Time alone is
   * no proof, since the whole process may have stood still.
   */
  isStuck(nowMs: number, { graceMs, looks }: { graceMs: number; looks: number }): boolean {
    const { lane } = (this.#lanes[0] as Lane).sender;
    if (laneIsEmpty(lane)) this.#cancelledAt = 0;
    if (this.#cancelledAt === 0) this.#looks = 0;
    else this.#looks++;
    return this.#looks > looks && nowMs - this.#cancelledAt > graceMs;
  }

  /** Sends everything that was added, and wakes the worker if it sleeps. */
  flush(): void {
    this.#write(() => {
      let isNew = false;
      for (const { sender, batch } of this.#lanes) {
        if (batch.length > 0) {
          writeLeases(sender, batch);
          for (const entry of batch) entry.extras = undefined;
          batch.length = 0;
        }
        if (flushSender(sender)) isNew = true;
      }
      if (isNew) unpark(this.words, SEAT_PARK_WORD);
    });
  }

  /** Writes to the lanes, unless shared memory of this seat was written over. */
  #write(write: () => void): void {
    if (this.fault !== undefined) return;
    try {
      write();
    } catch (cause) {
      if (!(cause instanceof RingFault)) throw cause;
      this.fault = cause;
    }
  }

  /** Whether messages are kept back because a lane is full. */
  get isBlocked(): boolean {
    return this.#lanes.some(({ sender }) => sender.kept.length > 0);
  }

  /** Whether messages are kept back and there is room now. */
  canSend(): boolean {
    if (this.fault !== undefined) return false;
    for (const { sender } of this.#lanes) {
      if (sender.kept.length > 0 && laneUsed(sender.lane) < sender.lane.capacity) return true;
    }
    return false;
  }

  #classOf(priority: number): number {
    for (let each = 0; each < LANE_CLASSES; each++) {
      const { waiting } = this.#lanes[each] as Lane;
      // Priorities fall from first to last in every class but the first, so its last lease is its worst.
      const worst = waiting.at(-1);
      if (worst !== undefined && worst < priority) return Math.max(0, each - 1);
    }
    return LANE_CLASSES - 1;
  }

  #ruleOf(name: string): number {
    if (name === this.#rule && this.#rules.size > 0) return this.#ruleNumber;
    let number = this.#rules.get(name);
    if (number === undefined) {
      number = this.#rules.size;
      this.#rules.set(name, number);
      // Into every lane, since each is read by itself.
      const rule = number;
      for (const { sender } of this.#lanes) this.#write(() => writeRule(sender, rule, name));
    }
    this.#rule = name;
    this.#ruleNumber = number;
    return number;
  }
}

/** Field by field: spreading objects into one another would cost a lease as much as all the rest here. */
function extrasOf(lease: OwnedLease, extra: LeaseExtra): LeaseExtras {
  const { method, body, headers, handler, hostKey, redirects, data } = lease;
  const extras: { -readonly [field in keyof LeaseExtras]: LeaseExtras[field] } = {};
  if (method !== "GET") extras.m = method;
  if (body !== undefined) extras.b = body;
  if (headers !== undefined) extras.h = headers;
  if (handler !== undefined) extras.n = handler;
  if (hostKey !== undefined) extras.u = hostKey;
  if (data !== undefined) extras.d = data;
  if (redirects !== 0) extras.r = redirects;
  if (extra === "print") extras.f = lease.fingerprint;
  return extras;
}
