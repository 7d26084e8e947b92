/** A worker's seat: which lease begins next, of those handed out before and those that come late. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import {
  SHARED_PARK_WORD,
  LANE_CLASSES,
  SEAT_CALLED_WORD,
} from "../../../../src/layout/threads/worker-seats.ts";
import { PARK_AWAKE, parkBegin } from "../../../../src/memory/parking.ts";
import { type Entry, Seat } from "../../../../src/workers/pool/hub/worker-seat.ts";
import { createSharedMemory } from "../../../../src/workers/protocol/shared-memory.ts";
import { SeatClient } from "../../../../src/workers/remote/seat-client.ts";
import { testSeed } from "../../../support/seed.ts";

/** Both sides of a seat, on one thread. */
function sides() {
  const memory = createSharedMemory(4);
  const seat = new Seat(memory, 0, false);
  const handle = {
    name: "test",
    memory,
    kernel: {},
    policy: undefined,
    edge: undefined,
    maxUrlBytes: 1_000,
  };
  const desk = new SeatClient(handle, 0, 0);
  const lay = (...priorities: number[]): void => layUrl("http://a.test/", priorities);
  const layUrl = (url: string, priorities: readonly number[]): void => {
    for (const priority of priorities) {
      const fields = { url, rule: "default", depth: 0, attempt: 1 };
      const lease = { ...fields, priority, deliveries: 1, deadlineMs: 1e15 } as never;
      seat.add(lease, "none");
    }
    seat.flush();
    desk.inbox.pull();
  };
  const begin = (): number | undefined => desk.next()?.priority;
  return { seat, desk, lay, layUrl, begin };
}

describe("a worker's seat", () => {
  it("begins a late lease of a higher priority before all that are handed out and not begun", () => {
    const { lay, begin } = sides();
    lay(...new Array<number>(50).fill(1));
    expect([begin(), begin()]).toEqual([1, 1]);
    lay(7);
    lay(9);
    expect([begin(), begin(), begin()]).toEqual([9, 7, 1]);
  });

  it("keeps the order of leases handed out together when later ones are no better", () => {
    const { lay, begin } = sides();
    lay(9, 8, 7, 6);
    lay(6, 5);
    expect([1, 2, 3, 4, 5, 6].map(begin)).toEqual([9, 8, 7, 6, 6, 5]);
    expect(begin()).toBeUndefined();
  });

  it("lets each better one overtake while there are classes, and loses none of any mix", () => {
    const random = createRandom(testSeed("desk"));
    for (let round = 0; round < 50; round++) {
      const { lay, begin, seat } = sides();
      const laid: number[] = [];
      const begun: number[] = [];
      for (let step = 0; step < 40; step++) {
        const batch = Array.from({ length: random.below(4) }, () => random.below(5));
        batch.sort((a, b) => b - a);
        const isClear = seat.untaken === 0;
        lay(...batch);
        laid.push(...batch);
        const first = begin();
        if (first === undefined) continue;
        begun.push(first);
        // Of one batch at an empty seat the best comes first.
        if (isClear) expect(first).toBe(batch[0]);
      }
      for (let next = begin(); next !== undefined; next = begin()) begun.push(next);
      expect(begun.sort()).toEqual(laid.sort());
    }
    const { lay, begin } = sides();
    const rising = Array.from({ length: LANE_CLASSES }, (_, at) => at);
    for (const priority of rising) lay(priority);
    expect(rising.map(begin)).toEqual([...rising].reverse());
  });

  it("begins no lease that expired before, counts it as taken, and wakes the owner (I3)", () => {
    const { seat, desk, lay, begin } = sides();
    lay(1, 1, 1);
    for (const entry of seat.entries.values()) seat.cancel(entry, 0);
    seat.flush();
    desk.inbox.pull();
    parkBegin(desk.shared, SHARED_PARK_WORD);
    expect(begin()).toBeUndefined();
    desk.inbox.publishTaken();
    expect(Atomics.load(desk.shared, SHARED_PARK_WORD)).toBe(PARK_AWAKE);
    expect([seat.untaken, desk.seat[SEAT_CALLED_WORD], desk.inbox.cancelledCount]).toEqual([
      0, 0, 0,
    ]);
  });

  it("can tell of each expired lease whether it had begun, in any order of overtaking (I3)", () => {
    const random = createRandom(testSeed("cancelled leases"));
    for (let round = 0; round < 60; round++) {
      const { seat, desk, layUrl } = sides();
      const begun = new Set<number>();
      const told = new Set<number>();
      const ended = { begun: new Set<number>(), waiting: new Set<number>() };
      desk.inbox.onCancel = (id) => told.add(id);
      const beginOne = (): void => {
        const { id } = desk.next() ?? { id: 0 };
        if (id === 0) return;
        expect(ended.waiting.has(id)).toBe(false);
        begun.add(id);
      };
      let laid = 0;
      for (let step = 0; step < 60; step++) {
        // Long leases fill their lane: the notice of their end in the first lane comes before they do.
        const url = `http://a.test/${"x".repeat(random.below(3) === 0 ? 9_000 : 10)}`;
        const batch = Array.from({ length: random.below(4) }, () => random.below(4));
        layUrl(url, batch);
        laid += batch.length;
        if (random.below(2) === 0) beginOne();
        for (const entry of [...seat.entries.values()] as Entry[]) {
          if (entry.isCancelled || random.below(8) !== 0) continue;
          (begun.has(entry.id) ? ended.begun : ended.waiting).add(entry.id);
          seat.cancel(entry, 0);
        }
        seat.flush();
        if (random.below(2) === 0) desk.inbox.pull();
        // No more than were handed out and not begun.
        expect(desk.inbox.cancelledCount).toBeLessThanOrEqual(laid - begun.size);
      }
      for (let idle = 0; idle < 200; idle++) {
        seat.flush();
        desk.inbox.pull();
        beginOne();
      }
      expect(told).toEqual(ended.begun);
      expect(begun.size).toBe(laid - ended.waiting.size);
      expect([desk.inbox.cancelledCount, seat.untaken]).toEqual([0, 0]);
      expect(desk.seat[SEAT_CALLED_WORD]).toBe(begun.size);
    }
  });
});
