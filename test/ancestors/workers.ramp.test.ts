/** V29: the slow start of worker threads, on a clock of the test's own. */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { until, withPool } from "../support/pool.ts";

const urlsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `http://host${at % 7}.test/page/${at}`);

describe("a slow start", () => {
  it("V29: a slow start lets no more visits go than its time allows, and all of them in the end", async () => {
    const clock = createVirtualClock(0);
    const word = new SharedArrayBuffer(4);
    const pool = { threads: 1, concurrency: 8, rampMs: 8_000, workerData: { word } };
    await withPool({ frontier: { clock }, pool }, async (rig) => {
      const { frontier } = rig;
      for (const url of urlsOf(40)) frontier.push({ url, handler: "staysForWord" });
      const run = rig.pool.run();
      const handling = (): number => rig.pool.report().handling;
      for (const allowed of [1, 2, 3, 4, 5, 6, 7]) {
        await until(() => handling() === allowed, `${allowed} at once`);
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
        expect(frontier.report().leased).toBe(allowed);
        clock.advance(allowed === 1 ? 2_000 : 1_000);
      }
      await until(() => handling() === 8, "all of them");
      Atomics.store(new Int32Array(word), 0, 1);
      await run;
      expect(frontier.report().done).toBe(40);
    });
  });

  it("V29: a slow start that the number of threads changes under goes on to the new one", async () => {
    const clock = createVirtualClock(0);
    const word = new SharedArrayBuffer(4);
    const pool = { threads: 1, concurrency: 4, rampMs: 8_000, workerData: { word } };
    await withPool({ frontier: { clock }, pool }, async (rig) => {
      const { frontier } = rig;
      for (const url of urlsOf(20)) frontier.push({ url, handler: "staysForWord" });
      const run = rig.pool.run();
      await until(() => rig.pool.report().handling === 1, "one");
      rig.pool.resize(2);
      clock.advance(4_000);
      await until(() => rig.pool.report().handling === 4, "half of eight");
      expect(frontier.report().leased).toBe(4);
      Atomics.store(new Int32Array(word), 0, 1);
      clock.advance(4_000);
      await run;
      expect(frontier.report().done).toBe(20);
    });
  });
});
