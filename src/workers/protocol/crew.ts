/**
 * Crew: views of the memory that the owner's thread shares with its workers (layout/crew.ts), and the handle that
 * carries them from thread to thread.
 */
import { misuse } from "../../base/errors.ts";
import {
  CREW_EDGE_WORD,
  CREW_FILTER_OFFSET,
  CREW_HEADER_BYTES,
  CREW_MAGIC,
  CREW_MAGIC_WORD,
  CREW_PHASE_WORD,
  CREW_SEATS,
  EDGE_OFF,
  INBOUND_SLOTS,
  LANE_CLASSES,
  LANE_SLOTS,
  PHASE_GONE,
  SEAT_BYTES,
  SEAT_HEADER_BYTES,
  SEAT_INBOUND_OFFSET,
  SEAT_LANE_BYTES,
  SEAT_PARK_WORD,
} from "../../layout/crew.ts";
import { unpark } from "../../memory/parking.ts";
import { createSeenFilter, filterBytes } from "../../structures/seen-filter.ts";
import { createSpscLane, type LanePlace } from "../../structures/spsc-lane.ts";
import type { NormalPolicy } from "../../url/policy.ts";

export type { NormalPolicy };

/** What another thread attaches to. Structured clone carries it: pass it as `workerData`, or post it. */
export interface CrewHandle {
  /** Name of the frontier. */
  readonly name: string;
  /** The shared memory. */
  readonly memory: SharedArrayBuffer;
  /** The compiled kernel, a WebAssembly.Module. */
  readonly kernel: object;
  /** The key policy that fingerprints are made by; undefined: the owner sends them. */
  readonly policy: NormalPolicy | undefined;
  /** Longest URL in bytes. */
  readonly maxUrlBytes: number;
  /** What workers may decide about links; undefined: nothing yet. */
  readonly edge:
    | {
        /** The generation that it holds under. */
        readonly generation: number;
        /** The packed policies. */
        readonly packed: Uint8Array;
      }
    | undefined;
}

/** Makes the memory: all seats free, all lanes empty. Untouched pages cost addresses only. */
export function createCrewMemory(filterEntries: number): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(CREW_FILTER_OFFSET + filterBytes(filterEntries));
  for (let seat = 0; seat < CREW_SEATS; seat++) resetLanes(memory, seat);
  createSeenFilter({ buffer: memory, offset: CREW_FILTER_OFFSET }, filterEntries);
  Atomics.store(crewWords(memory), CREW_MAGIC_WORD, CREW_MAGIC);
  return memory;
}

/** The header's words. */
export function crewWords(memory: SharedArrayBuffer): Int32Array {
  return new Int32Array(memory, 0, CREW_HEADER_BYTES / 4);
}

/** Checks a handle from another thread. */
export function openCrew(handle: CrewHandle): Int32Array {
  const { kernel, memory, name } = handle;
  const isWhole = memory.byteLength > CREW_FILTER_OFFSET && typeof name === "string";
  const words = isWhole && typeof kernel === "object" ? crewWords(memory) : undefined;
  if (words === undefined || Atomics.load(words, CREW_MAGIC_WORD) !== CREW_MAGIC) {
    throw misuse("ARGUMENT_INVALID", "handle", handle, "what frontier.share() gave");
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

/** Empties the lanes of a seat that nobody sits on. Owner only. */
export function resetLanes(memory: SharedArrayBuffer, seat: number): void {
  for (let each = 0; each < LANE_CLASSES; each++) {
    createSpscLane(lanePlace(memory, seat, each), LANE_SLOTS);
  }
  createSpscLane(inboundPlace(memory, seat), INBOUND_SLOTS);
}

/** Tells all who sit here that the owner has died: nobody decides, and nobody reads what they say. By who has seen it die. */
export function orphanCrew({ memory }: Pick<CrewHandle, "memory">): void {
  const words = crewWords(memory);
  Atomics.store(words, CREW_EDGE_WORD, EDGE_OFF);
  Atomics.store(words, CREW_PHASE_WORD, PHASE_GONE); // pairs with the loads in Desk
  for (let seat = 0; seat < CREW_SEATS; seat++) unpark(seatWords(memory, seat), SEAT_PARK_WORD);
}

function seatOffset(seat: number): number {
  return CREW_HEADER_BYTES + seat * SEAT_BYTES;
}
