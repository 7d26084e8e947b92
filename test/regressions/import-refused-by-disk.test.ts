/**
 * An import that the disk refused rejected with a SuppressedError without a code, and left its frontier open: the same call was refused by
 * its own lock (FRONTIER_LOCKED) when there was room again, and `outrider import` never ended.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { openFrontier } from "../../src/index.ts";
import { nodeFiles } from "../../src/persistence/files.ts";
import { importFrontier } from "../../src/tools.ts";

const URLS = Array.from({ length: 5_000 }, (_, at) => `https://h${at % 9}.test/${at}`);

/** A full disk, until it is called. */
function fillDisk(): () => void {
  const refuse = (): never => {
    throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC", syscall: "write" });
  };
  const later = vi.spyOn(nodeFiles, "writeLater").mockImplementation((_, __, ___, done) => {
    setImmediate(() => done(Object.assign(new Error("ENOSPC"), { code: "ENOSPC" }), 0));
  });
  const spies = [vi.spyOn(nodeFiles, "write").mockImplementation(refuse), later];
  const free = (): void => {
    for (const spy of spies) spy.mockRestore();
  };
  onTestFinished(free);
  return free;
}

it.each([
  ["an empty directory", { visited: 0 }, false],
  ["an empty directory, with lines that were visited elsewhere", { visited: 9 }, false],
  ["a directory with a frontier", { visited: 0 }, true],
])(
  "an import into %s names the disk's error, and the same call works when there is room",
  async (...given) => {
    const [, options, hasFrontier] = given;
    const folder = mkdtempSync(join(tmpdir(), "outrider-import-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const directory = join(folder, "crawl");
    if (hasFrontier) {
      await using frontier = await openFrontier({ directory });
      frontier.push("https://kept.test/");
    }
    let free = (): void => undefined;
    async function* lines(): AsyncGenerator<string> {
      yield* URLS.slice(0, 10);
      free = fillDisk();
      yield* URLS.slice(10);
    }
    await expect(importFrontier(directory, lines(), options)).rejects.toMatchObject({
      code: "DISK_FULL",
    });
    free();
    const { accepted, duplicate } = await importFrontier(directory, URLS, options);
    expect(accepted + duplicate).toBe(URLS.length);
    await using frontier = await openFrontier({ directory });
    expect(frontier.report()).toMatchObject({
      pending: URLS.length + (hasFrontier ? 1 : 0) - options.visited,
    });
  },
);
