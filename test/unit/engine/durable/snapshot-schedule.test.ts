/**
 * Partial snapshots: when one is written in the place of a whole one, and what an opening finds when a piece of it all is damaged. The
 * rig's snapshots are partial however small they are; random programs with partial ones are in test/model/durable.test.ts.
 */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import type { FrontierOptions } from "../../../../src/engine/types/frontier-options.ts";
import {
  type DurableRig,
  damageOf,
  filePath,
  journalPath,
  killedFiles,
  knownOf,
  openRig,
  turn,
} from "../../../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../support/memory-files.ts";

const COUNT = 1_000;
/** No snapshot is due by itself. */
const OPTIONS: FrontierOptions = { snapshots: { everyBytes: 256_000 } };

function urlsOf(count: number, name = "p"): string[] {
  return Array.from({ length: count }, (_, at) => `https://h${at % 50}.example/${name}/${at}`);
}

/** A frontier with a whole snapshot of COUNT records. */
async function openWithBase(options = OPTIONS): Promise<DurableRig & { files: MemoryFiles }> {
  const files = createMemoryFiles();
  const rig = await openRig(files, createVirtualClock(0), options);
  rig.frontier.pushMany(urlsOf(COUNT));
  await rig.frontier.snapshot();
  return { ...rig, files };
}

function again(
  { files, clock }: DurableRig & { files: MemoryFiles },
  options = OPTIONS,
): Promise<DurableRig> {
  return openRig(killedFiles(files), createVirtualClock(clock.now()), options);
}

function namesOf(files: MemoryFiles, pattern: RegExp): string[] {
  const folder = filePath("");
  return files.names().flatMap((name) => {
    return name.startsWith(folder) && pattern.test(name) ? [name.slice(folder.length)] : [];
  });
}

function damage(files: MemoryFiles, pattern: RegExp): string {
  const [name = ""] = namesOf(files, pattern);
  const path = filePath(name);
  const bytes = files.bytesOf(path).slice();
  bytes[40] = (bytes[40] as number) ^ 255;
  files.setBytes(path, bytes);
  return name;
}

const PARTIAL = /partial\.msgpack$/;
const WHOLE = /\d\.msgpack$/;

describe("a snapshot by hand", () => {
  it("of which one per cent changed writes less than a tenth of a whole one, a hundred times", async () => {
    const rig = await openWithBase();
    const whole = (await rig.frontier.snapshot()).bytes + sizeOf(rig.files, WHOLE);
    let wholes = 0;
    for (let round = 0; round < 100; round++) {
      for (const lease of rig.frontier.pollMany(COUNT / 100)) lease.done();
      rig.frontier.pushMany(urlsOf(COUNT / 100, `round${round}`));
      const { path, bytes, records } = await rig.frontier.snapshot();
      expect(records).toBe(COUNT);
      expect(rig.files.bytesOf(path).length).toBe(bytes);
      if (PARTIAL.test(path)) expect(bytes).toBeLessThan(whole / 10);
      else wholes++;
      expect(sizeOf(rig.files, /msgpack$|log$/)).toBeLessThan(3 * whole);
    }
    expect(wholes).toBeLessThan(12);
    expect(namesOf(rig.files, PARTIAL).length).toBeLessThanOrEqual(1);
    const known = knownOf(rig);
    const copy = await again(rig);
    expect(await damageOf(copy.frontier)).toEqual([]);
    expect(knownOf(copy)).toEqual(known);
  });

  it("is whole where the journal since the last whole one has a quarter of its size", async () => {
    const rig = await openWithBase();
    rig.frontier.pushMany(urlsOf(COUNT / 2, "more"));
    expect((await rig.frontier.snapshot()).path).toMatch(WHOLE);
    expect((await rig.frontier.snapshot()).path).toMatch(PARTIAL);
    rig.frontier.pushMany(urlsOf(COUNT, "evenMore"));
    expect((await rig.frontier.snapshot()).path).toMatch(WHOLE);
    expect(namesOf(rig.files, PARTIAL)).toEqual([]);
  });

  it("counts the journal of earlier runs, and theirs are partial too", async () => {
    const rig = await openWithBase();
    rig.frontier.pushMany(urlsOf(0.38 * COUNT, "more"));
    await rig.frontier.flush();
    const copy = await again(rig);
    expect((await copy.frontier.snapshot()).path).toMatch(PARTIAL);
    copy.frontier.pushMany(urlsOf(COUNT / 5, "evenMore"));
    expect((await copy.frontier.snapshot()).path).toMatch(WHOLE);
  });

  it.each([
    ["is whole", "forget", WHOLE, (rig: DurableRig) => void rig.frontier.forget()],
    ["is whole", "clear", WHOLE, (rig: DurableRig) => rig.frontier.clear()],
    [
      "may be partial",
      "setRules",
      PARTIAL,
      ({ frontier }: DurableRig) =>
        frontier.setRules([{ id: "o", match: { hosts: ["o.example"] } }, { id: "default" }]),
    ],
  ])("%s after %s", async (...[, , kind, change]) => {
    const rig = await openWithBase();
    expect((await rig.frontier.snapshot()).path).toMatch(PARTIAL);
    change(rig);
    for (let turns = 0; turns < 9; turns++) await turn();
    expect((await rig.frontier.snapshot()).path).toMatch(kind);
    rig.frontier.push("https://one.example/");
    const known = knownOf(rig);
    await rig.frontier.flush();
    expect(knownOf(await again(rig))).toEqual(known);
  });

  it.each([
    ["partial", 1],
    ["whole", COUNT / 2],
  ])("loses nothing where the disk refuses a %s one at any step", async (_, count) => {
    let refused = 0;
    for (let step = 1; step <= 20; step++) {
      const rig = await openWithBase();
      rig.frontier.pushMany(urlsOf(count, "more"));
      await rig.frontier.flush();
      rig.files.failAt = rig.files.changes + step;
      await rig.frontier.snapshot().catch(() => refused++);
      rig.files.failAt = Number.POSITIVE_INFINITY;
      const isThere = namesOf(rig.files, WHOLE).length === 2;
      const { path } = await rig.frontier.snapshot();
      if (count > 1 && !isThere) expect(path).toMatch(WHOLE);
      expect(namesOf(rig.files, /tmp$/).filter((name) => /snap/.test(name))).toEqual([]);
      const known = knownOf(rig);
      const copy = await again(rig);
      expect(await damageOf(copy.frontier)).toEqual([]);
      expect(knownOf(copy)).toEqual(known);
    }
    expect(refused).toBeGreaterThan(4);
  });

  it.each([
    ["partial", 1],
    ["whole", COUNT / 2],
  ])("counts each call once, also those between two promises of a %s one", async (_, count) => {
    const rig = await openWithBase();
    rig.frontier.pushMany(urlsOf(count, "more"));
    let isDone = false;
    const written = rig.frontier.snapshot().finally(() => {
      isDone = true;
    });
    let at = 0;
    const push = (): void => void rig.frontier.push(`https://between.example/${at++}`);
    // Waits for the same flush as the snapshot, and goes on beside it.
    const pushBeside = async (): Promise<void> => {
      await rig.frontier.flush();
      for (let step = 0; step < 9; step++, await Promise.resolve()) push();
    };
    while (!isDone) {
      push();
      void pushBeside();
      await turn();
    }
    expect((await written).path).toMatch(count === 1 ? PARTIAL : WHOLE);
    await rig.frontier.flush();
    const known = knownOf(rig);
    const copy = await again(rig);
    expect(await damageOf(copy.frontier)).toEqual([]);
    expect(knownOf(copy)).toEqual(known);
  });

  it("is whole where it is asked to be", async () => {
    const rig = await openWithBase();
    let second: ReturnType<typeof rig.frontier.snapshot> | undefined;
    const { open } = rig.files;
    rig.files.open = (path, flags) => {
      if (path.includes("partial")) second ??= rig.frontier.snapshot({ whole: true });
      return open(path, flags);
    };
    expect((await rig.frontier.snapshot()).path).toMatch(PARTIAL);
    expect((await second)?.path).toMatch(WHOLE); // asked for while the partial one was written
    const [third, fourth] = [rig.frontier.snapshot(), rig.frontier.snapshot({ whole: true })];
    expect([(await third).path, (await fourth).path]).toEqual([
      expect.stringMatching(WHOLE),
      expect.stringMatching(WHOLE),
    ]);
    expect((await rig.frontier.snapshot({ whole: false })).path).toMatch(PARTIAL);
  });

  it("is whole again before segments become many", async () => {
    const rig = await openWithBase();
    let last = "";
    for (let round = 0; round < 300 && !WHOLE.test(last); round++)
      last = (await rig.frontier.snapshot()).path;
    expect(last).toMatch(WHOLE);
    expect(namesOf(rig.files, /log$/).length).toBeLessThan(3 + 256);
  });
});

describe("snapshots.everyMs", () => {
  it("writes a partial one where something changed, and none where nothing did", async () => {
    const options = { snapshots: { everyBytes: 256_000, everyMs: 1_000 } };
    const rig = await openWithBase(options);
    let written = 0;
    rig.frontier.on("snapshot", () => written++);
    for (let round = 0; round < 3; round++) {
      rig.frontier.push(`https://one.example/${round}`);
      await rig.frontier.flush();
      rig.clock.advance(1_000);
      rig.frontier.push(`https://two.example/${round}`);
      for (let turns = 0; turns < 40; turns++) await turn();
      expect(written).toBe(round + 1);
      rig.clock.advance(1_000);
      rig.frontier.push(`https://two.example/${round}`); // known
      for (let turns = 0; turns < 40; turns++) await turn();
      expect(written).toBe(round + 1);
    }
    expect(namesOf(rig.files, PARTIAL)).toHaveLength(1);
    expect(namesOf(rig.files, WHOLE)).toHaveLength(1);
  });
});

describe("an opening after a partial snapshot", () => {
  /** Two whole ones, and a partial one after them. */
  async function openWithPieces(): Promise<DurableRig & { files: MemoryFiles }> {
    const rig = await openWithBase();
    rig.frontier.pushMany(urlsOf(COUNT / 2, "second"));
    expect((await rig.frontier.snapshot()).path).toMatch(WHOLE);
    for (const lease of rig.frontier.pollMany(20)) lease.done();
    expect((await rig.frontier.snapshot()).path).toMatch(PARTIAL);
    rig.frontier.pushMany(urlsOf(20, "last"));
    await rig.frontier.flush();
    return rig;
  }

  it.each([
    ["the partial one", PARTIAL],
    ["the whole one that it continues", /00000003\.msgpack$/],
  ])(
    "loses nothing where %s is damaged, reports it, and writes a whole one next",
    async (_, pattern) => {
      const rig = await openWithPieces();
      const known = knownOf(rig);
      const name = damage(rig.files, pattern);
      const copy = await again(rig);
      expect(await damageOf(copy.frontier)).toEqual([expect.stringContaining(name)]);
      expect(knownOf(copy)).toEqual(known);
      const files = copy.files as MemoryFiles;
      expect(namesOf(files, /damaged$/)).toEqual([`${name}.damaged`]);
      expect((await copy.frontier.snapshot()).path).toMatch(WHOLE);
      const third = await again({ ...copy, files });
      expect(await damageOf(third.frontier)).toEqual([]);
      expect(knownOf(third)).toEqual(known);
    },
  );

  it("needs no partial one", async () => {
    const rig = await openWithPieces();
    const known = knownOf(rig);
    for (const name of namesOf(rig.files, PARTIAL)) rig.files.remove(filePath(name));
    const copy = await again(rig);
    expect(await damageOf(copy.frontier)).toEqual([]);
    expect(knownOf(copy)).toEqual(known);
  });

  it("reports a segment that was cut between two frames", async () => {
    const rig = await openWithPieces();
    const path = journalPath(3);
    rig.files.setBytes(path, rig.files.bytesOf(path).slice(0, 64));
    const copy = await again(rig);
    const found = await damageOf(copy.frontier);
    expect(found).toEqual([
      expect.stringMatching(/partial.*leases: 20 counted before it, 0 in the journal/),
    ]);
    const third = await again({ ...copy, files: copy.files as MemoryFiles });
    expect(await damageOf(third.frontier)).toEqual([]);
  });

  it("sets it aside where the journal ends before it, so that no later segment is compared with it", async () => {
    const rig = await openWithPieces();
    damage(rig.files, /journal-00000003\.log$/);
    const copy = await again(rig);
    expect(await damageOf(copy.frontier)).toHaveLength(1);
    const files = copy.files as MemoryFiles;
    expect(namesOf(files, PARTIAL)).toEqual([]);
    expect(namesOf(files, /partial\.msgpack\.damaged$/)).toHaveLength(1);
  });
});

function sizeOf(files: MemoryFiles, pattern: RegExp): number {
  return namesOf(files, pattern).reduce((sum, name) => {
    return sum + files.bytesOf(filePath(name)).length;
  }, 0);
}
