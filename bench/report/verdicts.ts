/**
 * README's table: at most eight measured rows, each with a verdict, chosen for what a user decides by.
 *
 *   results/*.json ─▶ newest run of each row that began on a calm machine and has a verdict ─▶ Markdown
 *
 *   I1  A row without such a run is left out: every row of README has a verdict.
 *   I2  Every row names its run; every run its day, commit, machine, load and command.
 */
import { ROUNDS_MIN, type Verdict, verdictOf } from "../harness/statistics.ts";
import { markdown, rateText, ratioText, threeFigures } from "./numbers.ts";
import { sideNumbers } from "./peers.ts";
import { isCalm, type KeptRun } from "./targets.ts";

export const README_ROWS_MAX = 8;

/** What takes so long is given as a time, not as a rate. */
const LONG_NS = 1e7;

interface DecisionRow {
  readonly what: string;
  readonly against: string;
  readonly case: string;
  readonly params: Readonly<Record<string, number>>;
  /** Timed against a peer of the same run … */
  readonly pair?: readonly [subject: string, peer: string, phase: string];
  /** … or counted: the first fact less the second. */
  readonly counted?: readonly [side: string, fact: string, minus: string];
}

const ROWS: readonly DecisionRow[] = [
  {
    what: "push 10⁶ new URLs: canonical form, duplicate check, queue",
    against: "`new URL`, a `Set`, arrays",
    case: "frontier",
    params: { pending: 1e6 },
    pair: ["outrider", "plain", "push"],
  },
  {
    what: "poll and finish them",
    against: "`shift` of those arrays",
    case: "frontier",
    params: { pending: 1e6 },
    pair: ["outrider", "plain", "poll"],
  },
  {
    what: "broad crawl: poll and finish, politely, 10⁶ hosts",
    against: "itself with 100 hosts",
    case: "scale-hosts",
    params: { many: 1e6 },
    pair: ["many", "few", "poll + done"],
  },
  {
    what: "memory of a pending URL beyond its own bytes, 10⁶ URLs",
    against: "",
    case: "frontier",
    params: { pending: 1e6 },
    counted: ["outrider", "resident bytes/URL", "URL bytes"],
  },
  {
    what: "push 10⁶ URLs with a directory, flushed every 100 ms",
    against: "itself in memory",
    case: "durability",
    params: { urls: 1e6 },
    pair: ["everyMs", "memory", "push"],
  },
  {
    what: "the same, on the disk before each call returns",
    against: "a Redis list, `appendfsync always`",
    case: "stores",
    params: { urls: 1e6 },
    pair: ["outrider-sync", "redis", "push"],
  },
  {
    what: "import, open, first push and first lease, beyond an empty process",
    against: "Crawlee's memory queue",
    case: "cold-start",
    params: { starts: 7 },
    pair: ["outrider", "crawlee", "start"],
  },
  {
    what: "a crawled page: fetch, robots.txt, links; 64 at once, loopback",
    against: "Crawlee's CheerioCrawler",
    case: "crawl",
    params: { pages: 5000, concurrency: 64 },
    pair: ["outrider", "crawlee", "page"],
  },
];

interface FoundRow {
  readonly kept: KeptRun;
  readonly cells: readonly string[];
}

/** What stands between README's marks; a sentence where no run has a verdict. */
export function verdictBlock(runs: readonly KeptRun[]): string {
  const found = ROWS.flatMap((row) => rowOf(row, runs)).slice(0, README_ROWS_MAX);
  if (found.length === 0) return "No run that was kept has a verdict yet.";
  const lines = [...new Set(found.map(({ kept }) => runText(kept)))];
  const letterOf = (kept: KeptRun): string =>
    String.fromCharCode(97 + lines.indexOf(runText(kept)));
  const body = found.map(({ kept, cells }) => [...cells, letterOf(kept)]);
  const head = ["what", "against", "rate or size", "times as fast", "verdict", "run"];
  return [
    ...markdown([head, ...body], 2),
    "",
    "Medians of paired rounds with their interval of 95 %. Every run began on a calm machine, and its control row was level.",
    "",
    ...lines.map((line, at) => `- Run ${String.fromCharCode(97 + at)}: ${line}`),
  ].join("\n");
}

function rowOf(row: DecisionRow, runs: readonly KeptRun[]): FoundRow[] {
  const fitting = runs
    .filter(({ name, run }) => name === row.case && isOfSize(run.params, row.params))
    .filter((kept) => isCalm(kept))
    .filter(({ run }) => row.counted !== undefined || isSure(run))
    .sort((a, b) => b.at.localeCompare(a.at));
  const [kept] = fitting;
  if (kept === undefined) return [];
  const cells = row.counted === undefined ? timed(row, kept) : counted(row, kept);
  return cells === undefined ? [] : [{ kept, cells }];
}

function isOfSize(params: KeptRun["run"]["params"], wanted: DecisionRow["params"]): boolean {
  return Object.entries(wanted).every(([name, value]) => params[name] === value);
}

function isSure({ doubt, rounds }: KeptRun["run"]): boolean {
  return doubt === null && rounds >= ROUNDS_MIN;
}

/** Undefined where the interval holds 1: that is no verdict. */
function timed({ what, against, pair }: DecisionRow, { run }: KeptRun): string[] | undefined {
  const [subject, peer, phase] = pair as readonly [string, string, string];
  const found = run.ratio.find(
    (each) => each.subject === subject && each.peer === peer && each.phase === phase,
  );
  const ns = sideNumbers(run, subject).time(phase);
  if (found === undefined || ns === undefined) return undefined;
  const verdict: Verdict = verdictOf(found.ratio);
  if (verdict === "inconclusive") return undefined;
  const rate = ns >= LONG_NS ? `${threeFigures(ns / 1e6)} ms` : `${rateText(ns)}/s`;
  return [what, against, rate, ratioText(found.ratio), verdict];
}

function counted({ what, counted }: DecisionRow, { run }: KeptRun): string[] | undefined {
  const [side, fact, minus] = counted as readonly [string, string, string];
  const numbers = sideNumbers(run, side);
  const [whole, part] = [numbers.fact(fact), numbers.fact(minus)];
  if (whole === undefined || part === undefined) return undefined;
  return [what, "–", `${threeFigures(whole - part)} bytes`, "–", "counted"];
}

function runText({ name, at, machine }: KeptRun): string {
  const { commit, cores, cpu, node, load } = machine;
  return (
    `\`npm run bench -- ${name}\`, ${at.slice(0, 10)}, commit ${commit}, ` +
    `${cores} cores of ${cpu}, Node ${node}, load ${load[0]}`
  );
}
