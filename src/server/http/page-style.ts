/** The style of the live page: light and dark, from 320 pixels on. */
export const PAGE_CSS = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --line: #d1d9e0;
  --ground: #fff; --card: #f6f8fa;
  --accent: #0a5cc2; --bad: #b3261e; --good: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b1; --line: #3a424b;
  --ground: #0d1117;
  --card: #161b22; --accent: #6cb0ff; --bad: #ff8a80; --good: #56d364; } }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.45 system-ui, sans-serif; color: var(--ink);
  background: var(--ground); font-variant-numeric: tabular-nums; }
.tiles div, svg, pre, .scroll { border: 1px solid var(--line); border-radius: 6px; }
.tiles div, svg, pre, thead th, button { background: var(--card); }
header, main { max-width: 1100px; margin: 0 auto; padding: 12px 16px; }
header { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; }
h1 { font-size: 20px; margin: 0; }
h2 { font-size: 16px; margin: 24px 0 8px; }
.soft { color: var(--soft); }
.bad { color: var(--bad); }
.good { color: var(--good); }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(132px, 1fr)); gap: 8px;
  margin: 0; }
.tiles div { padding: 8px 10px; }
.tiles dt { color: var(--soft); font-size: 13px; }
.tiles dd { margin: 0; font-size: 20px; overflow-wrap: anywhere; }
.scroll { overflow: auto; max-height: 70vh; }
table { border-collapse: collapse; width: 100%; }
caption { position: absolute; left: -9999px; }
th, td { padding: 5px 10px; text-align: right; border-top: 1px solid var(--line);
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
td.wide { white-space: normal; overflow-wrap: anywhere; text-align: left; min-width: 160px; }
thead th { border-top: 0; position: sticky; top: 0; }
th button { all: unset; cursor: pointer; font-weight: 600; }
input, select, button { font: inherit; color: var(--ink);
  border: 1px solid var(--soft);
  border-radius: 6px; padding: 5px 10px; min-height: 32px; max-width: 100%; }
input, select { background: var(--ground); }
button { cursor: pointer; }
:focus-visible, th button:focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
form { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; margin: 8px 0; }
label { display: grid; gap: 2px; font-size: 13px; color: var(--soft); }
label.grow { flex: 1 1 240px; }
svg { display: block; width: 100%; height: 120px; }
svg polyline { fill: none; stroke: var(--accent); stroke-width: 2;
  vector-effect: non-scaling-stroke; }
pre { padding: 10px; margin: 8px 0; white-space: pre-wrap; overflow-wrap: anywhere; }
#said { min-height: 1.5em; }
`;
