/** Sit: how a thread that Piscina did not start comes to a seat (protocol/seating.ts). */
import { FrontierError } from "../../base/errors.ts";
import { CREW_PARK_WORD, CREW_SEATS } from "../../layout/crew.ts";
import { unpark } from "../../memory/parking.ts";
import { type CrewHandle, openCrew, seatWords } from "../protocol/crew.ts";
import { arrive, beat, drawTicket, sitDown } from "../protocol/seating.ts";

/** A seat that is this thread's, and its first wait. */
export interface Sitting {
  readonly seat: number;
  readonly asked: Promise<unknown>;
}

/** Takes a free seat, by compare-exchange: two threads never get the same. */
export function takeSeat(handle: CrewHandle): Sitting {
  const crew = openCrew(handle);
  for (let seat = 0; seat < CREW_SEATS; seat++) {
    const words = seatWords(handle.memory, seat);
    const ticket = drawTicket(crew);
    if (!sitDown(words, ticket)) continue;
    unpark(crew, CREW_PARK_WORD); // the owner looks whether we arrive
    const asked = beat(words, ticket);
    if (arrive(words, ticket)) return { seat, asked };
  }
  const expected = `at most ${CREW_SEATS} threads attached at one time`;
  throw new FrontierError("STATE_INVALID", `attach: no free seat (expected: ${expected})`);
}
