/** Seeds of rules on their way in: an end of the process at any moment, by itself or not, forgets none and doubles none. */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import type { LocalFrontier } from "../../../../src/engine/api/local-frontier.ts";
import type { FrontierOptions, Rule } from "../../../../src/engine/types/frontier-types.ts";
import {
  killedFiles,
  openMemoryRig,
  openRig,
  type VirtualClock,
} from "../../../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../support/memory-files.ts";

const RULES: Rule[] = [
  { id: "few", seeds: ["http://few.test/[1-3]"], match: { hosts: ["few.test"] } },
  { id: "many", seeds: ["http://many.test/[1-1200]"], match: { hosts: ["many.test"] } },
  { id: "last", seeds: ["http://last.test/[1-700]"], match: { hosts: ["last.test"] } },
];
const COUNT = 3 + 1200 + 700;

interface Opened {
  readonly files: MemoryFiles;
  readonly frontier: LocalFrontier;
  readonly clock: VirtualClock;
}

/** Visits all there is, or so many; slices of seeds come in between. */
function visitAll({ frontier, clock }: Opened, most = Number.POSITIVE_INFINITY): string[] {
  const visited: string[] = [];
  while (visited.length < most) {
    const leases = frontier.pollMany(Math.min(400, most - visited.length));
    clock.advance(0); // what is due at once: the next slice
    if (leases.length === 0) break;
    visited.push(...leases.map(({ url }) => url));
    frontier.done(leases);
  }
  return visited;
}

/** A frontier in the directory of some files, as a process opens it that finds them. */
async function open(files: MemoryFiles, clock: VirtualClock, options: FrontierOptions) {
  const { frontier } = await openRig(files, clock, options);
  return { files, frontier, clock };
}

/** The next process, after this one was killed. */
async function reopen({ files, frontier, clock }: Opened, options: FrontierOptions) {
  await frontier.flush();
  return open(killedFiles(files), clock, options);
}

describe("seeds of rules", () => {
  it.each([0, 100, 650, 1_203, 1_500, COUNT])(
    "come each once over two processes that were killed, after %i visits together",
    async (visits) => {
      // Where there is room for 600, the others are still on their way in.
      const options = { rules: RULES, durability: "sync", capacity: 600 } as const;
      let opened = await open(createMemoryFiles(), createVirtualClock(1_000), options);
      const visited: string[] = [];
      for (let life = 0; life < 2; life++) {
        visited.push(...visitAll(opened, Math.ceil(visits / 2)));
        opened = await reopen(opened, options);
      }
      visited.push(...visitAll(opened));
      expect([visited.length, new Set(visited).size]).toEqual([COUNT, COUNT]);
      expect(opened.frontier.report()).toMatchObject({ done: COUNT, pending: 0, accepted: COUNT });
      await opened.frontier.close();
    },
  );

  it("go on after a close, and in a frontier opened from a snapshot", async () => {
    const clock = createVirtualClock(1_000);
    const first = await open(createMemoryFiles(), clock, { rules: RULES });
    const visited = visitAll(first, 10);
    await first.frontier.close();
    visited.push(...visitAll(await open(first.files, clock, { rules: RULES })));
    expect([visited.length, new Set(visited).size]).toEqual([COUNT, COUNT]);

    const files = createMemoryFiles();
    const early = await openMemoryRig(files, clock, { rules: RULES });
    const { path } = await early.frontier.snapshot({ path: "/early" });
    const { frontier } = await openMemoryRig(files, clock, { rules: RULES, from: path });
    expect(visitAll({ files, frontier, clock })).toHaveLength(COUNT);
  });

  it("that come again start none anew that was visited in this round, and miss none", async () => {
    const rules: Rule[] = RULES.map((rule) => ({ ...rule, every: 60_000 }));
    const options = { rules, durability: "sync", capacity: 300 } as const;
    let opened = await open(createMemoryFiles(), createVirtualClock(1_000), options);
    expect(visitAll(opened)).toHaveLength(COUNT);
    for (const visits of [0, 300, 650, 1_250]) {
      opened.clock.advance(60_000);
      const visited = visitAll(opened, visits);
      opened = await reopen(opened, options);
      visited.push(...visitAll(opened));
      expect([visited.length, new Set(visited).size]).toEqual([COUNT, COUNT]);
    }
  });

  it("wait for room, also over processes that were killed", async () => {
    const options = { rules: RULES, durability: "sync", capacity: 50 } as const;
    let opened = await open(createMemoryFiles(), createVirtualClock(1_000), options);
    const visited: string[] = [];
    for (let life = 0; life < 6; life++) {
      visited.push(...visitAll(opened, 333));
      opened = await reopen(opened, options);
    }
    visited.push(...visitAll(opened));
    expect([visited.length, new Set(visited).size]).toEqual([COUNT, COUNT]);
  });

  it("of a rule that is gone at the next opening are let go, and the others come", async () => {
    const options = { rules: RULES, durability: "sync" } as const;
    let opened = await open(createMemoryFiles(), createVirtualClock(1_000), options);
    const visited = visitAll(opened, 10);
    const kept = RULES.filter(({ id }) => id !== "many");
    opened = await reopen(opened, { ...options, rules: kept });
    visited.push(...visitAll(opened));
    expect(visited.filter((url) => url.startsWith("http://last.test/"))).toHaveLength(700);
    opened = await reopen(opened, { ...options, rules: kept });
    expect(visitAll(opened)).toEqual([]);
  });

  it("come in while the disk is full, and nothing is thrown out of a timer", async () => {
    const rules: Rule[] = [{ id: "many", seeds: ["http://many.test/[1-5000]"] }];
    const options = { rules, durability: "sync", capacity: 4_000 } as const;
    const opened = await open(createMemoryFiles(), createVirtualClock(1_000), options);
    const { clock, files, frontier } = opened;
    const faults: string[] = [];
    frontier.on("error", ({ kind }) => faults.push(kind));
    clock.advance(0);
    const leases = frontier.pollMany(3_000);
    frontier.done(leases); // there is room for as many
    files.capacity = 0;
    clock.advance(0);
    expect(faults).toContain("disk");
    files.capacity = Number.POSITIVE_INFINITY;
    const urls = [...leases.map(({ url }) => url), ...visitAll(opened)];
    expect([urls.length, new Set(urls).size]).toEqual([5_000, 5_000]);
  });

  it("that find memory full are pushed again in a second, not at once for ever", async () => {
    const clock = createVirtualClock(1_000);
    const { schedule } = clock;
    let turns = 0;
    clock.schedule = (at, run) => {
      if (++turns > 10_000) throw new Error("no end of it");
      return schedule(at, run);
    };
    const long = "a".repeat(1_500); // so that memory is full soon
    const rules: Rule[] = [{ id: "many", seeds: [`http://many.test/${long}/[1-200000]`] }];
    const files = createMemoryFiles();
    const { frontier } = await openMemoryRig(files, clock, { rules });
    clock.advance(0);
    const { pending } = frontier.report();
    expect(pending).toBeLessThan(200_000);
    for (let round = 0; round < 10; round++) frontier.done(frontier.pollMany(2_000));
    clock.advance(1_000);
    expect(frontier.report().accepted).toBeGreaterThan(pending);
  });
});
