/** Whether a retried visit was the last one: whichever comes first, a worker's message or what became of its lease. */
import { expect, it } from "vitest";
import type { Visit } from "../../../../src/crawl/report/visit-statistics.ts";
import { createRetriedVisits } from "../../../../src/crawl/threads/retried-visits.ts";
import { createVirtualClock, openFrontier } from "../../../../src/index.ts";

const PAGE = "http://a.test/";
const LEASE_MS = 1_000;
const visit = (atMs: number): Visit => ({ url: PAGE, outcome: "retried", atMs, depth: 0 });

/** A page with two attempts, what its visits were told as, and a function that ends the next one. */
async function site() {
  const clock = createVirtualClock(0);
  const frontier = await openFrontier({ clock, leaseMs: LEASE_MS, defaults: { maxAttempts: 2 } });
  const told: string[] = [];
  const visits = createRetriedVisits(frontier, ({ outcome, atMs }) =>
    told.push(`${atMs} ${outcome}`),
  );
  frontier.push(PAGE);
  return { frontier, clock, told, visits };
}

it("is reported by the record's state where the lease has ended before its visit arrives", async () => {
  const { frontier, told, visits } = await site();
  frontier.poll()?.retry();
  visits.take(visit(1), 1);
  frontier.poll()?.retry();
  visits.take(visit(2), 2);
  expect(told).toEqual(["1 retried", "2 failed"]);
  visits.close();
  await frontier.close();
});

it("waits for the end of the lease where that comes later", async () => {
  const { frontier, told, visits } = await site();
  const first = frontier.poll();
  visits.take(visit(1), 1);
  expect(told).toEqual([]);
  first?.retry();
  const second = frontier.poll();
  visits.take(visit(2), 2);
  expect(told).toEqual(["1 retried"]);
  second?.retry();
  expect(told).toEqual(["1 retried", "2 failed"]);
  visits.close();
  await frontier.close();
});

it("is reported at once where the page is handed out again already", async () => {
  const { frontier, told, visits } = await site();
  frontier.poll()?.retry();
  frontier.poll();
  visits.take(visit(1), 1);
  expect(told).toEqual(["1 retried"]);
  visits.close();
  await frontier.close();
});

it("is reported as retried where the page was handed out again, and failed, before its visit arrives", async () => {
  const { frontier, told, visits } = await site();
  frontier.poll()?.retry();
  frontier.poll()?.retry();
  visits.take(visit(1), 1);
  visits.take(visit(2), 2);
  expect(told).toEqual(["1 retried", "2 failed"]);
  visits.close();
  await frontier.close();
});

it("waits for its own lease where the visit of an earlier one comes after it (I2)", async () => {
  const { frontier, told, visits } = await site();
  frontier.poll()?.retry();
  const second = frontier.poll();
  visits.take(visit(2), 2);
  visits.take(visit(1), 1);
  expect(told).toEqual(["1 retried"]);
  second?.retry();
  expect(told).toEqual(["1 retried", "2 failed"]);
  visits.close();
  await frontier.close();
});

it("has not failed where its lease expired and a later one fails (I2)", async () => {
  const { frontier, clock, told, visits } = await site();
  frontier.poll();
  visits.take(visit(1), 1);
  clock.advance(LEASE_MS);
  frontier.poll()?.retry();
  visits.take(visit(2), 2);
  expect(told).toEqual(["1 retried", "2 failed"]);
  visits.close();
  await frontier.close();
});

it("is reported once, at the end if nothing arrives of its lease (I1)", async () => {
  const { frontier, told, visits } = await site();
  const lease = frontier.poll();
  visits.take(visit(1), 1);
  visits.close();
  lease?.retry();
  expect(told).toEqual(["1 retried"]);
  await frontier.close();
});
