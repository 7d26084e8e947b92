import { expect, it } from "vitest";
import { createLastPlaces } from "../../../../src/crawl/traps/last-places.ts";
import { openFrontier } from "../../../../src/index.ts";
import { createVirtualClock } from "../../../../src/testing.ts";

it("puts URLs behind others: once by doubt, then aside, and lets them wait there", async () => {
  const clock = createVirtualClock(1_000);
  await using frontier = await openFrontier({
    clock,
    defaults: { politeness: { delayMs: 0, perHost: 9 } },
  });
  const url = (name: string): string => `http://a.example/${name}`;
  const places = createLastPlaces(frontier, clock);
  for (const name of ["doubtful", "aside", "waiting", "plain"]) frontier.push(url(name));
  const leases = new Map(frontier.pollMany(3).map((lease) => [lease.url, lease]));
  const release = (name: string) => () => leases.get(url(name))?.release();
  expect(places.postpone(url("doubtful"), 0.5, release("doubtful"))).toBe(true);
  expect(places.postpone(url("doubtful"), 1, release("doubtful"))).toBe(false);
  for (const name of ["aside", "waiting"]) places.setAside(url(name), release(name));
  expect(["doubtful", "aside", "gone"].map((name) => places.isAside(url(name)))).toEqual([
    ...[false, true, false],
  ]);
  expect(places.postpone(url("aside"), 1, release("aside"))).toBe(false);
  const order = frontier.pollMany(4);
  expect(order.map((lease) => lease.url)).toEqual(
    ["plain", "doubtful", "aside", "waiting"].map(url),
  );
  places.wait(url("waiting"), () => order[3]?.release());
  expect([frontier.poll(), frontier.nextDueAt()]).toEqual([undefined, 1_100]);
  clock.advance(100);
  expect(frontier.poll()?.url).toBe(url("waiting"));
});
