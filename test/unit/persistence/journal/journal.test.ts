/** Memory that frames of the journal take, while it is written and at rest. */
import { expect, it } from "vitest";
import type { Files } from "../../../../src/persistence/files.ts";
import {
  createFrameBuffer,
  type FrameBuffer,
  takeFrame,
  reuseFrame,
  writeWords,
} from "../../../../src/persistence/journal/frame-buffer.ts";
import { Journal } from "../../../../src/persistence/journal/journal.ts";
import { turn } from "../../../support/durable-rig.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";

const FRAMES = 20;
const DIRECTORY = "/dir";

function group(frames: FrameBuffer): void {
  writeWords(frames, new Uint32Array(100).fill(7));
  frames.groupEnd = frames.end;
}

interface Opened {
  readonly journal: Journal;
  /** Syncs that are over, and those that the thread has waited for. */
  readonly synced: () => number;
  readonly waited: () => number;
}

function open(frames: FrameBuffer): Opened {
  const memory = createMemoryFiles();
  memory.makeDirectory(DIRECTORY);
  const syncLater: Files["syncLater"] = (file, done) => {
    setImmediate(() => memory.syncLater(file, done));
  };
  let waits = 0;
  const sync: Files["sync"] = (file) => {
    waits++;
    memory.sync(file);
  };
  const files = { ...memory, sync, syncLater };
  let count = 0;
  const journal = new Journal({
    place: { files, directory: DIRECTORY },
    identity: { secret: new Uint32Array(4), profile: "" },
    serial: 1,
    frames,
    onSynced: () => {
      count++;
    },
  });
  const begun = waits; // its own head
  return { journal, synced: () => count, waited: () => waits - begun };
}

async function synced(frames: FrameBuffer, isBusy: boolean): Promise<number> {
  const { journal, synced } = open(frames);
  for (let frame = 0; frame < FRAMES; frame++) {
    group(frames);
    journal.write();
  }
  journal.syncLater();
  if (isBusy) group(frames);
  while (synced() === 0) await turn();
  const { length } = frames.spare;
  journal.close();
  return length;
}

it("uses the chunks of durable frames again while there is more to write", async () => {
  expect(await synced(createFrameBuffer(), true)).toBe(FRAMES);
});

it("keeps few of them at rest", async () => {
  expect(await synced(createFrameBuffer(), false)).toBe(4);
});

it("keeps no more of them than a burst takes", () => {
  const frames = createFrameBuffer();
  const taken: Uint8Array[] = [];
  for (let frame = 0; frame < 100; frame++) {
    group(frames);
    taken.push(takeFrame(frames));
  }
  for (const bytes of taken) reuseFrame(frames, bytes);
  expect(frames.spare.length).toBe(64);
  group(frames);
  takeFrame(frames);
  expect(frames.spare.length).toBe(63);
});

it("asks for a sync where 16 MiB wait, and waits for the medium where 64 do", async () => {
  const frames = createFrameBuffer();
  const { journal, synced, waited } = open(frames);
  const bytes = 2 ** 18;
  const full = (mebibytes: number): void => {
    for (let at = 0; at < mebibytes * 4; at++) {
      writeWords(frames, new Uint32Array(bytes / 4));
      frames.groupEnd = frames.end;
      journal.relieve();
    }
  };
  full(15);
  await turn();
  expect([synced(), journal.isSyncing]).toEqual([0, false]);
  full(2);
  expect([journal.isSyncing, waited()]).toEqual([true, 0]);
  while (journal.isSyncing) await turn();
  expect([synced(), waited()]).toEqual([1, 0]);
  expect(journal.heldBytes).toBeLessThan(2 ** 21); // what came after it had begun
  full(61); // in one turn of the event loop, which the sync that was asked for cannot end in
  expect([synced(), waited()]).toEqual([1, 0]);
  full(4);
  expect([synced(), waited()]).toEqual([1, 1]);
  while (journal.isSyncing) await turn();
  journal.close();
});
