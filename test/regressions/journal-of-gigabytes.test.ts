/** A journal with a hole of 2 GiB at its end opened in 12 s, one of 6 GiB not within 45 s: all of it was read. */
import { mkdtempSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openFrontier } from "../../src/index.ts";
import { nodeFiles } from "../../src/persistence/files.ts";
import { SegmentReader } from "../../src/persistence/journal/segment-reader.ts";

const directory = mkdtempSync(join(tmpdir(), "outrider-gigabytes-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const GIB = 2 ** 30;
const URLS = ["http://a.example/1", "http://a.example/2"];

it.each([2 * GIB, 6 * GIB])(
  "a hole of %d bytes behind the journal costs no more than a short one",
  async (size) => {
    const own = join(directory, String(size));
    const first = await openFrontier({ directory: own });
    first.pushMany(URLS);
    await first.close();
    const path = join(own, "default", "journal-00000001.log");
    truncateSync(path, size);
    let read = 0;
    const files = {
      ...nodeFiles,
      read(...given: Parameters<typeof nodeFiles.read>): number {
        const count = nodeFiles.read(...given);
        read += count;
        return count;
      },
    };
    const reader = SegmentReader.open({ files, directory: join(own, "default") }, 1);
    reader?.head();
    while (reader?.next());
    expect(reader?.rest()).toBe("none");
    reader?.close();
    expect(read).toBeLessThan(GIB / 4);
    const again = await openFrontier({ directory: own });
    expect(again.pollMany(9).map(({ url }) => url)).toEqual(URLS);
    await again.close();
    expect(statSync(path).size).toBeLessThan(GIB);
  },
);
