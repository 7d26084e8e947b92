/**
 * A directory that began with a file (`from`, or an import) has no segment of the journal beside it: its journal begins with the
 * second. The next opening took the first for lost, and set aside all that was said since.
 */
import { expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { damageOf, openMemoryRig, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

test("what is said after a file was adopted is there at the next opening", async () => {
  const files = createMemoryFiles();
  const clock = createVirtualClock(1_000);
  const memory = await openMemoryRig(files, clock);
  memory.frontier.push("http://a.test/1");
  await memory.frontier.snapshot({ path: "/file" });
  await memory.frontier.close();
  let rig = await openRig(files, clock, { from: "/file" });
  rig.frontier.push("http://a.test/2");
  await rig.frontier.close();
  for (let opening = 0; opening < 2; opening++) {
    rig = await openRig(files, clock);
    expect(await damageOf(rig.frontier)).toEqual([]);
    expect([...rig.frontier.records()].map(({ url }) => url).sort()).toEqual([
      "http://a.test/1",
      "http://a.test/2",
    ]);
    await rig.frontier.close();
  }
});
