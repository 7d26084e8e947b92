import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { RunObject } from "../../bench/harness/result-file.ts";
import { ratioOf, verdictOf } from "../../bench/harness/statistics.ts";
import {
  keptRuns,
  numberOf,
  type KeptRun,
  readingOf,
  readTargets,
  type Source,
  targetsText,
} from "../../bench/report/targets.ts";

const RESULTS = fileURLToPath(new URL("../../bench/results", import.meta.url));

/** A run of two sides; `times` says how many times as fast the first is, round by round. */
function kept(
  at: string,
  load: number,
  times: readonly number[],
  doubt: string | null = null,
): KeptRun {
  const ours = times.map(() => 500);
  const others = times.map((each) => each * 500);
  const ratio = ratioOf(ours, others);
  const observed = (list: readonly number[]): RunObject["observations"][string] =>
    list.map((ns) => ({ times: { push: ns }, facts: { bytes: ns / 5, own: 60 } }));
  const pair = { subject: "outrider", peer: "plain", phase: "push", ratio };
  const run: RunObject = {
    ...{ params: { urls: 1_000_000 }, rounds: times.length, doubt, same: [], checksum: {} },
    ...{ ratio: [{ ...pair, verdict: verdictOf(ratio) }], missing: {} },
    observations: { outrider: observed(ours), plain: observed(others) },
  };
  const conditions = { commit: "0123456789ab", dirty: false, node: "20.0.0", cpu: "", cores: 2 };
  return {
    file: "x.json",
    name: "frontier",
    at,
    machine: { ...conditions, load: [load, 0, 0] },
    run,
  };
}

const PUSH: Source = { case: "frontier", ratio: ["outrider", "plain", "push"], atLeast: 4 };

describe("TARGETS.md", () => {
  it("says what the results say", () => {
    const text = targetsText(readTargets(RESULTS), keptRuns(RESULTS));
    const written = readFileSync(join(RESULTS, "TARGETS.md"), "utf8");
    expect(text, "npm run bench -- report").toBe(written);
  });

  it("names every row once, and one number for each source", () => {
    const rows = readTargets(RESULTS).sections.flatMap((section) => section.rows);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    for (const { id, of = [], shown } of rows) {
      expect(of.length > 0 || shown !== undefined, id).toBe(true);
      for (const source of of) {
        expect(numberOf(source).length, id).toBeGreaterThan(1);
        const { ratio, cost, rate, time, fact, latency, growth } = source;
        const kinds = [ratio, cost, rate, time, fact, latency, growth].filter(Boolean);
        expect(kinds, id).toHaveLength(1);
      }
    }
  });

  it("takes the newest run of a calm machine, and another only where there is none", () => {
    const old = kept("2026-01-01T00:00:00Z", 1, [5, 5, 5]);
    const newer = kept("2026-01-02T00:00:00Z", 1, [6, 6, 6]);
    const loaded = kept("2026-01-03T00:00:00Z", 9, [7, 7, 7]);
    expect(readingOf(PUSH, [old, loaded, newer])?.text).toContain("6.00 ×");
    expect(readingOf(PUSH, [loaded])?.text).toContain("7.00 ×");
    const text = targetsText({ intro: [], sections: [section(PUSH)] }, [loaded]);
    expect(text).toContain("load 9, **not calm**");
  });

  it("says missed, met, and how sure that is", () => {
    const word = (times: readonly number[], doubt: string | null = null): string | undefined =>
      readingOf(PUSH, [kept("2026", 1, times, doubt)])?.verdict;
    expect(word([5, 5.1, 5])).toBe("met");
    expect(word([3, 3.1, 3])).toBe("missed");
    expect(word([3.9, 4.2, 4.1])).toBe("met, within its interval");
    expect(word([3.8, 4.2, 3.9])).toBe("missed, within its interval");
    expect(word([5, 5, 5], "noisy")).toBe("met, without verdict");
    expect(word([5])).toBe("met, without verdict");
    const { case: name } = PUSH;
    const bytes: Source = { case: name, fact: ["outrider", "bytes"], minus: "own", atMost: 30 };
    expect(readingOf({ ...bytes, isCounted: true }, [kept("2026", 1, [5])])).toMatchObject({
      text: "40 (100 − 60)",
      verdict: "missed",
    });
  });

  it("says not run where no result has it", () => {
    const sized: Source = { ...PUSH, params: { urls: 7 } };
    expect(readingOf(sized, [kept("2026", 1, [5, 5, 5])])).toBeUndefined();
    const text = targetsText({ intro: [], sections: [section(sized)] }, []);
    expect(text).toContain("| push | ≥ 4 × | not run | not run |  |");
  });
});

function section(source: Source): Parameters<typeof targetsText>[0]["sections"][number] {
  return { title: "One", rows: [{ id: "push", what: "push", target: "≥ 4 ×", of: [source] }] };
}
