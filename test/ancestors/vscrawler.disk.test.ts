/** V: what VSCrawler's SeedManager keeps on disk, row by row, and what it loses there. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import { presets } from "../../src/engine/options/presets.ts";
import type { Frontier, FrontierOptions } from "../../src/engine/types/frontier-types.ts";
import { killedFiles, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "../support/memory-files.ts";

const CHILD = fileURLToPath(new URL("../support/killed-child.mjs", import.meta.url));
const DAY = 86_400_000;
const NOON = Date.parse("2026-11-20T12:00:00Z");

const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "seeds-"));
  directories.push(directory);
  return directory;
}

const pages = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `http://a.com/${from + at}`);

function openSeeds(directory: string, options: FrontierOptions = {}): Promise<Frontier> {
  const clock = createVirtualClock(NOON);
  return openFrontier(presets.vscrawler({ clock, directory, keepOpen: true, ...options }));
}

/** A whole process: pushes, takes and finishes so many, and is killed. */
function killChild(directory: string, ...counts: [pushed: number, taken: number, done: number]) {
  const child = spawnSync(process.execPath, [CHILD, directory, ...counts.map(String)]);
  expect([child.signal, child.stderr.toString()]).toEqual(["SIGKILL", ""]);
}

describe("VSCrawler on disk", () => {
  it("V1: one directory has the duplicate check and the seeds, and can be carried elsewhere", async () => {
    const [here, there] = [temporary(), temporary()];
    for (const mode of ["bloom", "tiered"] as const) {
      const options = { name: mode, seen: { mode } };
      const frontier = await openSeeds(here, options);
      frontier.pushMany(pages(0, 500));
      frontier.done(frontier.pollMany(200));
      await frontier.close();
      cpSync(here, there, { recursive: true });
      const again = await openSeeds(there, options);
      expect(again.pushMany(pages(0, 500)).duplicate).toBe(500);
      expect(again.pollMany(1_000).map(({ url }) => url)).toEqual(pages(200, 500));
      await again.close();
    }
  });

  it("V8: all that is said of a seed comes back from the disk: data, tries, state, limit, time, segment", async () => {
    const directory = temporary();
    const options = { records: "full" } as const;
    const frontier = await openSeeds(directory, options);
    const dated = { url: "http://a.com/dated", notBefore: NOON + DAY, data: { ext: [1, "x"] } };
    frontier.pushMany([{ url: "http://a.com/tried", maxAttempts: 2, data: "ext" }, dated]);
    frontier.push("http://a.com/ignored");
    const [tried, ignored] = frontier.pollMany(2);
    tried?.retry();
    ignored?.fail("ignore");
    await frontier.close();

    const again = await openSeeds(directory, options);
    expect(again.record("http://a.com/tried")).toMatchObject({
      ...{ state: "pending", attempts: 1, deliveries: 1, data: "ext" },
      times: { admittedAt: NOON },
    });
    expect(again.record("http://a.com/ignored")).toMatchObject({ state: "failed" });
    expect(again.record({ ...dated, data: undefined })).toMatchObject({
      ...{ state: "waiting", untilMs: NOON + DAY, data: dated.data },
    });
    expect(again.push(dated).status).toBe("duplicate");
    expect(again.push({ ...dated, notBefore: NOON + 2 * DAY }).status).toBe("deferred");
    const lease = again.poll();
    expect(lease).toMatchObject({ url: "http://a.com/tried", attempt: 2, deliveries: 2 });
    expect(lease?.retry()).toBe("failed");
    await again.close();
  });

  it("V9: what memory does not hold comes back in blocks, one at a time, and most polls read nothing", async () => {
    const files = createMemoryFiles();
    const urls = pages(0, 8_000);
    const rig = await openRig(files, createVirtualClock(0), { memoryBytes: 200_000 });
    const { frontier } = rig;
    frontier.pushMany(urls);
    expect(frontier.report().memory.spilledBytes).toBeGreaterThan(0);
    let batches = 0;
    for (const url of urls) {
      files.reads.length = 0;
      const lease = frontier.poll();
      expect(lease?.url).toBe(url);
      lease?.done();
      // The whole cost of a refill: one read of one block, however much is still on disk.
      expect(files.reads.length).toBeLessThanOrEqual(1);
      for (const [bytes] of files.reads) {
        expect(bytes).toBeLessThan(64 * 1024);
        batches++;
      }
    }
    expect(frontier.report().memory.spilledBytes).toBe(0);
    expect(batches).toBeGreaterThan(10);
    expect(batches).toBeLessThan(urls.length / 64);
    await frontier.close();
  });

  it("V13: a seed that is handed out stays owned until it is finished, over a kill too", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0), presets.vscrawler());
    rig.frontier.pushMany(pages(0, 30));
    const leases = rig.frontier.pollMany(20);
    rig.frontier.done(leases.splice(0, 10));
    expect(rig.frontier.pushMany(pages(0, 30)).duplicate).toBe(30);
    expect(rig.frontier.record("http://a.com/15")?.state).toBe("leased");
    await rig.frontier.flush();
    const again = await openRig(killedFiles(files), createVirtualClock(0), presets.vscrawler());
    expect(again.frontier.report()).toMatchObject({ pending: 20, done: 10, leased: 0 });
    expect(again.frontier.pushMany(pages(0, 30)).duplicate).toBe(30);
    const back = again.frontier.pollMany(30);
    expect(back.map(({ url }) => url)).toEqual(pages(10, 30));
    expect(back.slice(0, 10).every(({ deliveries }) => deliveries === 2)).toBe(true);
    expect(back.slice(10).every(({ deliveries }) => deliveries === 1)).toBe(true);
  });

  it("V19: a clean stop puts back what is out, and refuses what comes later", async () => {
    const directory = temporary();
    const frontier = await openSeeds(directory);
    frontier.pushMany(pages(0, 150));
    const leases = frontier.pollMany(100);
    await frontier.close();
    expect(leases.every((lease) => lease.done().late)).toBe(true);
    expect(leases[0]?.retry()).toBe("late");
    expect(frontier.push("http://a.com/late").status).toBe("closed");
    expect(frontier.poll()).toBe(undefined);
    const again = await openSeeds(directory);
    expect(again.report()).toMatchObject({ pending: 150, leased: 0, done: 0, seen: 150 });
    const back = again.pollMany(200);
    expect(back.map(({ url }) => url)).toEqual(pages(0, 150));
    expect(back.every(({ attempt }) => attempt === 1)).toBe(true);
    await again.close();
  });

  it("V21: a second crawler on one directory is refused, a dead one's lock is taken over", async () => {
    const directory = temporary();
    killChild(directory, 3, 1, 1);
    const lock = join(directory, "default", "lock");
    const dead = JSON.parse(readFileSync(lock, "utf8"));
    expect(dead.pid).not.toBe(process.pid);
    const frontier = await openFrontier({ directory });
    expect(frontier.report()).toMatchObject({ pending: 2, done: 1 });
    await expect(openFrontier({ directory })).rejects.toMatchObject({
      ...{ code: "FRONTIER_LOCKED", details: { pid: process.pid } },
    });
    const own = JSON.parse(readFileSync(lock, "utf8"));
    await frontier.close();
    // This very process as the owner; the same number in another boot; the same number at another time of this one.
    writeFileSync(lock, JSON.stringify(own));
    await expect(openFrontier({ directory })).rejects.toMatchObject({ code: "FRONTIER_LOCKED" });
    const others = [{ boot: "another boot" }, ...(own.started === "" ? [] : [{ started: "1" }])];
    for (const other of others) {
      writeFileSync(lock, JSON.stringify({ ...own, ...other, nonce: `of ${Object.keys(other)}` }));
      const again = await openFrontier({ directory });
      expect(again.report()).toMatchObject({ pending: 2, done: 1 });
      await again.close();
    }
  });

  it.each(["bloom", "exact"] as const)(
    "V22: with what the duplicate check was saved in damaged or gone, nothing is lost or doubled (%s)",
    async (mode) => {
      const seen = { mode, capacity: 2_000, falsePositiveRate: 1e-9 };
      const options: FrontierOptions = { seen };
      const rig = await openRig(createMemoryFiles(), createVirtualClock(0), options);
      for (let round = 0; round < 3; round++) {
        rig.frontier.pushMany(pages(round * 400, round * 400 + 400));
        rig.frontier.done(rig.frontier.pollMany(300));
        await (round < 2 ? rig.frontier.snapshot() : rig.frontier.flush());
      }
      const names = (rig.files as MemoryFiles).names();
      const last = names
        .filter((name) => name.includes("/snapshot-"))
        .sort()
        .at(-1) as string;
      const damages: Array<(files: MemoryFiles) => void> = [
        (files) => files.remove(last),
        ...[0.1, 0.3, 0.5, 0.7, 0.9].map((part) => (files: MemoryFiles) => {
          const bytes = files.bytesOf(last);
          const at = Math.floor(bytes.length * part);
          bytes[at] = (bytes[at] as number) ^ 0x10;
        }),
      ];
      for (const damage of damages) {
        const files = killedFiles(rig.files as MemoryFiles);
        damage(files);
        const again = await openRig(files, createVirtualClock(0), options);
        expect(again.frontier.report()).toMatchObject({ pending: 300, done: 900, seen: 1_200 });
        expect(again.frontier.pushMany(pages(0, 1_200)).duplicate).toBe(1_200);
        expect(again.frontier.pollMany(999).map(({ url }) => url)).toEqual(pages(900, 1_200));
        expect(again.frontier.push("http://a.com/new").status).toBe("accepted");
      }
    },
  );

  it("V-B1: SIGKILL loses none of 1,024 seeds that are out, nor the ones behind them", async () => {
    const directory = temporary();
    killChild(directory, 3_000, 1_524, 500);
    const frontier = await openFrontier({ directory });
    expect(frontier.report()).toMatchObject({ pending: 2_500, done: 500, seen: 3_000 });
    expect(frontier.pushMany(pages(0, 3_000)).duplicate).toBe(3_000);
    const leases = frontier.pollMany(3_000);
    expect(leases.map(({ url }) => url)).toEqual(pages(500, 3_000));
    expect(leases.filter(({ deliveries }) => deliveries === 2).length).toBe(1_024);
    await frontier.close();
  });

  it("V-B2: nothing is lost to a filter's maybe where an exact answer is there", async () => {
    // A filter that says maybe to half of what is new, in front of a cold tier that knows: tiered, on files in memory; on real
    // ones where there are more than memory is meant for.
    const count = Number(process.env.V_B2_URLS ?? 100_000);
    const memoryBytes = Number(process.env.V_B2_MEMORY ?? 1 << 20);
    const options = {
      seen: { mode: "tiered" as const, memoryBytes, capacity: 10, falsePositiveRate: 0.5 },
      durability: "none" as const,
    };
    const directory = count > 1_000_000 ? temporary() : undefined;
    const clock = createVirtualClock(0);
    const { frontier } =
      directory === undefined
        ? await openRig(createMemoryFiles(), clock, options)
        : { frontier: await openFrontier({ ...options, clock, directory }) };
    for (let round = 0, accepted = 0; round < 2; round++) {
      for (let start = 0; start < count; start += 10_000) {
        const urls = Array.from({ length: 10_000 }, (_, index) => `http://a.com/${start + index}`);
        accepted += frontier.pushMany(urls).accepted;
        frontier.done(frontier.pollMany(10_000));
      }
      expect(accepted).toBe(count);
    }
    expect(frontier.report().seenSet.maybeButNew).toBeGreaterThan(0);
    await frontier.close({ discard: true });
  });

  it("V-B5: the segments of days are there after a kill, each with what is in it", async () => {
    const options = presets.vscrawler();
    const url = "http://a.com/daily";
    const days = [0, 1, 2].map((day) => ({ url, notBefore: NOON + day * DAY }));
    const rig = await openRig(createMemoryFiles(), createVirtualClock(NOON), options);
    rig.frontier.pushMany([url, ...days]);
    frontierDone(rig.frontier, 1);
    await rig.frontier.flush();
    const { epochs } = rig.frontier.report();
    const clock = createVirtualClock(NOON + 1);
    const again = await openRig(killedFiles(rig.files as MemoryFiles), clock, options);
    const { frontier } = again;
    expect(frontier.report().epochs).toEqual(epochs);
    expect(frontier.pushMany([url, ...days]).duplicate).toBe(4);
    for (const later of [0, DAY, DAY]) {
      clock.advance(later);
      expect(frontierDone(frontier, 9)).toEqual([url]);
    }
    expect(frontier.forget({ epoch: "2026-11-21" })).toBe(1);
    expect(frontier.pushMany([url, ...days])).toMatchObject({ accepted: 1, duplicate: 3 });
  });

  it("V-B11: wherever the journal breaks off, a page is done with all of its children or not at all", async () => {
    const options = { durability: "sync", seen: { mode: "exact" } } as const;
    const rig = await openRig(createMemoryFiles(), createVirtualClock(0), options);
    const files = rig.files as MemoryFiles;
    const [parent, path] = ["http://a.com/", "/dir/default/journal-00000001.log"];
    const end = (): number => files.bytesOf(path).findLastIndex((byte) => byte !== 0) + 1;
    rig.frontier.push(parent);
    const lease = rig.frontier.poll();
    await rig.frontier.flush();
    const before = end();
    expect(lease?.done({ found: pages(0, 6) }).accepted).toBe(6);
    const told: string[] = [];
    for (let size = before; size < end() + 16; size += 5) {
      const cut = killedFiles(files);
      cut.setBytes(path, cut.bytesOf(path).slice(0, size));
      const { frontier } = await openRig(cut, createVirtualClock(0), options);
      const children = pages(0, 6).filter((url) => frontier.record(url) !== undefined);
      told.push(`${frontier.record(parent)?.state} ${children.length}`);
    }
    expect(told.length).toBeGreaterThan(20);
    expect([...new Set(told)]).toEqual(["pending 0", "done 6"]);
  });
});

function frontierDone(frontier: Frontier, max: number): string[] {
  const leases = frontier.pollMany(max);
  frontier.done(leases);
  return leases.map(({ url }) => url);
}
