/**
 * The style of a report: light or dark by the reader's system setting, one column on a phone. Every pair of text and
 * ground has a contrast of 4.5 or more (WCAG AA), which a test in a browser measures.
 */
export const REPORT_STYLE = `
:root {
  color-scheme: light dark;
  --page: #f6f4f0; --card: #fff; --ink: #1d2126; --dim: #5d6570; --line: #e4e1da;
  --accent: #b8431f; --soft: #b8431f1f; --second: #55708c; --third: #c3bdb0; --fourth: #8a8378;
  --good: #2c6e49; --bad: #a32626;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #121518; --card: #1b1f23; --ink: #e9e7e2; --dim: #a2aab4; --line: #2e343a;
    --accent: #f08a5d; --soft: #f08a5d26; --second: #87a6c6; --third: #545c65; --fourth: #79818a;
    --good: #7fcf9f; --bad: #f08c8c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 36px 20px 56px; max-width: 1080px; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, sans-serif;
  -webkit-text-size-adjust: 100%;
}
header p { margin: 0; color: var(--dim); }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 15px; margin: 0; }
.note { margin: 0 0 14px; color: var(--dim); font-size: 13px; }
.state { font-weight: 600; color: var(--good); }
.state.broken { color: var(--bad); }
.tiles, .cards { display: grid; gap: 14px; margin: 0; padding: 0; }
.tiles { grid-template-columns: repeat(6, minmax(0, 1fr)); margin: 24px 0 14px; }
.cards { grid-template-columns: repeat(2, minmax(0, 1fr)); }
.card, .tile { background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.card { padding: 18px 20px; min-width: 0; display: flex; flex-direction: column; }
.wide { grid-column: 1 / -1; }
.tile { padding: 12px 16px; min-width: 0; }
.tile dd { margin: 0; font-size: 25px; font-weight: 650; line-height: 1.25; }
.tile dt { color: var(--dim); font-size: 13px; }
.tile { display: flex; flex-direction: column-reverse; justify-content: flex-end; }
.tile, .value, .y, .x, .percentiles, td { font-variant-numeric: tabular-nums; }
.plot { flex: 1; display: grid; grid-template: minmax(170px, 1fr) 20px / auto minmax(0, 1fr); }
.canvas { position: relative; }
.canvas svg { position: absolute; width: 100%; height: 100%; overflow: visible; }
.y, .x { color: var(--dim); font-size: 12px; line-height: 16px; white-space: nowrap; }
.y { position: relative; width: 46px; }
.y span { position: absolute; right: 8px; transform: translateY(50%); }
.x { grid-column: 2; position: relative; }
.x span { position: absolute; top: 5px; transform: translateX(-50%); }
.x span:first-child[style="left:0%"] { transform: none; }
.x span.end { transform: translateX(-100%); }
svg .grid { stroke: var(--line); vector-effect: non-scaling-stroke; }
svg .line {
  fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round;
  vector-effect: non-scaling-stroke;
}
svg .area { fill: var(--soft); }
svg .column { fill: var(--accent); }
svg .touch { fill: transparent; }
svg .touch:hover { fill: var(--soft); }
svg .column:hover { opacity: .75; }
ul { list-style: none; margin: 0; padding: 0; }
.bars li { display: grid; grid-template-columns: 33% 1fr auto; gap: 10px; align-items: center; }
.bars li + li { margin-top: 6px; }
.bars .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 14px; }
.bars .track { height: 14px; }
.bars .track i { display: block; height: 100%; min-width: 2px; border-radius: 0 3px 3px 0; }
.bars .track i { background: var(--accent); }
.value { text-align: right; font-size: 14px; white-space: nowrap; }
.stack { display: flex; gap: 2px; height: 26px; margin-bottom: 14px; }
.stack i { min-width: 2px; flex-basis: 0; border-radius: 3px; }
.part0 { background: var(--accent); } .part1 { background: var(--second); }
.part2 { background: var(--third); } .part3 { background: var(--fourth); }
.keys li { display: grid; grid-template-columns: 12px 1fr auto; gap: 10px; align-items: baseline; }
.keys li + li { margin-top: 4px; }
.keys i { width: 12px; height: 12px; border-radius: 3px; }
small { color: var(--dim); font-size: 13px; }
.percentiles { display: flex; flex-wrap: wrap; gap: 4px 22px; margin: 2px 0 14px; }
.percentiles div { display: flex; gap: 6px; align-items: baseline; }
.percentiles dt { color: var(--dim); font-size: 13px; }
.percentiles dd { margin: 0; font-weight: 600; }
.card.tables { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 8px 36px; }
.tables h2 { margin: 6px 0; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
td { padding: 4px 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
td:last-child { text-align: right; white-space: nowrap; padding-left: 12px; }
.empty { margin: 0; color: var(--dim); }
footer { margin-top: 22px; color: var(--dim); font-size: 13px; }
@media (max-width: 900px) { .tiles { grid-template-columns: repeat(3, minmax(0, 1fr)); } }
@media (max-width: 720px) {
  body { padding: 20px 12px 40px; }
  .cards, .card.tables { grid-template-columns: minmax(0, 1fr); }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .card { padding: 14px; }
  .tile { padding: 10px 12px; }
  .tile dd { font-size: 20px; }
  .y { width: 36px; }
  .bars li { grid-template-columns: 42% 1fr auto; }
}
@media print {
  body { background: none; max-width: none; padding: 0; }
  .card, .tile { break-inside: avoid; }
}
`;
