/** G: what the scheduler of gopcp.v2 leaves behind it: nothing after a wrong start, nothing or all after a stop. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import { presets } from "../../src/engine/options/presets.ts";
import type { FrontierOptions } from "../../src/engine/types/frontier-types.ts";

const URLS = Array.from({ length: 50 }, (_, at) => `http://a.com/${at}`);

const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "scheduler-"));
  directories.push(directory);
  return directory;
}

/** Every file below, by its path from there. */
const filesOf = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);

describe("gopcp.v2 on disk", () => {
  it("G2: a start that fails is refused by what is wrong, leaves nothing on disk, and can be repeated", async () => {
    const place = temporary();
    const directory = join(place, "crawl");
    const wrong: Array<[options: FrontierOptions, name: string]> = [
      [{ capacity: -1 }, "capacity"],
      [{ defaults: { maxDepth: -1 } }, "maxDepth"],
      [{ rules: [{ id: "r" }, { id: "r" }] }, "rule 'r'.id"],
      [{ rules: [{ id: "r", match: { pattern: "(" } }] }, "pattern"],
      [{ durability: "always" as never }, "durability"],
      [{ snapshots: { keep: 0 } }, "keep"],
    ];
    for (const [options, name] of wrong) {
      await expect(openFrontier({ ...options, directory })).rejects.toThrow(name);
      expect(existsSync(directory)).toBe(false);
    }
    // What only the start itself can find wrong: no file, one that is no frontier, one of another key policy.
    const [torn, other] = [join(place, "torn.msgpack"), join(place, "other.msgpack")];
    writeFileSync(torn, "not a frontier");
    const memory = await openFrontier();
    memory.pushMany(URLS);
    await memory.snapshot({ path: other });
    await memory.close();
    for (const [from, code] of [
      [join(place, "none.msgpack"), "DISK_GONE"],
      [torn, "SNAPSHOT_CORRUPT"],
      [other, "PROFILE_MISMATCH"],
    ]) {
      const options = presets.gopcp({ from, directory } as FrontierOptions);
      await expect(openFrontier(options)).rejects.toMatchObject({ code });
      expect(filesOf(directory)).toEqual([]);
    }
    const frontier = await openFrontier(presets.gopcp({ directory }));
    expect(frontier.pushMany(URLS).accepted).toBe(50);
    // One that fails beside it changes nothing of it.
    await expect(openFrontier({ directory, capacity: -1 })).rejects.toThrow("capacity");
    await frontier.close();
    const again = await openFrontier(presets.gopcp({ directory }));
    expect(again.report()).toMatchObject({ pending: 50, seen: 50 });
    await again.close();
  });

  it("G5: a stop keeps what is there, or with discard nothing of it; the next start really runs", async () => {
    const directory = temporary();
    const options = presets.gopcp({ directory });
    const kept = await openFrontier(options);
    kept.pushMany(URLS);
    kept.done(kept.pollMany(10));
    kept.pollMany(5);
    await kept.close();

    const discarded = await openFrontier(options);
    expect(discarded.report()).toMatchObject({ pending: 40, done: 10 });
    const [lease] = discarded.pollMany(5);
    await discarded.snapshot();
    await discarded.close({ discard: true });
    expect([discarded.status, lease?.done().late, discarded.poll()]).toEqual([
      "stopped",
      true,
      undefined,
    ]);
    expect(filesOf(directory)).toEqual([]);

    const fresh = await openFrontier(options);
    expect(fresh.report()).toMatchObject({ pending: 0, done: 0, seen: 0, accepted: 0 });
    expect(fresh.pushMany(URLS).accepted).toBe(50);
    expect(fresh.pollMany(99).map(({ url }) => url)).toEqual(URLS);
    await fresh.close();
  });
});
