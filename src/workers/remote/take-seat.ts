/** Takes a seat for a thread that Piscina did not start (protocol/seat-protocol.ts). */
import { FrontierError } from "../../base/errors.ts";
import { SHARED_PARK_WORD, SHARED_SEATS } from "../../layout/threads/worker-seats.ts";
import { unpark } from "../../memory/parking.ts";
import { type CrewHandle, openSharedMemory, seatWords } from "../protocol/shared-memory.ts";
import { arrive, firstBeat, drawTicket, claimSeat } from "../protocol/seat-protocol.ts";

/** A seat that belongs to this thread, and its first wait. */
export interface TakenSeat {
  readonly seat: number;
  readonly asked: Promise<unknown>;
}

/** Takes a free seat by compare-exchange: two threads never get the same. */
export function takeSeat(handle: CrewHandle): TakenSeat {
  const shared = openSharedMemory(handle);
  for (let seat = 0; seat < SHARED_SEATS; seat++) {
    const words = seatWords(handle.memory, seat);
    const ticket = drawTicket(shared);
    if (!claimSeat(words, ticket)) continue;
    unpark(shared, SHARED_PARK_WORD); // the owner checks whether this thread arrives
    const asked = firstBeat(words, ticket);
    if (arrive(words, ticket)) return { seat, asked };
  }
  const message = `attach: too many threads (expected: at most ${SHARED_SEATS} at one time)`;
  throw new FrontierError("STATE_INVALID", message);
}
