/**
 * Room `src/structures/threads`: memory shared between threads: the ring of one producer and one consumer, and the
 * filter that workers read. Each word has one writer; nothing here waits.
 */

/**
 * SpscLane: records of any size from one producer thread to one consumer thread.
 *
 *   head                         tail (published)      tail (claimed)
 *     ▼                            ▼                      ▼
 *   ──┬─────────┬──────────────────┬──────────┬───────────┬──────── ring of 64-byte slots
 *     │ record  │ record, one piece│ record   │ record    │  free
 *   ──┴─────────┴──────────────────┴──────────┴───────────┴────────
 *      what the consumer may read     not seen by it yet
 *
 * A record that does not fit what is left before the ring's end, or the whole ring, goes over in pieces: the consumer
 * frees each as it comes, so that a ring of one slot carries a megabyte. A record in one piece is written and read in place.
 *
 *   I1  0 ≤ tail − head ≤ capacity, in wrapped int32 arithmetic.
 *   I2  A slot is written only while it lies outside [head, tail).
 *   I3  tail is stored after the slots it covers were written, once per batch; head after they were read.
 *   I4  Pieces of one record follow each other; their rests fall to 0.
 *
 * The other side's cursor and lengths are checked wherever they are loaded, since anything may have written over shared memory: what no
 * producer or consumer writes throws RingFault.
 *
 * Each side keeps a copy of the other's cursor and loads it anew only when the copy shows full, or empty.
 *
 * Crash: nothing here survives the process. Of a producer that dies, what it had published counts; a record that
 * lacks pieces, or was not published, was never sent.
 */
import { assert } from "../../base/assert.ts";
import {
  SPSC_CAPACITY_WORD,
  SPSC_HEAD_WORD,
  SPSC_HEADER_BYTES,
  SPSC_MAGIC,
  SPSC_MAGIC_WORD,
  SPSC_PIECE_BYTES,
  SPSC_RECORD_BYTES_MAX,
  SPSC_SLOT_BYTES,
  SPSC_SLOT_SHIFT,
  SPSC_TAIL_WORD,
} from "../../layout/threads/spsc-lane.ts";
import { RingFault } from "./ring-fault.ts";

/** One side's views of a lane: words of the header, and the slots as bytes and as words. */
interface Sides {
  readonly words: Int32Array;
  readonly slots: Buffer;
  readonly slotWords: Int32Array;
  readonly capacity: number;
}

export interface LaneProducer extends Sides {
  /** Next slot to write; beyond the published tail by what was claimed. */
  tail: number;
  published: number;
  headSeen: number;
}

export interface LaneConsumer extends Sides {
  /** Next slot to read; beyond the published head by what was dropped. */
  head: number;
  released: number;
  /** A piece was given back by itself since the last laneFree. */
  hasFreed: boolean;
  tailSeen: number;
  /** The record at hand: `size` bytes of `source` from `start`. */
  source: Buffer;
  start: number;
  size: number;
  /** Slots of the record at hand, where it is read in place. */
  held: number;
  /** Bytes of a record that comes in pieces, and how many are here; 0: none under way. */
  expected: number;
  filled: number;
  assembly: Buffer;
}

/** Where a lane lies. */
export interface LanePlace {
  readonly buffer: SharedArrayBuffer;
  readonly offset: number;
}

/** Bytes of a lane with so many slots. */
export function spscBytes(capacity: number): number {
  return SPSC_HEADER_BYTES + capacity * SPSC_SLOT_BYTES;
}

/** Writes the header of an empty lane. `start`: where both cursors begin; tests begin near 2³¹. */
export function createSpscLane(place: LanePlace, capacity: number, start = 0): void {
  assert(capacity > 0 && (capacity & (capacity - 1)) === 0, "capacity is a power of two");
  const words = new Int32Array(place.buffer, place.offset, SPSC_HEADER_BYTES / 4);
  words[SPSC_CAPACITY_WORD] = capacity;
  Atomics.store(words, SPSC_TAIL_WORD, start);
  Atomics.store(words, SPSC_HEAD_WORD, start);
  Atomics.store(words, SPSC_MAGIC_WORD, SPSC_MAGIC);
}

/** Whether an empty or used lane of this capacity stands at a place. */
export function isSpscLane({ buffer, offset }: LanePlace, capacity: number): boolean {
  const words = new Int32Array(buffer, offset, SPSC_HEADER_BYTES / 4);
  const isMarked = Atomics.load(words, SPSC_MAGIC_WORD) === SPSC_MAGIC;
  return isMarked && words[SPSC_CAPACITY_WORD] === capacity;
}

/** The producer's side; goes on where the last one stopped. */
export function attachProducer(place: LanePlace): LaneProducer {
  const sides = sidesOf(place);
  const tail = Atomics.load(sides.words, SPSC_TAIL_WORD);
  const headSeen = Atomics.load(sides.words, SPSC_HEAD_WORD);
  return { ...sides, tail, published: tail, headSeen };
}

/** The consumer's side; goes on where the last one stopped. */
export function attachConsumer(place: LanePlace): LaneConsumer {
  const sides = sidesOf(place);
  const head = Atomics.load(sides.words, SPSC_HEAD_WORD);
  return {
    ...sides,
    head,
    released: head,
    hasFreed: false,
    tailSeen: head,
    source: sides.slots,
    start: 0,
    size: 0,
    held: 0,
    expected: 0,
    filled: 0,
    assembly: Buffer.alloc(0),
  };
}

/**
 * Room for a whole record of `size` bytes: its byte offset in `slots`, to be written and sealed; -1 where it does not
 * fit in one piece now. Producer only. @hot
 */
export function laneClaim(lane: LaneProducer, size: number): number {
  const need = slotsOf(size);
  if (roomOf(lane, need) < need) return -1;
  return ((lane.tail & (lane.capacity - 1)) << SPSC_SLOT_SHIFT) + SPSC_PIECE_BYTES;
}

/** Ends the record at the last claim; at most as many bytes as were claimed. Producer only. @hot */
export function laneSeal(lane: LaneProducer, size: number): void {
  writePiece(lane, size, 0);
}

/**
 * Sends bytes `from` … `to` of a record, as many as fit; returns how many. The rest is sent by further calls, and
 * nothing else goes in between. Producer only. @hot
 */
export function laneSend(lane: LaneProducer, record: Uint8Array, from: number, to: number): number {
  let at = from;
  do {
    const room = roomOf(lane, slotsOf(to - at));
    if (room <= 0) return at - from;
    const size = Math.min(to - at, (room << SPSC_SLOT_SHIFT) - SPSC_PIECE_BYTES);
    const start = ((lane.tail & (lane.capacity - 1)) << SPSC_SLOT_SHIFT) + SPSC_PIECE_BYTES;
    lane.slots.set(record.subarray(at, at + size), start);
    at += size;
    writePiece(lane, size, to - at);
  } while (at < to);
  return at - from;
}

/** Makes visible what was sealed and sent; false: nothing new. Once per batch. Producer only. @hot */
export function lanePublish(lane: LaneProducer): boolean {
  if (lane.tail === lane.published) return false;
  lane.published = lane.tail;
  Atomics.store(lane.words, SPSC_TAIL_WORD, lane.tail); // publish (I3), pairs with laneNext
  return true;
}

/** What the consumer would find next. */
export const LANE_EMPTY = 0;
export const LANE_WHOLE = 1;
/** laneNext frees each piece as it comes, and with it the slots of all records dropped before. */
export const LANE_PIECES = 2;

/** Peeks at what laneNext would find. Consumer only. @hot */
export function lanePeek(lane: LaneConsumer): number {
  if (lane.head === lane.tailSeen) {
    lane.tailSeen = loadTail(lane);
    if (lane.head === lane.tailSeen) return LANE_EMPTY;
  }
  const word = (lane.head & (lane.capacity - 1)) << (SPSC_SLOT_SHIFT - 2);
  const isWhole = lane.expected === 0 && lane.slotWords[word + 1] === 0;
  return isWhole ? LANE_WHOLE : LANE_PIECES;
}

/**
 * Moves to the next whole record: `source`, `start` and `size` locate it, until laneDrop. False: there is none yet. Consumer only. @hot
 */
export function laneNext(lane: LaneConsumer): boolean {
  for (;;) {
    const { head } = lane;
    if (head === lane.tailSeen) {
      lane.tailSeen = loadTail(lane);
      if (head === lane.tailSeen) return false;
    }
    const index = head & (lane.capacity - 1);
    const word = index << (SPSC_SLOT_SHIFT - 2);
    const size = lane.slotWords[word] as number;
    const rest = lane.slotWords[word + 1] as number;
    const used = slotsOf(size);
    const start = (index << SPSC_SLOT_SHIFT) + SPSC_PIECE_BYTES;
    // I1: a piece lies before the tail. And it does not wrap.
    const most = Math.min((lane.tailSeen - head) | 0, lane.capacity - index);
    if (size < 0 || rest < 0 || used > most) throw new RingFault(`a piece of ${size} bytes`);
    if (lane.expected === 0 && rest === 0) {
      lane.source = lane.slots;
      lane.start = start;
      lane.size = size;
      lane.held = used;
      return true;
    }
    takePiece(lane, start, size, rest);
    lane.head = (head + used) | 0;
    lane.released = lane.head;
    lane.hasFreed = true;
    Atomics.store(lane.words, SPSC_HEAD_WORD, lane.head); // I3, pairs with the load in roomOf
    if (rest === 0) return endAssembly(lane);
  }
}

/** Done with the record at hand. Its slots go back with laneFree. Consumer only. @hot */
export function laneDrop(lane: LaneConsumer): void {
  lane.head = (lane.head + lane.held) | 0;
  lane.held = 0;
}

/**
 * Frees the slots of all records dropped; false: neither this nor laneNext has freed any since the last time. Once per batch. Consumer
 * only. @hot
 */
export function laneFree(lane: LaneConsumer): boolean {
  const { hasFreed } = lane;
  lane.hasFreed = false;
  if (lane.head === lane.released) return hasFreed;
  lane.released = lane.head;
  Atomics.store(lane.words, SPSC_HEAD_WORD, lane.head); // I3, pairs with the load in roomOf
  return true;
}

/** Whether there is something to read, whole or not. Any thread. */
export function laneIsEmpty({ words }: Sides): boolean {
  return Atomics.load(words, SPSC_TAIL_WORD) === Atomics.load(words, SPSC_HEAD_WORD);
}

/** Slots between the cursors. Any thread; exact for neither. */
export function laneUsed({ words }: Sides): number {
  return (Atomics.load(words, SPSC_TAIL_WORD) - Atomics.load(words, SPSC_HEAD_WORD)) | 0;
}

/** I1 and I4 over all that is published. Consumer only, while the producer rests. */
export function verifySpscLane(lane: LaneConsumer): void {
  const tail = Atomics.load(lane.words, SPSC_TAIL_WORD);
  const used = (tail - lane.head) | 0;
  assert(used >= 0 && used <= lane.capacity, "I1");
  let rest = lane.expected === 0 ? 0 : lane.expected - lane.filled;
  for (let at = lane.head; at !== tail; ) {
    const word = (at & (lane.capacity - 1)) << (SPSC_SLOT_SHIFT - 2);
    const size = lane.slotWords[word] as number;
    const next = lane.slotWords[word + 1] as number;
    assert(size >= 0 && next >= 0, "sizes are not negative");
    assert(rest === 0 || size + next === rest, "I4");
    rest = next;
    at = (at + slotsOf(size)) | 0;
    assert(((tail - at) | 0) >= 0, "I1: pieces end at the tail");
  }
}

/** The producer's cursor, which lies where it may (I1). @hot */
function loadTail({ capacity, head, words }: LaneConsumer): number {
  const tail = Atomics.load(words, SPSC_TAIL_WORD); // pairs with lanePublish
  const used = (tail - head) | 0;
  if (used < 0 || used > capacity) throw new RingFault(`${used} used slots of ${capacity}`);
  return tail;
}

/** Free slots in a row from the tail on; reads the head again only if its copy shows fewer than `need`. @hot */
function roomOf(lane: LaneProducer, need: number): number {
  const { capacity, tail } = lane;
  const toEnd = capacity - (tail & (capacity - 1));
  let free = capacity - ((tail - lane.headSeen) | 0);
  if (free < need) {
    lane.headSeen = Atomics.load(lane.words, SPSC_HEAD_WORD); // pairs with laneFree and laneNext
    free = capacity - ((tail - lane.headSeen) | 0);
  }
  if (free < 0 || free > capacity) throw new RingFault(`${free} free slots of ${capacity}`); // I1
  return Math.min(free, toEnd);
}

/** @hot */
function writePiece(lane: LaneProducer, size: number, rest: number): void {
  const word = (lane.tail & (lane.capacity - 1)) << (SPSC_SLOT_SHIFT - 2);
  lane.slotWords[word] = size;
  lane.slotWords[word + 1] = rest;
  lane.tail = (lane.tail + slotsOf(size)) | 0;
}

/** @hot */
function slotsOf(size: number): number {
  return (size + (SPSC_PIECE_BYTES + SPSC_SLOT_BYTES - 1)) >>> SPSC_SLOT_SHIFT;
}

/** Copies a piece behind those that are here already. */
function takePiece(lane: LaneConsumer, start: number, size: number, rest: number): void {
  if (lane.expected === 0) {
    if (size + rest > SPSC_RECORD_BYTES_MAX)
      throw new RingFault(`a record of ${size + rest} bytes`);
    lane.expected = size + rest;
    lane.filled = 0;
    // What was read before may still be looked at: each such record has memory of its own.
    lane.assembly = Buffer.allocUnsafeSlow(lane.expected);
  }
  const sum = lane.filled + size + rest; // I4
  if (sum !== lane.expected) throw new RingFault(`pieces of ${sum} bytes of ${lane.expected}`);
  lane.assembly.set(lane.slots.subarray(start, start + size), lane.filled);
  lane.filled += size;
}

function endAssembly(lane: LaneConsumer): boolean {
  lane.source = lane.assembly;
  lane.start = 0;
  lane.size = lane.filled;
  lane.held = 0;
  lane.expected = 0;
  return true;
}

function sidesOf({ buffer, offset }: LanePlace): Sides {
  const words = new Int32Array(buffer, offset, SPSC_HEADER_BYTES / 4);
  assert(Atomics.load(words, SPSC_MAGIC_WORD) === SPSC_MAGIC, "a lane stands at this offset");
  const capacity = words[SPSC_CAPACITY_WORD] as number;
  const start = offset + SPSC_HEADER_BYTES;
  const size = capacity * SPSC_SLOT_BYTES;
  return {
    words,
    slots: Buffer.from(buffer as unknown as ArrayBuffer, start, size),
    slotWords: new Int32Array(buffer, start, size / 4),
    capacity,
  };
}
