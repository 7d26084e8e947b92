/** An epoch that is forgotten between two slices of a snapshot: the walk went on in memory that had been given back. */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { killedFiles, knownOf, openRig, turn } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

const EPOCHS = ["a", "b", "c", "d"];

it("an epoch that is forgotten while a snapshot copies it leaves the others as they are", async () => {
  for (let moment = 0; moment < 16; moment++) {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(1_000));
    const { frontier } = rig;
    for (const epoch of EPOCHS) {
      frontier.pushMany(
        [1, 2, 3, 4, 5].map((at) => ({ url: `http://${epoch}.test/${at}`, epoch })),
      );
    }
    frontier.done(frontier.pollMany(20));
    const writing = frontier.snapshot();
    for (let turns = 0; turns < moment; turns++) await turn();
    // Whatever stands first, in the middle and last of what is left; and something that takes their memory.
    for (const epoch of EPOCHS.filter((_, at) => at !== moment % 4)) frontier.forget({ epoch });
    frontier.push({
      url: "http://e.test/",
      epoch: "a name that is as long as it needs to be to be found",
    });
    await writing;
    await frontier.flush();
    const known = knownOf(rig);
    expect(Object.keys(known.epochs)).toHaveLength(2);
    const again = await openRig(killedFiles(files), createVirtualClock(1_000));
    expect(knownOf(again)).toEqual(known);
    await again.frontier.close();
    await frontier.close({ discard: true });
  }
});
