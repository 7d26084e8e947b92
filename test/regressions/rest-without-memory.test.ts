/** At the end of memory `done()` under a rule that crawls again threw MEMORY_FULL, although it had counted the page as done and ended its lease. */
import { expect, it } from "vitest";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { createVirtualClock, openFrontier } from "../../src/index.ts";
import { takePages } from "../support/memory.ts";

it("a page that is done without memory to rest is still leased, and done when there is some", async () => {
  const clock = createVirtualClock(0);
  const frontier = await openFrontier({ clock, defaults: { epoch: { every: 500 } } });
  frontier.pushMany(Array.from({ length: 50 }, (_, at) => `http://a.example/${at}`));
  const leases = frontier.pollMany(50);
  const giveBack = takePages(frontier);
  const left = leases.filter((lease) => {
    try {
      return lease.done().late;
    } catch (error) {
      expect(error).toMatchObject({ code: "MEMORY_FULL" });
      return true;
    }
  });
  expect(left.length).toBeGreaterThan(0);
  expect(frontier.report()).toMatchObject({ leased: left.length, done: 50 - left.length });
  expect(() => frontier.done(left)).toThrowError(/memory/);
  verifyFrontier(frontier);
  giveBack();
  expect(left[0]?.done().late).toBe(false);
  expect(frontier.done(left.slice(1))).toBe(left.length - 1);
  expect(frontier.report()).toMatchObject({ leased: 0, done: 50 });
  clock.advance(500);
  expect(frontier.pollMany(99)).toHaveLength(50);
  verifyFrontier(frontier);
  await frontier.close();
});
