/**
 * Threads that die at a named point of arriving, taking, publishing and leaving: published results count once, others not at all, leases
 * return, and the seat goes to the next thread.
 */
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import { verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import type { Frontier } from "../../../../src/engine/types/frontier-types.ts";
import { SEAT_FREE, SEAT_STATE_WORD } from "../../../../src/layout/threads/worker-seats.ts";
import { SeatTable } from "../../../../src/workers/pool/hub/seat-table.ts";
import {
  createSharedMemory,
  sharedWords,
  seatWords,
} from "../../../../src/workers/protocol/shared-memory.ts";
import { arrive, drawTicket, claimSeat } from "../../../../src/workers/protocol/seat-protocol.ts";
import { attach } from "../../../../src/workers/remote/worker-port.ts";
import { until } from "../../../support/pool.ts";

const FILE = new URL("../../../support/dying-thread.mjs", import.meta.url);
const LINKS = Array.from({ length: 4 }, (_, at) => `http://found.test/${at}`);
/** Leases that do not expire during the test. */
const LONG = { leaseMs: 3_600_000, keepOpen: true, defaults: { maxAttempts: 9 } };

/** Resolves when the thread has ended. */
async function die(frontier: Frontier, point: string): Promise<void> {
  const workerData = { handle: frontier.share(), point, links: LINKS, seat: 0 };
  const worker = new Worker(FILE, { workerData });
  let fault: unknown;
  worker.on("error", (cause) => {
    fault = cause;
  });
  const gone = new Promise((resolve) => worker.once("exit", resolve));
  const said = await Promise.race([
    new Promise((resolve) => worker.once("message", resolve)),
    gone.then(() => fault),
  ]);
  expect(said).toBe(point);
  if (point === "while it is parked") await worker.terminate();
  await gone;
}

/** Points, and how much of two leases and four links was published by then. */
const POINTS: ReadonlyArray<[string, { done: number; begun: number }]> = [
  ["before it sits down", { done: 0, begun: 0 }],
  ["as it arrives", { done: 0, begun: 0 }],
  ["at its desk", { done: 0, begun: 0 }],
  ["with leases", { done: 0, begun: 2 }],
  ["after it has published", { done: 1, begun: 2 }],
  ["after it has claimed", { done: 1, begun: 2 }],
  ["half way through its copy", { done: 1, begun: 2 }],
  ["after its copy", { done: 1, begun: 2 }],
  ["after it has sealed a result", { done: 1, begun: 2 }],
  ["between two pieces of a message", { done: 1, begun: 2 }],
  ["while it is parked", { done: 1, begun: 2 }],
  ["while it leaves", { done: 1, begun: 0 }],
];

describe("a thread that dies", () => {
  it.each(POINTS)(
    "%s leaves whole what it published, and nothing else",
    async (point, { done, begun }) => {
      const frontier = await openFrontier(LONG);
      frontier.pushMany(["http://a.test/0", "http://a.test/1"]);
      await die(frontier, point);
      const words = seatWords(frontier.share().memory, 0);
      await until(() => words[SEAT_STATE_WORD] === SEAT_FREE, "the seat free");
      await until(() => frontier.report().leased === 0, "all leases back");
      const report = frontier.report();
      // A thread that left by itself returns its unsettled leases, and no attempt is lost.
      const retried = Math.max(0, begun - done);
      expect(report).toMatchObject({ done, retried, failed: 0, expired: 0, rejected: {} });
      expect(report.accepted).toBe(2 + 2 * done);
      expect(report.pending + report.waiting).toBe(2 + 2 * done - done);
      const port = attach(frontier.share());
      expect(port.push(LINKS)).toHaveLength(4);
      await until(() => frontier.report().accepted === 6, "what the next one says");
      await port.close();
      verifyFrontier(frontier);
      await frontier.close();
    },
  );

  it.each(["with a ticket", "with its first wait"])(
    "%s keeps its seat for some seconds and no longer, by the machine's clock",
    async (point) => {
      const memory = createSharedMemory(4);
      const seats = new SeatTable(memory, () => undefined);
      const frontier = { share: () => ({ memory }) } as unknown as Frontier;
      await die(frontier, point);
      expect(seats.hasNews()).toBe(true);
      expect(seats.openArrivals(1_000)).toEqual([]);
      expect([seats.hasNews(), seats.isAwaiting]).toEqual([false, true]);
      expect([seats.openArrivals(5_900), seats.all]).toEqual([[], []]);
      const [left] = seats.openArrivals(6_100);
      expect(left?.index).toBe(0);
      seats.clear(left as NonNullable<typeof left>);
      const words = seatWords(memory, 0);
      expect(words[SEAT_STATE_WORD]).toBe(SEAT_FREE);
      expect([seats.openArrivals(20_000), seats.isAwaiting]).toEqual([[], false]);
      // The next thread has a time of its own; one that was too slow finds that its seat is taken.
      const slow = drawTicket(sharedWords(memory));
      expect(claimSeat(words, slow)).toBe(true);
      expect([seats.openArrivals(21_000), seats.openArrivals(25_000)]).toEqual([[], []]);
      expect(seats.openArrivals(26_500)).toHaveLength(1);
      expect(arrive(words, slow)).toBe(false);
    },
  );
});
