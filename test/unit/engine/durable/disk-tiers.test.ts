import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { LocalFrontier } from "../../../../src/engine/api/local-frontier.ts";
import { normalizeOptions } from "../../../../src/engine/options/normalize-options.ts";
import type {
  Frontier,
  FrontierOptions,
  Rule,
} from "../../../../src/engine/types/frontier-types.ts";
import type { Core } from "../../../../src/frontier/core.ts";
import { coreOf, verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import type { Tiered } from "../../../../src/structures/seen/seen-tiered.ts";
import { killedFiles, openRig } from "../../../support/durable-rig.ts";
import { heldFiles } from "../../../support/held-files.ts";
import { seenHot } from "../../../../src/structures/seen/seen-set.ts";
import { hotEntriesMax } from "../../../../src/structures/seen/seen-memory-split.ts";
import { spillUsedBytes } from "../../../../src/structures/spill/lane-spill.ts";

const directories: string[] = [];

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "tiers-"));
  directories.push(directory);
  return directory;
}

function open(options: FrontierOptions): Promise<Frontier> {
  const clock = createVirtualClock(1_700_000_000_000);
  return LocalFrontier.open(normalizeOptions({ clock, keepOpen: true, ...options }));
}

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function urlsOf(from: number, to: number): string[] {
  const urls: string[] = [];
  for (let at = from; at < to; at++) urls.push(`http://host${at % 37}.test/page/${at}`);
  return urls;
}

/** Everything that is handed out, in order; every lease is done. */
function drainAll(frontier: Frontier): string[] {
  const urls: string[] = [];
  for (;;) {
    const leases = frontier.pollMany(1000);
    if (leases.length === 0) return urls;
    for (const lease of leases) urls.push(`${lease.url} ${lease.priority} ${lease.depth}`);
    frontier.done(leases);
  }
}

/** Pushes under several priorities and depths, with found links and shallower sightings between. */
function fill(frontier: Frontier, count: number): void {
  for (let start = 0; start < count; start += 500) {
    const isDeep = (start / 500) % 3 === 0;
    const requests = urlsOf(start, start + 500).map((url, at) => ({
      ...{ url, priority: (at * 7) % 3, depth: isDeep ? 4 : 1 },
      ...(at % 11 === 0 ? { data: { at, text: "x".repeat(at % 50) } } : {}),
    }));
    frontier.pushMany(requests);
    const [lease] = frontier.pollMany(1);
    lease?.done({ found: urlsOf(start + 100_000, start + 100_020) });
  }
  frontier.pushMany(urlsOf(0, 300).map((url) => ({ url, depth: 2 })));
  frontier.remove({ pattern: "/page/\\d*77$" });
  frontier.update("http://host3.test/page/3000", { priority: 9 });
}

describe("pending records beyond memoryBytes", () => {
  const sets: Array<[string, FrontierOptions]> = [
    ["without politeness", {}],
    ["last in first out", { defaults: { order: "lifo" } }],
    ["with politeness", { defaults: { politeness: { perHost: 1_000_000 } } }],
  ];
  for (const [name, options] of sets) {
    it(`go to disk and come back in the same order, ${name}, over a snapshot and a restart`, async () => {
      const directory = temporary();
      const spilling = { ...options, directory, memoryBytes: 300_000 };
      const trusted = await open(options);
      let frontier = await open(spilling);
      fill(trusted, 6000);
      fill(frontier, 6000);
      expect(frontier.report().memory.spilledBytes).toBeGreaterThan(20_000);
      const snapshot = frontier.snapshot();
      // What moves between memory and disk while the snapshot is written is in it, or in the journal.
      for (const one of [trusted, frontier]) one.done(one.pollMany(1500));
      await snapshot;
      for (const one of [trusted, frontier]) one.pushMany(urlsOf(200_000, 201_000));
      verifyFrontier(frontier);
      await frontier.close();
      expect(readdirSync(join(directory, "default", "spill"))).toEqual([]);
      frontier = await open(spilling);
      expect(frontier.report().pending).toBe(trusted.report().pending);
      frontier.push("http://host0.test/late");
      trusted.push("http://host0.test/late");
      expect(drainAll(frontier)).toEqual(drainAll(trusted));
      verifyFrontier(frontier);
      await frontier.close();
    });
  }

  it.each([
    ["a journal", {}, false],
    ["a snapshot", {}, true],
    ["a snapshot, last in first out", { defaults: { order: "lifo" } }, true],
    ["a snapshot, polite", { defaults: { politeness: { perHost: 1_000_000 } } }, true],
  ] satisfies Array<[string, FrontierOptions, boolean]>)(
    "stay on disk while a restart reads more of them than memory is meant for, from %s",
    async (_, options, hasSnapshot) => {
      const held = { ...options, directory: temporary(), memoryBytes: 2 ** 30 };
      const first = await open(held);
      const urls = urlsOf(0, 30_000);
      for (let start = 0; start < urls.length; start += 1000)
        first.pushMany(urls.slice(start, start + 1000));
      if (hasSnapshot) await first.snapshot();
      first.done(first.pollMany(2_000)); // what the journal ends may be on disk by then
      first.pollMany(500);
      await first.close();
      const copy = temporary();
      cpSync(held.directory, copy, { recursive: true });
      const wide = await open(held);
      const wideEnd = coreOf(wide).store.region.end;
      const order = drainAll(wide);
      await wide.close({ discard: true });
      const narrow = await open({ ...held, directory: copy, memoryBytes: 500_000 });
      const { region } = coreOf(narrow).store;
      // Thirty thousand records take two million bytes; half a million are meant for them.
      expect(wideEnd - region.end).toBeGreaterThan(600_000);
      expect(narrow.report()).toMatchObject({ pending: 28_000, done: 2_000 });
      expect(narrow.report().memory.spilledBytes).toBeGreaterThan(600_000);
      verifyFrontier(narrow);
      expect(drainAll(narrow)).toEqual(order);
      verifyFrontier(narrow);
      await narrow.close({ discard: true });
    },
  );

  it("take new rules like those in memory: order, priorities and shares stay", async () => {
    const politeness = { perHost: 1_000_000 };
    const before: Rule[] = [
      { id: "even", match: { pattern: "[02468]$" }, share: { weight: 100 } },
      { id: "odd", match: { pattern: "[1357]$" }, order: "lifo" },
      { id: "rest" },
    ];
    const sets: Rule[][] = [
      // Another id for what is spilled; politeness comes; shares change; some records match no rule any more.
      [before[0] as Rule, { id: "others", politeness }],
      [
        { id: "others", share: { weight: 300 } },
        { id: "even", match: { pattern: "[02468]$" }, order: "lifo" },
      ],
      [{ id: "some", match: { pattern: "[0-6]$" } }],
    ];
    const opened: Array<{ frontier: Frontier; clock: ReturnType<typeof createVirtualClock> }> = [];
    for (const memoryBytes of [2 ** 30, 250_000]) {
      const clock = createVirtualClock(1_700_000_000_000);
      const options = { directory: temporary(), memoryBytes, rules: before, clock, keepOpen: true };
      opened.push({ clock, frontier: await LocalFrontier.open(normalizeOptions(options)) });
    }
    const [held, spilled] = opened.map(({ frontier }) => frontier) as [Frontier, Frontier];
    for (const frontier of [held, spilled]) fill(frontier, 4000);
    expect(spilled.report().memory.spilledBytes).toBeGreaterThan(20_000);
    for (const rules of sets) {
      const parts = opened.map(({ frontier, clock }) => {
        frontier.setRules(rules);
        // Some go out while the sweep is under way, the rest waits for it.
        const early = frontier.pollMany(100).map(({ url, rule }) => `${url} ${rule}`);
        for (let turn = 0; turn < 50; turn++) clock.advance(1_000);
        verifyFrontier(frontier);
        const leases = frontier.pollMany(400);
        const late = leases.map(({ url, rule, priority }) => `${url} ${rule} ${priority}`);
        frontier.done(leases);
        const { pending, failed, leased } = frontier.report();
        return { early, late, pending, failed, leased };
      });
      expect(parts[1]).toEqual(parts[0]);
    }
    expect(drainAll(spilled)).toEqual(drainAll(held));
    for (const { frontier } of opened) await frontier.close({ discard: true });
  });

  it("are in a snapshot also when they come and go between its slices", async () => {
    // Last in, first out: blocks are copied from the oldest on, and needed from the newest on.
    const defaults = { order: "lifo" } as const;
    const options = { directory: temporary(), memoryBytes: 250_000, defaults };
    let frontier = await open(options);
    const urls = urlsOf(0, 40_000);
    for (let start = 0; start < urls.length; start += 1000)
      frontier.pushMany(urls.slice(start, start + 1000));
    let isWriting = true;
    const snapshot = frontier.snapshot().finally(() => {
      isWriting = false;
    });
    for (let turn = 0; isWriting; turn++) {
      // What is handed out has come back into memory; a restart gives all of it back.
      frontier.pollMany(1500);
      frontier.push(`http://new.test/${turn}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await snapshot;
    const before = [...frontier.records()].map(({ url }) => url).sort();
    verifyFrontier(frontier);
    await frontier.close();
    frontier = await open(options);
    const after = [...frontier.records({ state: "pending" })].map(({ url }) => url).sort();
    expect(after).toEqual(before);
    await frontier.close();
  });

  it("forget and clear take what is spilled with them", async () => {
    const frontier = await open({ directory: temporary(), memoryBytes: 200_000 });
    frontier.pushMany(urlsOf(0, 5000));
    expect(frontier.report().memory.spilledBytes).toBeGreaterThan(0);
    frontier.forget();
    verifyFrontier(frontier);
    expect(frontier.pushMany(urlsOf(0, 5000)).accepted).toBe(5000);
    expect(frontier.report().pending).toBe(10_000);
    expect([...frontier.records({ state: "pending" })].length).toBe(10_000);
    frontier.clear();
    expect(frontier.report().memory.spilledBytes).toBe(0);
    expect(frontier.report().pending).toBe(0);
    await frontier.close({ discard: true });
  });
});

/** Bytes that the bound is held against, and records that are on disk. */
function memoryOf(frontier: Frontier): { used: number; spilled: number } {
  const { spill } = coreOf(frontier).spilling as NonNullable<Core["spilling"]>;
  return { used: spillUsedBytes(spill), spilled: spill.count };
}

describe("pending records beyond memoryBytes that lose their identities", () => {
  const memoryBytes = 150_000;
  const urls = urlsOf(0, 6_000);
  const ways: Array<[string, FrontierOptions, (frontier: Frontier) => void]> = [
    ["all are forgotten", { seen: { mode: "exact" } }, (frontier) => frontier.forget()],
    ["all are forgotten, tiered", { seen: { memoryBytes: 300_000 } }, (open) => open.forget()],
    [
      "their epoch is forgotten",
      { defaults: { epoch: { version: 1 } }, seen: { mode: "exact" } },
      (frontier) => frontier.forget({ epoch: [...frontier.epochs()][0]?.name ?? "" }),
    ],
    [
      "never had any",
      { seen: { mode: "bloom", capacity: 50_000, falsePositiveRate: 1e-9 } },
      () => {},
    ],
  ];
  for (const [name, more, lose] of ways) {
    for (const by of ["journal", "snapshot", "snapshot before"] as const) {
      it(`keep to the bound and to their order where ${name}, over a kill, by ${by}`, async () => {
        const options = { directory: temporary(), memoryBytes, ...more };
        let frontier = await open(options);
        for (let at = 0; at < urls.length; at += 1000) frontier.pushMany(urls.slice(at, at + 1000));
        if (by === "snapshot before") await frontier.snapshot();
        const before = memoryOf(frontier);
        expect(before.spilled).toBeGreaterThan(urls.length / 2);
        lose(frontier);
        expect(memoryOf(frontier).used).toBeLessThan(memoryBytes * 1.3);
        expect(memoryOf(frontier).spilled).toBeGreaterThan(urls.length / 2);
        verifyFrontier(frontier);
        const isNew = more.seen?.mode !== "bloom";
        expect(frontier.pushMany(urls.slice(0, 2000)).accepted).toBe(isNew ? 2000 : 0);
        expect(memoryOf(frontier).used).toBeLessThan(memoryBytes * 1.3);
        // Among them many that were on disk when they lost their identity.
        const leases = [1, 2, 3, 4, 5].flatMap(() => frontier.pollMany(500));
        leases[5]?.retry();
        for (let at = 0; at < leases.length; at += 3) leases[at]?.done();
        if (by === "snapshot") await frontier.snapshot();
        await frontier.flush();
        const { pending, leased } = frontier.report();
        const copied = copyOf(options.directory ?? "");
        await frontier.close();
        frontier = await open({ ...options, directory: copied });
        expect(memoryOf(frontier).used).toBeLessThan(memoryBytes * 1.3);
        expect(memoryOf(frontier).spilled).toBeGreaterThan(urls.length / 4);
        verifyFrontier(frontier);
        expect(frontier.report().pending).toBe(pending + leased);
        const expected = urls.filter((_, at) => at >= 2500 || (at % 3 !== 0 && at !== 5));
        const rest = [...expected, ...(isNew ? urls.slice(0, 2000) : []), urls[5] as string];
        expect(drainAll(frontier).map((line) => line.split(" ")[0])).toEqual(rest);
        verifyFrontier(frontier);
        await frontier.close({ discard: true });
      });
    }
  }
});

/** What a kill would leave: the files as the system has them, without the lock of this process. */
function copyOf(directory: string): string {
  const copy = temporary();
  cpSync(directory, copy, { recursive: true });
  rmSync(join(copy, "default/lock"));
  return copy;
}

describe("the tiered seen-set", () => {
  it("keeps to its bound while the identities in it are those of spilled records", async () => {
    const seen = { memoryBytes: 400_000 };
    const options = { directory: temporary(), memoryBytes: 400_000, seen };
    let frontier = await open(options);
    const hot: number[] = [];
    const urls = urlsOf(0, 60_000);
    for (let start = 0; start < urls.length; start += 1000) {
      frontier.pushMany(urls.slice(start, start + 1000));
      hot.push(seenHot(coreOf(frontier).seen));
    }
    // What is in memory has its identity there; the rest is on disk, but for what a pass has still to move.
    expect(hot.at(-1)).toBeGreaterThan(1_000);
    expect(Math.max(...hot)).toBeLessThan(2 * hotEntriesMax(seen.memoryBytes) + 5_000);
    expect(coreOf(frontier).seen.tiered?.cold.stats().count).toBeGreaterThan(30_000);
    expect(frontier.pushMany(urls.slice(0, 20_000)).duplicate).toBe(20_000);
    expect(frontier.record(urls[30_000] as string)).toMatchObject({ state: "pending" });
    expect(frontier.report()).toMatchObject({ pending: 60_000, seen: 60_000 });
    verifyFrontier(frontier);
    await frontier.close();
    frontier = await open(options);
    expect(frontier.report()).toMatchObject({ pending: 60_000, seen: 60_000 });
    expect(frontier.pushMany(urls.slice(0, 20_000)).duplicate).toBe(20_000);
    expect(drainAll(frontier).map((line) => line.split(" ")[0])).toEqual(urls);
    expect(frontier.pushMany(urls.slice(0, 20_000)).duplicate).toBe(20_000);
    expect(Math.max(seenHot(coreOf(frontier).seen))).toBeLessThan(
      2 * hotEntriesMax(seen.memoryBytes),
    );
    verifyFrontier(frontier);
    await frontier.close({ discard: true });
  });

  it("asks for the journal's sync beside the thread before entries move, and for what was logged before the question alone", async () => {
    const held = heldFiles();
    held.isHolding = false;
    const options = { seen: { memoryBytes: 200_000 }, durability: { everyMs: 1e6 } };
    const { frontier, clock } = await openRig(held.files, createVirtualClock(0), options);
    held.isHolding = true;
    const { beforeMove } = coreOf(frontier).seen.tiered as Tiered;
    const known = async (): Promise<number> => {
      const again = await openRig(killedFiles(held.files), clock, options);
      const { pending } = again.frontier.report();
      await again.frontier.close();
      return pending;
    };
    frontier.pushMany(urlsOf(0, 100));
    const flush = {};
    expect(beforeMove(flush, "beside")).toBe(false);
    frontier.pushMany(urlsOf(100, 200));
    expect(beforeMove(flush, "beside")).toBe(false);
    const full = Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" });
    held.end(full);
    expect(() => beforeMove(flush, "beside")).toThrow(
      expect.objectContaining({ code: "DISK_FULL" }),
    );
    const later = {}; // of the next pass
    expect(beforeMove(later, "beside")).toBe(false);
    frontier.pushMany(urlsOf(200, 250));
    held.end();
    expect(beforeMove(later, "beside")).toBe(true);
    expect(await known()).toBeGreaterThanOrEqual(200);
    frontier.pushMany(urlsOf(250, 300));
    expect(beforeMove({}, "beside")).toBe(false);
    expect(beforeMove({}, "here")).toBe(true);
    expect(await known()).toBe(300);
    held.isHolding = false;
    held.end();
    await frontier.close();
  });

  it("holds nothing any more after a clear, nor after a restart that replays it", async () => {
    const options = { directory: temporary(), seen: { memoryBytes: 200_000 } };
    let frontier = await open(options);
    for (let start = 0; start < 20_000; start += 1000) {
      frontier.pushMany(urlsOf(start, start + 1000));
      frontier.done(frontier.pollMany(1000));
    }
    frontier.clear();
    expect(frontier.pushMany(urlsOf(0, 5000)).accepted).toBe(5000);
    await frontier.close();
    frontier = await open(options);
    expect(frontier.pushMany(urlsOf(0, 5000)).duplicate).toBe(5000);
    expect(frontier.pushMany(urlsOf(5000, 20_000)).accepted).toBe(15_000);
    await frontier.close();
  });

  it("is what a directory brings, and needs one", async () => {
    const frontier = await open({ directory: temporary() });
    expect(frontier.report().seenSet.mode).toBe("tiered");
    await frontier.close();
    await expect(async () => open({ seen: { mode: "tiered" } })).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
  });

  it("knows all it ever admitted and refuses nothing new with a bloom that errs half the time (I3)", async () => {
    const directory = temporary();
    // A bloom for few: with forty times as many every other answer of it is wrong.
    const bloom = { capacity: 1000, falsePositiveRate: 0.5 };
    const seen = { mode: "tiered", memoryBytes: 400_000, ...bloom } as const;
    let frontier = await open({ directory, seen, durability: { everyMs: 100 } });
    for (let start = 0; start < 40_000; start += 1000) {
      expect(frontier.pushMany(urlsOf(start, start + 1000)).accepted).toBe(1000);
      frontier.done(frontier.pollMany(1000));
    }
    expect(readdirSync(join(directory, "default", "seen")).length).toBeGreaterThan(1);
    expect(frontier.pushMany(urlsOf(0, 40_000)).duplicate).toBe(40_000);
    expect(frontier.pushMany(urlsOf(40_000, 50_000)).accepted).toBe(10_000);
    const { coldReads, maybeButNew } = frontier.report().seenSet;
    expect(coldReads).toBeGreaterThan(0);
    expect(maybeButNew).toBeGreaterThan(100);
    expect(frontier.report().seen).toBe(50_000);
    verifyFrontier(frontier);
    await frontier.close();
    frontier = await open({ directory, seen });
    expect(frontier.report().seen).toBe(50_000);
    expect(frontier.pushMany(urlsOf(0, 50_000)).duplicate).toBe(50_000);
    expect(frontier.report().done).toBe(40_000);
    expect(frontier.record("http://host0.test/page/37")).toMatchObject({ state: "done" });
    frontier.forget();
    expect(frontier.pushMany(urlsOf(0, 1000)).accepted).toBe(1000);
    await frontier.close();
    frontier = await open({ directory, seen });
    expect(frontier.pushMany(urlsOf(0, 1000)).duplicate).toBe(1000);
    expect(frontier.pushMany(urlsOf(1000, 2000)).accepted).toBe(1000);
    frontier.clear();
    expect(frontier.pushMany(urlsOf(0, 1000)).accepted).toBe(1000);
    await frontier.close({ discard: true });
    const left = join(directory, "default", "seen");
    expect(existsSync(left) ? readdirSync(left) : []).toEqual([]);
  });
});
