/**
 * Every call while the disk is full, in mode `sync`: it works and a restart has it, or it throws and has changed nothing, neither here nor
 * for a restart. When the disk has room again, the frontier goes on, and what waited for room is written.
 */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import type { Random } from "../../src/base/random.ts";
import { createRandom } from "../../src/base/random.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import type { FrontierOptions, Lease } from "../../src/index.ts";
import { act, optionsOf } from "../support/durable-program.ts";
import {
  type DurableRig,
  type Known,
  killedFiles,
  knownOf,
  openRig,
} from "../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "../support/memory-files.ts";
import { stressRounds, testSeed } from "../support/seed.ts";

const EPISODES = 6;
const CALLS = 14;

interface FullRig extends DurableRig {
  readonly files: MemoryFiles;
}

/** No file can grow from now on; the journal's last one has room that was reserved, which pushes take. */
function fillDisk({ files, frontier }: FullRig, episode: number): void {
  files.capacity = files.names().reduce((sum, name) => sum + files.bytesOf(name).length, 0);
  for (let at = 0; at < 400; at++) {
    const text = "x".repeat(1_500);
    const urls = Array.from(
      { length: 4 },
      (_, n) => `https://full${at}.example/${episode}/${n}/${text}`,
    );
    if (frontier.pushMany(urls).full > 0) return;
  }
  expect.unreachable("the disk is full");
}

/** Without what only flushes write: the state, and totals that no entry of a record holds. */
function changesOf({ counters, state, ...rest }: Known): unknown {
  const { pushed, full, duplicate, rejected, lateResults, expired, ...changes } = counters;
  return { changes, ...rest };
}

/** What a call acknowledges: that something was handed out may wait for the next flush. */
function essenceOf({ counters, records, finished }: Known): unknown {
  const { accepted, deferred, done, failed, forgotten, removed } = counters;
  return {
    ...{ accepted, deferred, done, failed, forgotten, removed, finished },
    records: records.map(({ url, state, priority }) => ({ url, state, priority })),
  };
}

/** What a kill would leave, opened on a disk with room. */
async function survivors({ files, clock }: FullRig, options: FrontierOptions): Promise<Known> {
  const again = await openRig(killedFiles(files), createVirtualClock(clock.now()), options);
  verifyFrontier(again.frontier);
  const known = knownOf(again);
  await again.frontier.close();
  return known;
}

/** One call; whether the disk refused it. */
function tryToAct(rig: FullRig, random: Random, held: Lease[]): boolean {
  rig.frontier.report(); // what is due has come
  const before = knownOf(rig);
  try {
    act(rig, random, held);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: "DISK_FULL" });
    expect(changesOf(knownOf(rig))).toEqual(changesOf(before));
    return true;
  } finally {
    verifyFrontier(rig.frontier);
  }
}

describe("a full disk", () => {
  const seed = testSeed("full-disk");
  for (let round = 0; round < stressRounds(6, 0.1, 2); round++) {
    it(`has every call work for good or change nothing, program ${seed + round}`, async () => {
      const random = createRandom(seed + round);
      const { capacity, ...some } = optionsOf(random) as FrontierOptions;
      const options = { ...some, durability: "sync" as const, keepOpen: true };
      const files = createMemoryFiles();
      const { frontier, clock } = await openRig(
        files,
        createVirtualClock(1_700_000_000_000),
        options,
      );
      const rig = { frontier, clock, files };
      const held: Lease[] = [];
      let refused = 0;
      for (let episode = 0; episode < EPISODES; episode++) {
        for (let call = 0; call < CALLS; call++) act(rig, random, held);
        fillDisk(rig, episode);
        for (let call = 0; call < CALLS; call++) if (tryToAct(rig, random, held)) refused++;
        expect(essenceOf(await survivors(rig, options))).toEqual(essenceOf(knownOf(rig)));
        files.capacity = Number.POSITIVE_INFINITY;
        frontier.push(`https://room.example/${episode}`);
        expect(changesOf(await survivors(rig, options))).toEqual(changesOf(knownOf(rig)));
      }
      expect(refused).toBeGreaterThan(0);
      await frontier.close();
    });
  }
});
