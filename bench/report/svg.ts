/**
 * Charts as text: SVG inside a page, with the page's colours.
 *
 *   strip    one ratio: whisker and dot on a log axis, in percent of whatever width there is
 *   plot     lines over two axes, 340 units wide, labels at the ends of the lines, limits dashed
 *   bar      one quantity, in percent of the largest
 *
 *   I1  Every text that goes in is escaped here and nowhere else.
 */

export function escapeText(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

export interface StripOptions {
  /** Ends of the axis, which is logarithmic. */
  readonly low: number;
  readonly high: number;
  /** Drawn hollow: it has no verdict. */
  readonly isDoubtful: boolean;
}

export function strip(
  { median, low, high }: { median: number; low: number; high: number },
  axis: StripOptions,
): string {
  const span = Math.log(axis.high / axis.low);
  const at = (value: number): string => {
    const share = Math.log(Math.max(value, 1e-9) / axis.low) / span;
    return `${(2 + 96 * Math.min(1, Math.max(0, share))).toFixed(2)}%`;
  };
  const kind = axis.isDoubtful ? "dot doubtful" : "dot";
  return [
    '<svg class="strip" role="presentation">',
    `<line class="axis" x1="2%" x2="98%" y1="9" y2="9"/>`,
    `<line class="one" x1="${at(1)}" x2="${at(1)}" y1="1" y2="17"/>`,
    `<line class="whisker" x1="${at(low)}" x2="${at(high)}" y1="9" y2="9"/>`,
    `<circle class="${kind}" cx="${at(median)}" cy="9" r="4.5"/>`,
    "</svg>",
  ].join("");
}

/** A bar of `share` of the width. */
export function bar(share: number, isOurs: boolean): string {
  const width = (100 * Math.min(1, Math.max(0.004, share))).toFixed(2);
  const kind = isOurs ? "bar ours" : "bar";
  return `<svg class="strip" role="presentation"><rect class="${kind}" x="0" y="3" height="12" rx="2" width="${width}%"/></svg>`;
}

export interface Line {
  readonly label: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Drawn in the accent colour, in grey, or dashed as a limit of the machine. */
  readonly kind: "ours" | "other" | "limit";
}

export interface Tick {
  readonly at: number;
  readonly label: string;
}

export interface PlotOptions {
  readonly title: string;
  readonly x: readonly Tick[];
  /** Powers of ten where missing. */
  readonly yLabel: (value: number) => string;
}

const WIDTH = 340;
const HEIGHT = 210;
const LEFT = 46;
const RIGHT = 92;
const TOP = 10;
const BOTTOM = 24;

/** Lines over a linear x (pass logarithms for a logarithmic x) and a logarithmic y. */
export function plot(lines: readonly Line[], options: PlotOptions): string {
  const points = lines.flatMap((line) => line.points);
  const xs = [...points.map(([x]) => x), ...options.x.map(({ at }) => at)];
  const ys = points.map(([, y]) => y).filter((y) => y > 0);
  if (ys.length === 0) return "";
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = decades(Math.min(...ys), Math.max(...ys));
  const xAt = (x: number): number =>
    LEFT + ((x - left) / Math.max(right - left, 1e-9)) * (WIDTH - LEFT - RIGHT);
  const yAt = (y: number): number => {
    const share = Math.log10(Math.max(y, 1e-9) / low) / Math.log10(high / low);
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
  };
  const out = [`<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`];
  out.push(`<title>${escapeText(options.title)}</title>`);
  for (let y = low; y <= high * 1.001; y *= 10) {
    const height = yAt(y).toFixed(1);
    out.push(
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${height}" y2="${height}"/>`,
    );
    out.push(label(options.yLabel(y), LEFT - 5, yAt(y) + 3.5, "end"));
  }
  for (const { at, label: text } of options.x) out.push(label(text, xAt(at), HEIGHT - 8, "middle"));
  for (const { kind, points: own } of lines) {
    const path = own.map(([x, y]) => `${xAt(x).toFixed(1)},${yAt(y).toFixed(1)}`).join(" ");
    out.push(`<polyline class="line ${kind}" points="${path}"/>`);
    if (own.length > 12) continue;
    for (const [x, y] of own) out.push(point(xAt(x), yAt(y), kind));
  }
  out.push(...endLabels(lines, yAt), "</svg>");
  return out.join("");
}

/** Powers of ten around two values. */
function decades(least: number, most: number): [number, number] {
  const low = 10 ** Math.floor(Math.log10(least));
  const high = 10 ** Math.ceil(Math.log10(most) - 1e-9);
  return [low, high > low ? high : low * 10];
}

const LABEL_GAP = 12;

/** A label at the end of each line, moved down where it would cover another. */
function endLabels(lines: readonly Line[], yAt: (y: number) => number): string[] {
  const ends = lines
    .map((line) => ({ line, y: yAt(line.points.at(-1)?.[1] ?? 1) + 3.5 }))
    .sort((a, b) => a.y - b.y);
  let last = Number.NEGATIVE_INFINITY;
  const placed = ends.map(({ line, y }) => {
    last = Math.max(y, last + LABEL_GAP);
    return { line, y: last };
  });
  // What was pushed out at the bottom goes up again, and those above it with it.
  let most = HEIGHT - BOTTOM + 4;
  for (const each of placed.toReversed()) {
    each.y = Math.min(each.y, most);
    most = each.y - LABEL_GAP;
  }
  return placed.map(({ line, y }) =>
    label(line.label, WIDTH - RIGHT + 5, y, `start label ${line.kind}`),
  );
}

function point(x: number, y: number, kind: string): string {
  return `<circle class="point ${kind}" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="2.5"/>`;
}

function label(text: string, x: number, y: number, kind: string): string {
  const at = `x="${x.toFixed(1)}" y="${y.toFixed(1)}"`;
  return `<text class="${kind}" ${at}>${escapeText(text)}</text>`;
}
