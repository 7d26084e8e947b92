/** A lease that ran out ended its visit when the next call looked, or at its deadline where somebody waited for a drain. */
import { describe, expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";

async function openAt(perHost: number) {
  const clock = createVirtualClock(0);
  const politeness = { delayMs: 30, perHost };
  const defaults = { maxAttempts: 1, politeness };
  const frontier = await openFrontier({ clock, keepOpen: true, leaseMs: 5, defaults });
  return { clock, frontier };
}

describe("a lease that runs out", () => {
  test.each([false, true])("ends its visit at its deadline (somebody waits: %s)", async (waits) => {
    const { clock, frontier } = await openAt(1);
    frontier.push("http://a.example/0");
    frontier.poll();
    const drained = waits ? frontier.drain() : Promise.resolve();
    clock.advance(20);
    frontier.resume();
    await drained;
    frontier.push("http://a.example/1");
    expect(frontier.peek()).toEqual([]);
    expect(frontier.nextDueAt()).toBe(35);
    clock.advance(15);
    expect(frontier.poll()?.url).toBe("http://a.example/1");
    await frontier.close();
  });

  test("does not take back the pause of a visit that ended after it", async () => {
    const { clock, frontier } = await openAt(2);
    frontier.pushMany(["http://a.example/0", "http://a.example/1"]);
    const first = frontier.poll();
    first?.extend(100);
    clock.advance(30);
    expect(frontier.poll()?.url).toBe("http://a.example/1"); // until 35
    clock.advance(10);
    first?.done();
    frontier.push("http://a.example/2");
    expect(frontier.nextDueAt()).toBe(70);
    await frontier.close();
  });
});
