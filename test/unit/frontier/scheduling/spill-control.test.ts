import { expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { LocalFrontier } from "../../../../src/engine/api/local-frontier.ts";
import { coreOf, verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import { normalizeOptions } from "../../../../src/engine/options/normalize-options.ts";
import { SPILL_PER_CALL } from "../../../../src/frontier/scheduling/spill-control.ts";
import { heldBytes, type Spilling } from "../../../../src/frontier/scheduling/spill-state.ts";
import { openSpillTier } from "../../../../src/persistence/spill/spill-files.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";

const MEMORY_BYTES = 16 * 2 ** 20;
/** Few enough for one batch. */
const BATCH = 100;
const HOSTS = 80_000;

it("sends hosts and records pushed to them to disk in parts, and keeps to its bound all the same (I3)", () => {
  const clock = createVirtualClock(1_700_000_000_000);
  const options = { clock, seed: 1, memoryBytes: MEMORY_BYTES };
  const defaults = { politeness: { delayMs: 1 } };
  const settings = normalizeOptions({ ...options, defaults } as object);
  const tier = openSpillTier({ directory: "/spill", files: createMemoryFiles() });
  const frontier = new LocalFrontier({ ...settings, spill: { tier } });
  const spilling = coreOf(frontier).spilling as Spilling;
  let longest = 0;
  let highest = 0;
  // Each host comes five times: once by itself, then to what is on disk.
  for (let from = 0; from < 5 * HOSTS; from += BATCH) {
    const before = spilling.spill.written;
    frontier.pushMany(
      Array.from({ length: BATCH }, (_, at) => `http://h${((from + at) * 7) % HOSTS}.test/${from}`),
    );
    longest = Math.max(longest, spilling.spill.written - before);
    highest = Math.max(highest, heldBytes(spilling));
  }
  expect(spilling.spill.written).toBeGreaterThan(2 * HOSTS);
  expect(spilling.away.added).toBeGreaterThan(0);
  expect(longest).toBeLessThanOrEqual(1.5 * SPILL_PER_CALL);
  expect(highest).toBeLessThan(1.05 * MEMORY_BYTES);
  verifyFrontier(frontier as never);
});
