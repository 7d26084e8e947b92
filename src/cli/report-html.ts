/**
 * The report of a crawl as one self-contained page: no script, no font, no address of anything else. Light and dark by what
 * the reader's system prefers.
 *
 *   tiles · pages per second and pending over time · latency · depths · statuses · what became of all links
 */
import type { CrawlSample, CrawlSummary } from "../crawl.ts";
import { bars, type Curve, lines } from "./plot.ts";
import { bytes, duration, share, whole } from "./text.ts";

export interface HtmlReport {
  readonly title: string;
  readonly summary: CrawlSummary;
  readonly samples: readonly CrawlSample[];
}

const STYLE = `
:root {
  color-scheme: light dark;
  --page: #fbfaf8; --card: #fff; --ink: #1d2126; --dim: #68707b;
  --line: #e3e1dc; --accent: #b8431f; --soft: #b8431f22;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171a; --card: #1c2024; --ink: #e8e6e1; --dim: #98a0aa;
    --line: #30363c; --accent: #f08a5d; --soft: #f08a5d22;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 32px 20px 64px; max-width: 1040px;
  background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif;
}
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 15px; margin: 0 0 10px; }
p { margin: 0; color: var(--dim); }
.tiles, .plots { display: grid; gap: 12px; }
.tiles { grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); margin: 24px 0; }
.plots { grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); }
.card {
  padding: 14px 16px;
  background: var(--card); border: 1px solid var(--line); border-radius: 10px;
}
.tile b { display: block; font-size: 24px; line-height: 1.25; font-variant-numeric: tabular-nums; }
.tile span { color: var(--dim); font-size: 13px; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { fill: var(--dim); font: 11px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
svg .grid { stroke: var(--line); }
svg .line { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; }
svg .area { fill: var(--soft); }
svg .bar { fill: var(--accent); }
svg .value { fill: var(--ink); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
td { padding: 3px 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
td:last-child { text-align: right; }
`;

/** The whole page. Everything that came from outside is escaped. */
export function reportHtml({ title, summary, samples }: HtmlReport): string {
  const { latencyMs, statuses, depths } = summary;
  const latency: Array<[string, number]> = [
    ["p50", latencyMs.p50],
    ["p90", latencyMs.p90],
    ["p99", latencyMs.p99],
    ["p99.9", latencyMs.p999],
    ["max", latencyMs.max],
  ];
  const admitted = depths.reduce((sum, each) => sum + each, 0);
  const refused = Object.values(summary.rejected).reduce((sum, each) => sum + each, 0);
  const plots = [
    ["Pages per second", lines(ratesOf(samples), whole)],
    [
      "Pending",
      lines(
        samples.map(({ elapsedMs, pending }) => [elapsedMs / 1000, pending]),
        whole,
      ),
    ],
    ["Latency until the first byte, ms", bars(latency, (value) => String(value))],
    [
      "Depth of what was admitted",
      bars(
        depths.map((count, depth) => [String(depth), count]),
        whole,
      ),
    ],
    ["Answers by status", bars(Object.entries(statuses), whole)],
    [
      "What became of the links",
      bars(
        [
          ["new", admitted],
          ["duplicate", summary.duplicate],
          ["refused", refused],
        ],
        (value) => `${whole(value)} · ${share(value, admitted + summary.duplicate + refused)}`,
      ),
    ],
  ] as const;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Outrider: ${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(summary.reason ?? summary.status)} after ${duration(summary.elapsedMs)}</p>
<section class="tiles">${tilesOf(summary)}</section>
<section class="plots">
${plots.map(([name, plot]) => `<div class="card"><h2>${name}</h2>${plot}</div>`).join("\n")}
<div class="card"><h2>Also</h2><table>${rowsOf(summary)}</table></div>
</section>
</body></html>
`;
}

function tilesOf(summary: CrawlSummary): string {
  const tiles: Array<[string, string]> = [
    [whole(summary.pages), "pages"],
    [`${whole(summary.pagesPerSecond)}/s`, "on average"],
    [bytes(summary.bytes), "read"],
    [whole(summary.hosts), "hosts"],
    [whole(summary.failed), "failed"],
    [whole(summary.pending), "pending"],
  ];
  return tiles
    .map(([value, name]) => `<div class="card tile"><b>${value}</b><span>${name}</span></div>`)
    .join("");
}

function rowsOf(summary: CrawlSummary): string {
  const { errors } = summary;
  const faults = errors.downloader + errors.analyzer + errors.pipeline + errors.scheduler;
  const rows: Array<[string, string]> = [
    ["redirects", whole(summary.redirects)],
    ["refused by robots.txt", whole(summary.disallowed)],
    ["robots.txt asked", whole(summary.robotsFetched)],
    ["sitemaps", whole(summary.sitemaps)],
    ["tried again", whole(summary.retried)],
    ["faults", whole(faults)],
    ["pages cut at the size limit", whole(summary.truncated)],
    ["links left as traps", whole(summary.trapped)],
    ["items", whole(summary.items)],
    ...Object.entries(summary.rejected).map(([why, count]): [string, string] => [
      `refused: ${why}`,
      whole(count),
    ]),
    ["heap at the end", bytes(summary.memory.heapBytes)],
    ["off heap at the end", bytes(summary.memory.offHeapBytes)],
  ];
  return rows.map(([name, value]) => `<tr><td>${escapeHtml(name)}<td>${value}`).join("");
}

function ratesOf(samples: readonly CrawlSample[]): Curve {
  return samples.slice(1).map((sample, index) => {
    const before = samples[index] as CrawlSample;
    const seconds = Math.max(sample.elapsedMs - before.elapsedMs, 1) / 1000;
    return [sample.elapsedMs / 1000, (sample.pages - before.pages) / seconds];
  });
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => `&#${letter.codePointAt(0)};`);
}
