/**
 * Seat: the owner's side of one worker: what was handed to it, what it has begun, how much more it shall get.
 *
 *   window   leases handed out and not begun: at most WINDOW_MAX, and no more than it begins in WINDOW_MS. It starts small, and
 *            grows by what the worker begins alone: one that begins nothing is never laid out more than it has
 *   classes  a lease goes into the last class, or into the class before the first that holds a worse one: so it overtakes
 *            what is not begun. Where all classes are taken by rising priorities, it waits behind some of the first.
 *
 *   I1  Entries of a class are begun in order; `taken` of the class says how many.
 */
import { LANE_CLASSES, SEAT_PARK_WORD } from "../../../layout/threads/worker-seats.ts";
import { unpark } from "../../../memory/parking.ts";
import {
  attachConsumer,
  attachProducer,
  type LaneConsumer,
  laneIsEmpty,
  laneUsed,
} from "../../../structures/threads/spsc-lane.ts";
import { begunOf } from "../../protocol/lane-credit.ts";
import { inboundPlace, lanePlace, seatWords } from "../../protocol/shared-memory.ts";
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
/** How often a thread of one's own is asked whether it lives; four times as long for each time that it had no time to answer. */
const HEARTBEAT_MS = 250;

/** A lease at a worker, and what is said of it there. */
export interface Entry extends LeaseFields {
  readonly lease: OwnedLease;
  readonly priorityClass: number;
  /** Its number among the leases of its class. */
  readonly order: number;
  /** Gone once it was written. */
  extras: Uint8Array | undefined;
  isCancelled: boolean;
}

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
  /** Priorities of what is not begun, oldest first. */
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
  /** Whether a thread of the pool sits here: it can be ended from outside. */
  readonly isOwn: boolean;
  /** Told what its worker sends. */
  onSent: ((message: PoolMessage) => void) | undefined;
  /** Results that could not be applied for want of disk, in their order. */
  readonly held: Buffer[] = [];
  window = WINDOW_START;
  readonly #lanes: Lane[] = [];
  readonly #rules = new Map<string, number>();
  /** The rule of the lease before, and its number. */
  #rule = "";
  #ruleNumber = 0;
  /** Leases begun, as `untaken` has counted them; and how many, and when, as the window was judged last. */
  #begun = 0;
  #markedBegun = 0;
  #markedAt = 0;
  #last: number[] | undefined;
  #cancelledAt = 0;
  /** How often it was seen since then that the worker had not looked up. */
  #looks = 0;
  /** Waits at its heartbeat that were woken, and when the last one was. */
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
      if (fresh > 0) lane.waiting.splice(0, fresh);
      lane.begun = begun;
      this.#begun += fresh;
      count += lane.waiting.length;
    }
    return count;
  }

  /** Whether the worker has begun leases since `untaken` looked last. */
  hasTaken(): boolean {
    for (let each = 0; each < LANE_CLASSES; each++) {
      if (begunOf(this.words, each) !== (this.#lanes[each] as Lane).begun) return true;
    }
    return false;
  }

  /** How many more it shall have now; also learns how fast it is. */
  room(nowMs: number): number {
    const { untaken } = this;
    const isOver = nowMs - this.#markedAt > WINDOW_MS;
    if (untaken === 0 || isOver) {
      const begun = this.#begun - this.#markedBegun;
      // It has begun all that it had room for, in good time; or less than half of that.
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

  /** Whether its thread is gone without a word; asks it, where that is due (I3 of seating). Never of one of the pool. */
  isGone(nowMs: number): boolean {
    // Waits that were woken and not begun anew; one that has died on its way to its first few has begun no more than these.
    const left = beatsLeft(this.words, this.#woken);
    const missing = Math.min(this.#woken, HEARTBEAT_WAITS - left);
    if (nowMs - this.#askedAt < HEARTBEAT_MS * 4 ** missing) return false;
    this.#askedAt = nowMs;
    const said = checkBeat(this.words, this.#woken);
    if (said === HEARTBEAT_ALIVE) this.#woken = (this.#woken + 1) | 0;
    return said === HEARTBEAT_GONE;
  }

  /** Whether leases are out, or a cancelled one was not heard of yet. */
  get isOut(): boolean {
    return this.entries.size > 0 || this.#cancelledAt > 0;
  }

  /** Takes note of what was begun, for the last time: the words are about to be another's. */
  noteBegun(): void {
    this.#last = [];
    for (let each = 0; each < LANE_CLASSES; each++) {
      this.#last.push(begunOf(this.words, each));
    }
  }

  hasBegun({ priorityClass, order }: Entry): boolean {
    const begun = this.#last?.[priorityClass] ?? begunOf(this.words, priorityClass);
    return ((begun - order) | 0) > 0;
  }

  /** Leases that its worker has not begun, as of now. */
  *unbegun(): Generator<OwnedLease, void, undefined> {
    for (const entry of this.entries.values()) if (!this.hasBegun(entry)) yield entry.lease;
  }

  /** Whether all that it has said was applied. */
  get isQuiet(): boolean {
    return this.held.length === 0 && laneIsEmpty(this.inbound);
  }

  /** Puts a lease into the batch of its class. */
  add(lease: OwnedLease, how: { isPlain: boolean; needsPrint: boolean }): void {
    const priorityClass = this.#classOf(lease.priority);
    const lane = this.#lanes[priorityClass] as Lane;
    const id = this.entries.next();
    const ruleNumber = this.#ruleOf(lease.rule);
    const extras = how.isPlain ? undefined : pack(extrasOf(lease, how.needsPrint));
    const order = lane.sent;
    const entry = { id, lease, ruleNumber, extras, priorityClass, order, isCancelled: false };
    this.entries.add(entry);
    lane.sent = (lane.sent + 1) | 0;
    lane.waiting.push(lease.priority);
    lane.batch.push(entry);
  }

  /** Tells the worker what it may decide about links under a generation of the edge. */
  sendLinkFacts(generation: number, packed: Uint8Array): void {
    writeLinkFacts((this.#lanes[0] as Lane).sender, generation, packed);
    this.flush();
  }

  /** Tells the worker that a lease has run out. */
  cancel(entry: Entry, nowMs: number): void {
    entry.isCancelled = true;
    this.#cancelledAt = this.#cancelledAt || nowMs;
    writeCancel((this.#lanes[0] as Lane).sender, entry);
  }

  /**
   * Whether the worker has not looked at its lanes since a lease was cancelled: for so long, and in more than `looks` looks at
   * it. Time alone says nothing, since the whole process may have stood still.
   */
  isStuck(nowMs: number, { graceMs, looks }: { graceMs: number; looks: number }): boolean {
    const { lane } = (this.#lanes[0] as Lane).sender;
    if (laneIsEmpty(lane)) this.#cancelledAt = 0;
    if (this.#cancelledAt === 0) this.#looks = 0;
    else this.#looks++;
    return this.#looks > looks && nowMs - this.#cancelledAt > graceMs;
  }

  /** Sends all that was added; wakes the worker if it sleeps. */
  flush(): void {
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
  }

  /** Whether something is kept for want of room. */
  get isBlocked(): boolean {
    return this.#lanes.some(({ sender }) => sender.kept.length > 0);
  }

  /** Whether something is kept and there is room now. */
  canSend(): boolean {
    for (const { sender } of this.#lanes) {
      if (sender.kept.length > 0 && laneUsed(sender.lane) < sender.lane.capacity) return true;
    }
    return false;
  }

  #classOf(priority: number): number {
    for (let each = 0; each < LANE_CLASSES; each++) {
      const { waiting } = this.#lanes[each] as Lane;
      // Classes but the first fall from first to last, so that their last is their worst.
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
      // In every lane, since each is read by itself.
      for (const { sender } of this.#lanes) writeRule(sender, number, name);
    }
    this.#rule = name;
    this.#ruleNumber = number;
    return number;
  }
}

/** Field by field: objects spread into one another cost a lease as much as all else here. */
function extrasOf(lease: OwnedLease, needsPrint: boolean): LeaseExtras {
  const { method, body, headers, handler, redirects, data } = lease;
  const extras: { -readonly [field in keyof LeaseExtras]: LeaseExtras[field] } = {};
  if (method !== "GET") extras.m = method;
  if (body !== undefined) extras.b = body;
  if (headers !== undefined) extras.h = headers;
  if (handler !== undefined) extras.n = handler;
  if (data !== undefined) extras.d = data;
  if (redirects !== 0) extras.r = redirects;
  if (needsPrint) extras.f = lease.fingerprint;
  return extras;
}
