/** Whether an opening sends records to disk while it reads. What comes back from there is in test/model and disk-tiers.test.ts. */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { coreOf } from "../../../../src/engine/api/verify-frontier.ts";
import { heldBytes, type Spilling } from "../../../../src/frontier/scheduling/spill-state.ts";
import { journalPath, killedFiles, openRig } from "../../../support/durable-rig.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";

const COUNT = 20_000;
const CALL = 100;

describe("an opening of what fits in memory", () => {
  it("sends nothing to disk, though snapshot and journal together are larger than memory may be", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0), { durability: { everyMs: 1e9 } });
    const { frontier } = rig;
    const urlOf = (at: number): string => `https://h${at % 90}.example/${at}`;
    const push = (from: number): void => {
      frontier.pushMany(Array.from({ length: CALL }, (_, at) => urlOf(from + at)));
    };
    for (let at = 0; at < COUNT; at += CALL) push(at);
    const { bytes: base } = await frontier.snapshot();
    for (let at = 0; at < 0.2 * COUNT; at += CALL) {
      frontier.done(frontier.pollMany(CALL));
      push(COUNT + at);
    }
    await frontier.flush();
    const held = heldBytes(coreOf(frontier).spilling as Spilling);
    const memoryBytes = Math.ceil(1.1 * held);
    expect(memoryBytes).toBeGreaterThan(base);
    const journal = files.bytesOf(journalPath(2)).length;
    expect(memoryBytes).toBeLessThan(base + journal);
    const clock = createVirtualClock(0);
    const fits = await openRig(killedFiles(files), clock, { memoryBytes });
    expect(fits.frontier.report()).toMatchObject({ pending: COUNT, memory: { spilledBytes: 0 } });
    const tight = await openRig(killedFiles(files), clock, { memoryBytes: memoryBytes >> 1 });
    expect(tight.frontier.report().memory.spilledBytes).toBeGreaterThan(held / 4);
  });
});
