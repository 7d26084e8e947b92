/** How the owner checks that a user's thread lives: seldom while the thread is busy, and never with a false result. */
import { describe, expect, it } from "vitest";
import { SEAT_TICKET_MIN } from "../../../../../src/layout/threads/worker-seats.ts";
import { Seat } from "../../../../../src/workers/pool/hub/worker-seat.ts";
import {
  createSharedMemory,
  seatWords,
} from "../../../../../src/workers/protocol/shared-memory.ts";
import {
  arrive,
  firstBeat,
  nextBeat,
  emptySeat,
  HEARTBEAT_WAITS,
  claimSeat,
} from "../../../../../src/workers/protocol/seat-protocol.ts";
import { until } from "../../../../support/pool.ts";

/** A seat whose thread is this one: it waits again when it has time. */
function alive() {
  const memory = createSharedMemory(4);
  const seat = new Seat(memory, 0, false);
  const words = seatWords(memory, 0);
  let heard = 0;
  const beatOn = (asked: Promise<unknown>): void => {
    void asked.then(() => {
      heard++;
      beatOn(nextBeat(words));
    });
  };
  claimSeat(words, SEAT_TICKET_MIN);
  beatOn(firstBeat(words, SEAT_TICKET_MIN));
  arrive(words, SEAT_TICKET_MIN);
  for (let wait = 1; wait < HEARTBEAT_WAITS; wait++) beatOn(nextBeat(words));
  return { seat, words, heard: () => heard };
}

const someTurns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
};

describe("the heartbeat of a seat", () => {
  it("is checked ever less often while its thread is busy, which is never taken for dead (I1, I3)", async () => {
    const { seat, words, heard } = alive();
    /** A sweep every 50 ms. This function holds the thread, so that no wait begins anew meanwhile. */
    const sweep = (fromMs: number, toMs: number): void => {
      for (let ms = fromMs; ms < toMs; ms += 50) if (seat.isGone(ms)) expect(ms).toBe("alive");
    };
    sweep(0, 10_000); // at 250, 1,250 and 5,250 ms
    await until(() => heard() >= 3, "three answers");
    await someTurns();
    expect(heard()).toBe(3);
    // It had time: it waits again, and is checked as at first.
    sweep(10_000, 11_000);
    await until(() => heard() >= 4, "one more");
    await someTurns();
    expect(heard()).toBe(4);
    sweep(11_000, 12_000_000); // for hours, until no wait is left
    await until(() => heard() >= 4 + HEARTBEAT_WAITS, "all of them");
    emptySeat(words);
  });
});
