/**
 * A frontier in memory, written to a file while random programs run on it, against the frontier that comes from the file: in
 * memory again, or in a directory. Everything must be equal at the moment at which the file was whole.
 */
import { expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom } from "../../src/base/random.ts";
import type { Lease } from "../../src/engine/types/frontier-types.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { act, optionsOf } from "../support/durable-program.ts";
import {
  killedFiles,
  type Known,
  knownOf,
  openMemoryRig,
  openRig,
  turn,
} from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";
import { stressRounds, testSeed } from "../support/seed.ts";

const PROGRAMS = stressRounds(2, 1);
const CALLS = 120;

test("a frontier in memory comes back from a file as it was when the file was whole", async () => {
  const seed = testSeed("alone");
  for (let program = 0; program < PROGRAMS; program++) {
    await run(seed + program).catch((error: unknown) => {
      throw new Error(`SEED=${seed + program}: ${(error as Error).message}`, { cause: error });
    });
  }
});

async function run(seed: number): Promise<void> {
  const random = createRandom(seed);
  const options = optionsOf(random);
  const files = createMemoryFiles();
  let clock = createVirtualClock(1_000);
  let rig = await openMemoryRig(files, clock, options);
  let held: Lease[] = [];
  let wholeAt: Known | undefined;
  const { rename } = files;
  files.rename = (from, to) => {
    if (to === "/alone") wholeAt = knownOf(rig, true);
    rename(from, to);
  };
  for (let call = 0; call < CALLS; call++) {
    act(rig, random, held);
    if (random.below(12) > 0) continue;
    let isDone = false;
    const writing = rig.frontier.snapshot({ path: "/alone" }).finally(() => {
      isDone = true;
    });
    // Not for ever: forget and clear make it begin anew, up to eight times.
    for (let calls = 0; !isDone && calls < 60; calls++) {
      act(rig, random, held);
      await turn();
    }
    await writing;
    const now = createVirtualClock(clock.now());
    const from = { ...options, from: "/alone" };
    const copy = await openMemoryRig(files, now, from);
    verifyFrontier(copy.frontier);
    expect(knownOf(copy, true)).toEqual(wholeAt);
    if (random.below(2) === 0)
      await throughDirectory(files, from, { known: knownOf(copy), nowMs: now.now() });
    if (random.below(2) === 0) continue;
    await rig.frontier.close();
    rig = copy;
    clock = now;
    held = [];
  }
  await rig.frontier.close();
}

/** The file begins a directory, which is killed, and opened once more without the file. */
async function throughDirectory(
  files: ReturnType<typeof createMemoryFiles>,
  options: { from: string },
  { known, nowMs }: { known: Known; nowMs: number },
): Promise<void> {
  const place = killedFiles(files);
  const rig = await openRig(place, createVirtualClock(nowMs), options);
  await expect(openRig(killedFiles(place), createVirtualClock(nowMs), options)).rejects.toThrow(
    expect.objectContaining({ code: "OPTION_INVALID" }),
  );
  expect(knownOf(rig)).toEqual(known);
  const { from: _from, ...without } = options;
  const again = await openRig(killedFiles(place), createVirtualClock(nowMs), without);
  expect(knownOf(again)).toEqual(known);
  await again.frontier.close();
  await rig.frontier.close();
}
