/**
 * The report of a crawl as one self-contained page: no script, no font, no external address.
 *
 *   title, how it ended
 *   tiles                pages · pages a second · read · hosts · failed · pending
 *   over time            pages per second · pending · resident memory
 *   two by two           latency  depth | hosts by size  busiest hosts | links  answers
 *   in numbers           manners · bounds · machine
 */
import type { CrawlSample, CrawlSummary } from "../../crawl.ts";
import { bars, columns, type Curve, curve, escapeHtml, stack } from "./svg-plot.ts";
import { REPORT_STYLE } from "./report-style.ts";
import { bytes, durationWords, share, short, sum, whole } from "./number-text.ts";
import { VERSION } from "../version.ts";
import { failedText, outcomeText, refusedText, sickHostText, statusText } from "./outcome-text.ts";

interface HtmlReport {
  readonly title: string;
  readonly summary: CrawlSummary;
  readonly samples: readonly CrawlSample[];
  /** When it was written, in words. */
  readonly when?: string;
  /** The command line that it was made with. */
  readonly settings?: string;
}

/** The whole page. Everything from outside is escaped. */
export function reportHtml({ title, summary, samples, when, settings }: HtmlReport): string {
  const ended = ENDED[summary.reason ?? ""] ?? ENDED.fault;
  const written = when === undefined ? "" : ` · ${escapeHtml(when)}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Outrider: ${escapeHtml(title)}</title><style>${REPORT_STYLE}</style></head>
<body>
<header><h1>${escapeHtml(title)}</h1>
<p>${ended} · ${durationWords(summary.elapsedMs)}${written}</p></header>
<dl class="tiles">${tilesOf(summary)}</dl>
<main class="cards">
${[...timeCards(samples), ...countCards(summary), urlsOf(summary), tablesOf(summary)].join("\n")}
</main>
${settings === undefined ? "" : `<p class="settings"><code>${escapeHtml(settings)}</code></p>`}
<footer>Written by Outrider ${VERSION}. Hover or tap a shape for its number.</footer>
</body></html>
`;
}

const ENDED: Readonly<Record<string, string>> = Object.freeze({
  finished: '<span class="state">Finished</span>: nothing is left',
  "max-pages": '<span class="state">Ended at the page limit</span>',
  "max-time": '<span class="state">Ended at the time limit</span>',
  stopped: '<span class="state">Stopped</span> on demand',
  fault: '<span class="state broken">Broke off</span>',
});

function tilesOf(summary: CrawlSummary): string {
  const tiles: Array<[string, string]> = [
    [whole(summary.pages), "pages"],
    [whole(summary.pagesPerSecond), "pages a second"],
    [bytes(summary.bytes), "read"],
    [whole(summary.hosts), summary.hosts === 1 ? "host" : "hosts"],
    [whole(summary.failed), "failed or forbidden"],
    [whole(summary.pending), "pending"],
  ];
  return tiles
    .map(([value, name]) => `<div class="tile"><dt>${name}</dt><dd>${value}</dd></div>`)
    .join("");
}

interface Card {
  readonly name: string;
  readonly note: string;
  readonly plot: string;
}

function card({ name, note, plot }: Card, kind = "card"): string {
  const noteHtml = note === "" ? "" : `<p class="note">${escapeHtml(note)}</p>`;
  return `<section class="${kind}"><h2>${name}</h2>${noteHtml}${plot}</section>`;
}

/** Three curves above each other, on one axis of time. */
function timeCards(samples: readonly CrawlSample[]): string[] {
  const rates = ratesOf(samples);
  const of = (name: "pending" | "residentBytes"): Curve =>
    thinned(samples).map((sample) => [sample.elapsedMs, sample[name]]);
  const most = (points: Curve): number => Math.max(0, ...points.map(([, y]) => y));
  const pending = of("pending");
  const resident = of("residentBytes");
  const mebibytes = resident.map(([x, y]): Curve[number] => [x, y / 2 ** 20]);
  const perSecond = `at most ${whole(most(rates))} in a second`;
  const parts: Array<Card> = [
    {
      name: "Pages per second",
      note: perSecond,
      plot: curve(rates, { shown: short, what: `pages per second, ${perSecond}` }),
    },
    {
      name: "Pending URLs",
      note: `at most ${whole(most(pending))}`,
      plot: curve(pending, { shown: short, what: `pending URLs, at most ${most(pending)}` }),
    },
    {
      name: "Resident memory, MiB",
      note: `at most ${bytes(most(resident))}, of the whole process`,
      plot: curve(mebibytes, {
        shown: short,
        what: `resident memory, at most ${bytes(most(resident))}`,
      }),
    },
  ];
  return [card(parts[0] as Card, "card wide"), ...parts.slice(1).map((each) => card(each))];
}

function countCards(summary: CrawlSummary): string[] {
  const { latencyMs, latencies, depths, hosts, statuses } = summary;
  const percentiles = (["p50", "p90", "p99", "p999", "max"] as const).map((name) => {
    const label = name === "p999" ? "p99.9" : name;
    return `<div><dt>${label}</dt><dd>${milliseconds(latencyMs[name])}</dd></div>`;
  });
  const answers = latencies.map((count, at): [string, number] => [short(2 ** at), count]);
  const deepest = depths.findLastIndex((count) => count > 0);
  return [
    card({
      name: "Latency to the first byte",
      note: "answers by milliseconds: up to 1, 2, 4, 8 …",
      plot:
        `<dl class="percentiles">${percentiles.join("")}</dl>` +
        columns(answers, { shown: short, what: `latency, p50 ${latencyMs.p50} ms` }),
    }),
    card({
      name: "Depth",
      note: `admitted URLs by links from a seed; the deepest ${Math.max(deepest, 0)}`,
      plot: columns(
        depths.map((count, depth) => [String(depth), count]),
        { shown: short, what: `URLs by depth, the deepest ${deepest}` },
      ),
    }),
    // Of one host there is nothing to compare.
    ...(hosts > 1 ? hostCards(summary) : []),
    card({ name: "What became of the links", note: linksNote(summary), plot: linksOf(summary) }),
    card({
      name: "Answers by status",
      note: "robots.txt not counted",
      plot: bars(outcomeText(statuses, statusText), whole),
    }),
  ];
}

function hostCards({ hostPages, busiest }: CrawlSummary): string[] {
  const sizes = hostPages.map((count, at): [string, number] => [short(2 ** at), count]);
  return [
    card({
      name: "Hosts by size",
      note: "how many hosts gave from 1, 2, 4, 8 … pages",
      plot: columns(sizes, { shown: short, what: "hosts by the number of their pages" }),
    }),
    card({
      name: "Busiest hosts",
      note: "pages worked on",
      plot: bars(
        busiest.map(({ host, pages }) => [host, pages]),
        whole,
      ),
    }),
  ];
}

/** Single URLs by name, where there are some: what failed and why, and what took long; and the answers at each depth. */
function urlsOf(summary: CrawlSummary): string {
  const { failing, failures, slowest, slowestHosts, sickest, hosts } = summary;
  const failed = sum(Object.values(failures));
  const more =
    failed > failing.length ? `, the last ${whole(failing.length)} of ${whole(failed)}` : "";
  const tables = [
    tableOf(
      `URLs that failed${more}`,
      failing.map(({ url, reason, foundOn }): Row => {
        const why = escapeHtml(failedText(reason));
        return foundOn === undefined ? [url, why] : [url, why, `found on ${foundOn}`];
      }),
    ),
    tableOf(
      "Slowest pages, to the first byte",
      slowest.map(({ url, latencyMs }): Row => [url, milliseconds(latencyMs)]),
    ),
    tableOf(
      "Slowest hosts, in the mean",
      hosts < 2
        ? []
        : slowestHosts.map(({ host, latencyMs }): Row => [host, milliseconds(latencyMs)]),
    ),
    tableOf(
      "Hosts that answered badly, by score of 100",
      sickest.map((each): Row => [sickHostText(each), whole(each.score)]),
    ),
    statusTable(summary),
  ].join("");
  return tables && `<section class="card wide tables">${tables}</section>`;
}

const DEPTHS_SHOWN = 8;

/** Rows of statuses, a number for each depth. */
function statusTable({ statusDepths }: CrawlSummary): string {
  const rows = Object.entries(statusDepths);
  return tableOf(
    "Answers by depth: seeds, one link away, two …",
    rows.map(([status, counts]): Row => {
      const shown = counts.slice(0, DEPTHS_SHOWN).map(whole);
      return [
        statusText(status),
        [...shown, ...(counts.length > DEPTHS_SHOWN ? ["…"] : [])].join(" · "),
      ];
    }),
  );
}

function linksNote(summary: CrawlSummary): string {
  const admitted = sum(summary.depths);
  const part = share(summary.duplicate, admitted + summary.duplicate);
  return `${part} of the links in scope led to a page that was known already`;
}

function linksOf(summary: CrawlSummary): string {
  const why = outcomeText(summary.rejected, refusedText);
  const parts = [
    { name: "new", value: sum(summary.depths), note: "admitted to be visited" },
    { name: "duplicate", value: summary.duplicate, note: "known already" },
    {
      name: "refused",
      value: sum(Object.values(summary.rejected)),
      note: why.map(([words]) => words).join(", "),
    },
    { name: "left", value: summary.trapped, note: "shaped like a trap" },
  ];
  return stack(parts, whole);
}

/** `under`: in small letters below the name. */
type Row = readonly [name: string, value: string, under?: string];

function tablesOf(summary: CrawlSummary): string {
  const { errors, memory } = summary;
  const manners: Row[] = [
    ["robots.txt asked", whole(summary.robotsFetched)],
    ["sitemaps read", whole(summary.sitemaps)],
    ["redirects", whole(summary.redirects)],
    ["not modified", whole(summary.notModified)],
    ["tried again", whole(summary.retried)],
    ["items", whole(summary.items)],
  ];
  const failures = outcomeText(summary.failures, failedText).map(
    ([words, count]): Row => [words, whole(count)],
  );
  const rejected = outcomeText(summary.rejected, refusedText).map(([words, count]): Row => {
    return [`link ${words}`, whole(count)];
  });
  const bounds: Row[] = [
    ...rejected,
    ["pages cut at the size limit", whole(summary.truncated)],
    ["links left as traps", whole(summary.trapped)],
    ["heap at the end", bytes(memory.heapBytes)],
    ["off heap at the end", bytes(memory.offHeapBytes)],
    ...(["downloader", "analyzer", "pipeline", "scheduler"] as const).map((stage): Row => {
      return [`errors of the ${stage}`, whole(errors[stage])];
    }),
  ];
  const tables = [
    tableOf("Visits", manners),
    tableOf("Failed for good", failures.length === 0 ? [["nothing", "0"]] : failures),
    tableOf("Bounds and machine", bounds),
  ];
  return `<section class="card wide tables">${tables.join("")}</section>`;
}

function tableOf(name: string, rows: readonly Row[]): string {
  if (rows.length === 0) return "";
  const lines = rows.map(([label, value, under]) => {
    const more = under === undefined ? "" : `<br><small>${escapeHtml(under)}</small>`;
    return `<tr><td>${escapeHtml(label)}${more}</td><td>${value}</td>`;
  });
  return `<div><h2>${name}</h2><table>${lines.join("")}</table></div>`;
}

/** Most points drawn: more would be less than two pixels apart. */
const POINTS_MAX = 150;

/** Every n-th sample, including the first and the last. */
function thinned(samples: readonly CrawlSample[]): readonly CrawlSample[] {
  const every = Math.ceil(samples.length / POINTS_MAX);
  return samples.filter((_, index) => index % every === 0 || index === samples.length - 1);
}

/** Pages per second between samples that are at least a second, and a sixtieth of the crawl, apart: shorter ones are noise. */
function ratesOf(samples: readonly CrawlSample[]): Curve {
  const end = samples.at(-1)?.elapsedMs ?? 0;
  const stepMs = Math.min(Math.max(end / 60, 1_000), Math.max(end / 6, 1));
  const points: Array<readonly [number, number]> = [];
  let before = samples[0];
  for (const sample of samples) {
    if (before === undefined || sample.elapsedMs - before.elapsedMs < stepMs) continue;
    const seconds = (sample.elapsedMs - before.elapsedMs) / 1000;
    const rate = (sample.pages - before.pages) / seconds;
    if (points.length === 0) points.push([before.elapsedMs, rate]);
    points.push([sample.elapsedMs, rate]);
    before = sample;
  }
  return points;
}

function milliseconds(ms: number): string {
  if (ms < 10_000) return `${ms < 100 ? Math.round(ms * 10) / 10 : whole(ms)} ms`;
  return `${whole(ms / 1000)} s`;
}
