/** At the end of memory `retry({ delayMs })` threw MEMORY_FULL when the lease had ended already: the record stood nowhere, and was lost. */
import { expect, it } from "vitest";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { createVirtualClock, openFrontier } from "../../src/index.ts";
import { takePages } from "../support/memory.ts";

it("a retry without memory changes nothing, and the same one is taken later", async () => {
  const clock = createVirtualClock(0);
  const frontier = await openFrontier({ clock });
  frontier.pushMany(Array.from({ length: 50 }, (_, at) => `http://a.example/${at}`));
  const leases = frontier.pollMany(50);
  const giveBack = takePages(frontier);
  for (const lease of leases) {
    expect(() => lease.retry({ delayMs: 1_000 })).toThrowError(/memory/);
  }
  expect(frontier.report()).toMatchObject({ leased: 50, retried: 0, waiting: 0 });
  verifyFrontier(frontier);
  giveBack();
  for (const lease of leases) expect(lease.retry({ delayMs: 1_000 })).toBe("requeued");
  expect(frontier.report()).toMatchObject({ leased: 0, retried: 50, waiting: 50 });
  clock.advance(1_000);
  expect(frontier.pollMany(99).map(({ attempt }) => attempt)).toEqual(new Array(50).fill(2));
  verifyFrontier(frontier);
  await frontier.close();
});
