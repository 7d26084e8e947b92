/** More leases are overdue than one call lets expire: an end of those that still stand is late like all others. */
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { openRedisFrontier } from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

/** As many as one poll hands out: twice as many as a call lets expire. */
const LEASES = 96;
const LEASE_MS = 1_000;

it.each([0, 500])("ends at the deadline, %d ms later than it was, change nothing", async (more) => {
  const clock = createVirtualClock(1_000_000);
  const frontier = await openRedisFrontier({
    ...{ redis: server?.socket as string, name: `late${more}`, partitions: 1, clock },
    leaseMs: LEASE_MS,
  });
  onTestFinished(() => frontier.close());
  await frontier.pushMany(Array.from({ length: LEASES }, (_, at) => `http://h${at}.org/`));
  const leases = await frontier.pollMany(LEASES);
  expect(leases).toHaveLength(LEASES);
  if (more > 0)
    for (const kept of await Promise.all(leases.map((lease) => lease.extend(more))))
      expect(kept).toBe(true);
  clock.advance(LEASE_MS + more - 1);
  expect(await leases[0]?.done()).toMatchObject({ late: false });
  clock.advance(1);
  const late = await Promise.all(leases.slice(1).map((lease) => lease.done()));
  expect(late.filter((ended) => !ended.late)).toEqual([]);
  const { done, leased, expired, lateResults } = await frontier.report();
  const rest = LEASES - 1;
  expect({ done, leased, expired, lateResults }).toEqual({
    ...{ done: 1, leased: 0, expired: rest, lateResults: rest },
  });
});
