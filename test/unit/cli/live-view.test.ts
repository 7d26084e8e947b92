import { describe, expect, it } from "vitest";
import { createView } from "../../../src/cli/live-view.ts";
import { bytes, cutTo, duration, share, sparkline } from "../../../src/cli/text.ts";
import type { Crawl, CrawlSample } from "../../../src/crawl.ts";
import { createFakeIo, screenOf } from "../../support/fake-io.ts";

const sample = (elapsedMs: number, pages: number): CrawlSample => ({
  elapsedMs,
  pages,
  bytes: pages * 1000,
  pending: 50,
  leased: 3,
  failed: 1,
  errors: 0,
  duplicate: 10,
  accepted: 10,
  residentBytes: 2 ** 20,
});
const run = {
  status: "running",
  report: () => ({
    latencyMs: { p50: 3, p99: 41 },
    memory: { heapBytes: 2 ** 20, offHeapBytes: 2 ** 20, residentBytes: 2 ** 20 },
    hosts: 4,
    duplicate: 10,
  }),
} as unknown as Crawl;

describe("the live view", () => {
  it("redraws its four lines in place, keeps what was said above, and leaves nothing behind", () => {
    const io = createFakeIo({ columns: 100 });
    const view = createView(io, true);
    for (let n = 0; n <= 20; n++) {
      view.draw(run, sample(n * 100, n * 10));
      if (n === 10) view.say("rules: 2 are in force");
    }
    const lines = screenOf(io.text.err);
    expect(lines.slice(0, 5)).toEqual([
      "rules: 2 are in force",
      expect.stringMatching(
        /^crawling {2}2\.0 s {3}100 pages\/s ▇|^crawling {2}2\.0 s {3}100 pages\/s █/,
      ),
      "pages 200   pending 50   leased 3   hosts 4",
      "failed 1   errors 0   duplicates 50 %   latency p50 3 ms, p99 41 ms",
      "read 195 KiB   heap 1.0 MiB   off heap 1.0 MiB   resident 1.0 MiB",
    ]);
    view.end();
    expect(screenOf(io.text.err)).toEqual(["rules: 2 are in force"]);
    expect(io.text.err.endsWith("\x1b[?25h")).toBe(true);
  });

  it("never writes a line wider than the terminal", () => {
    const io = createFakeIo({ columns: 30 });
    const view = createView(io, true);
    view.draw(run, sample(100, 10));
    for (const line of screenOf(io.text.err)) expect([...line].length).toBeLessThan(30);
  });

  it("off a terminal writes one plain line a second", () => {
    const io = createFakeIo(undefined);
    const view = createView(io, false);
    for (let n = 0; n <= 30; n++) view.draw(run, sample(n * 100, n));
    view.end();
    expect(io.text.err).toBe(
      [
        "0.0 s  pages 0  0/s  pending 50  failed 1  errors 0\n",
        "1.0 s  pages 10  10/s  pending 50  failed 1  errors 0\n",
        "2.0 s  pages 20  10/s  pending 50  failed 1  errors 0\n",
        "3.0 s  pages 30  10/s  pending 50  failed 1  errors 0\n",
      ].join(""),
    );
  });
});

describe("numbers as text", () => {
  it("are short and exact enough", () => {
    expect([0, 1023, 1024, 1536, 10 * 2 ** 20, 2 ** 50].map(bytes)).toEqual([
      "0 B",
      "1023 B",
      "1.0 KiB",
      "1.5 KiB",
      "10 MiB",
      "1024 TiB",
    ]);
    expect([0, 9_999, 10_000, 61_000, 3_661_000].map(duration)).toEqual([
      "0.0 s",
      "10.0 s",
      "00:10",
      "01:01",
      "1:01:01",
    ]);
    expect([share(1, 3), share(0, 0)]).toEqual(["33 %", "0 %"]);
    expect(sparkline([0, 1, 2])).toBe("▁▄█");
    expect(sparkline([])).toBe("");
    expect(cutTo("abc", 2)).toBe("a…");
  });
});
