/**
 * What a rule had done and served was lost where its set came back from the files, and counted twice where a change of politeness
 * had made the rule anew: the old one kept its counts, and a file adds up all rules of an id.
 */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import type { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import type { Rule } from "../../src/engine/types/frontier-types.ts";
import { openRig, type VirtualClock } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

const RULES: Rule[] = [
  { id: "a", match: { hosts: ["a.com"] } },
  { id: "b", match: { hosts: ["b.com"] } },
];
const URLS = ["a", "b"].flatMap((host) =>
  Array.from({ length: 6 }, (_, at) => `http://${host}.com/${at}`),
);
const counts = (pending: number, done: number, leased = 0): object => ({
  ...{ pending, leased, done, failed: 0, served: done + leased },
});

function work(frontier: LocalFrontier, count: number): void {
  frontier.done(frontier.pollMany(count));
}

for (const isSnapped of [false, true]) {
  const by = isSnapped ? "a snapshot" : "the journal";

  it(`counts of a rule go on where the set comes back from ${by}`, async () => {
    const clock: VirtualClock = createVirtualClock(1_000);
    const files = createMemoryFiles();
    let { frontier } = await openRig(files, clock, { rules: RULES });
    frontier.pushMany(URLS);
    work(frontier, 4);
    for (const done of [2, 3, 4]) {
      expect(frontier.report().rules).toEqual({
        a: counts(6 - done, done),
        b: counts(6 - done, done),
      });
      if (isSnapped) await frontier.snapshot();
      await frontier.close();
      ({ frontier } = await openRig(files, clock));
      expect(frontier.report().rules).toEqual({
        a: counts(6 - done, done),
        b: counts(6 - done, done),
      });
      clock.advance(1_000); // the sweep is over
      work(frontier, 2);
    }
    await frontier.close();
  });

  it(`counts of a rule made anew are said once, also by ${by}`, async () => {
    const clock: VirtualClock = createVirtualClock(1_000);
    const files = createMemoryFiles();
    let { frontier } = await openRig(files, clock, { rules: RULES });
    frontier.pushMany(URLS);
    work(frontier, 4);
    const [lease] = frontier.pollMany(1);
    const polite = RULES.map((rule) => ({ ...rule, politeness: { delayMs: 1, perHost: 9 } }));
    frontier.setRules(polite);
    expect(frontier.report().rules).toEqual({ a: counts(3, 2, 1), b: counts(4, 2) });
    lease?.done(); // under the rule that it was leased from
    expect(frontier.report().rules).toEqual({ a: counts(3, 3), b: counts(4, 2) });
    clock.advance(1_000);
    expect(frontier.report().rules).toEqual({ a: counts(3, 3), b: counts(4, 2) });
    if (isSnapped) await frontier.snapshot();
    await frontier.close();
    ({ frontier } = await openRig(files, clock, { rules: polite }));
    expect(frontier.report().rules).toEqual({ a: counts(3, 3), b: counts(4, 2) });
    await frontier.close();
  });
}
