import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { LocalFrontier } from "../../../../src/engine/api/local-frontier.ts";
import { normalizeOptions } from "../../../../src/engine/options/normalize-options.ts";
import type { FrontierOptions } from "../../../../src/engine/types/frontier-types.ts";
import { verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import { type Files, nodeFiles } from "../../../../src/persistence/files.ts";

const directories: string[] = [];

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "records-"));
  directories.push(directory);
  return directory;
}

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function openFull(
  directory: string,
  clock = createVirtualClock(1_000),
  options: FrontierOptions = {},
): Promise<LocalFrontier> {
  const given = { directory, clock, records: "full" as const, keepOpen: true, ...options };
  return LocalFrontier.open(normalizeOptions(given));
}

describe("records: 'full'", () => {
  it("tells url, data, parent, times and the trail of a record, done or not, and after a restart", async () => {
    const directory = temporary();
    const clock = createVirtualClock(1_000);
    const frontier = await openFull(directory, clock);
    frontier.push({ url: "https://a.example/", data: { x: 1 }, priority: 3 });
    clock.advance(5);
    const lease = frontier.poll();
    clock.advance(5);
    lease?.done({ found: ["https://a.example/child"] });
    const story = frontier.record("https://a.example/");
    expect(story).toEqual({
      ...{ state: "done", attempts: 1, depth: 0, url: "https://a.example/", host: "a.example" },
      ...{ rule: "default", priority: 3, deliveries: 1, data: { x: 1 } },
      times: { admittedAt: 1_000, leasedAt: 1_005, finishedAt: 1_010 },
      trail: [
        { state: "pending", atMs: 1_000 },
        { state: "leased", atMs: 1_005 },
        { state: "done", atMs: 1_010 },
      ],
    });
    const child = frontier.record("https://a.example/child");
    expect(child).toMatchObject({ state: "pending", parent: lease?.fingerprint, depth: 1 });
    expect(child?.trail).toEqual([{ state: "pending", atMs: 1_010 }]);
    await frontier.close();
    const again = await openFull(directory, createVirtualClock(9_000));
    expect(again.record("https://a.example/")).toEqual(story);
    expect(again.record("https://a.example/child")).toEqual(child);
    await again.close({ discard: true });
    expect((await openFull(directory)).record("https://a.example/")).toBe(undefined);
  });

  it("keeps the last 16 steps of a trail, in order", async () => {
    const clock = createVirtualClock(0);
    const frontier = await openFull(temporary(), clock, { maxDeliveries: 100 });
    frontier.push("https://a.example/");
    for (let round = 0; round < 12; round++) {
      clock.advance(1);
      frontier.poll()?.release();
    }
    const trail = frontier.record("https://a.example/")?.trail ?? [];
    expect(trail.length).toBe(16);
    expect(trail.map(({ atMs }) => atMs)).toEqual([
      5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12,
    ]);
    expect(trail.slice(-2).map(({ state }) => state)).toEqual(["leased", "pending"]);
    await frontier.close();
  });

  it("asks for done records again, all of them or those of a rule or a host", async () => {
    const directory = temporary();
    const rules = [{ id: "a", match: { hosts: ["a.example"] } }, { id: "rest" }];
    let frontier = await openFull(directory, createVirtualClock(0), { rules });
    frontier.push({ url: "https://a.example/1", data: "mine", method: "POST", body: "x" });
    frontier.pushMany(["https://a.example/2", "https://b.example/3"]);
    frontier.done(frontier.pollMany(3));
    frontier.push("https://b.example/4");
    await frontier.close();
    frontier = await openFull(directory, createVirtualClock(0), { rules });
    expect([...frontier.records({ state: "done" })].map(({ url }) => url).sort()).toEqual([
      "https://a.example/1",
      "https://a.example/2",
      "https://b.example/3",
    ]);
    expect(frontier.requeue({ state: "done", rule: "a" })).toBe(2);
    expect(frontier.report()).toMatchObject({ pending: 3, done: 1, forgotten: 2, seen: 4 });
    verifyFrontier(frontier);
    expect(frontier.push("https://a.example/2").status).toBe("duplicate");
    const leases = frontier.pollMany(5);
    expect(leases.map(({ url }) => url).sort()).toEqual([
      "https://a.example/1",
      "https://a.example/2",
      "https://b.example/4",
    ]);
    const first = leases.find(({ url }) => url.endsWith("/1"));
    expect(first).toMatchObject({ data: "mine", method: "POST", attempt: 1 });
    expect(frontier.requeue({ state: "done", host: "b.example" })).toBe(1);
    await frontier.close();
    const again = await openFull(directory, createVirtualClock(0), { rules });
    expect(again.report()).toMatchObject({ pending: 4, done: 0 });
    await again.close();
  });

  it("requeues a done record at its own priority: its depth counts once", async () => {
    const defaults = { depthPriority: 3 };
    const frontier = await openFull(temporary(), undefined, { defaults });
    frontier.push({ url: "https://a.example/1", depth: 4 });
    frontier.push({ url: "https://a.example/2", depth: 4, priority: 50 });
    frontier.done(frontier.pollMany(2));
    expect(frontier.requeue({ state: "done" })).toBe(2);
    expect(frontier.pollMany(2).map(({ url, depth, priority }) => [url, depth, priority])).toEqual([
      ["https://a.example/2", 4, 38],
      ["https://a.example/1", 4, -12],
    ]);
    await frontier.close();
  });

  it("lists done URLs that come again beside those that do not, with their histories", async () => {
    const directory = temporary();
    const options = { defaults: { epoch: { every: "1h" } } } as const;
    let frontier = await openFull(directory, createVirtualClock(0), options);
    frontier.pushMany(["https://a.example/1", "https://b.example/2", "https://a.example/3"]);
    frontier.done(frontier.pollMany(2));
    frontier.put("https://a.example/4");
    for (let round = 0; round < 2; round++) {
      const done = [...frontier.records({ state: "done" })];
      expect(done.map(({ url }) => url).sort()).toEqual([
        "https://a.example/1",
        "https://a.example/4",
        "https://b.example/2",
      ]);
      for (const view of done) expect(view).toEqual(frontier.record(view.url as string));
      const [only, ...others] = frontier.records({ state: "done", host: "b.example" });
      expect([only?.trail?.length, others]).toEqual([3, []]);
      await frontier.close();
      frontier = await openFull(directory, createVirtualClock(0), options);
    }
    expect(frontier.requeue({ state: "done" })).toBe(3);
    expect([...frontier.records({ state: "done" })]).toEqual([]);
    await frontier.close();
  });

  it("catches up with a journal that was ahead of it when the process was killed", async () => {
    const directory = temporary();
    const clock = createVirtualClock(7);
    const frontier = await openFull(directory, clock, { durability: "sync" });
    const urls = Array.from({ length: 2_000 }, (_, at) => `https://h${at % 3}.example/${at}`);
    frontier.pushMany(urls);
    frontier.done(frontier.pollMany(500));
    // The journal has all of it, the store nothing yet: its slices come with later turns.
    const copy = temporary();
    copyJournal(directory, copy);
    const again = await openFull(copy, createVirtualClock(50));
    expect(again.record(urls[10] as string)).toEqual(frontier.record(urls[10] as string));
    expect(again.requeue({ state: "done" })).toBe(500);
    await again.close();
    await frontier.close();
  });

  it("forgets with the frontier: one epoch, a generation, everything", async () => {
    const directory = temporary();
    const frontier = await openFull(directory);
    frontier.push({ url: "https://a.example/1", epoch: "x" });
    frontier.push("https://a.example/2");
    frontier.done(frontier.pollMany(2));
    frontier.forget({ epoch: "x" });
    expect([...frontier.records({ state: "done" })].map(({ url }) => url)).toEqual([
      "https://a.example/2",
    ]);
    await frontier.flush();
    frontier.forget();
    expect([...frontier.records({ state: "done" })]).toEqual([]);
    frontier.push("https://a.example/2");
    frontier.poll()?.done();
    frontier.clear();
    frontier.push("https://a.example/3");
    expect(frontier.record("https://a.example/3")?.trail).toHaveLength(1);
    await frontier.close();
    const again = await openFull(directory);
    expect(again.requeue({ state: "done" })).toBe(0);
    expect(again.record("https://a.example/3")?.trail).toHaveLength(1);
    await again.close();
  });

  it("keeps all stories where the disk refuses that everything goes", async () => {
    let isFull = false;
    const files: Files = {
      ...nodeFiles,
      sync(file) {
        if (isFull) throw Object.assign(new Error("EIO"), { code: "EIO" });
        nodeFiles.sync(file);
      },
    };
    const given = { directory: temporary(), records: "full" as const, keepOpen: true };
    const frontier = await LocalFrontier.open({ ...normalizeOptions(given), files });
    frontier.push("https://a.example/1");
    frontier.poll()?.done();
    await frontier.flush();
    isFull = true;
    expect(() => frontier.clear()).toThrow(expect.objectContaining({ code: "DISK_FAILED" }));
    isFull = false;
    expect(frontier.record("https://a.example/1")?.trail).toHaveLength(3);
    expect(frontier.requeue({ state: "done" })).toBe(1);
    await frontier.close();
  });

  it("is refused without a directory, and done records are not found without it", async () => {
    await expect(
      (async () => LocalFrontier.open(normalizeOptions({ records: "full" })))(),
    ).rejects.toMatchObject({ code: "OPTION_INVALID" });
    const frontier = await LocalFrontier.open(normalizeOptions({}));
    for (const call of [
      () => frontier.requeue({ state: "done" }),
      () => frontier.records({ state: "done" }),
    ]) {
      expect(call).toThrow(expect.objectContaining({ code: "UNSUPPORTED" }));
    }
    await frontier.close();
  });
});

/** The journal as a kill leaves it, and nothing else. */
function copyJournal(from: string, to: string): void {
  const place = join(to, "default");
  nodeFiles.makeDirectory(place);
  for (const name of nodeFiles.list(join(from, "default"))) {
    if (!name.startsWith("journal")) continue;
    const source = join(from, "default", name);
    nodeFiles.link(source, join(place, name));
    expect(existsSync(join(place, name))).toBe(true);
  }
}
