/**
 * W: what WebMagic's FileCacheQueueScheduler keeps in its two files, and what it loses there, row by row. Real directories where
 * the row is about files; where it is about a kill, files in memory, of which a kill is a copy.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom } from "../../src/base/random.ts";
import { runCommand } from "../../src/cli/run-command.ts";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import { presets } from "../../src/engine/options/presets.ts";
import type { Frontier, FrontierOptions, Report } from "../../src/engine/types/frontier-types.ts";
import { killedFiles, openRig, withoutLock } from "../support/durable-rig.ts";
import { createFakeIo } from "../support/fake-io.ts";
import { createMemoryFiles, type MemoryFiles, PowerCut } from "../support/memory-files.ts";

const START = "http://a.com/";
const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "webmagic-"));
  directories.push(directory);
  return directory;
}

const open = (options: FrontierOptions = {}): Promise<Frontier> =>
  openFrontier(presets.webmagic(options));

const urls = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, at) => `http://a.com/${from + at}`);

const pendingOf = (frontier: Frontier): Array<string | undefined> =>
  [...frontier.records({ state: "pending" })].map(({ url }) => url).sort();

const drained = (frontier: Frontier): string[] => frontier.pollMany(10_000).map(({ url }) => url);

/** The last line of a command's answer. */
async function answerOf(...argv: string[]): Promise<Record<string, unknown>> {
  const io = createFakeIo(undefined);
  expect(await runCommand([...argv, "--json"], io), io.text.err).toBe(0);
  return JSON.parse(io.text.out.trimEnd().split("\n").at(-1) as string);
}

describe("WebMagic's files", () => {
  it("W18: a crawl is one directory of journal and snapshots, and its old URL file is a list that import takes", async () => {
    const directory = temporary();
    const first = await openFrontier({ directory, name: "a.com" });
    first.pushMany(urls(5));
    await first.snapshot();
    await first.close();
    expect(readdirSync(directory)).toEqual(["a%2ecom"]);
    const names = readdirSync(join(directory, "a%2ecom")).map((name) => name.replace(/\d{8}/, "N"));
    const documented = ["journal-N.log", "snapshot-N.msgpack", "seen", "spill"];
    expect(names.filter((name) => !documented.includes(name))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(documented.slice(0, 2)));
    const old = temporary();
    const list = join(old, "a.com.urls.txt");
    const cursor = join(old, "a.com.cursor.txt");
    writeFileSync(list, `${urls(8).join("\n")}\n`);
    const taken = await answerOf("import", directory, list, "--name", "a.com");
    expect(taken).toMatchObject({ size: 8, accepted: 3, duplicate: 5, rejected: 0 });
    writeFileSync(cursor, "1\n2\n3\n");
    // With a cursor some lines are seen already: that is told only to a directory of its own.
    const io = createFakeIo(undefined);
    expect(await runCommand(["import", directory, list, "--name", "a.com"], io)).toBe(2);
    expect(io.text.err).toContain("not empty");
    // Its numbers are no URLs, and are never taken for some.
    const refused = await answerOf("import", directory, cursor, "--name", "a.com");
    expect(refused).toMatchObject({ size: 3, accepted: 0, rejected: 3 });
    const again = await openFrontier({ directory, name: "a.com" });
    expect(drained(again)).toEqual(urls(8));
    await again.close();
  });

  it("W20: a kill loses what the setting says and no more, and close loses nothing", async () => {
    for (const [durability, keptMs] of [
      ["sync", 0],
      [{ everyMs: 250 }, 250],
      ["none", 100],
    ] as const) {
      const files = createMemoryFiles();
      const clock = createVirtualClock(0);
      const { frontier } = await openRig(files, clock, presets.webmagic({ durability }));
      const said: Array<[atMs: number, url: string]> = [];
      for (const url of urls(12)) {
        frontier.push(url);
        said.push([clock.now(), url]);
        const killed = await openRig(killedFiles(files), createVirtualClock(0), presets.webmagic());
        const found = pendingOf(killed.frontier);
        const due = said.filter(([atMs]) => keptMs === 0 || atMs <= clock.now() - keptMs);
        expect(found).toEqual(expect.arrayContaining(due.map(([, each]) => each)));
        await killed.frontier.close({ discard: true });
        clock.advance(37);
      }
      await frontier.close();
      const closed = await openRig(killedFiles(files), createVirtualClock(0), presets.webmagic());
      expect(drained(closed.frontier)).toEqual(urls(12));
    }
  });

  it("W21: another scheduler begins with what the old one left, under its own rules", async () => {
    const path = join(temporary(), "old.msgpack");
    const old = await open();
    old.pushMany(urls(300).map((url, at) => ({ url, priority: at % 3 })));
    old.done(old.pollMany(120));
    old.pollMany(30);
    const left = [
      ...pendingOf(old),
      ...[...old.records({ state: "leased" })].map(({ url }) => url),
    ];
    await old.snapshot({ path });
    await old.close();
    const rules = [
      { id: "even", match: { pattern: "[02468]$" }, order: "lifo" as const },
      { id: "rest", priority: 7 },
    ];
    for (const place of [{}, { directory: temporary() }]) {
      const next = await open({ from: path, rules, ...place });
      expect(pendingOf(next)).toEqual(left.sort());
      expect(next.pushMany(urls(300))).toMatchObject({ accepted: 0, duplicate: 300 });
      const leases = next.pollMany(10_000);
      expect(leases.length).toBe(180);
      for (const { url, rule } of leases) expect(rule).toBe(/[02468]$/.test(url) ? "even" : "rest");
      await next.close();
    }
  });
});

describe("WebMagic's losses on disk", () => {
  it("W-B3: a power cut at any step of a reopening brings nothing back that was done, and loses nothing that was not", async () => {
    const before = createMemoryFiles();
    const rig = await openRig(before, createVirtualClock(0), presets.webmagic());
    rig.frontier.pushMany(urls(100));
    rig.frontier.done(rig.frontier.pollMany(40));
    await rig.frontier.close();
    let isCut = true;
    for (let cutAt = 1; isCut; cutAt++) {
      const files = killedFiles(before);
      syncAll(files);
      files.changes = 0;
      files.cutAt = cutAt;
      isCut = await isCutShort(files);
      const disk = withoutLock(files.afterCut(createRandom(cutAt)));
      const again = await openRig(disk, createVirtualClock(0), presets.webmagic());
      expect(drained(again.frontier), `cut ${cutAt}`).toEqual(urls(60, 40));
      expect(again.frontier.report()).toMatchObject({ seen: 100, done: 40 });
      if (!isCut) expect(cutAt).toBeGreaterThan(3); // the steps of an opening
    }
  });

  it("W-B9: what was pushed before is known as soon as open has resolved", async () => {
    const directory = temporary();
    const first = await open({ directory });
    first.push(START);
    first.poll()?.done({ found: urls(60) });
    await first.close();
    for (let life = 0; life < 3; life++) {
      const again = await open({ directory });
      expect(again.push(START).status).toBe("duplicate");
      expect(again.report()).toMatchObject({ pending: 60, accepted: 61 });
      await again.close();
    }
  });

  it("W-B17: what does not fit in memory goes to disk, in its order, and costs less than half the memory", async () => {
    const bounds = { memoryBytes: 600_000, seen: { memoryBytes: 400_000 } };
    const small = await open({ directory: temporary(), durability: "none", ...bounds });
    const large = await open();
    const bytesOf = ({ memory }: Report): number => memory.offHeapBytes;
    const usedBy = (frontier: Frontier): number => {
      expect(frontier.pushMany(urls(10_000)).accepted).toBe(10_000);
      const before = bytesOf(frontier.report());
      for (let from = 10_000; from < 30_000; from += 500) {
        expect(frontier.pushMany(urls(500, from)).accepted).toBe(500);
      }
      return bytesOf(frontier.report()) - before;
    };
    expect(usedBy(small)).toBeLessThan(usedBy(large) / 2);
    expect(small.report().memory.spilledBytes).toBeGreaterThan(20_000 * 40);
    for (let next = 0; next < 30_000; next += 500) {
      const leases = small.pollMany(500);
      expect(leases.map(({ url }) => url)).toEqual(urls(500, next));
      small.done(leases);
    }
    expect(small.pushMany(urls(500))).toMatchObject({ accepted: 0, duplicate: 500 });
    await small.close();
    await large.close();
  });
});

/** The disk has it all. */
function syncAll(files: MemoryFiles): void {
  for (const name of files.names()) {
    const file = files.open(name, "r+");
    files.sync(file);
    files.close(file);
  }
  files.syncDirectory("/dir/default");
}

/** Opens, and says whether the power went meanwhile. */
async function isCutShort(files: MemoryFiles): Promise<boolean> {
  try {
    await openRig(files, createVirtualClock(0), presets.webmagic());
    return false;
  } catch (error) {
    const { cause } = (error as { details?: { cause?: unknown } }).details ?? {};
    if (error instanceof PowerCut || cause instanceof PowerCut) return true;
    throw error;
  }
}
