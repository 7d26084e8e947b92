import { describe, expect, test } from "vitest";
import { removeAllSliced, removeSliced } from "../../../src/persistence/remove-sliced.ts";
import { createMemoryFiles } from "../../support/memory-files.ts";

describe("the removal of a great file", () => {
  function fileOf(bytes: number): ReturnType<typeof createMemoryFiles> {
    const files = createMemoryFiles();
    files.close(files.open("/d/journal-00000001.log", "w"));
    files.setBytes("/d/journal-00000001.log", new Uint8Array(bytes));
    return files;
  }

  test("gives it back in slices, under a name that the next start removes", async () => {
    const files = fileOf(20 * 2 ** 20);
    const seen: Array<[string, number]> = [];
    await removeSliced(files, "/d/journal-00000001.log", async () => {
      const [name = ""] = files.names();
      seen.push([name, files.bytesOf(name).length / 2 ** 20]);
    });
    expect(seen).toEqual([
      ["/d/journal-00000001.log.tmp", 16],
      ["/d/journal-00000001.log.tmp", 12],
      ["/d/journal-00000001.log.tmp", 8],
      ["/d/journal-00000001.log.tmp", 4],
    ]);
    expect(files.names()).toEqual([]);
    expect(files.openCount()).toBe(0);
  });

  test("takes a small one at once", async () => {
    const files = fileOf(1000);
    await removeSliced(files, "/d/journal-00000001.log", () => Promise.reject(new Error("paused")));
    expect(files.names()).toEqual([]);
  });

  test("takes no two of many in one turn", async () => {
    const files = fileOf(1000);
    const paths = ["/d/journal-00000001.log", "/d/journal-00000002.log", "/d/journal-00000003.log"];
    for (const path of paths.slice(1)) files.close(files.open(path, "w"));
    const left: number[] = [];
    await removeAllSliced(files, paths, async () => {
      left.push(files.names().length);
    });
    expect(left).toEqual([2, 1, 0]);
  });
});
