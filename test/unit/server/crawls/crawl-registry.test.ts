import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openFrontier } from "../../../../src/index.ts";
import { type CrawlRegistry, openRegistry } from "../../../../src/server/crawls/crawl-registry.ts";

async function opened(
  directory: string | undefined,
  durability?: { everyMs: number },
): Promise<CrawlRegistry> {
  const registry = await openRegistry({
    ...{ directory, durability, crawlsMax: 9, clock: undefined },
    now: () => 1_800_000_000_000,
    onFault: (_, cause) => {
      throw cause;
    },
  });
  onTestFinished(() => registry.close());
  return registry;
}

describe.each(["memory", "a directory"])("a registry of crawls in %s", (store) => {
  it("makes a crawl anew while it is being deleted", async () => {
    const directory =
      store === "memory" ? undefined : mkdtempSync(join(tmpdir(), "outrider-registry-"));
    onTestFinished(() => {
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    });
    const registry = await opened(directory);
    const found = Array.from({ length: 2_000 }, (_, n) => ({
      ...{ url: `http://a.com/${n}`, key: "", metadata: undefined },
    }));
    let crawl = await registry.open("x");
    for (let round = 0; round < 10; round++) {
      expect(await crawl.discover(found)).toEqual(new Uint8Array(2_000));
      // A write that is under way makes the deletion wait.
      for (const [, frontier] of await registry.frontiers()) void frontier.flush();
      const deleting = registry.delete("x");
      expect(await registry.find("x")).toBeUndefined();
      crawl = await registry.open("x");
      expect(await crawl.counts("")).toMatchObject({ active: 0, queues: 0 });
      expect(await deleting).toBe(2_000);
      expect(await registry.find("x")).toBe(crawl);
    }
  });
});

it("closes after the deletions that have begun: their files are gone, and their names", async () => {
  const directory = mkdtempSync(join(tmpdir(), "outrider-registry-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const first = await opened(directory);
  for (const id of ["x", "y"]) {
    const crawl = await first.open(id);
    await crawl.discover([{ url: "http://a.com/", key: "", metadata: undefined }]);
  }
  const over: string[] = [];
  const deleting = first.delete("x").then((count) => over.push(`deleted ${count}`));
  await first.close().then(() => over.push("closed"));
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const folders = entries.filter((entry) => entry.isFile()).map((entry) => entry.parentPath);
  expect(folders).toContain(join(directory, "crawl-y"));
  expect(folders.filter((folder) => folder.includes("crawl-x"))).toEqual([]);
  expect(over).toEqual(["deleted 1", "closed"]);
  await deleting;
  const second = await opened(directory);
  expect((await second.all()).map(({ id }) => id)).toEqual(["y"]);
});

it("stores a crawl's name before its first URL where an earlier call could not (I2)", async () => {
  const directory = mkdtempSync(join(tmpdir(), "outrider-registry-"));
  const copy = mkdtempSync(join(tmpdir(), "outrider-registry-"));
  for (const folder of [directory, copy])
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const registry = await opened(directory, { everyMs: 3_600_000 });
  await using other = await openFrontier();
  const flush = vi.spyOn(Object.getPrototypeOf(other) as typeof other, "flush");
  onTestFinished(() => flush.mockRestore());
  flush.mockRejectedValueOnce(new Error("no room"));
  await expect(async () => await registry.open("x")).rejects.toThrow("no room");
  await registry.open("x");
  // As a process leaves it that is killed now.
  cpSync(directory, copy, { recursive: true, filter: (path) => !path.endsWith("lock") });
  const next = await opened(copy);
  expect((await next.all()).map(({ id }) => id)).toEqual(["x"]);
});
