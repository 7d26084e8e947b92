/**
 * The summary of a suite, and the blocks of Markdown that are generated.
 *
 *   newest suite of bench/results ─▶ rows ─┐
 *   runs of single cases, larger  ─▶ rows ─┴▶ bench/results/README.md, between its marks     (large.ts)
 *   runs that have a verdict ────────────────▶ README.md, between its marks                  (verdicts.ts)
 *
 *   I1  Both files agree with the results: test/api/bench-report.test.ts compares.
 *   I2  A run without a verdict says so in its row; a case that is not in the suite has no row.
 */
import type { CaseObject, RunObject, SuiteObject } from "../harness/result-file.ts";
import { suiteName } from "../harness/result-file.ts";
import { markdown, nsText, rateText, ratioText, sizeText, threeFigures } from "./numbers.ts";
import { largeRows } from "./large.ts";
import { largestRun, missingWords, peerRows, sideNumbers } from "./peers.ts";
import { isCalm, type KeptRun } from "./targets.ts";

export const MARKS = ["<!-- measured:begin", "<!-- measured:end -->"] as const;
const BEGIN = "<!-- measured:begin — generated from bench/results by `npm run bench -- report` -->";

/** What stands there before there is a suite. */
const NOTHING = "No suite was kept yet.";

interface Headline {
  readonly case: string;
  readonly subject: string;
  readonly peer: string;
  readonly phase: string;
  readonly what: string;
  readonly against: string;
  /** The param that is the size. */
  readonly size?: string;
}

const PLAIN = "plain JavaScript";
const CRAWLEE = "Crawlee's `RequestQueue`";
const SCRAPY = "Scrapy's scheduler, a stack";
const HEADLINES: readonly Headline[] = [
  row(["canonical", "outrider", "url", "time"], "canonical form of a batch", "`new URL(u).href`"),
  row(
    ["dedup", "outrider", "plain", "time"],
    "canonical form, hash, exact dedup",
    "`URL` and `Set`",
  ),
  row(["frontier", "outrider", "plain", "push"], "push", PLAIN, "pending"),
  row(["frontier", "outrider", "plain", "poll"], "poll + done", "an array's `shift`", "pending"),
  row(["polite", "outrider", "plain", "poll + done"], "poll + done, polite", PLAIN, "hosts"),
  row(["peers-memory", "outrider", "crawlee", "push"], "push links of a crawl", CRAWLEE),
  row(["peers-memory", "outrider", "crawlee", "poll + done"], "poll + done of them", CRAWLEE),
  row(["peers-memory", "outrider", "scrapy", "push"], "push links of a crawl", SCRAPY),
  row(["peers-memory", "outrider", "scrapy", "poll + done"], "poll + done of them", SCRAPY),
  row(
    ["peers-hosts", "outrider-hosts", "scrapy-hosts", "poll + done"],
    "poll + done, hosts in turn",
    "Scrapy's queue for each host",
    "hosts",
  ),
  row(["crawl", "outrider", "crawlee", "page"], "a page crawled", "CheerioCrawler", "pages"),
  row(["crawl", "outrider", "scrapy", "page"], "a page crawled", "Scrapy", "pages"),
  row(["latency", "outrider", "plain", "p99.9"], "p99.9 of a batch, open loop", PLAIN, "pending"),
  row(
    ["pool", "2 threads", "task", "lease"],
    "a page on 2 threads",
    "a Piscina task each",
    "pages",
  ),
  row(
    ["lane", "lane", "transfer", "url"],
    "a URL to another thread",
    "transferred buffers",
    "urls",
  ),
];

function row(
  [name, subject, peer, phase]: readonly [string, string, string, string],
  what: string,
  against: string,
  size = "urls",
): Headline {
  return { case: name, subject, peer, phase, what, against, size };
}

/** The head first. */
export function summaryRows(suite: SuiteObject): string[][] {
  const rows = HEADLINES.flatMap((headline) => {
    const found = suite.cases.find((each) => each.case === headline.case);
    const measured = (found?.runs ?? []).filter(({ rounds }) => rounds > 0);
    return measured.slice(-1).flatMap((run) => headlineRow(headline, run));
  });
  return [["what", "against", "at", "times as fast", "a second, or time"], ...rows];
}

function headlineRow(headline: Headline, run: RunObject): string[][] {
  const { subject, peer, phase, what, against, size } = headline;
  const found = run.ratio.find(
    (each) => each.subject === subject && each.peer === peer && each.phase === phase,
  );
  if (found === undefined) return [];
  const ns = sideNumbers(run, subject).time(phase);
  const count = run.params[size ?? ""];
  const at = typeof count === "number" ? sizeText(count) : "";
  const isLatency = phase.startsWith("p9");
  const rate = ns === undefined ? "" : isLatency ? nsText(ns) : rateText(ns);
  const verdict = run.doubt === null || found.ratio.rounds === 1 ? "" : ", no verdict";
  return [
    [what, against, at === "" ? "" : `${at} ${size}`, ratioText(found.ratio) + verdict, rate],
  ];
}

export function conditionsText(suite: SuiteObject): string {
  const { commit, dirty, cpu, cores, node, load, seconds } = suite;
  const state = dirty ? ", with changes that are not committed" : "";
  const minutes = threeFigures(seconds / 60);
  return (
    `Commit ${commit}${state}; ${cores} cores of ${cpu}, Node ${node}, ` +
    `load ${load[0]} at the start; \`npm run bench\`, ${minutes} minutes.`
  );
}

/** What stands between the marks of bench/results/README.md. */
export function resultsBlock(
  suite: SuiteObject | undefined,
  runs: readonly KeptRun[] = [],
): string {
  if (suite === undefined) return NOTHING;
  const parts = [
    conditionsText(suite),
    `Medians of paired rounds with their intervals of 95 %; all of it, with charts: ${pageLink(suite)}.`,
    "",
    ...markdown(summaryRows(suite)),
    ...large(runs),
  ];
  const memory = largestRun(suite, "peers-memory");
  const small = smallestRun(suite.cases.find((each) => each.case === "peers-memory"));
  if (small !== undefined)
    parts.push("", peersIntro(small), "", ...markdown(peerRows(small, false)), ...absent(small));
  if (memory !== undefined && memory !== small)
    parts.push("", peersIntro(memory), "", ...markdown(peerRows(memory, false)), ...absent(memory));
  parts.push(...widest(runs, small));
  const durable = smallestRun(suite.cases.find((each) => each.case === "peers-durable"));
  if (durable !== undefined) {
    const text = "With a directory, killed by `kill -9` in the middle and opened again:";
    parts.push("", text, "", ...markdown(peerRows(durable, true)), ...absent(durable));
  }
  return parts.join("\n");
}

/** Sizes that take minutes a round: runs of their own. */
function large(runs: readonly KeptRun[]): string[] {
  const rows = largeRows(runs);
  if (rows.length === 1) return [];
  return [
    "",
    "Too large for the suite, each measured alone by `npm run bench -- <case>`:",
    "",
    ...markdown(rows),
  ];
}

/** The newest calm run of `peers-memory` with sides that the suite's machine did not have. */
function widest(runs: readonly KeptRun[], shown: RunObject | undefined): string[] {
  const isNew = ({ run }: KeptRun): boolean =>
    Object.keys(run.observations).some((side) => shown?.observations[side] === undefined);
  const [kept] = runs
    .filter((each) => each.name === "peers-memory" && isCalm(each) && isNew(each))
    .sort(
      (a, b) => b.at.localeCompare(a.at) || Number(b.run.params.urls) - Number(a.run.params.urls),
    );
  if (kept === undefined) return [];
  const { commit, cpu, cores, node, load } = kept.machine;
  const conditions =
    `Commit ${commit}, ${kept.at.slice(0, 10)}; ${cores} cores of ${cpu}, Node ${node}, ` +
    `load ${load[0]} at the start; \`npm run bench -- peers-memory\`.`;
  const table = markdown(peerRows(kept.run, false));
  return ["", peersIntro(kept.run), conditions, "", ...table, ...absent(kept.run)];
}

/** Sides that are missing from a table, and why. */
function absent(run: RunObject): string[] {
  const words = missingWords(run);
  return words === "" ? [] : ["", `Not measured: ${words}.`];
}

function pageLink(suite: SuiteObject): string {
  return `[${suiteName(suite)}](${suiteName(suite)}.json)`;
}

function peersIntro(run: RunObject): string {
  const urls = Number(run.params.urls).toLocaleString("en-US");
  const doubt = run.doubt === null ? "" : " (a noisy run: times without a verdict)";
  return `Frontiers side by side, ${urls} links of a crawl, most of them known already${doubt}:`;
}

function smallestRun(found: CaseObject | undefined): RunObject | undefined {
  return found?.runs.find((run) => Object.keys(run.observations).length > 0);
}

/** A page with `block` between its marks; throws where the marks are missing. */
export function withBlock(page: string, block: string): string {
  const from = page.indexOf(MARKS[0]);
  const to = page.indexOf(MARKS[1]);
  if (from < 0 || to < from) throw new Error(`page: no marks (expected: ${MARKS.join(" … ")})`);
  return `${page.slice(0, from)}${BEGIN}\n${block}\n${page.slice(to)}`;
}
