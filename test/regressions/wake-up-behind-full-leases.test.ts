/**
 * `maxLeases` was reached, and nextDueAt looked only at what a poll would hand out one after the other: a host that the first of these keeps
 * back by their common group was not looked at. When the lease ended the first had to wait and the
 * other could go at once: nextDueAt named a later time than that.
 */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { openFrontier } from "../../src/index.ts";

const START_MS = 1_000_000;

it("nextDueAt is not later than what goes when a lease ends, where groups keep others back", async () => {
  const clock = createVirtualClock(START_MS);
  const frontier = await openFrontier({
    clock,
    maxLeases: 1,
    leaseMs: 12,
    maxDeliveries: 1,
    defaults: {
      politeness: {
        delayMs: 0,
        groups: [
          { by: "domain", delayMs: 9 },
          { by: (host: string) => `half-${host.length % 2}`, delayMs: 4 },
        ],
      },
    },
  });
  frontier.push("http://site1.com:8080/0");
  frontier.poll();
  clock.advance(10);
  // The first is of the half that the visit keeps busy until 16, the second of the other half.
  frontier.push("http://site0.com:8080/0");
  frontier.push("http://a.site0.com/0");
  expect(frontier.nextDueAt()).toBeLessThanOrEqual(START_MS + 12);
  clock.advance(2);
  expect(frontier.poll()?.url).toBe("http://a.site0.com/0");
  await frontier.close();
});
