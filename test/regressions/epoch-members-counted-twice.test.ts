/** An epoch counts its identities after a restart as before: members said twice, or of the epoch before, were counted too. */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import type { EpochView, Frontier } from "../../src/engine/types/frontier-types.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { openMemoryRig, openRig, turn } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

const viewsOf = (frontier: Frontier): EpochView[] =>
  [...frontier.epochs()].sort((a, b) => (a.name < b.name ? -1 : 1));

function pushInto(frontier: Frontier, epoch: string, from: number, to: number): void {
  for (let at = from; at < to; at++) frontier.push({ url: `http://a.com/${at}`, epoch });
}

it("members that join while a snapshot is written are counted once", async () => {
  const files = createMemoryFiles();
  const { frontier } = await openRig(files, createVirtualClock(0));
  pushInto(frontier, "x", 0, 40);
  frontier.done(frontier.pollMany(5));
  const written = frontier.snapshot();
  for (let at = 40; at < 90; at++) {
    pushInto(frontier, "x", at, at + 1);
    await turn();
  }
  pushInto(frontier, "y", 0, 3);
  await written;
  pushInto(frontier, "x", 90, 95);
  const before = viewsOf(frontier);
  await frontier.close();
  for (let life = 0; life < 2; life++) {
    const again = await openRig(files, createVirtualClock(0));
    expect(viewsOf(again.frontier)).toEqual(before);
    expect(again.frontier.report().epochs).toEqual({ open: 2, identities: 98 });
    verifyFrontier(again.frontier);
    await again.frontier.close();
  }
});

it("the same where a frontier in memory is written to a file", async () => {
  const files = createMemoryFiles();
  const { frontier } = await openMemoryRig(files, createVirtualClock(0));
  pushInto(frontier, "x", 0, 40);
  const written = frontier.snapshot({ path: "/alone" });
  await Promise.resolve();
  pushInto(frontier, "x", 40, 90);
  await written;
  const again = await openMemoryRig(files, createVirtualClock(0), { from: "/alone" });
  expect(again.frontier.report().epochs).toEqual({ open: 1, identities: 90 });
  verifyFrontier(again.frontier);
});

it("members of an epoch that was forgotten are none of the one that follows it", async () => {
  const files = createMemoryFiles();
  const { frontier } = await openRig(files, createVirtualClock(0));
  pushInto(frontier, "x", 0, 10);
  frontier.done(frontier.pollMany(4));
  frontier.forget({ epoch: "x" });
  pushInto(frontier, "x", 2, 5);
  const before = viewsOf(frontier);
  expect(before[0]?.identities).toBe(3);
  await frontier.close();
  const again = await openRig(files, createVirtualClock(0));
  expect(viewsOf(again.frontier)).toEqual(before);
  verifyFrontier(again.frontier);
});

it("members that came twice are counted once when all other URLs are forgotten", async () => {
  const { frontier } = await openMemoryRig(createMemoryFiles(), createVirtualClock(0));
  pushInto(frontier, "x", 0, 3);
  frontier.put({ url: "http://a.com/0", epoch: "x" });
  frontier.push("http://a.com/other");
  expect(frontier.forget({ epoch: "forever" })).toBe(0);
  const { done, forgotten, seen } = frontier.report();
  expect({ done, forgotten, seen }).toEqual({ done: 1, forgotten: 1, seen: 3 });
  verifyFrontier(frontier);
});
