/**
 * The machine's clock is set between two runs of a directory, back or ahead: what was pushed comes back, what is done stays done,
 * generations follow their serials and not their times, and what waits does so until the clock says its time (docs/guides/embedding.md).
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { createRandom } from "../../../../src/base/random.ts";
import { openFrontier } from "../../../../src/index.ts";
import { testSeed } from "../../../support/seed.ts";

const DAY = 86_400_000;
const DELAY = 1_000;
const RUNS = 12;
const folder = mkdtempSync(join(tmpdir(), "outrider-clocks-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const OPTIONS = {
  defaults: { politeness: { delayMs: DELAY } },
  snapshots: { keep: 2, everyMs: 10_000 * DAY },
} as const;

describe("a directory whose clock is set between its runs", () => {
  it.each(["sync", "none"] as const)(
    "loses nothing and repeats nothing done (%s)",
    async (mode) => {
      const random = createRandom(testSeed("clocks"));
      const directory = join(folder, mode);
      const done = new Set<string>();
      const pushed: string[] = [];
      let wall = 1_000 * DAY;
      let latest = wall;
      let path = "";
      for (let run = 0; run < RUNS; run++) {
        const clock = createVirtualClock(wall);
        const frontier = await openFrontier({ ...OPTIONS, directory, clock, durability: mode });
        const urls = [0, 1, 2, 3].map((at) => `http://${random.below(5)}.test/${run}/${at}`);
        expect(frontier.pushMany(urls).accepted).toBe(urls.length);
        pushed.push(...urls);
        for (let turn = 0; turn < 6; turn++) {
          const lease = frontier.poll();
          if (lease !== undefined && random.below(3) === 0) lease.retry({ delayMs: DAY });
          else if (lease !== undefined && random.below(3) > 0) {
            expect(done.has(lease.url)).toBe(false);
            expect(lease.done().late).toBe(false);
            done.add(lease.url);
          }
          clock.advance(DELAY);
        }
        if (random.below(2) === 0) path = (await frontier.snapshot()).path;
        await frontier.close();
        const newest = readdirSync(join(directory, "default")).filter((name) => /^snap/.test(name));
        if (path !== "") expect(path).toContain(newest.sort().at(-1));
        expect(newest.length).toBeLessThanOrEqual(OPTIONS.snapshots.keep);
        latest = Math.max(latest, clock.now());
        wall = clock.now() + (random.below(7) - 3) * 100 * DAY;
      }
      // Set right at last: all that waits is due two days after the latest time that any run has seen.
      const clock = createVirtualClock(latest + 2 * DAY);
      const frontier = await openFrontier({ ...OPTIONS, directory, clock });
      for (let turn = 0; turn < RUNS * 8; turn++) {
        for (let lease = frontier.poll(); lease !== undefined; lease = frontier.poll()) {
          expect(done.has(lease.url)).toBe(false);
          lease.done();
          done.add(lease.url);
        }
        clock.advance(DELAY);
      }
      expect([...done].sort()).toEqual(pushed.sort());
      expect(frontier.report()).toMatchObject({ pending: 0, waiting: 0, leased: 0, failed: 0 });
      await frontier.close();
    },
  );
});
