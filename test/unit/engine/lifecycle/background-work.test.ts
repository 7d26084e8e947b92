import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { coreOf } from "../../../../src/engine/api/verify-frontier.ts";
import { seenIsBusy } from "../../../../src/structures/seen/seen-set.ts";
import { openRig } from "../../../support/durable-rig.ts";
import { heldFiles } from "../../../support/held-files.ts";

const HOUR_MS = 3_600_000;

describe("work in the background", () => {
  it("asks a medium that takes long ever less often, and goes on once it has ended", async () => {
    const held = heldFiles();
    held.isHolding = false;
    const clock = createVirtualClock(0);
    const options = { seen: { memoryBytes: 200_000 }, durability: "sync" } as const;
    const { frontier } = await openRig(held.files, clock, options);
    const { seen } = coreOf(frontier);
    const tier = seen.tiered?.cold;
    held.isHolding = true;
    let count = 0;
    for (; !seenIsBusy(seen) && count < 20_000; count += 100) {
      const urls = Array.from({ length: 100 }, (_, at) => `http://a.test/${count + at}`);
      frontier.pushMany(urls);
      frontier.done(frontier.pollMany(100));
    }
    let asked = 0;
    const schedule = clock.schedule.bind(clock);
    clock.schedule = (atMs, fn) => {
      return schedule(atMs, () => {
        asked++;
        fn();
      });
    };
    clock.advance(HOUR_MS); // no turn of the event loop passes
    expect(tier?.stats().count).toBe(0);
    expect(asked).toBeLessThan(5_000);
    expect(asked).toBeGreaterThan(3_000);
    held.end();
    for (let ms = 0; ms < 5_000 && tier?.stats().count === 0; ms++) clock.advance(1);
    expect(tier?.stats().count).toBeGreaterThan(1_000);
    held.isHolding = false;
    held.end();
    clock.advance(HOUR_MS);
    expect(seenIsBusy(seen)).toBe(false);
    await frontier.close();
  });
});
