/** A forged name of a host that is no UTF-8 was believed, though no frontier writes one. */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { damageOf, killedFiles, openRig, journalPath } from "../support/durable-rig.ts";
import { bytesOfSegment, segmentOf } from "../support/journal-entries.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

it("a host whose name is no text is set aside by name", async () => {
  const written = createMemoryFiles();
  const first = await openRig(written, createVirtualClock(1_000));
  first.frontier.push("http://a.test/1");
  await first.frontier.flush();
  const files = killedFiles(written);
  await first.frontier.close({ discard: true });
  const path = journalPath(1);
  const segment = segmentOf(files.bytesOf(path), 1);
  for (const { words, fields } of segment.frames.flat()) {
    const field = fields.find(({ name }) => name === "hostName");
    if (field !== undefined) words[field.at] = (words[field.at] as number) ^ 128;
  }
  files.setBytes(path, bytesOfSegment(segment));
  const second = await openRig(files, createVirtualClock(2_000));
  const damage = await damageOf(second.frontier);
  await second.frontier.close({ discard: true });
  expect(damage).toEqual([expect.stringContaining("a name that is no text")]);
});
