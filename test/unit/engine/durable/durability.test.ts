import { afterEach, describe, expect, it, vi } from "vitest";
import { createSystemClock, createVirtualClock } from "../../../../src/base/clock.ts";
import { createRandom } from "../../../../src/base/random.ts";
import type { FrontierFault } from "../../../../src/engine/types/frontier-types.ts";
import {
  killedFiles,
  knownOf,
  openRig,
  openWholeRig,
  turn,
  type VirtualClock,
  withoutLock,
} from "../../../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../support/memory-files.ts";

const URLS = Array.from({ length: 40 }, (_, at) => `https://h${at % 3}.example/${at}`);

describe("a frontier with a directory", () => {
  it("has everything of a call on the medium when the call returns, in mode sync", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0), { durability: "sync" });
    rig.frontier.pushMany(URLS);
    rig.frontier.poll()?.done({ found: ["https://new.example/"] });
    const again = await openRig(killedFiles(files), createVirtualClock(0));
    expect(again.frontier.report()).toMatchObject({ pending: 40, done: 1 });
  });

  it("has on the medium what a call had accepted that asked a function which closed the frontier", async () => {
    for (const field of ["accept", "keyOf"] as const) {
      const files = createMemoryFiles();
      const close = (): void => void rig.frontier.close();
      const accept = (): boolean => {
        close();
        return true;
      };
      const keyOf = ({ url }: { url: string }): string => {
        close();
        return url;
      };
      const options = field === "accept" ? { accept } : { defaults: { key: { keyOf } } };
      const rig = await openRig(files, createVirtualClock(0), { durability: "sync", ...options });
      expect(rig.frontier.pushMany(URLS).accepted, field).toBe(40);
      const again = field === "accept" ? {} : { defaults: { key: { keyOf: () => "any" } } };
      const killed = await openRig(killedFiles(files), createVirtualClock(0), again);
      expect(killed.frontier.report().pending, field).toBe(40);
      await rig.frontier.close();
      expect(rig.frontier.status).toBe("stopped");
    }
  });

  it("knows after a crash how many redirects led to a URL", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0), { durability: "sync" });
    rig.frontier.push("https://a.example/");
    for (let hop = 1; hop < 4; hop++) {
      const lease = rig.frontier.poll();
      lease?.redirect(`https://a.example/${hop}`);
      lease?.done();
    }
    const again = await openRig(killedFiles(files), createVirtualClock(0));
    expect(again.frontier.poll()?.redirects).toBe(3);
  });

  it("has the rules and seeds of a running frontier in the snapshots that replace its journal", async () => {
    const files = createMemoryFiles();
    const clock = createVirtualClock(0);
    const options = { snapshots: { keep: 1 } };
    const rig = await openWholeRig(files, clock, options);
    const seeds = ["http://many.test/[1-1200]"];
    rig.frontier.setRules([
      { id: "many", seeds, match: { hosts: ["many.test"] } },
      { id: "other", priority: 7 },
    ]);
    await rig.frontier.snapshot(); // its seeds are still on their way
    await rig.frontier.snapshot();
    expect(files.names().filter((name) => /journal/.test(name))).toHaveLength(1);
    const again = await openWholeRig(killedFiles(files), clock, options);
    clock.advance(10_000);
    for (let left = 4; left > 0; left--) await turn();
    expect(Object.keys(again.frontier.report().rules)).toEqual(["many", "other"]);
    expect(again.frontier.report().pending).toBe(1_200);
    again.frontier.push("http://else.test/");
    expect(again.frontier.record("http://else.test/")).toMatchObject({ priority: 7 });
    await again.frontier.snapshot();
    again.frontier.remove({ rule: "many" });
    await again.frontier.snapshot();
    const third = await openWholeRig(killedFiles(again.files as MemoryFiles), clock, options);
    clock.advance(10_000);
    for (let left = 4; left > 0; left--) await turn();
    expect(third.frontier.report()).toMatchObject({ pending: 1 }); // not seeded again
  });

  it("waits for the medium beside the thread alone while it writes a snapshot", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0));
    rig.frontier.pushMany(URLS);
    const { sync, syncDirectory } = files;
    const waits: string[] = [];
    let isWriting = true;
    files.syncLater = (file, done) => {
      setImmediate(() => {
        sync.call(files, file);
        if (isWriting) rig.frontier.push(`https://while.example/${files.syncs}`);
        done(undefined);
      });
    };
    files.syncDirectoryLater = (path, done) => {
      setImmediate(() => {
        syncDirectory.call(files, path);
        done(undefined);
      });
    };
    files.sync = files.syncDirectory = () => void waits.push("on the thread");
    await rig.frontier.snapshot();
    isWriting = false;
    await rig.frontier.flush();
    expect(waits).toEqual([]);
    const again = await openRig(killedFiles(files), createVirtualClock(0));
    expect(again.frontier.report().pending).toBe(rig.frontier.report().pending);
    expect(again.frontier.report().pending).toBeGreaterThan(URLS.length + 3);
  });

  it("waits for the medium once per pushMany, and not for a poll", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0), { durability: "sync" });
    rig.frontier.push("https://a.example/");
    const before = files.syncs;
    rig.frontier.pushMany(Array.from({ length: 5_000 }, (_, at) => `https://a.example/${at}`));
    expect(files.syncs).toBe(before + 1);
    rig.frontier.pollMany(100);
    expect(files.syncs).toBe(before + 1);
  });

  it("loses at most everyMs, and nothing once flush has resolved", async () => {
    const files = createMemoryFiles();
    const clock = createVirtualClock(0);
    const rig = await openRig(files, clock, { durability: { everyMs: 100 } });
    rig.frontier.pushMany(URLS);
    clock.advance(100);
    rig.frontier.push("https://late.example/1");
    const cut = await openRig(killedFiles(files), createVirtualClock(0));
    expect(cut.frontier.report().pending).toBe(40);
    await rig.frontier.flush();
    const whole = await openRig(killedFiles(files), createVirtualClock(0));
    expect(whole.frontier.report().pending).toBe(41);
  });

  it("is open as before where the disk refuses the last words of a close, and closes when it has room", async () => {
    const files = createMemoryFiles();
    const { frontier } = await openRig(files, createVirtualClock(0));
    const told: string[] = [];
    frontier.on("status", ({ from, to }) => told.push(`${from} ${to}`));
    frontier.pushMany(URLS);
    frontier.pause();
    files.capacity = 0;
    const closing = frontier.close();
    expect([frontier.status, frontier.push("https://x.example/").status]).toEqual([
      "stopping",
      "closed",
    ]);
    await expect(closing).rejects.toMatchObject({ code: "DISK_FULL" });
    expect([frontier.status, frontier.report().pending]).toEqual(["paused", URLS.length]);
    frontier.resume();
    expect(frontier.pollMany(3)).toHaveLength(3);
    files.capacity = Number.POSITIVE_INFINITY;
    await frontier.close();
    expect(told).toEqual([
      ...["running paused", "paused stopping", "stopping paused", "paused running"],
      ...["running stopping", "stopping stopped"],
    ]);
    const again = await openRig(files, createVirtualClock(0));
    expect(again.frontier.report().pending).toBe(URLS.length);
    await again.frontier.close();
  });

  it("returns full with reason disk while there is no room, and continues when there is", async () => {
    const files = createMemoryFiles();
    const clock = createVirtualClock(0);
    const rig = await openRig(files, clock, { durability: { everyMs: 100 } });
    const faults: FrontierFault[] = [];
    rig.frontier.on("error", (fault) => faults.push(fault));
    rig.frontier.pushMany(URLS);
    const lease = rig.frontier.poll();
    files.capacity = 0;
    clock.advance(100);
    expect(rig.frontier.push("https://x.example/")).toMatchObject({
      status: "full",
      reason: "disk",
    });
    expect(() => lease?.done({ found: ["https://y.example/"] })).toThrow(
      expect.objectContaining({ code: "DISK_FULL" }),
    );
    expect(() => rig.frontier.clear()).toThrow(expect.objectContaining({ code: "DISK_FULL" }));
    await expect(rig.frontier.flush()).rejects.toMatchObject({ code: "DISK_FULL" });
    expect(rig.frontier.report()).toMatchObject({ pending: 39, leased: 1, done: 0, full: 1 });
    expect(faults.map(({ kind }) => kind)).toEqual(["disk"]);
    files.capacity = Number.POSITIVE_INFINITY;
    expect(lease?.done({ found: ["https://y.example/"] }).accepted).toBe(1);
    await rig.frontier.flush();
    const again = await openRig(killedFiles(files), createVirtualClock(0));
    expect(knownOf(again)).toEqual(knownOf(rig));
  });

  it("refuses a push in mode sync before anything has changed, where there is no room for it", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0), { durability: "sync" });
    rig.frontier.push("https://a.example/");
    files.capacity = files.names().reduce((sum, name) => sum + files.bytesOf(name).length, 0);
    let full = 0;
    for (let at = 0; at < 50_000 && full === 0; at += 500) {
      const batch = Array.from({ length: 500 }, (_, i) => `https://b.example/${at + i}`);
      full = rig.frontier.pushMany(batch).full;
    }
    expect(full).toBe(500);
    const again = await openRig(killedFiles(files), createVirtualClock(0));
    expect(knownOf(again).records).toEqual(knownOf(rig).records);
  });

  it("writes again what a failed sync may have dropped", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0), { durability: { everyMs: 10 } });
    rig.frontier.pushMany(URLS);
    files.failAt = files.changes + 4;
    await rig.frontier.flush().catch(() => undefined);
    await rig.frontier.flush();
    const again = await openRig(killedFiles(files), createVirtualClock(0));
    expect(knownOf(again)).toEqual(knownOf(rig));
  });

  it("is refused to a second opener, who harms nothing, until it is closed", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0));
    await expect(openRig(files, createVirtualClock(0))).rejects.toMatchObject({
      code: "FRONTIER_LOCKED",
    });
    await openRig(files, createVirtualClock(0), { name: "other" });
    rig.frontier.push("https://a.example/");
    await rig.frontier.close();
    const again = await openRig(files, createVirtualClock(0));
    expect(again.frontier.report().pending).toBe(1);
  });

  it("refuses another key policy by name and changes nothing", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0));
    rig.frontier.push("https://a.example/");
    await rig.frontier.close();
    const other = { defaults: { key: { sortQuery: false } } };
    await expect(openRig(files, createVirtualClock(0), other)).rejects.toMatchObject({
      code: "PROFILE_MISMATCH",
    });
    expect((await openRig(files, createVirtualClock(0))).frontier.report().pending).toBe(1);
  });

  it("leaves nothing behind when it is closed with discard", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0));
    rig.frontier.pushMany(URLS);
    await rig.frontier.snapshot();
    await rig.frontier.close({ discard: true });
    expect(files.names()).toEqual([]);
  });

  it("keeps `keep` generations, and the segments of the oldest", async () => {
    const files = createMemoryFiles();
    const rig = await openWholeRig(files, createVirtualClock(0), { snapshots: { keep: 2 } });
    for (let round = 0; round < 5; round++) {
      rig.frontier.push(`https://a.example/${round}`);
      await rig.frontier.snapshot();
    }
    const names = files.names().map((name) => name.slice("/dir/default/".length));
    expect(names.filter((name) => name.startsWith("snapshot")).length).toBe(2);
    expect(names.filter((name) => name.startsWith("journal")).length).toBe(2);
  });

  it("reports how many volatile records were lost with the process", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0));
    rig.frontier.push({ url: "https://a.example/", volatile: true });
    rig.frontier.push("https://b.example/");
    await rig.frontier.flush();
    const again = await openRig(killedFiles(files), createVirtualClock(0));
    let lost = -1;
    again.frontier.on("resumed", (resumed) => {
      lost = resumed.lost;
    });
    await Promise.resolve();
    expect(lost).toBe(1);
    expect(again.frontier.report()).toMatchObject({ accepted: 2, pending: 1, forgotten: 1 });
  });

  it("goes on under the rules that were set last, where it is given none", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0));
    rig.frontier.setRules(
      [
        { id: "news", match: { domains: ["a.example"] } },
        { id: "rest", priority: 3 },
      ],
      7,
    );
    rig.frontier.pushMany(["https://a.example/1", "https://b.example/2"]);
    await rig.frontier.flush();
    const again = await openRig(killedFiles(files), createVirtualClock(0));
    const leases = again.frontier.pollMany(5).map(({ rule, priority }) => `${rule} ${priority}`);
    expect(leases.sort()).toEqual(["news 0", "rest 3"]);
  });

  it("is not cleared if that can not be written to the disk, and nothing of it is lost", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0), { durability: "none" });
    rig.frontier.pushMany(URLS);
    await rig.frontier.flush();
    const { sync } = files;
    files.sync = () => {
      throw Object.assign(new Error("EIO"), { code: "EIO" });
    };
    expect(() => rig.frontier.clear()).toThrow(expect.objectContaining({ code: "DISK_FAILED" }));
    expect(rig.frontier.report().pending).toBe(40);
    const cut = await openRig(killedFiles({ ...files, sync }), createVirtualClock(0));
    expect(cut.frontier.report().pending).toBe(40);
    files.sync = sync;
    rig.frontier.clear();
    rig.frontier.push("https://after.example/");
    await rig.frontier.flush();
    const again = await openRig(killedFiles(files), createVirtualClock(0));
    expect(again.frontier.report().pending).toBe(1);
  });

  it("is cleared in one step, whenever the power fails: hosts keep their pauses", async () => {
    const kept = { delayMs: 70, address: "192.0.2.1" };
    const found = new Set<number>();
    let isOver = false;
    for (let cut = 1; !isOver; cut++) {
      const files = createMemoryFiles();
      const clock = createVirtualClock(0);
      const { frontier } = await openRig(files, clock, { defaults: { politeness: {} } });
      Object.assign(frontier.host("h1.example"), kept);
      frontier.pushMany(URLS);
      frontier.pushMany(URLS);
      await frontier.flush();
      files.cutAt = files.changes + cut;
      try {
        frontier.clear();
        isOver = true;
      } catch (error) {
        expect(error).toMatchObject({ code: "DISK_FAILED" });
        expect(frontier.report().pending).toBe(40);
      }
      const left = withoutLock(files.afterCut(createRandom(cut)));
      const again = (await openRig(left, createVirtualClock(0))).frontier;
      const { pending, pushed, duplicate } = again.report();
      expect({ pushed, duplicate }).toEqual({ pushed: pending * 2, duplicate: pending });
      expect(again.host("h1.example")).toMatchObject(kept);
      found.add(pending);
    }
    expect([...found].sort()).toEqual([0, 40]);
  });

  it("remembers in mode bloom whatever it ever saw, by the journal and by a snapshot", async () => {
    const files = createMemoryFiles();
    const seen = { mode: "bloom" as const, capacity: 100, falsePositiveRate: 1e-9 };
    const rig = await openRig(files, createVirtualClock(0), { seen });
    const urls = Array.from({ length: 2_000 }, (_, at) => `https://h${at % 3}.example/${at}`);
    rig.frontier.pushMany(urls);
    rig.frontier.done(rig.frontier.pollMany(1_500));
    await rig.frontier.flush();
    for (const isWritten of [false, true]) {
      if (isWritten) await rig.frontier.snapshot();
      const again = await openRig(killedFiles(files), createVirtualClock(0), { seen });
      expect(again.frontier.report()).toMatchObject({ done: 1_500, pending: 500, seen: 2_000 });
      expect(again.frontier.pushMany(urls).duplicate).toBe(2_000);
      expect(again.frontier.push("https://h1.example/new").status).toBe("accepted");
      await again.frontier.close();
    }
    const other = openRig(killedFiles(files), createVirtualClock(0), { seen: { mode: "exact" } });
    await expect(other).rejects.toMatchObject({ code: "PROFILE_MISMATCH" });
  });

  it("goes on in mode bloom with what it remembered exactly", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0), { seen: { mode: "exact" } });
    rig.frontier.pushMany(URLS);
    rig.frontier.done(rig.frontier.pollMany(30));
    await rig.frontier.snapshot();
    await rig.frontier.close();
    const again = await openRig(files, createVirtualClock(0), { seen: { mode: "bloom" } });
    expect(again.frontier.pushMany(URLS).duplicate).toBe(40);
    expect(again.frontier.report()).toMatchObject({ done: 30, pending: 10, seen: 40 });
  });

  it("writes a snapshot that was broken off soon again", async () => {
    const files = createMemoryFiles();
    const everyBytes = 100_000;
    const options = { durability: { everyMs: 10 }, snapshots: { everyBytes } };
    const { frontier, clock } = await openRig(files, createVirtualClock(0), options);
    let snapshots = 0;
    frontier.on("snapshot", () => void snapshots++);
    let next = 0;
    const say = async (): Promise<void> => {
      frontier.pushMany(Array.from({ length: 10 }, () => `https://h.example/${next++}`));
      clock.advance(10);
      await frontier.flush();
      await turn();
    };
    const isWriting = (): boolean =>
      files.names().some((name) => name.endsWith("msgpack.tmp")) && snapshots === 0;
    while (!isWriting()) await say();
    const { journalBytes } = frontier.report().durability;
    frontier.forget();
    while (isWriting()) await turn();
    expect(snapshots).toBe(0);
    while (!isWriting()) await say();
    expect(frontier.report().durability.journalBytes - journalBytes).toBeLessThan(everyBytes / 2);
    while (snapshots === 0) await turn();
  });

  it("keeps its files under a stated multiple of what is live, however long it runs", async () => {
    const files = createMemoryFiles();
    const everyBytes = 20_000;
    const options = { durability: { everyMs: 10 }, snapshots: { everyBytes, keep: 2 } };
    const { frontier, clock } = await openRig(files, createVirtualClock(0), options);
    const generation = /\/(journal|snapshot)-\d+\.(log|msgpack)$/;
    const size = (name: string): number => files.bytesOf(name).length;
    let snapshots = 0;
    let largest = everyBytes;
    let said = 0;
    let highest = 0;
    frontier.on("snapshot", ({ bytes }) => {
      snapshots++;
      largest = Math.max(largest, bytes);
    });
    for (let round = 0; round < 300; round++) {
      const before = frontier.report().durability.journalBytes;
      // A hundred stay pending, each for two rounds; what is done is forgotten, so that live data do not grow.
      frontier.pushMany(Array.from({ length: 50 }, (_, at) => `https://h.example/${round}/${at}`));
      if (round > 1) frontier.done(frontier.pollMany(50));
      clock.advance(10);
      await frontier.flush();
      said = Math.max(said, frontier.report().durability.journalBytes - before);
      for (let turns = 0; turns < 100_000; turns++) {
        await new Promise((resolve) => setImmediate(resolve));
        if (!files.names().some((name) => name.endsWith(".tmp"))) break;
      }
      const bytes = files
        .names()
        .filter((name) => generation.test(name))
        .map(size);
      highest = Math.max(
        highest,
        bytes.reduce((sum, one) => sum + one, 0),
      );
      expect(highest).toBeLessThanOrEqual(5 * largest + 5 * said);
    }
    expect(snapshots).toBeGreaterThan(10);
    expect(frontier.report().durability.journalBytes).toBeGreaterThan(10 * everyBytes);
  });
});

describe("a clock that is set back", () => {
  afterEach(() => vi.useRealTimers());

  it("does not hold up what is made durable every so many milliseconds, nor a take that gives up", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout", "performance"] });
    const files = createMemoryFiles();
    const clock = createSystemClock() as unknown as VirtualClock;
    const { frontier } = await openRig(files, clock, { durability: { everyMs: 100 } });
    let taken: unknown;
    frontier.take({ timeoutMs: 100 }).then((leases) => {
      taken = leases;
    });
    frontier.pushMany(URLS);
    frontier.pollMany(URLS.length);
    const waiting = frontier.take({ timeoutMs: 100 });
    vi.setSystemTime(Date.now() - 3_600_000);
    vi.advanceTimersByTime(101);
    expect(await waiting).toEqual([]);
    expect(taken).toHaveLength(1);
    const again = await openRig(killedFiles(files), createVirtualClock(0));
    expect(again.frontier.report().pending).toBe(40);
  });
});
