/** Blocks of hosts in a snapshot where they cannot go to disk again: the hosts are in memory then, and nothing else differs. */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { FrontierError } from "../../../../src/base/errors.ts";
import { LocalFrontier } from "../../../../src/engine/api/local-frontier.ts";
import { coreOf, verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import { openSpillTier } from "../../../../src/persistence/spill/spill-files.ts";
import type { SpillTier } from "../../../../src/structures/storage-tiers.ts";
import { knownOf, rigSettings } from "../../../support/durable-rig.ts";
import { readGolden } from "../../../support/golden-files.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";

/** What recover.golden.test.ts wrote: 81 pending URLs on 20 hosts that are on disk. */
const FOLDER = fileURLToPath(new URL("../../../golden/durable-3/", import.meta.url));
const POLITE = { defaults: { politeness: { delayMs: 700 } } };

/** Opens the files with a tier that takes so many blocks and pieces. */
async function openWith(writes: number): Promise<{ known: object; spilled: number }> {
  const directory = "/spill";
  const real = openSpillTier({ directory, files: createMemoryFiles(), segmentBytes: 4096 });
  let left = writes;
  const tier: SpillTier = {
    ...real,
    write(bytes) {
      if (left-- <= 0) throw new FrontierError("DISK_FULL", "spill: full");
      return real.write(bytes);
    },
  };
  const files = readGolden(FOLDER);
  const clock = createVirtualClock(1_000);
  const settings = rigSettings(files, clock, POLITE, true);
  const frontier = await LocalFrontier.open({ ...settings, spill: { tier, blockLeast: 1 } });
  verifyFrontier(frontier);
  const { hosts } = coreOf(frontier);
  const answer = {
    known: knownOf({ frontier, files, clock }),
    spilled: hosts.spilled,
  };
  await frontier.close({ discard: true });
  return answer;
}

it("a disk that is full leaves its hosts in memory, whichever write it refuses", async () => {
  const whole = await openWith(Number.POSITIVE_INFINITY);
  expect(whole.spilled).toBeGreaterThan(10);
  for (let writes = 0; writes < 12; writes++) {
    const { known, spilled } = await openWith(writes);
    expect(known).toEqual(whole.known);
    if (writes === 0) expect(spilled).toBe(0);
  }
});
