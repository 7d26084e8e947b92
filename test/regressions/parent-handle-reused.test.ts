/**
 * A snapshot told parents apart by their handles alone. Those of spilled records live for one block, and a record that is done
 * lets go of its parent between two slices: another parent got the same handle, and children came back with a foreign one.
 */
import { expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { knownOf, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

test("spilled children of many pages keep their parents over a snapshot", async () => {
  const files = createMemoryFiles();
  const clock = createVirtualClock(1_000);
  let rig = await openRig(files, clock, {}, true);
  rig.frontier.pushMany(Array.from({ length: 20 }, (_, at) => `http://a.test/${at}`));
  for (const lease of rig.frontier.pollMany(20)) {
    lease.done({ found: [0, 1, 2].map((child) => `${lease.url}/${child}`) });
  }
  expect(rig.frontier.report().memory.spilledBytes).toBeGreaterThan(0);
  await rig.frontier.snapshot();
  const parents = knownOf(rig).records.map(({ url, parent }) => `${url} ${parent}`);
  expect(new Set(parents.map((line) => line.split(" ")[1])).size).toBe(20);
  await rig.frontier.close();
  rig = await openRig(files, clock);
  expect(knownOf(rig).records.map(({ url, parent }) => `${url} ${parent}`)).toEqual(parents);
  await rig.frontier.close();
});
