/** A worker's desk: which lease begins next, of what was laid out before and what comes late. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import { LANE_CLASSES } from "../../../../src/layout/crew.ts";
import { Seat } from "../../../../src/workers/pool/seat.ts";
import { createCrewMemory } from "../../../../src/workers/protocol/crew.ts";
import { Desk } from "../../../../src/workers/remote/desk.ts";
import { testSeed } from "../../../support/seed.ts";

/** Both sides of a seat, on one thread. */
function sides() {
  const memory = createCrewMemory(4);
  const seat = new Seat(memory, 0, false);
  const handle = {
    name: "test",
    memory,
    kernel: {},
    policy: undefined,
    edge: undefined,
    maxUrlBytes: 1_000,
  };
  const desk = new Desk(handle, 0, 0);
  const lay = (...priorities: number[]): void => {
    for (const priority of priorities) {
      const fields = { url: "http://a.test/", rule: "default", depth: 0, attempt: 1 };
      const lease = { ...fields, priority, deliveries: 1, deadlineMs: 1e15 } as never;
      seat.add(lease, { isPlain: true, needsPrint: false });
    }
    seat.flush();
    desk.pull();
  };
  const begin = (): number | undefined => desk.next()?.priority;
  return { seat, lay, begin };
}

describe("a worker's desk", () => {
  it("begins a late lease of a higher priority before all that is laid out and not begun", () => {
    const { lay, begin } = sides();
    lay(...new Array<number>(50).fill(1));
    expect([begin(), begin()]).toEqual([1, 1]);
    lay(7);
    lay(9);
    expect([begin(), begin(), begin()]).toEqual([9, 7, 1]);
  });

  it("keeps the order of what was laid out together, whatever comes later and is no better", () => {
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
        // Of one batch at an empty desk the best comes first.
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
});
