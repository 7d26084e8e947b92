import { describe, expect, test } from "vitest";
import type { Files } from "../../../../src/persistence/files.ts";
import type { SectionBuffer } from "../../../../src/persistence/snapshot/section-buffer.ts";
import { SnapshotFile } from "../../../../src/persistence/snapshot/snapshot-file.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";

const SECTION = { t: "journal" as const, entries: new Uint8Array(300_000).map((_, at) => at * 7) };
/** Ten sections are three writes and a rest. */
const SECTIONS = 10;

const open = (files: Files, free: SectionBuffer[] = []): SnapshotFile =>
  new SnapshotFile({ files, path: "/one", serial: 7, free });

/** Files whose writes end on command. */
function slow() {
  const base = createMemoryFiles();
  const held: Array<() => void> = [];
  const refused = { error: undefined as unknown };
  let isSyncHeld = false;
  let asked = 0;
  const files: Files = {
    ...base,
    writeLater: (file, part, position, done) => {
      asked++;
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
  return { base, files, held, letGo, refused, asked: () => asked, isSynced: () => isSyncHeld };
}

describe("the file of a snapshot", () => {
  test("is the same whether its writes end at once or late (F1)", async () => {
    const atOnce = createMemoryFiles();
    const one = open(atOnce);
    const { base, files, held, letGo } = slow();
    const two = open(files);
    for (let count = 0; count < SECTIONS; count++) {
      one.add(SECTION);
      two.add(SECTION);
    }
    expect(held.length).toBe(1); // one write at a time
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

  test("leaves its buffers to the next snapshot, except one that grew", async () => {
    const files = createMemoryFiles();
    const free: SectionBuffer[] = [];
    const kept: Uint8Array[][] = [];
    for (let round = 0; round < 3; round++) {
      const file = open(files, free);
      for (let count = 0; count < SECTIONS; count++) file.add(SECTION);
      if (round === 1) file.add({ ...SECTION, entries: new Uint8Array(3_000_000) });
      await file.written();
      await file.close();
      kept.push(free.map(({ bytes }) => bytes));
    }
    for (const bytes of kept.flat()) expect(bytes.length).toBe(1.25 * 1024 * 1024);
    expect(kept.map(({ length }) => length)).toEqual([2, 1, 2]);
    expect(new Set(kept.flat()).size).toBe(3); // the third snapshot made one
  });

  test("makes a slice wait when too much of it is still being written", async () => {
    const { files, letGo } = slow();
    const file = open(files);
    let isReady = false;
    while (file.offset < 5 * 1024 * 1024) file.add(SECTION);
    const ready = file.ready().then(() => {
      isReady = true;
    });
    await Promise.resolve();
    expect(isReady).toBe(false);
    letGo();
    await ready;
    await file.close();
  });

  test("is written by the thread where its calls fill it and no write ends meanwhile", async () => {
    const atOnce = createMemoryFiles();
    const { base, files, held, letGo } = slow();
    const [one, two] = [open(atOnce), open(files)];
    for (let count = 0; count < 100; count++) {
      one.add(SECTION);
      two.add(SECTION);
    }
    expect(held.length).toBe(1);
    expect(two.offset - base.bytesOf("/one").length).toBeLessThan(2 * 1024 * 1024);
    for (const file of [one, two]) {
      const written = file.written();
      letGo();
      await written;
      await file.close();
    }
    expect(Buffer.compare(base.bytesOf("/one"), atOnce.bytesOf("/one"))).toBe(0);
  });

  test("writes no more by itself once such a write has failed (F3)", async () => {
    const { files, letGo } = slow();
    let asked = 0;
    const write = (): never => {
      asked++;
      throw new Error("EIO");
    };
    const file = open({ ...files, write });
    while (file.offset < 20 * 1024 * 1024) file.add(SECTION);
    expect(asked).toBe(1);
    letGo();
    await expect(file.ready()).rejects.toThrow("EIO");
    await file.close();
  });

  test("throws the disk's error, and is closed when the last write has ended (F2)", async () => {
    const { base, files, letGo, refused, asked, isSynced } = slow();
    const file = open(files);
    while (file.offset < 3 * 1024 * 1024) file.add(SECTION);
    refused.error = Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    const closed = file.close();
    expect(base.openCount()).toBe(1);
    letGo();
    await closed;
    expect(asked()).toBe(1); // F3
    expect(base.openCount()).toBe(0);
    await expect(file.ready()).rejects.toThrow("ENOSPC");
    await expect(file.written()).rejects.toThrow("ENOSPC");
    expect(isSynced()).toBe(false);
  });

  test("syncs beside its writes, and is not closed before the sync has ended (F2)", async () => {
    const base = createMemoryFiles();
    const held: Array<() => void> = [];
    const files: Files = {
      ...base,
      syncLater: (file, done) => void held.push(() => base.syncLater(file, done)),
    };
    const file = open(files);
    while (file.offset < 40 * 1024 * 1024) file.add(SECTION);
    expect(held.length).toBe(1); // one sync at a time
    const closed = file.close();
    await Promise.resolve();
    expect(base.openCount()).toBe(1);
    held.pop()?.();
    await closed;
    expect([base.openCount(), held.length]).toEqual([0, 0]);
  });

  test("does not change a buffer that is being written when a sync fails (F1, F2)", async () => {
    const base = createMemoryFiles();
    const writes: Array<() => void> = [];
    const syncs: Array<() => void> = [];
    const files: Files = {
      ...base,
      writeLater: (file, part, position, done) =>
        void writes.push(() => base.writeLater(file, part, position, done)),
      syncLater: (_, done) => void syncs.push(() => done(new Error("EIO"))),
    };
    const free: SectionBuffer[] = [];
    const file = open(files, free);
    while (syncs.length === 0) {
      file.add(SECTION);
      writes.shift()?.();
    }
    while (writes.length === 0) file.add(SECTION);
    syncs.pop()?.(); // a write is in progress
    const kept = free.length;
    for (let count = 0; count < SECTIONS; count++) file.add(SECTION);
    expect(free.length).toBeLessThanOrEqual(kept);
    let isClosed = false;
    const closed = file.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([isClosed, base.openCount()]).toEqual([false, 1]);
    while (writes.length > 0) writes.shift()?.();
    await closed;
    expect(base.openCount()).toBe(0);
    expect(new Set(free).size).toBe(free.length);
  });

  test("is not durable when any sync of it failed (F4)", async () => {
    const files = createMemoryFiles();
    files.dropAt = 1;
    const file = open(files);
    while (file.offset < 17 * 1024 * 1024) file.add(SECTION);
    expect(files.dropAt).toBe(Number.POSITIVE_INFINITY); // it failed; later ones would not
    await expect(file.written().then(() => file.synced())).rejects.toThrow("EIO");
    await file.close();
  });
});
