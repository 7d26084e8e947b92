/**
 * A record made by hand grew the seen-set's table, and records of later rows were written to where their slots had been:
 * lost, wherever a snapshot's head does not say how many identities follow, as those of before did not.
 */
import { expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import {
  addBytes,
  addSection,
  createSectionBuffer,
} from "../../src/persistence/snapshot/section-buffer.ts";
import {
  preamble,
  type Section,
  type SnapshotHead,
} from "../../src/persistence/snapshot/snapshot-format.ts";
import { SnapshotReader } from "../../src/persistence/snapshot/section-reader.ts";
import { killedFiles, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "../support/memory-files.ts";

/** The snapshot as it was written before its head had `entries`. */
function asBefore(files: MemoryFiles, path: string): void {
  const serial = Number(/(\d+)\.msgpack$/.exec(path)?.[1]);
  const reader = new SnapshotReader(files, path, serial);
  const buffer = createSectionBuffer(1024);
  addBytes(buffer, preamble(serial));
  for (let section = reader.next(); section !== undefined; section = reader.next()) {
    const { entries, ...head } = section as SnapshotHead;
    const before = section.t === "head" ? (head as Section) : section;
    if (section.t === "head") expect(entries).toBeGreaterThan(0);
    addSection(buffer, before, { serial, offset: buffer.used });
  }
  reader.close();
  files.setBytes(path, Uint8Array.from(buffer.bytes.subarray(0, buffer.used)));
}

test("a snapshot of many hosts from before comes back whole, whatever its rows make the table do", async () => {
  const files = createMemoryFiles();
  const rig = await openRig(files, createVirtualClock(0), { durability: { everyMs: 100 } });
  const count = 60_000;
  for (let start = 0; start < count; start += 1000) {
    const url = (_: unknown, at: number): string =>
      `https://h${((start + at) * 7919) % 6000}.example/${start + at}`;
    expect(rig.frontier.pushMany(Array.from({ length: 1000 }, url)).accepted).toBe(1000);
  }
  const { path } = await rig.frontier.snapshot();
  await rig.frontier.flush();
  const killed = killedFiles(files);
  asBefore(killed, path);
  const again = await openRig(killed, createVirtualClock(0));
  expect(again.frontier.report().pending).toBe(count);
});
