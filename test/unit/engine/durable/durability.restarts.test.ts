/** Many short runs in one directory: none says enough for a snapshot, all together they do. */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { openRig } from "../../../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../support/memory-files.ts";

const OPTIONS = { snapshots: { everyBytes: 20_000 } };
const RUNS = 20;

function bytesOf(files: MemoryFiles, pattern: RegExp): number[] {
  return files
    .list("/dir/default")
    .flatMap((name) => (pattern.test(name) ? [files.bytesOf(`/dir/default/${name}`).length] : []));
}

it("the journal of runs that end in time is bounded as that of one run, and nothing is lost", async () => {
  const files = createMemoryFiles();
  let most = 0;
  for (let run = 0; run < RUNS; run++) {
    const { frontier } = await openRig(files, createVirtualClock(run), OPTIONS);
    expect(frontier.report()).toMatchObject({ pending: 0, done: run * 100 });
    frontier.pushMany(Array.from({ length: 100 }, (_, at) => `https://a.example/${run}/${at}`));
    for (const lease of frontier.pollMany(100)) lease.done();
    await frontier.close();
    most = Math.max(
      most,
      bytesOf(files, /\.(log|msgpack)$/).reduce((sum, bytes) => sum + bytes, 0),
    );
  }
  const largest = Math.max(OPTIONS.snapshots.everyBytes, ...bytesOf(files, /msgpack$/));
  // What one run says comes to it: it ends before a snapshot could.
  expect(most).toBeLessThan(5 * largest + 20_000);
  expect(bytesOf(files, /msgpack$/)).toHaveLength(2);
});

it("runs that say next to nothing leave no files without bound", async () => {
  const files = createMemoryFiles();
  const options = { snapshots: { everyBytes: 64 * 2_000 } };
  for (let run = 0; run < 80; run++) {
    const { frontier } = await openRig(files, createVirtualClock(run), options);
    frontier.push(`https://a.example/${run}`);
    await frontier.close();
  }
  expect(bytesOf(files, /msgpack$/)).toHaveLength(1);
});
