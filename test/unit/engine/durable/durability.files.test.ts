/** What a directory's files are to others, and what an opening tells while it reads them. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import { LocalFrontier } from "../../../../src/engine/api/local-frontier.ts";
import { normalizeOptions } from "../../../../src/engine/options/normalize-options.ts";
import type {
  FrontierOptions,
  RecoveryProgress,
} from "../../../../src/engine/types/frontier-types.ts";
import type { Files } from "../../../../src/persistence/files.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";
import { skipUnless } from "../../../support/skip.ts";

const directories: string[] = [];

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "durable-files-"));
  directories.push(directory);
  return directory;
}

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

const urlsOf = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `http://host${at % 17}.test/${from + at}`);

/** Every name below a directory, with the bits that say who may do what. */
function modesOf(directory: string): Array<[name: string, mode: string]> {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) => {
    const stat = statSync(join(directory, name));
    return [name, `${stat.isDirectory() ? "folder" : "file"} ${(stat.mode & 0o777).toString(8)}`];
  });
}

beforeEach((context) => skipUnless(context, process.platform !== "win32", "not on Windows"));

describe("a directory and its files", () => {
  it.each(["state", "full"] as const)(
    "are their owner's alone, whatever the process lets others do (records: %s)",
    async (records) => {
      const before = process.umask(0);
      try {
        const directory = join(temporary(), "made/anew");
        const options: FrontierOptions = {
          ...{ directory, records, keepOpen: true, durability: "sync" },
          ...{ memoryBytes: 60_000, seen: { memoryBytes: 60_000 } },
        };
        const frontier = await openFrontier(options);
        for (let at = 0; at < 6_000; at += 500) frontier.pushMany(urlsOf(at, at + 500));
        frontier.done(frontier.pollMany(5_000));
        await frontier.snapshot();
        const modes = modesOf(join(directory, ".."));
        const names = modes.map(([name]) => name).join(" ");
        for (const part of ["lock", "journal-", "snapshot-", "seen", "spill"]) {
          expect(names).toContain(part);
        }
        expect(names.includes("records.mdb")).toBe(records === "full");
        for (const [name, mode] of modes) {
          expect([name, mode]).toEqual([
            name,
            mode.startsWith("folder") ? "folder 700" : "file 600",
          ]);
        }
        await frontier.close();
      } finally {
        process.umask(before);
      }
    },
  );
});

describe("an opening", () => {
  it("that fails says what failed first, also where its lock can not be given back then", async () => {
    const directory = "/frontier";
    const disk = createMemoryFiles();
    const at = (files: Files, options: FrontierOptions): Promise<LocalFrontier> =>
      LocalFrontier.open({ ...normalizeOptions({ directory, ...options }), files });
    await (await at(disk, {})).close();
    const remove = (path: string): void => {
      if (path.endsWith("/lock"))
        throw Object.assign(new Error("EIO: i/o error"), { code: "EIO", syscall: "unlink" });
      disk.remove(path);
    };
    const another = { defaults: { key: { profile: "url" } } } as const;
    const opening = at({ ...disk, remove }, another);
    await expect(opening).rejects.toMatchObject({ code: "PROFILE_MISMATCH" });
  });

  it.each([false, true])("tells how far it has come (from a snapshot: %s)", async (hasSnapshot) => {
    const directory = temporary();
    const count = 60_000;
    const frontier = await openFrontier({ directory, keepOpen: true });
    for (let at = 0; at < count; at += 1_000) frontier.pushMany(urlsOf(at, at + 1_000));
    if (hasSnapshot) await frontier.snapshot();
    await frontier.close();
    const told: RecoveryProgress[] = [];
    const again = await openFrontier({
      ...{ directory, keepOpen: true },
      onProgress: (progress) => told.push({ ...progress }),
    });
    expect(again.report().pending).toBe(count);
    await again.close();
    const phase = hasSnapshot ? "snapshot" : "journal";
    const own = told.filter((progress) => progress.phase === phase);
    expect(own.length).toBeGreaterThan(0);
    for (const [at, { records, bytes, size }] of own.entries()) {
      expect(records).toBeGreaterThanOrEqual(own[at - 1]?.records ?? 0);
      expect(bytes).toBeGreaterThanOrEqual(own[at - 1]?.bytes ?? 0);
      expect(bytes).toBeLessThanOrEqual(size);
    }
    expect(own.at(-1)?.records).toBeGreaterThan(count / 4);
  });
});
