/**
 * Room `src/workers/protocol`: the agreement between owner and worker: views of the shared memory, messages, taking and
 * leaving a seat, flow control. Decides nothing; both sides import it.
 */

/**
 * Shared memory: views of the memory that the owner's thread shares with its workers (layout/threads/worker-seats.ts), and the handle
 * that carries them from thread to thread.
 */
import { misuse } from "../../base/errors.ts";
import {
  SHARED_FACTS_WORD,
  SHARED_FILTER_OFFSET,
  SHARED_HEADER_BYTES,
  SHARED_MAGIC,
  SHARED_MAGIC_WORD,
  SHARED_PHASE_WORD,
  SHARED_SEATS,
  FACTS_OFF,
  INBOUND_SLOTS,
  LANE_CLASSES,
  LANE_SLOTS,
  PHASE_GONE,
  SEAT_BYTES,
  SEAT_HEADER_BYTES,
  SEAT_INBOUND_OFFSET,
  SEAT_LANE_BYTES,
  SEAT_PARK_WORD,
} from "../../layout/threads/worker-seats.ts";
import { unpark } from "../../memory/parking.ts";
import { createSeenFilter, filterBytes } from "../../structures/threads/seen-filter.ts";
import { createSpscLane, isSpscLane, type LanePlace } from "../../structures/threads/spsc-lane.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";

export type { NormalPolicy };

/** The value with which another thread attaches. Structured clone carries it: pass it as `workerData`, or post it. */
export interface CrewHandle {
  /** Name of the frontier. */
  readonly name: string;
  /** The shared memory. */
  readonly memory: SharedArrayBuffer;
  /** The compiled kernel, a WebAssembly.Module. */
  readonly kernel: object;
  /** The key policy of fingerprints; undefined: the owner sends them. */
  readonly policy: NormalPolicy | undefined;
  /** Longest URL in bytes. */
  readonly maxUrlBytes: number;
  /** The facts by which workers may decide about links; undefined: none yet. */
  readonly edge:
    | {
        /** Their generation. */
        readonly generation: number;
        /** The packed policies. */
        readonly packed: Uint8Array;
      }
    | undefined;
}

/** Creates the memory: all seats free, all lanes empty. Untouched pages cost addresses only. */
export function createSharedMemory(filterEntries: number): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(SHARED_FILTER_OFFSET + filterBytes(filterEntries));
  for (let seat = 0; seat < SHARED_SEATS; seat++) resetLanes(memory, seat);
  createSeenFilter({ buffer: memory, offset: SHARED_FILTER_OFFSET }, filterEntries);
  Atomics.store(sharedWords(memory), SHARED_MAGIC_WORD, SHARED_MAGIC);
  return memory;
}

/** The header's words. */
export function sharedWords(memory: SharedArrayBuffer): Int32Array {
  return new Int32Array(memory, 0, SHARED_HEADER_BYTES / 4);
}

/** Checks a handle from another thread. */
export function openSharedMemory(handle: CrewHandle): Int32Array {
  const { kernel, memory, name } = handle;
  const isWhole = memory.byteLength > SHARED_FILTER_OFFSET && typeof name === "string";
  const words = isWhole && typeof kernel === "object" ? sharedWords(memory) : undefined;
  if (words === undefined || Atomics.load(words, SHARED_MAGIC_WORD) !== SHARED_MAGIC) {
    throw misuse("ARGUMENT_INVALID", "handle", handle, "what frontier.share() returned");
  }
  return words;
}

export function seatWords(memory: SharedArrayBuffer, seat: number): Int32Array {
  return new Int32Array(memory, seatOffset(seat), SEAT_HEADER_BYTES / 4);
}

/** The lane of a class, best first. */
export function lanePlace(
  memory: SharedArrayBuffer,
  seat: number,
  priorityClass: number,
): LanePlace {
  const offset = seatOffset(seat) + SEAT_HEADER_BYTES + priorityClass * SEAT_LANE_BYTES;
  return { buffer: memory, offset };
}

export function inboundPlace(memory: SharedArrayBuffer, seat: number): LanePlace {
  return { buffer: memory, offset: seatOffset(seat) + SEAT_INBOUND_OFFSET };
}

/** Empties the lanes of a seat without a thread. Owner only. */
export function resetLanes(memory: SharedArrayBuffer, seat: number): void {
  for (let each = 0; each < LANE_CLASSES; each++) {
    createSpscLane(lanePlace(memory, seat, each), LANE_SLOTS);
  }
  createSpscLane(inboundPlace(memory, seat), INBOUND_SLOTS);
}

/** Whether the lanes of a seat are where they are: nothing has written over their headers. */
export function areLanesWhole(memory: SharedArrayBuffer, seat: number): boolean {
  for (let each = 0; each < LANE_CLASSES; each++) {
    if (!isSpscLane(lanePlace(memory, seat, each), LANE_SLOTS)) return false;
  }
  return isSpscLane(inboundPlace(memory, seat), INBOUND_SLOTS);
}

/** Notifies all seats that the owner has died: no worker decides, and no result is read. Called by a thread that detected it. */
export function markOwnerGone({ memory }: Pick<CrewHandle, "memory">): void {
  const words = sharedWords(memory);
  Atomics.store(words, SHARED_FACTS_WORD, FACTS_OFF);
  Atomics.store(words, SHARED_PHASE_WORD, PHASE_GONE); // pairs with the loads in SeatClient
  for (let seat = 0; seat < SHARED_SEATS; seat++) unpark(seatWords(memory, seat), SEAT_PARK_WORD);
}

function seatOffset(seat: number): number {
  return SHARED_HEADER_BYTES + seat * SEAT_BYTES;
}
