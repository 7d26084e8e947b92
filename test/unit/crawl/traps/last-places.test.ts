import { expect, it } from "vitest";
import { createLastPlaces } from "../../../../src/crawl/traps/last-places.ts";
import { openFrontier } from "../../../../src/index.ts";

it.each([0, -1.7e12])(
  "puts URLs behind others, whose priority is %i: once by doubt, then aside",
  async (priority) => {
    await using frontier = await openFrontier({
      rules: [{ id: "default", priority }],
      defaults: { politeness: { delayMs: 0, perHost: 9 } },
    });
    const url = (name: string): string => `http://a.example/${name}`;
    const places = createLastPlaces(frontier);
    for (const name of ["doubtful", "aside", "other", "plain"]) frontier.push(url(name));
    const leases = new Map(frontier.pollMany(3).map((lease) => [lease.url, lease]));
    const release = (name: string) => () => leases.get(url(name))?.release();
    expect(places.postpone(url("doubtful"), 0.5, release("doubtful"))).toBe(true);
    expect(places.postpone(url("doubtful"), 1, release("doubtful"))).toBe(false);
    for (const name of ["aside", "other"]) places.setAside(url(name), release(name));
    expect(["doubtful", "aside", "gone"].map((name) => places.isAside(url(name)))).toEqual([
      ...[false, true, false],
    ]);
    expect(places.postpone(url("aside"), 1, release("aside"))).toBe(false);
    const order = frontier.pollMany(4);
    expect(order.map((lease) => lease.url)).toEqual(
      ["plain", "doubtful", "aside", "other"].map(url),
    );
    for (const own of [{ epoch: "own" }, { dedup: "skip" }] as const) {
      frontier.push({ url: url("own"), ...own });
      const lease = frontier.poll();
      const isAside = places.setAside(url("own"), () => lease?.release());
      expect([lease?.url, isAside, lease?.done().late]).toEqual([url("own"), false, false]);
    }
  },
);
