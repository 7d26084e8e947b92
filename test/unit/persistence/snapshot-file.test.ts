import { describe, expect, test } from "vitest";
import type { Files } from "../../../src/persistence/files.ts";
import { SnapshotFile } from "../../../src/persistence/snapshot-file.ts";
import { createMemoryFiles } from "../../support/memory-files.ts";

const SECTION = { t: "journal" as const, entries: new Uint8Array(300_000).map((_, at) => at * 7) };
/** Ten of them are three writes and a rest. */
const SECTIONS = 10;

/** Files whose writes end when they are let go, last first. */
function slow() {
  const base = createMemoryFiles();
  const held: Array<() => void> = [];
  const refused = { error: undefined as unknown };
  let isSyncHeld = false;
  const files: Files = {
    ...base,
    writeLater: (file, part, position, done) => {
      held.push(() => {
        if (refused.error !== undefined) done(refused.error, 0);
        else base.writeLater(file, part, position, done);
      });
    },
    syncLater: (file, done) => {
      isSyncHeld = true;
      base.syncLater(file, done);
    },
  };
  const letGo = (): void => {
    while (held.length > 0) held.pop()?.();
  };
  return { base, files, held, letGo, refused, isSynced: () => isSyncHeld };
}

describe("the file of a snapshot", () => {
  test("is the same whether its writes end at once or late and in another order (F1)", async () => {
    const atOnce = createMemoryFiles();
    const one = new SnapshotFile(atOnce, "/one", 7);
    const { base, files, held, letGo } = slow();
    const two = new SnapshotFile(files, "/one", 7);
    for (let count = 0; count < SECTIONS; count++) {
      one.add(SECTION);
      two.add(SECTION);
    }
    expect(held.length).toBe(2);
    for (const file of [one, two]) {
      const written = file.written();
      letGo();
      await written;
      await file.synced();
      await file.close();
    }
    expect(Buffer.compare(base.bytesOf("/one"), atOnce.bytesOf("/one"))).toBe(0);
    expect(base.bytesOf("/one").length).toBe(two.offset);
    expect([base.openCount(), atOnce.openCount()]).toEqual([0, 0]);
  });

  test("lets a slice wait when too much of it is still being written", async () => {
    const { files, held, letGo } = slow();
    const file = new SnapshotFile(files, "/one", 7);
    let isReady = false;
    while (held.length < 4) file.add(SECTION);
    const ready = file.ready().then(() => {
      isReady = true;
    });
    await Promise.resolve();
    expect(isReady).toBe(false);
    letGo();
    await ready;
    await file.close();
  });

  test("says what the disk said, and is closed when the last write has ended (F2)", async () => {
    const { base, files, held, letGo, refused, isSynced } = slow();
    const file = new SnapshotFile(files, "/one", 7);
    while (held.length < 2) file.add(SECTION);
    refused.error = Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    held.pop()?.();
    await expect(file.ready()).rejects.toThrow("ENOSPC");
    const closed = file.close();
    expect(base.openCount()).toBe(1);
    letGo();
    await closed;
    expect(base.openCount()).toBe(0);
    await expect(file.written()).rejects.toThrow("ENOSPC");
    expect(isSynced()).toBe(false);
  });
});
