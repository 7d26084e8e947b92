/**
 * A worker whose ring was full slept beside leases that it had taken over and not begun: the room came back between its
 * last look at the ring and its last flush, and nothing was left that would wake it. They ran out at their deadlines.
 */
import { expect, it } from "vitest";
import {
  COMMAND_STOP,
  SEAT_COMMAND_WORD,
  SEAT_FULL_WORD,
  SEAT_PARK_WORD,
} from "../../src/layout/threads/worker-seats.ts";
import { PARK_PARKED, unpark } from "../../src/memory/parking.ts";
import { laneDrop, laneFree, laneNext } from "../../src/structures/threads/spsc-lane.ts";
import { type Entry, Seat } from "../../src/workers/pool/hub/worker-seat.ts";
import { wakeForRoom } from "../../src/workers/protocol/lane-credit.ts";
import { createSharedMemory } from "../../src/workers/protocol/shared-memory.ts";
import { isBareDone, resultId } from "../../src/workers/protocol/result-message.ts";
import { attend } from "../../src/workers/remote/worker-loop.ts";
import type { Handler } from "../../src/workers/remote/handler-visit.ts";
import { until } from "../support/pool.ts";

/** The handler module asks the test what to do. */
const HANDLER =
  "data:text/javascript,export default (...given) => globalThis.visitOfTest(...given)";
const PAGES = 40;
/** Some of them fill the ring. */
const BIG = "x".repeat(80_000);

function leaseAt(depth: number) {
  const fields = { url: "http://a.test/", priority: 0, depth, attempt: 1, deliveries: 1 };
  return { ...fields, rule: "default", deadlineMs: Number.MAX_SAFE_INTEGER } as never;
}

it("a worker begins the leases at hand when room in its ring comes while it looks at its lanes", async () => {
  const memory = createSharedMemory(4);
  const seat = new Seat(memory, 0, false);
  const done = new Set<number>();
  /** What the owner does, and frees the ring. */
  const drain = (): void => {
    while (laneNext(seat.inbound)) {
      const { source, start } = seat.inbound;
      if (isBareDone(source, start)) done.add(resultId(source, start));
      laneDrop(seat.inbound);
    }
    if (laneFree(seat.inbound)) wakeForRoom(seat.words);
  };
  const visit: Handler = ({ depth }, context) => {
    if (depth === 0) return void context.push(BIG);
    // Heard of within the pull: behind the first flush, before the last.
    return new Promise(() => context.signal.addEventListener("abort", drain));
  };
  Object.assign(globalThis, { visitOfTest: visit });
  const shared = { memory, kernel: {}, policy: undefined, edge: undefined };
  const handle = { name: "test", ...shared, maxUrlBytes: 100_000 };
  const task = { handle, seat: 0, handler: HANDLER, concurrency: 2 };
  const ended = attend({ ...task, timeoutMs: undefined, recycleAfter: undefined });
  for (let page = 0; page <= PAGES; page++) {
    seat.add(leaseAt(page === 0 ? 1 : 0), "none");
  }
  seat.flush();
  const isWaiting = (): boolean => Atomics.load(seat.words, SEAT_PARK_WORD) === PARK_PARKED;
  const isFull = (): boolean => Atomics.load(seat.words, SEAT_FULL_WORD) === 1;
  await until(() => isFull() && isWaiting(), "a full ring");
  expect(done.size).toBe(0);
  const [first] = seat.entries.values();
  seat.cancel(first as Entry, 0);
  seat.flush();
  await until(() => {
    if (done.size > 0) drain();
    return done.size === PAGES;
  }, "all done");
  Atomics.store(seat.words, SEAT_COMMAND_WORD, COMMAND_STOP);
  unpark(seat.words, SEAT_PARK_WORD);
  expect(await ended).toBe(false);
});
