/** Rows about seeds over a restart; a kill is a copy of the files as they are. */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { killedFiles, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

const SEEDS = ["http://a.com/list/[1-3]"];
const HOUR = 3_600_000;

it("N8: the time of the next re-seed outlives a kill: T after the last one, not T after the start", async () => {
  const options = { rules: [{ id: "list", seeds: SEEDS, every: "1h" }] };
  const clock = createVirtualClock(0);
  const rig = await openRig(createMemoryFiles(), clock, options);
  expect(rig.frontier.done(rig.frontier.pollMany(9))).toBe(3);
  clock.advance(HOUR / 2);
  await rig.frontier.flush();
  const later = createVirtualClock(clock.now());
  const again = await openRig(killedFiles(rig.files as never), later, options);
  expect(again.frontier.poll()).toBe(undefined);
  later.advance(HOUR / 2 - 1);
  expect(again.frontier.poll()).toBe(undefined);
  later.advance(1);
  expect(again.frontier.pollMany(9).length).toBe(3);
});

it("C12: seeds of a rule without a period are dropped on resume, finished or on their way", async () => {
  const options = { rules: [{ id: "list", seeds: SEEDS }] };
  const rig = await openRig(createMemoryFiles(), createVirtualClock(0), options);
  rig.frontier.poll()?.done();
  rig.frontier.poll();
  await rig.frontier.flush();
  const files = killedFiles(rig.files as never);
  const again = await openRig(files, createVirtualClock(1_000), options);
  expect(again.frontier.report()).toMatchObject({
    ...{ pending: 2, done: 1, accepted: 3, pushed: 3, duplicate: 0 },
  });
  expect(again.frontier.pushMany(["http://a.com/list/1", "http://a.com/list/3"]).duplicate).toBe(2);
});
