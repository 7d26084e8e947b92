/**
 * Rules swapped thousands of times while very many records are pending: under one seed, nothing is lost, none comes twice,
 * every record goes out under a rule of the set that stands, in the order of its rule, and one timer does it all.
 */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import type { Lease, Rule } from "../../src/engine/types.ts";
import { openBench } from "../support/bench-frontier.ts";
import { stressSeconds, testSeed } from "../support/seed.ts";

const PENDING = 15_000;
const SWAPS = 2_000;
const HOSTS = 40;

describe("a frontier whose rules are swapped thousands of times", () => {
  it("loses nothing, doubles nothing, and keeps places and shares", { timeout: 3_600_000 }, () => {
    const scale = 1 + Math.floor(stressSeconds() / 60) * 4;
    const random = createRandom(testSeed("rules simulation"));
    const { frontier, clock, check } = openBench({ keepOpen: true, rules: setOf(0) });
    const pending = PENDING * scale;
    const place = new Map<string, number>();
    for (let n = 0; n < pending; n++) place.set(`http://h${random.below(HOSTS)}.com/${n}`, n);
    expect(frontier.pushMany(place.keys()).accepted).toBe(pending);
    const seen = new Set<string>();
    let live: Set<string> = new Set(setOf(0).map(({ id }) => id));
    let leases: Lease[] = [];
    for (let swap = 1; swap <= SWAPS; swap++) {
      const rules = setOf(random.below(1_000));
      frontier.setRules(rules, swap);
      live = new Set(rules.map(({ id }) => id));
      if (random.below(4) === 0) clock.advance(random.below(2));
      expect(clock.armed).toBeLessThanOrEqual(1);
      leases = frontier.pollMany(random.below(Math.ceil((2 * pending) / SWAPS)));
      for (const { url, rule } of leases) {
        expect(live.has(rule)).toBe(true);
        expect(seen.has(url)).toBe(false);
      }
      for (const lease of leases) {
        if (random.below(3) === 0) lease.release();
        else {
          seen.add(lease.url);
          lease.done();
        }
      }
      if (swap % 500 === 0) check();
    }
    frontier.setRules([{ id: "end" }]);
    clock.advance(1);
    check();
    const { rules } = frontier.report();
    expect(Object.keys(rules)).toEqual(["end"]);
    let last = -1;
    for (let n = 0; n < 1_000_000; n++) {
      const lease = frontier.poll();
      if (lease === undefined) break;
      expect(seen.has(lease.url)).toBe(false);
      const at = place.get(lease.url) as number;
      expect(at).toBeGreaterThan(last); // one rule, first in first out: the old places
      last = at;
      seen.add(lease.url);
      lease.done();
    }
    expect(seen.size).toBe(pending);
    expect(frontier.report()).toMatchObject({ pending: 0, failed: 0, done: pending });
    check();
  });
});

/** Sets of several rules over the same hosts; the last takes what is left. Politeness comes and goes without a delay that waits. */
function setOf(seed: number): Rule[] {
  const random = createRandom(seed);
  const rules: Rule[] = [];
  for (let n = 0; n < 1 + random.below(5); n++) {
    const hosts = Array.from({ length: 1 + random.below(8) }, () => `h${random.below(HOSTS)}.com`);
    const isPolite = random.below(3) === 0;
    rules.push({
      id: `r${random.below(30)}-${n}`,
      match: { hosts },
      share: { weight: random.below(200) },
      ...(isPolite ? { politeness: { perHost: 1_000 } } : {}),
    });
  }
  return [...rules, { id: `all${random.below(5)}` }];
}
