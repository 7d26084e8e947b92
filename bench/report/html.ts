/**
 * A suite as one self-contained page.
 *
 *   conditions ─▶ summary (README's table) ─▶ peers ─▶ size ─▶ bytes ─▶ ratios, case by case ─▶ latency curves ─▶ not measured
 */
import { decodeFromCompressedBase64 } from "hdr-histogram-js";
import type { Percentiles } from "../harness/histogram.ts";
import {
  type CaseObject,
  type RunObject,
  type SuiteObject,
  suiteName,
} from "../harness/result-file.ts";
import { paramText } from "../harness/run-case.ts";
import { medianOf } from "../harness/statistics.ts";
import { amount } from "../harness/table.ts";
import { nsText, ratioText } from "./numbers.ts";
import { page, tableOf, tag } from "./page.ts";
import { missingWords, peerRows } from "./peers.ts";
import { scalingSection } from "./scaling.ts";
import { conditionsText, summaryRows } from "./summary.ts";
import { bar, escapeText, type Line, plot, strip } from "./svg.ts";

export function htmlOf(suite: SuiteObject): string {
  const title = `Outrider, measured ${suite.at.slice(0, 10)}`;
  const all = suite.cases.flatMap(({ runs }) => runs);
  const runs = all.filter(({ rounds }) => rounds > 0);
  const certain = runs.filter(({ doubt }) => doubt === null).length;
  const unreached = all.length - runs.length;
  const body = [
    tag("h1", title),
    tag("p", conditionsText(suite)),
    tag(
      "p",
      `${certain} of ${runs.length} runs have a verdict; the others are drawn hollow: their A/A row was not ` +
        "level with itself, or time allowed fewer than three rounds. A ratio is the peer's time divided by ours, " +
        "the median of paired rounds with its bootstrap interval of 95 %." +
        (unreached === 0 ? "" : ` ${unreached} more sizes were not reached in the time.`),
      "soft",
    ),
    tableOf(summaryRows(suite), "wide"),
    ...guideSection(),
    ...peersSection(suite),
    ...scalingSection(suite),
    ...bytesSection(suite),
    tag("h2", "Every case"),
    ...suite.cases.flatMap(caseSection),
    ...missingSection(suite),
    tag("p", `Every observation: ${suiteName(suite)}.json beside this page.`, "soft"),
  ];
  return page(title, body);
}

/** What a newcomer has to know before the first chart. */
function guideSection(): string[] {
  const words = [
    "**A ratio** says how many times as fast Outrider is: 2 takes half of the other's time, 1 is level, under 1 Outrider is slower. " +
      "The brackets hold its interval.",
    "**A strip** draws it, on a logarithmic axis of its own: dot for the median, line for the interval, dotted upright for level. Right of " +
      "that Outrider is faster. A row reads “ours / theirs, what was timed”; a row A/A is the same side twice, and belongs on the dotted line.",
    "**A hollow dot** has no verdict: believe its direction at most.",
    "**A curve** shows how long single calls take. At 99 the slowest of a hundred calls begins, at 99.9 of a thousand; lower is better, and " +
      "so is flat.",
    "**Sides.** `outrider` is the package as it is used; names behind it with a dash are it in another way, which the case tells. `plain` " +
      "is a frontier in plain JavaScript: objects, a `Set`, arrays. It makes no leases and bounds no memory, so its poll is nearly nothing.",
    "**Dashed lines** are what this machine itself takes for a load from memory or a copy, measured in the same run.",
  ];
  return [
    tag("h2", "How to read this"),
    `<ul class="guide">${words.map((text) => `<li>${boldOf(text)}</li>`).join("")}</ul>`,
  ];
}

/** Text whose first words stand between double stars. */
function boldOf(text: string): string {
  const [, name = "", rest = ""] = text.split("**");
  return tag("b", name) + tag("span", rest);
}

function peersSection(suite: SuiteObject): string[] {
  const out: string[] = [];
  for (const each of suite.cases.filter((one) => one.suite === "peers")) {
    // Sizes that were not reached are listed at the end of the page.
    const measured = each.runs.filter(({ rounds }) => rounds > 0);
    if (measured.length === 0) continue;
    if (out.length === 0)
      out.push(tag("h2", "Beside other frontiers"), tag("p", PEER_WORDS, "soft"));
    out.push(tag("h3", each.question), tag("p", each.about, "about"));
    for (const run of measured) {
      out.push(tag("h4", paramText(run.params)));
      out.push(tableOf(peerRows(run, each.case === "peers-durable")));
      out.push(...missingText(run));
    }
  }
  return out;
}

const PEER_WORDS =
  "Every frontier takes the same file of URLs through the same steps, in a process of its own. `poll/s` and `done/s` count pages, `push/s` links told, " +
  "known ones too: more is better. `bytes/URL` is what the process grew by for each pending URL, pages of the runtime included, so that it says little at small " +
  "sizes; `longest call` is of a push of 1,000, `longest pause` of the language's garbage collector: less is better. `lost` never came out, `doubled` came out " +
  "twice: both should be 0. At 10,000 URLs and fewer, much of a time is code that runs for the first time.";

function missingText(run: RunObject): string[] {
  const words = missingWords(run);
  return words === "" ? [] : [tag("p", `Not measured: ${words}.`, "soft")];
}

/** Facts that count bytes for each URL, side by side. */
function bytesSection(suite: SuiteObject): string[] {
  const out: string[] = [];
  for (const each of suite.cases)
    for (const run of each.runs)
      for (const name of ["resident bytes/URL", "JS heap bytes/URL", "table bytes/URL"]) {
        const rows = Object.entries(run.observations).map(([side, list]) => {
          const values = list.map(({ facts }) => facts?.[name]).filter((v) => v !== undefined);
          return { side, value: values.length === 0 ? -1 : medianOf(values) };
        });
        const known = rows.filter(({ value }) => value >= 0);
        if (known.length === 0) continue;
        const most = Math.max(...known.map(({ value }) => value), 1);
        out.push(
          tag("h4", `${name}: ${each.case}, ${paramText(run.params)}`),
          '<div class="rows">',
        );
        for (const { side, value } of known) {
          const isOurs = side.startsWith("outrider");
          out.push(
            tag("span", side),
            bar(value / most, isOurs),
            tag("span", amount(value), "value"),
          );
        }
        out.push("</div>");
      }
  return out.length === 0
    ? []
    : [tag("h2", "Bytes for each URL"), tag("p", BYTE_WORDS, "soft"), ...out];
}

const BYTE_WORDS =
  "Shorter is better. `resident` is what the system counts for the whole process, `JS heap` the part of it that the collector has to walk, `table` the set of " +
  "seen URLs alone; the strings of the URLs themselves are in the first two, where a frontier keeps them there.";

function caseSection(each: CaseObject): string[] {
  const out = [tag("h3", `${each.case}: ${each.question}`)];
  if (each.about !== each.question) out.push(tag("p", each.about, "about"));
  if (each.target !== null) out.push(tag("p", `Target: ${each.target}`, "about"));
  for (const run of each.runs) {
    const { params, rounds } = run;
    const many = rounds === 0 ? "" : ` · ${rounds} ${rounds === 1 ? "round" : "rounds"}`;
    out.push(tag("h4", `${paramText(params)}${many}`));
    if (rounds === 0) {
      out.push(...missingText(run));
      continue;
    }
    out.push(...ratioRows(run), ...curves(run));
    if (run.doubt !== null) out.push(tag("p", run.doubt, "warn"));
  }
  return out;
}

function ratioRows(run: RunObject): string[] {
  if (run.ratio.length === 0) return [];
  const all = [...run.ratio.map(({ ratio }) => ratio), { low: 0.5, high: 2 }];
  const low = Math.min(...all.map((each) => each.low));
  const high = Math.max(...all.map((each) => each.high));
  const axis = { low, high, isDoubtful: run.doubt !== null };
  const rows = run.ratio.flatMap(({ subject, peer, phase, ratio, verdict }) => [
    tag("span", `${subject} / ${peer}, ${phase}`),
    strip(ratio, axis),
    tag("span", `${ratioText(ratio)} ${run.doubt === null ? verdict : ""}`, "value"),
  ]);
  const level = run.same.flatMap(({ subject, phase, ratio }) => [
    tag("span", `A/A ${subject}, ${phase}`, "soft"),
    strip(ratio, axis),
    tag("span", ratioText(ratio), "value soft"),
  ]);
  return ['<div class="rows">', ...rows, ...level, "</div>"];
}

/** Latency against percentile, the axis of percentiles logarithmic towards 1. */
function curves(run: RunObject): string[] {
  const names = new Set(
    Object.values(run.observations).flatMap((list) => Object.keys(list.at(-1)?.latencies ?? {})),
  );
  const figures = [...names].map((name) => {
    const lines = Object.entries(run.observations).flatMap(([side, list], at): Line[] => {
      const percentiles = list.at(-1)?.latencies?.[name];
      if (percentiles === undefined) return [];
      return [{ label: side, kind: at === 0 ? "ours" : "other", points: curveOf(percentiles) }];
    });
    const x = ["0", "90", "99", "99.9", "99.99"].map((label, at) => ({ at, label }));
    const most = Math.max(...lines.flatMap(({ points }) => points.map(([at]) => at)));
    const ticks = x.filter(({ at }) => at <= Math.max(1, most));
    const chart = plot(lines, { title: `latency of ${name}`, x: ticks, yLabel: nsText });
    const caption = `<figcaption>${escapeText(name)}: latency by percentile (%), lower is better</figcaption>`;
    return `<figure>${caption}${chart}</figure>`;
  });
  return figures.length === 0 ? [] : ['<div class="plots">', ...figures, "</div>"];
}

function curveOf({ encoded, count }: Percentiles): [number, number][] {
  const histogram = decodeFromCompressedBase64(encoded);
  const points: [number, number][] = [];
  for (let nines = 0; nines <= Math.min(5, Math.log10(count)); nines += 0.125) {
    const percentile = 100 * (1 - 10 ** -nines);
    points.push([nines, Math.max(1, histogram.getValueAtPercentile(percentile))]);
  }
  return points;
}

function missingSection(suite: SuiteObject): string[] {
  const rows = suite.cases.flatMap((each) =>
    each.runs.flatMap((run) =>
      Object.entries(run.missing).map(([side, why]) => [
        each.case,
        paramText(run.params),
        side,
        why,
      ]),
    ),
  );
  const failed = suite.failed.map(({ case: name, reason }) => [name, "", "", `failed: ${reason}`]);
  if (rows.length + failed.length === 0) return [];
  return [
    tag("h2", "Not measured"),
    tableOf([["case", "size", "side", "why"], ...failed, ...rows], "wide"),
  ];
}
