/**
 * Power cuts from one seed: the engine on a disk that forgets or tears unsynced bytes, cut at any call that changes the disk: in frames,
 * rotations, snapshots, locks. Everything flushed is recovered, and no page lacks its children.
 */
import { expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { childrenOf, faultsOf, SEEDS } from "../support/crash-load.mjs";
import { type DurableRig, openRig, withoutLock } from "../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles, PowerCut } from "../support/memory-files.ts";
import { stressRounds, testSeed } from "../support/seed.ts";

const CUTS = stressRounds(100, 8);
/** Number of directories; the disk fails once in each. */
const LIVES = stressRounds(25, 4);

test("a power cut at any call of the disk loses nothing that was flushed", async () => {
  const seed = testSeed("disk");
  const random = createRandom(seed);
  let files = createMemoryFiles();
  const said = { accepted: new Set<string>(), done: new Set<string>() };
  for (let cut = 0; cut < CUTS; cut++) {
    files.cutAt = files.changes + 5 + random.below(120);
    const mode = random.below(2) === 0 ? "sync" : "group";
    await work(files, mode, { random, said });
    files = withoutLock(files.afterCut(random));
    const rig = await openRig(files, createVirtualClock(cut));
    verifyFrontier(rig.frontier);
    expect(faultsOf(rig.frontier, said), `SEED=${seed} cut ${cut}`).toEqual([]);
    await rig.frontier.close();
  }
}, 600_000);

test.each([false, true])(
  "a failed sync that drops its unwritten bytes loses nothing that was flushed (tight: %s)",
  async (isTight) => {
    const seed = testSeed(`dropped ${isTight}`);
    const random = createRandom(seed);
    let files = createMemoryFiles();
    const said = { accepted: new Set<string>(), done: new Set<string>() };
    let drops = 0;
    for (let cut = 0; cut < LIVES; cut++) {
      files.dropAt = files.changes + 1 + random.below(100);
      files.cutAt = files.changes + 20 + random.below(150);
      const mode = random.below(2) === 0 ? "sync" : "group";
      await work(files, mode, { random, said, isTight, mayFail: true });
      if (files.dropAt === Number.POSITIVE_INFINITY) drops++;
      files = withoutLock(files.afterCut(random));
      const rig = await openRig(files, createVirtualClock(cut), {}, isTight);
      verifyFrontier(rig.frontier);
      expect(faultsOf(rig.frontier, said), `SEED=${seed} cut ${cut}`).toEqual([]);
      await rig.frontier.close();
    }
    console.log(`${drops} waits failed in ${LIVES} lives`);
  },
  600_000,
);

interface Work {
  readonly random: Random;
  readonly said: { accepted: Set<string>; done: Set<string> };
  /** Moves everything out of memory that may leave it. */
  readonly isTight?: boolean;
  /** The disk may refuse a call; that call then does not count as flushed. */
  readonly mayFail?: boolean;
}

/** Works until the power fails. */
async function work(
  files: MemoryFiles,
  mode: "sync" | "group",
  { random, said, isTight, mayFail = false }: Work,
): Promise<void> {
  const refused = (error: unknown): void => {
    if (!mayFail || isCut(error) || (error as { code?: string }).code !== "DISK_FAILED")
      throw error;
  };
  try {
    const durability = mode === "sync" ? ("sync" as const) : { everyMs: 10 };
    const rig = await openRig(files, createVirtualClock(0), { durability }, isTight).catch(
      (error: unknown) => {
        if (!mayFail || isCut(error)) throw error;
      },
    );
    if (rig === undefined) return; // refused: another life tries again
    const fresh = { accepted: [] as string[], done: [] as string[] };
    try {
      const { full } = rig.frontier.pushMany(SEEDS);
      if (full === 0) fresh.accepted.push(...SEEDS);
    } catch (error) {
      refused(error);
    }
    for (let call = 0; call < 400; call++) {
      try {
        step(rig, random, fresh);
        if (random.below(30) === 0) await rig.frontier.snapshot();
        if (mode === "group" && random.below(4) > 0) continue;
        if (mode === "group") await rig.frontier.flush();
      } catch (error) {
        refused(error);
        continue;
      }
      for (const url of fresh.accepted.splice(0)) said.accepted.add(url);
      for (const url of fresh.done.splice(0)) said.done.add(url);
    }
    await rig.frontier.close();
  } catch (error) {
    if (!isCut(error)) throw error;
  }
}

/** The journal's error names the disk; the cut is its cause. */
function isCut(error: unknown): boolean {
  const { details } = error as { details?: { cause?: unknown } };
  return error instanceof PowerCut || details?.cause instanceof PowerCut;
}

function step(
  { frontier }: DurableRig,
  random: Random,
  fresh: { accepted: string[]; done: string[] },
): void {
  for (const lease of frontier.pollMany(1 + random.below(3))) {
    const found = childrenOf(lease.url);
    if (random.below(5) === 0) {
      lease.retry();
      continue;
    }
    lease.done({ found });
    fresh.done.push(lease.url);
    fresh.accepted.push(...found);
  }
}
