/** The page around a report: one file, no script, nothing loaded; light and dark; one column on a phone. */
import { escapeText } from "./svg.ts";

const STYLE = `
:root { color-scheme: light dark; --back: #fdfdfc; --text: #1d2321; --soft: #66706c; --rule: #dfe3e0; --accent: #0b7a5c; --warn: #a35200; }
@media (prefers-color-scheme: dark) {
  :root { --back: #141816; --text: #e6eae8; --soft: #96a19c; --rule: #2e3632; --accent: #3fc79d; --warn: #e2a057; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1rem 4rem; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; -webkit-text-size-adjust: 100%; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1.02rem; margin: 1.75rem 0 .1rem; }
h4 { font-size: .85rem; font-weight: 600; color: var(--soft); margin: .9rem 0 .3rem; }
code { font: .92em ui-monospace, monospace; }
p { margin: .3rem 0 .8rem; max-width: 46rem; }
.soft, .about { color: var(--soft); font-size: .88rem; }
.guide { max-width: 46rem; padding-left: 1.1rem; font-size: .88rem; } .guide li { margin: .25rem 0; }
.warn { color: var(--warn); font-size: .88rem; }
.rows { display: grid; grid-template-columns: minmax(9rem, 17rem) minmax(6rem, 1fr) minmax(9.5rem, 13rem); gap: .15rem .8rem; align-items: center; font-size: .88rem; }
.rows .value { font-variant-numeric: tabular-nums; }
.strip { display: block; width: 100%; height: 18px; overflow: visible; }
.strip .axis { stroke: var(--rule); } .strip .one { stroke: var(--soft); stroke-dasharray: 2 2; }
.strip .whisker { stroke: var(--accent); stroke-width: 2; }
.strip .dot { fill: var(--accent); stroke: var(--accent); stroke-width: 2; }
.strip .doubtful { fill: var(--back); }
.bar { fill: var(--soft); opacity: .55; } .bar.ours { fill: var(--accent); opacity: 1; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 1rem 1.5rem; }
figure { margin: 0; } figcaption { font-size: .88rem; }
.plot { display: block; width: 100%; max-width: 30rem; height: auto; }
.plot text { font: 10px system-ui, sans-serif; fill: var(--soft); }
.plot .end { text-anchor: end; } .plot .middle { text-anchor: middle; }
.plot .label.ours { fill: var(--accent); font-weight: 600; }
.grid { stroke: var(--rule); stroke-width: 1; }
.line { fill: none; stroke-width: 1.6; stroke: var(--soft); } .line.ours { stroke: var(--accent); stroke-width: 2.2; }
.line.limit { stroke-dasharray: 4 3; stroke: var(--warn); } .plot .label.limit { fill: var(--warn); }
.point { fill: var(--soft); } .point.ours { fill: var(--accent); } .point.limit { fill: none; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .7rem; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; } th { font-weight: 600; color: var(--soft); }
.wide td { white-space: normal; overflow-wrap: anywhere; } .wide td:first-child { overflow-wrap: normal; }
@media (max-width: 40rem) {
  .rows { grid-template-columns: 1fr; gap: 0; } .rows .value { color: var(--soft); margin-bottom: .55rem; }
  table, tbody { display: block; } tr.head { display: none; }
  tr { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.4rem, 1fr)); gap: 0 .9rem; padding: .4rem 0; border-bottom: 1px solid var(--rule); }
  .wide tr { grid-template-columns: minmax(0, 1fr); }
  td { display: flex; justify-content: space-between; gap: .6rem; border: 0; padding: 0; white-space: normal; min-width: 0; }
  td:first-child { grid-column: 1 / -1; font-weight: 600; }
  td:not(:first-child)::before { content: attr(data-of); color: var(--soft); white-space: nowrap; }
}
`;

export function page(title: string, body: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${body.join("\n")}
</body>
</html>
`;
}

export function tag(name: string, text: string, kind?: string): string {
  const attribute = kind === undefined ? "" : ` class="${kind}"`;
  return `<${name}${attribute}>${withCode(text)}</${name}>`;
}

/** Text whose words between backquotes are code. */
function withCode(text: string): string {
  return escapeText(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** The first row is the head; nothing where there are no others. On a phone a row is a block, each cell with its head; `wide`: a line each. */
export function tableOf(rows: readonly (readonly string[])[], kind = ""): string {
  const [head = [], ...body] = rows;
  if (body.length === 0) return "";
  const first = head.map((text) => tag("th", text)).join("");
  const others = body.map((cells) => {
    const each = cells.map((text, at) => {
      return `<td data-of="${escapeText(head[at] ?? "")}"><span>${withCode(text)}</span></td>`;
    });
    return `<tr>${each.join("")}</tr>`;
  });
  const inside = `<tr class="head">${first}</tr>${others.join("")}`;
  return `<div class="scroll ${kind}"><table>${inside}</table></div>`;
}
