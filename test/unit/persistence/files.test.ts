import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  copyFile,
  type Files,
  nodeFiles,
  readAll,
  readFile,
  removeFolder,
  temporaryFolder,
  writeAll,
} from "../../../src/persistence/files.ts";
import { createMemoryFiles } from "../../support/memory-files.ts";
import { testRandom } from "../../support/seed.ts";

const BYTES = Uint8Array.from({ length: 10_000 }, (_, at) => (at * 7) & 255);

/** Files whose reads and writes move little at a time, and which signals interrupt before they have moved anything. */
function restless(label: string) {
  const base = createMemoryFiles();
  const random = testRandom(label);
  const little = (length: number): number => {
    if (random.below(3) === 0)
      throw Object.assign(new Error("EINTR"), { code: "EINTR", syscall: "read" });
    return 1 + random.below(Math.min(length, 900));
  };
  const files: Files = {
    ...base,
    read: (...[file, bytes, start, length, position]) =>
      base.read(file, bytes, start, little(length), position),
    write: (...[file, bytes, start, length, position]) =>
      base.write(file, bytes, start, little(length), position),
  };
  return { base, files };
}

describe("reading and writing files", () => {
  it("moves every byte, however little one call moves and however often one is interrupted", () => {
    const { base, files } = restless("restless files");
    const file = files.open("/one", "w");
    writeAll(files, file, BYTES, 0);
    writeAll(files, file, BYTES.subarray(0, 1_000), null);
    writeAll(files, file, BYTES.subarray(0, 100), 5_000);
    const expected = Buffer.concat([BYTES, BYTES.subarray(0, 1_000)]);
    expected.set(BYTES.subarray(0, 100), 5_000);
    expect(Buffer.compare(Buffer.from(base.bytesOf("/one")), expected)).toBe(0);
    const read = new Uint8Array(3_000);
    expect(readAll(files, file, read, 4_000)).toBe(true);
    expect(Buffer.compare(read, expected.subarray(4_000, 7_000))).toBe(0);
    expect(readAll(files, file, read, expected.length - 2_999)).toBe(false);
    files.close(file);
    expect(Buffer.compare(readFile(files, "/one") as Uint8Array, expected)).toBe(0);
    expect(base.openCount()).toBe(0);
  });

  it("copies a file to another name or its own, or only its first bytes", () => {
    const { base, files } = restless("copied files");
    const file = files.open("/one", "w");
    writeAll(files, file, BYTES, 0);
    files.close(file);
    copyFile(files, "/one", "/two");
    copyFile(files, "/one", "/one", 777);
    expect(base.bytesOf("/two")).toEqual(BYTES);
    expect(base.bytesOf("/one")).toEqual(BYTES.slice(0, 777));
    expect(base.names().sort()).toEqual(["/one", "/two"]);
    expect(base.openCount()).toBe(0);
  });

  it("reports a full disk when a write moves nothing", () => {
    const { base } = restless("full files");
    const files: Files = { ...base, write: () => 0 };
    const file = files.open("/one", "w");
    expect(() => writeAll(files, file, BYTES, 0)).toThrow(
      expect.objectContaining({ code: "DISK_FULL" }),
    );
  });
});

describe("removing a large file", () => {
  it("removes the name at once, and holds no descriptor when the bytes are freed", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "great");
    const descriptor = (): number => {
      const file = nodeFiles.open(path, "w");
      nodeFiles.truncate(file, 2 ** 21);
      nodeFiles.close(file);
      return file;
    };
    const first = descriptor();
    for (let count = 0; count < 50; count++) {
      nodeFiles.remove(path);
      expect(nodeFiles.exists(path)).toBe(false);
      descriptor();
    }
    nodeFiles.remove(path);
    for (let turns = 0; turns < 100_000 && descriptor() !== first; turns++)
      await new Promise((resolve) => setImmediate(resolve));
    expect(descriptor()).toBe(first);
    removeFolder(folder);
  });

  it("does not touch the target of a link or a file that another process reads", () => {
    const folder = temporaryFolder();
    const [path, link] = [join(folder, "great"), join(folder, "link")];
    const file = nodeFiles.open(path, "w");
    nodeFiles.truncate(file, 2 ** 21);
    symlinkSync(path, link);
    nodeFiles.remove(link);
    expect([nodeFiles.exists(link), nodeFiles.exists(path)]).toEqual([false, true]);
    nodeFiles.remove(path);
    expect(nodeFiles.size(file)).toBe(2 ** 21);
    nodeFiles.close(file);
    expect(() => nodeFiles.remove(path)).toThrow("ENOENT");
    removeFolder(folder);
  });
});
