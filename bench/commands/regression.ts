/**
 * A suite against the one before: better, worse or inconclusive, for every ratio and every count of bytes.
 *
 *   npm run bench -- check [older.json newer.json]        the newest of bench/results and the one committed before it where none is named
 *
 * A ratio was taken within one run, against a peer that had the same machine at the same time, so it may be held against that of
 * another day. It got better or worse only where both runs were made on one kind of machine, both have a verdict of their A/A rows, the
 * medians are further apart than MARGIN, and their rounds further than chance would put any of all the ratios that are looked at
 * (isBeyondChance); else the answer is inconclusive. Bytes of tables and arena are counted, not timed: there a margin decides alone.
 * Exit code 1 only for worse.
 *
 *   I1  A noisy machine, or another one, makes this inconclusive, never red.
 *   I2  Where nothing has changed, one check in a hundred is red by chance at most, however many ratios it looks at.
 */
import { readFileSync } from "node:fs";
import type { RunObject, SuiteObject } from "../harness/result-file.ts";
import { paramText } from "../harness/run-case.ts";
import { isBeyondChance, medianOf } from "../harness/statistics.ts";
import { ratioText, threeFigures } from "../report/numbers.ts";
import { sideNumbers } from "../report/peers.ts";
import { suiteBefore, suitesOf } from "./report.ts";

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
  const suites = files.length > 0 ? files.map(read) : lastTwo();
  const [older, newer] = suites;
  if (older === undefined || newer === undefined) {
    console.error(`check: ${suites.length} results (expected: two suites to compare)`);
    return files.length > 0 ? 2 : 0;
  }
  const findings = findingsOf(older, newer);
  if (!isOneMachine(older, newer))
    console.log(`${machineText(older)} → ${machineText(newer)}: their times are not compared`);
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

/** The older one may have been superseded and live in git's history alone. */
function lastTwo(): SuiteObject[] {
  const newest = suitesOf().at(-1);
  if (newest === undefined) return [];
  const older = suiteBefore(newest);
  return older === undefined ? [newest] : [older, newest];
}

function read(path: string): SuiteObject {
  return JSON.parse(readFileSync(path, "utf8")) as SuiteObject;
}

/** Everything that both suites have. */
export function findingsOf(older: SuiteObject, newer: SuiteObject): Finding[] {
  const pairs = newer.cases.flatMap((each) =>
    each.runs.flatMap((run): Pair[] => {
      const before = older.cases
        .find((one) => one.case === each.case)
        ?.runs.find(({ params }) => JSON.stringify(params) === JSON.stringify(run.params));
      return before === undefined
        ? []
        : [{ name: `${each.case} ${paramText(run.params)}`, before, after: run }];
    }),
  );
  const rows = pairs.reduce((sum, { after }) => sum + after.ratio.length, 0);
  const isComparable = isOneMachine(older, newer);
  return pairs.flatMap((pair) => [
    ...ratioFindings(pair, isComparable ? rows : undefined),
    ...byteFindings(pair),
  ]);
}

/** One size of one case, then and now. */
interface Pair {
  readonly name: string;
  readonly before: RunObject;
  readonly after: RunObject;
}

/** Caches and compilers move a ratio too. */
function isOneMachine(older: SuiteObject, newer: SuiteObject): boolean {
  return machineText(older) === machineText(newer);
}

function machineText({ cores, cpu, node }: SuiteObject): string {
  return `${cores} cores of ${cpu}, Node ${node.split(".")[0]}`;
}

/** `rows`: how many are looked at in all; undefined: they can not be compared. */
function ratioFindings({ name, before, after }: Pair, rows: number | undefined): Finding[] {
  const isQuiet = before.doubt === null && after.doubt === null;
  return after.ratio.flatMap(({ subject, peer, phase, ratio }) => {
    const isSame = (each: RunObject["ratio"][number]): boolean =>
      each.subject === subject && each.peer === peer && each.phase === phase;
    const old = before.ratio.find(isSame);
    if (old === undefined) return [];
    const logs = [before, after].map((run) => logsOf(run, { subject, peer, phase }));
    const what = `${name}, ${subject} / ${peer}, ${phase}`;
    const change =
      isQuiet && rows !== undefined
        ? changeOf(logs[0] as number[], logs[1] as number[], rows)
        : "inconclusive";
    return [{ what, before: ratioText(old.ratio), after: ratioText(ratio), change }];
  });
}

interface Ratioed {
  readonly subject: string;
  readonly peer: string;
  readonly phase: string;
}

/** The logarithm of each round's ratio. */
function logsOf({ observations }: RunObject, { subject, peer, phase }: Ratioed): number[] {
  const times = [peer, subject].map((side) =>
    (observations[side] ?? []).map((each) => Math.log(each.times[phase] ?? Number.NaN)),
  );
  const [others = [], ours = []] = times;
  const logs = ours.map((our, round) => (others[round] ?? Number.NaN) - our);
  return logs.filter((log) => !Number.isNaN(log));
}

/** Of log-ratios by round; larger is better. */
export function changeOf(
  before: readonly number[],
  after: readonly number[],
  rows: number,
): Change {
  if (before.length === 0 || after.length === 0) return "inconclusive";
  const gap = medianOf(after) - medianOf(before);
  if (Math.abs(gap) < Math.log(MARGIN)) return "same";
  if (!isBeyondChance(before, after, rows)) return "inconclusive";
  return gap > 0 ? "better" : "worse";
}

function byteFindings({ name, before, after }: Pair): Finding[] {
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
