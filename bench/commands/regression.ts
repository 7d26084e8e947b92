/**
 * A suite against the one before: better, worse or inconclusive, for every ratio and every count of bytes.
 *
 *   npm run bench -- check [older.json newer.json]        the two newest of bench/results where none is named
 *
 * A ratio was taken within one run, against a peer that had the same machine at the same time, so it may be held against that of
 * another day. It got better or worse only where both runs have a verdict of their A/A rows, the two intervals do not
 * meet, and the medians are further apart than MARGIN; else the answer is inconclusive. Bytes of tables and arena are counted, not
 * timed: there a margin decides alone. Exit code 1 only for worse.
 *
 *   I1  A noisy machine makes this inconclusive, never red.
 */
import { readFileSync } from "node:fs";
import type { RunObject, SuiteObject } from "../harness/result-file.ts";
import { paramText } from "../harness/run-case.ts";
import type { Ratio } from "../harness/statistics.ts";
import { ratioText, threeFigures } from "../report/numbers.ts";
import { sideNumbers } from "../report/peers.ts";
import { suitesOf } from "./report.ts";

export type Change = "better" | "worse" | "inconclusive" | "same";

export interface Finding {
  readonly what: string;
  readonly before: string;
  readonly after: string;
  readonly change: Change;
}

/** Two medians closer than this are the same to a reader. */
const MARGIN = 1.05;
/** How many times as many bytes are no difference yet: tables are counted, resident pages are the allocator's mood too. */
const BYTE_MARGINS = { "table bytes/URL": 1.02, "reported bytes/URL": 1.02 } as const;

/** Returns the exit code. */
export function check(files: readonly string[]): number {
  const suites = files.length > 0 ? files.map(read) : suitesOf().slice(-2);
  const [older, newer] = suites;
  if (older === undefined || newer === undefined) {
    console.error(`check: ${suites.length} results (expected: two suites to compare)`);
    return files.length > 0 ? 2 : 0;
  }
  const findings = findingsOf(older, newer);
  for (const { change, what, before, after } of findings) {
    if (change !== "same") console.log(`${change.padEnd(12)}  ${what}: ${before} → ${after}`);
  }
  const count = (change: Change): number =>
    findings.filter((finding) => finding.change === change).length;
  const words = (["better", "worse", "inconclusive", "same"] as const).map(
    (change) => `${count(change)} ${change}`,
  );
  console.log(`${older.commit} → ${newer.commit}: ${words.join(", ")}`);
  return count("worse") > 0 ? 1 : 0;
}

function read(path: string): SuiteObject {
  return JSON.parse(readFileSync(path, "utf8")) as SuiteObject;
}

/** Everything that both suites have. */
export function findingsOf(older: SuiteObject, newer: SuiteObject): Finding[] {
  return newer.cases.flatMap((each) =>
    each.runs.flatMap((run) => {
      const before = older.cases
        .find((one) => one.case === each.case)
        ?.runs.find(({ params }) => JSON.stringify(params) === JSON.stringify(run.params));
      if (before === undefined) return [];
      const name = `${each.case} ${paramText(run.params)}`;
      return [...ratioFindings(name, before, run), ...byteFindings(name, before, run)];
    }),
  );
}

function ratioFindings(name: string, before: RunObject, after: RunObject): Finding[] {
  const isQuiet = before.doubt === null && after.doubt === null;
  return after.ratio.flatMap(({ subject, peer, phase, ratio }) => {
    const old = before.ratio.find(
      (each) => each.subject === subject && each.peer === peer && each.phase === phase,
    );
    if (old === undefined) return [];
    const what = `${name}, ${subject} / ${peer}, ${phase}`;
    const change = isQuiet ? changeOf(old.ratio, ratio) : "inconclusive";
    return [{ what, before: ratioText(old.ratio), after: ratioText(ratio), change }];
  });
}

/** Larger is better. */
export function changeOf(before: Ratio, after: Ratio): Change {
  const times = after.median / before.median;
  if (times < MARGIN && times > 1 / MARGIN) return "same";
  if (after.low > before.high) return "better";
  return after.high < before.low ? "worse" : "inconclusive";
}

function byteFindings(name: string, before: RunObject, after: RunObject): Finding[] {
  return Object.keys(after.observations)
    .filter((side) => side.startsWith("outrider"))
    .flatMap((side) =>
      Object.entries(BYTE_MARGINS).flatMap(([fact, margin]) => {
        const old = sideNumbers(before, side).fact(fact);
        const now = sideNumbers(after, side).fact(fact);
        if (old === undefined || now === undefined) return [];
        const isSame = now / old < margin && old / now < margin;
        const change: Change = isSame ? "same" : now < old ? "better" : "worse";
        const what = `${name}, ${side}, ${fact}`;
        return [{ what, before: threeFigures(old), after: threeFigures(now), change }];
      }),
    );
}
