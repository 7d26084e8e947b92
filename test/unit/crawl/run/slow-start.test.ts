import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import { startSlowly } from "../../../../src/crawl/run/slow-start.ts";

describe("a slow start", () => {
  it("allows one more each time that its share of the time has passed, and says so (I1)", () => {
    const clock = createVirtualClock(0);
    const told: number[] = [];
    const start = startSlowly({
      clock,
      overMs: 8_000,
      most: 4,
      onStep: () => told.push(start.allowed()),
    });
    const allowed: number[] = [];
    for (let at = 0; at <= 9_000; at += 1_000) {
      allowed.push(start.allowed());
      clock.advance(1_000);
    }
    expect(allowed).toEqual([1, 1, 1, 1, 2, 2, 3, 3, 4, 4]);
    expect(told).toEqual([2, 3, 4]);
  });

  it("without a time allows all at once, and once stopped tells nothing (I2)", () => {
    const clock = createVirtualClock(0);
    const told: number[] = [];
    const onStep = (): void => void told.push(1);
    expect(startSlowly({ clock, overMs: undefined, most: 7, onStep }).allowed()).toBe(7);
    const start = startSlowly({ clock, overMs: 100, most: 7, onStep });
    start.stop();
    clock.advance(1_000);
    expect(told).toEqual([]);
    expect(start.allowed()).toBe(7);
  });

  it("V29: a crawl has no more visits under way than its slow start allows, and all of them in the end", async () => {
    const most = 4;
    const clock = createVirtualClock(1_700_000_000_000);
    let open = 0;
    let asked = 0;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = createServer((_, response) => {
      open++;
      asked++;
      void released.then(() => {
        open--;
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const run = crawl({
      seeds: Array.from({ length: 10 }, (_, at) => `http://127.0.0.1:${port}/${at}`),
      ...{ allowPrivate: true, robots: false, delayMs: 0, perHost: 10 },
      ...{ clock, concurrency: most, rampMs: 8_000, progressMs: 0 },
    });
    for (let allowed = 1; allowed <= most; allowed++) {
      await expect.poll(() => open, { interval: 5 }).toBe(allowed);
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      expect([open, run.frontier?.report().leased]).toEqual([allowed, allowed]);
      clock.advance(allowed === 1 ? 4_000 : 2_000);
    }
    release();
    expect(await run.finished).toMatchObject({ pages: 10, pending: 0 });
    expect(asked).toBe(10);
    server.close();
  });
});
