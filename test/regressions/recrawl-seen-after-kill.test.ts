/** A page that comes again is one identity, also for a restart that reads its second admission from the journal. */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { killedFiles, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

const URL_AGAIN = "https://a.example/";

it("counts the identity of a page that comes again once, over a kill", async () => {
  const clock = createVirtualClock(1_700_000_000_000);
  const options = { durability: "sync" as const, defaults: { epoch: { every: 100 } } };
  const files = createMemoryFiles();
  const { frontier } = await openRig(files, clock, options);
  frontier.push(URL_AGAIN);
  frontier.poll()?.done();
  clock.advance(50);
  // A seed comes at any time, also while the page rests.
  expect(frontier.push({ url: URL_AGAIN, dedup: "record" }).status).toBe("accepted");
  frontier.push("https://b.example/");
  const again = await openRig(killedFiles(files), createVirtualClock(clock.now()), options);
  const { accepted, seen, pending } = frontier.report();
  expect({ accepted, seen, pending }).toEqual({ accepted: 3, seen: 2, pending: 2 });
  expect(again.frontier.report()).toMatchObject({ accepted, seen, pending });
  await again.frontier.close({ discard: true });
  await frontier.close({ discard: true });
});
