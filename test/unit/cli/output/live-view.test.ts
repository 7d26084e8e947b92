import { describe, expect, it } from "vitest";
import { createView } from "../../../../src/cli/output/live-view.ts";
import {
  broken,
  bytes,
  counted,
  cutTo,
  duration,
  share,
  sparkline,
  table,
} from "../../../../src/cli/output/number-text.ts";
import type { Crawl, CrawlSample } from "../../../../src/crawl.ts";
import { createFakeIo, terminalOf } from "../../../support/fake-io.ts";

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
    busiest: [],
    sickest: [],
    failing: [],
    latencyMs: { p50: 3, p99: 41 },
    memory: { heapBytes: 2 ** 20, offHeapBytes: 2 ** 20, residentBytes: 2 ** 20 },
    hosts: 4,
    duplicate: 10,
    failures: { robots: 1 },
  }),
  frontier: { report: () => ({ lanes: 7 }) },
} as unknown as Crawl;

const busy = {
  ...run,
  report: () => ({
    ...run.report(),
    sickest: [
      { host: "b.test", score: 32, visits: 9, failures: 8, slow: 1, empty: 0, pauses: 0 },
      { host: "c.test", score: 90, visits: 9, failures: 1, slow: 0, empty: 0, pauses: 0 },
    ],
    busiest: [
      { host: "a.test", pages: 1_200 },
      { host: "b.test", pages: 30 },
    ],
    failures: { "status 404": 3, timeout: 1 },
    failing: ["/1", "/2", "/3", "/4"].map((path, at) => ({
      ...{ url: `http://a.test${path}`, depth: 1 },
      ...(at === 3 ? { reason: "timeout" } : { reason: "status 404", foundOn: "http://a.test/" }),
    })),
  }),
} as unknown as Crawl;

describe("the live view", () => {
  it("has a pane of hosts and one of what failed last, newest first", () => {
    const io = createFakeIo({ columns: 80 });
    const view = createView(io, true);
    view.draw(busy, sample(1_000, 10));
    const { lines, wraps } = terminalOf(io.text.err, 80);
    expect(wraps).toBe(0);
    expect(lines.slice(5)).toEqual([
      "by host      1,200  a.test",
      "                30  b.test",
      "unwell          32  b.test  8 of 9 failed, 1 slow",
      "failing   timed out  http://a.test/4",
      "          404 not found  http://a.test/3  on http://a.test/",
      "          404 not found  http://a.test/2  on http://a.test/",
    ]);
  });

  it("carries the same in plain lines, and in objects of JSON", () => {
    const plain = createFakeIo(undefined);
    const view = createView(plain, false);
    view.draw(busy, sample(1_000, 10));
    view.draw(busy, sample(1_500, 10)); // too early for a line
    view.draw(busy, sample(2_500, 10));
    const [first, second, ...rest] = plain.text.err.trimEnd().split("\n");
    expect(rest).toEqual([]);
    expect(first).toContain("most of a.test 1,200  last failed timeout http://a.test/4");
    expect(second).not.toContain("last failed"); // said already
    const json = createFakeIo(undefined);
    const objects = createView(json, false, "json");
    objects.draw(busy, sample(1_000, 10));
    objects.print("rules: 2 are in force");
    const [progress, message] = json.text.err
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(progress).toMatchObject({
      ...{ event: "progress", elapsedMs: 1_000, pages: 10, pending: 50 },
      hosts: [{ host: "a.test", pages: 1_200 }, { host: "b.test" }],
      failures: { "status 404": 3, timeout: 1 },
      failing: [{ url: "http://a.test/2" }, { url: "http://a.test/3" }, { reason: "timeout" }],
    });
    expect(message).toEqual({ event: "message", message: "rules: 2 are in force" });
  });

  it("redraws its lines in place, keeps what was said above, and leaves nothing behind", () => {
    const io = createFakeIo({ columns: 80 });
    const view = createView(io, true);
    for (let n = 0; n <= 20; n++) {
      view.draw(run, sample(n * 100, n * 10));
      if (n === 10) view.print("rules: 2 are in force");
    }
    const { lines, wraps, isCursorShown } = terminalOf(io.text.err, 80);
    expect([wraps, isCursorShown]).toEqual([0, false]);
    expect(lines).toEqual([
      "rules: 2 are in force",
      "crawling  00:02   100 pages/s   eta ≥ 00:00   ████████████████████",
      "pages          200  pending         50  under way        3  hosts            4",
      "failed           0  forbidden        1  errors           0  duplicates    50 %",
      "p50           3 ms  p99          41 ms  read       195 KiB  lanes            7",
      "heap       1.0 MiB  off heap   1.0 MiB  resident   1.0 MiB",
    ]);
    view.end();
    expect(terminalOf(io.text.err, 80)).toEqual({
      lines: ["rules: 2 are in force"],
      wraps: 0,
      isCursorShown: true,
    });
  });

  it("breaks what is said between words, and shows the newest bars where there is no room for all", () => {
    const io = createFakeIo({ columns: 50 });
    const view = createView(io, true);
    for (let n = 0; n <= 30; n++) view.draw(run, sample(n * 100, n * n));
    view.print("stopping: visits under way are finished; once more to stop at once");
    const { lines, wraps } = terminalOf(io.text.err, 50);
    expect(wraps).toBe(0);
    expect(lines.slice(0, 3)).toEqual([
      "stopping: visits under way are finished; once",
      "more to stop at once",
      "crawling  00:03   520 pages/s   eta ≥ 00:00   ███",
    ]);
  });

  it.each([10, 20, 30, 60, 80, 120, 200])("fits a terminal of %i columns", (columns) => {
    const io = createFakeIo({ columns });
    const view = createView(io, true);
    const large = { ...sample(3_600_000, 12_345_678), pending: 98_765_432, failed: 1_234_567 };
    for (const each of [sample(0, 0), sample(150, 10), large]) view.draw(run, each);
    const { lines, wraps } = terminalOf(io.text.err, columns);
    expect(wraps).toBe(0);
    const most = columns < 40 ? 16 : columns < 60 ? 9 : 6;
    expect(lines.length).toBeLessThanOrEqual(most);
    if (columns >= 60)
      for (const word of ["12,345,678", "eta ≥"]) {
        expect(lines.join("\n")).toContain(word);
      }
  });

  it("blanks nothing that it writes again, so that nothing flickers", () => {
    const io = createFakeIo({ columns: 80 });
    const view = createView(io, true);
    for (let n = 0; n <= 5; n++) view.draw(run, sample(n * 100, n * 10));
    // Erasing down the screen comes last in each redraw, behind the lines.
    for (const erased of io.text.err.split("\x1b[J").slice(1)) {
      expect(erased === "" || erased.startsWith("\x1b[5A\r")).toBe(true);
    }
  });

  it("finds its lines again when the terminal was made narrower, which breaks them", () => {
    let columns = 80;
    const io = { ...createFakeIo(undefined), isTerminal: true, columns: () => columns };
    const view = createView(io, true);
    view.draw(run, sample(100, 10));
    columns = 40;
    io.text.err = "";
    view.draw(run, sample(200, 20));
    // The first line had fewer than 40 letters; three of the others stand on two rows each, the last one too.
    expect(io.text.err.startsWith("\x1b[9A\r")).toBe(true);
  });

  it("off a terminal writes one plain line a second", () => {
    const io = createFakeIo(undefined);
    const view = createView(io, false);
    for (let n = 0; n <= 30; n++) view.draw(run, sample(n * 100, n));
    view.end();
    expect(io.text.err).toBe(
      [
        "0.0 s  pages 0  0/s  pending 50  failed 0  forbidden 1  errors 0\n",
        "1.0 s  pages 10  10/s  pending 50  failed 0  forbidden 1  errors 0\n",
        "2.0 s  pages 20  10/s  pending 50  failed 0  forbidden 1  errors 0\n",
        "3.0 s  pages 30  10/s  pending 50  failed 0  forbidden 1  errors 0\n",
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
    expect([counted(1, "page"), counted(2_000, "page")]).toEqual(["1 page", "2,000 pages"]);
    expect(broken("one two three fourteen", 8)).toEqual(["one two", "three", "fourteen"]);
    const rows = [["name", "a list, of\u00a0words, that stand\u00a0together"]] as const;
    expect(table(rows, 26)).toBe("name  a list, of words,\n      that stand together\n");
    expect(table(rows)).toBe("name  a list, of words, that stand together\n");
  });
});
