/** A worker's outstanding leases by number: equal to a map that assigns numbers. */
import { describe, expect, it } from "vitest";
import {
  OutstandingLeases,
  type Numbered,
} from "../../../../../src/workers/pool/hub/outstanding-leases.ts";
import { testRandom } from "../../../../support/seed.ts";

/** The last number before they wrap. */
const LAST = 0x7fff_ffff;

describe("entries by number", () => {
  it.each([0, LAST - 1_000])(
    "equal those of a map, with numbers from %i on, however long some of them stay (I1, I2)",
    (last) => {
      const random = testRandom(`entries ${last}`);
      const entries = new OutstandingLeases<Numbered>(last);
      const model = new Map<number, Numbered>();
      let most = 0;
      for (let step = 0; step < 20_000; step++) {
        // Bursts of hand-outs and of results; one in a hundred entries stays for good.
        const isFull = model.size > 50 + ((step >> 10) & 3) * 200;
        if (!isFull && random.below(100) < 55) {
          const id = entries.next();
          expect(id).toBeGreaterThan(0);
          expect(id).toBeLessThanOrEqual(LAST);
          expect(model.has(id)).toBe(false);
          entries.add({ id });
          model.set(id, { id });
        } else {
          const ids = [...model.keys()];
          const id = ids[random.below(ids.length)] ?? 7;
          if (id % 100 === 0) continue;
          expect(entries.delete(id)).toBe(model.delete(id));
          expect(entries.delete(id)).toBe(false);
          expect(entries.get(id)).toBeUndefined();
        }
        most = Math.max(most, model.size);
        expect(entries.size).toBe(model.size);
      }
      expect(most).toBeGreaterThan(128);
      for (const id of model.keys()) expect(entries.get(id)).toEqual({ id });
      expect(entries.inOrder().map(({ id }) => id)).toEqual([...model.keys()]);
      expect([...entries.values()].length).toBe(model.size);
    },
  );

  it("may be deleted during an iteration", () => {
    const entries = new OutstandingLeases<Numbered>();
    for (let count = 0; count < 300; count++) {
      const id = entries.next();
      entries.add({ id });
    }
    let seen = 0;
    for (const { id } of entries.values()) {
      seen++;
      entries.delete(id);
    }
    expect(seen).toBe(300);
    expect(entries.size).toBe(0);
  });

  it("have distinct numbers", () => {
    const entries = new OutstandingLeases<Numbered>();
    entries.add({ id: 5 });
    expect(() => entries.add({ id: 5 })).toThrow("a number is given to one");
    entries.add({ id: 5 + 64 }); // set by hand, in a place that is taken
    expect([entries.get(5)?.id, entries.get(69)?.id, entries.get(133)]).toEqual([5, 69, undefined]);
  });
});
