/** A forged turn at the bound was believed, and the turns that followed it were beyond: the next opening set the frontier's own journal aside. */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { damageOf, killedFiles, openRig } from "../support/durable-rig.ts";
import { bytesOfSegment, segmentOf } from "../support/journal-entries.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

const OPTIONS = { defaults: { politeness: { delayMs: 10 } } };

it("what follows a forged turn is believed by the next opening", async () => {
  const written = createMemoryFiles();
  const first = await openRig(written, createVirtualClock(1_000), OPTIONS, false);
  first.frontier.pushMany(["http://a.test/1", "http://b.test/1"]);
  first.frontier.poll()?.done();
  await first.frontier.flush();
  const files = killedFiles(written);
  await first.frontier.close({ discard: true });
  let forged = 0;
  for (const path of files.names().filter((name) => name.endsWith(".log"))) {
    const segment = segmentOf(files.bytesOf(path), Number(/(\d+)\.log$/.exec(path)?.[1]));
    for (const { words, fields } of segment.frames.flat()) {
      const field = fields.find(({ name }) => name === "turn");
      if (field === undefined) continue;
      new DataView(words.buffer, words.byteOffset).setFloat64(field.at * 4, 2 ** 52, true);
      forged++;
    }
    files.setBytes(path, bytesOfSegment(segment));
  }
  expect(forged).toBeGreaterThan(0);
  const second = await openRig(files, createVirtualClock(1_000_000), OPTIONS, false);
  second.frontier.push("http://c.test/1");
  for (const lease of second.frontier.pollMany(3)) lease.done();
  await second.frontier.flush();
  const left = killedFiles(files);
  await second.frontier.close({ discard: true });
  const third = await openRig(left, createVirtualClock(2_000_000), OPTIONS, false);
  const damage = await damageOf(third.frontier);
  await third.frontier.close({ discard: true });
  expect(damage.filter((words) => words.includes("a turn"))).toEqual([]);
});
