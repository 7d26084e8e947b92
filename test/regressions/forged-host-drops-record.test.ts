/**
 * A forged entry that named a live record and a host that was never made dropped the record and left its identity behind, which then
 * pointed to freed memory: an opening that read on ran in circles, or ended with a broken invariant.
 */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { killedFiles, openRig, turn, journalPath } from "../support/durable-rig.ts";
import { bytesOfSegment, type Entry, segmentOf } from "../support/journal-entries.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

const OLD = 20;

it("an entry that names no host leaves the record of its name as it is", async () => {
  const written = createMemoryFiles();
  const { frontier } = await openRig(written, createVirtualClock(1_000));
  for (let page = 0; page < OLD; page++) frontier.push(`http://a.test/${page}`);
  await frontier.flush();
  const admitted = entriesOf(written.bytesOf(journalPath(1)), 1);
  // What is pushed meanwhile stands in the journal beside the snapshot, where an entry that names nothing is ignored.
  const snapshot = frontier.snapshot();
  for (let page = 0; page < 5; page++) {
    frontier.push(`http://b.test/${page}`);
    await turn();
  }
  await snapshot;
  const files = killedFiles(written);
  await frontier.close({ discard: true });
  const path = journalPath(2);
  const segment = segmentOf(files.bytesOf(path), 2);
  const news = segment.frames.flat().filter(({ kind }) => kind === 1);
  expect(admitted.length).toBe(OLD);
  expect(news.length).toBeGreaterThan(0);
  news.forEach(({ words }, index) => {
    const of = admitted[index] as Entry;
    words.set(of.words.subarray(1, 3), 1);
    words[3] = (words[3] as number) ^ 1;
  });
  files.setBytes(path, bytesOfSegment(segment));
  const again = await openRig(files, createVirtualClock(2_000));
  verifyFrontier(again.frontier);
  const urls = again.frontier.pollMany(99).map((lease) => lease.url);
  await again.frontier.close({ discard: true });
  expect(urls.filter((url) => url.startsWith("http://a.test/")).length).toBe(OLD);
});

function entriesOf(bytes: Uint8Array, serial: number): Entry[] {
  return segmentOf(bytes, serial)
    .frames.flat()
    .filter(({ kind }) => kind === 1);
}
