/**
 * Plots of a report: shapes as inline SVG that stretches with its card, words as HTML beside it, so that they keep their
 * size on a phone. One accent colour, direct labels, colours by the page's own variables, no script: a <title> describes
 * the shape under the pointer.
 *
 *   curve    ▁▃▇▅▂   values over time          columns  ▂▅█▃   counts by ordered classes
 *   bars     ███ 12  named values, largest by length      stack  ██▓░  shares of one whole
 *
 *   I1  Every text from outside is escaped here.
 *   I2  Labels of an axis are thinned out until they have room on the narrowest phone (NARROW pixels of plot).
 */

/** Points, x ascending, in milliseconds. */
export type Curve = ReadonlyArray<readonly [number, number]>;

type Shown = (value: number) => string;

const TIME_LABELS_MAX = 5;
const BARS_MAX = 12;
/** Width of a plot on a phone of 320 pixels, and of a letter of a label there, in pixels. */
const NARROW = 210;
const LETTER = 7;

/** A curve over time, filled to its foot. `what` describes it in words. */
export function curve(points: Curve, { shown, what }: { shown: Shown; what: string }): string {
  if (points.length < 2) return empty();
  const end = Math.max(...points.map(([x]) => x), 1);
  const steps = valueSteps(Math.max(...points.map(([, y]) => y)));
  const top = steps.at(-1) as number;
  const at = ([x, y]: readonly [number, number]): string =>
    `${fixed((100 * x) / end)},${fixed(100 - (100 * y) / top)}`;
  const line = points.map(at).join(" ");
  const [firstX = 0] = points[0] ?? [];
  const shape = [
    ...grid(steps),
    `<polygon class="area" points="${fixed((100 * firstX) / end)},100 ${line} 100,100"/>`,
    `<polyline class="line" points="${line}"/>`,
    ...points.map(([x, y], index) => {
      const next = points[index + 1]?.[0] ?? end;
      const box = { x: (100 * x) / end, y: 0, width: (100 * (next - x)) / end, height: 100 };
      return rect("touch", box, `${timeText(x)}: ${shown(y)}`);
    }),
  ];
  const labels = timeSteps(end).map((ms) => xLabel((100 * ms) / end, timeText(ms)));
  return plot({ shape, steps, top, labels, shown, what });
}

/** Counts of ordered classes as columns; names are thinned out where there is no room for all. */
export function columns(
  given: ReadonlyArray<readonly [string, number]>,
  { shown, what }: { shown: Shown; what: string },
): string {
  const values = inner(given);
  if (values.length === 0) return empty();
  const steps = valueSteps(Math.max(...values.map(([, value]) => value)));
  const top = steps.at(-1) as number;
  const width = 100 / values.length;
  const shape = [
    ...grid(steps),
    ...values.map(([name, value], index) => {
      // A value above 0 stays visible, however small its share is.
      const height = value === 0 ? 0 : Math.max((100 * value) / top, 0.8);
      const box = { x: (index + 0.1) * width, y: 100 - height, width: 0.8 * width, height };
      return rect("column", box, `${name}: ${shown(value)}`);
    }),
  ];
  const widest = Math.max(...values.map(([name]) => name.length)) + 1;
  const every = Math.ceil((values.length * widest * LETTER) / NARROW);
  const labels = values.flatMap(([name], index) =>
    index % every === 0 ? [xLabel((index + 0.5) * width, name)] : [],
  );
  return plot({ shape, steps, top, labels, shown, what });
}

/** Named values as bars from the left, in their order; values beyond the maximum are added up in the last bar. */
export function bars(given: ReadonlyArray<readonly [string, number]>, shown: Shown): string {
  const values = fold(given.filter(([, value]) => value > 0));
  if (values.length === 0) return empty();
  const most = Math.max(...values.map(([, value]) => value));
  const rows = values.map(([name, value]) => {
    const label = `<span class="name" title="${escapeHtml(name)}">${escapeHtml(name)}</span>`;
    const fill = `<span class="track"><i style="width:${fixed((100 * value) / most)}%"></i></span>`;
    return `<li>${label}${fill}<span class="value">${escapeHtml(shown(value))}</span></li>`;
  });
  return `<ul class="bars">${rows.join("")}</ul>`;
}

interface StackPart {
  readonly name: string;
  readonly value: number;
  /** Printed beside the value, smaller. */
  readonly note: string;
}

/** Parts of one whole, side by side and then by name: at most four. */
export function stack(parts: readonly StackPart[], shown: Shown): string {
  const all = parts.reduce((sum, { value }) => sum + value, 0);
  if (all === 0) return empty();
  const percent = (value: number): string => `${Math.round((100 * value) / all)} %`;
  const fills = parts.map(({ name, value }, index) => {
    const title = `${name}: ${shown(value)}, ${percent(value)}`;
    const style = `flex-grow:${fixed((1000 * value) / all)}`;
    return value === 0 ? "" : `<i class="part${index}" style="${style}" title="${title}"></i>`;
  });
  const rows = parts.map(({ name, value, note }, index) => {
    const key = `<i class="part${index}"></i>`;
    const words = `<b>${percent(value)}</b> ${escapeHtml(name)} <small>${escapeHtml(note)}</small>`;
    return `<li>${key}<span>${words}</span><span class="value">${shown(value)}</span></li>`;
  });
  return `<div class="stack">${fills.join("")}</div><ul class="keys">${rows.join("")}</ul>`;
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => `&#${letter.codePointAt(0)};`);
}

interface Drawn {
  readonly shape: readonly string[];
  readonly steps: readonly number[];
  readonly top: number;
  readonly labels: readonly string[];
  readonly shown: Shown;
  readonly what: string;
}

function plot({ shape, steps, top, labels, shown, what }: Drawn): string {
  const marks = steps.map(
    (step) =>
      `<span style="bottom:${fixed((100 * step) / top)}%">${escapeHtml(shown(step))}</span>`,
  );
  return `<div class="plot" role="img" aria-label="${escapeHtml(what)}">
<div class="y">${marks.join("")}</div>
<div class="canvas">
<svg viewBox="0 0 100 100" preserveAspectRatio="none">${shape.join("")}</svg></div>
<div class="x">${labels.join("")}</div></div>`;
}

function grid(steps: readonly number[]): string[] {
  const top = steps.at(-1) as number;
  return steps.map((step) => {
    const y = fixed(100 - (100 * step) / top);
    return `<line class="grid" x1="0" x2="100" y1="${y}" y2="${y}"/>`;
  });
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function rect(name: string, { x, y, width, height }: Box, title: string): string {
  const place = `x="${fixed(x)}" y="${fixed(y)}" width="${fixed(width)}" height="${fixed(height)}"`;
  return `<rect class="${name}" ${place}><title>${escapeHtml(title)}</title></rect>`;
}

/** A label below the plot; at the right end it is placed to the left of its point. */
function xLabel(percent: number, text: string): string {
  const end = percent > 97 ? ' class="end"' : "";
  return `<span${end} style="left:${fixed(percent)}%">${escapeHtml(text)}</span>`;
}

function fixed(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Classes from the first with a value to the last. */
function inner(given: ReadonlyArray<readonly [string, number]>): Array<readonly [string, number]> {
  const isFull = ([, value]: readonly [string, number]): boolean => value > 0;
  const first = given.findIndex(isFull);
  return first < 0 ? [] : given.slice(first, given.findLastIndex(isFull) + 1);
}

function fold(values: ReadonlyArray<readonly [string, number]>): Array<readonly [string, number]> {
  if (values.length <= BARS_MAX) return [...values];
  const kept = values.slice(0, BARS_MAX - 1);
  const rest = values.slice(BARS_MAX - 1).reduce((sum, [, value]) => sum + value, 0);
  return [...kept, ["others", rest]];
}

function empty(): string {
  return '<p class="empty">too little to draw</p>';
}

/** 0 and up to five steps of 1, 2 or 5 × 10ⁿ; the last is no smaller than the value. */
function valueSteps(value: number): number[] {
  const most = value > 0 ? value : 1;
  const power = 10 ** Math.floor(Math.log10(most / 5));
  const step = ([1, 2, 5, 10].find((each) => each * power * 5 >= most) ?? 10) * power;
  const count = Math.max(Math.ceil(most / step), 1);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const TIME_STEPS: readonly number[] = [
  ...[0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30].map((each) => each * SECOND),
  ...[1, 2, 5, 10, 20, 30].map((each) => each * MINUTE),
  ...[1, 2, 3, 6, 12, 24, 48, 120, 240, 480].map((each) => each * HOUR),
];

function timeSteps(endMs: number): number[] {
  const rough = endMs / TIME_LABELS_MAX;
  const step = TIME_STEPS.find((each) => each >= rough) ?? endMs / 2;
  return Array.from({ length: Math.floor(endMs / step) + 1 }, (_, index) => index * step);
}

function timeText(ms: number): string {
  const tenth = (value: number): string => String(Math.round(value * 100) / 100);
  if (ms < MINUTE) return `${tenth(ms / SECOND)} s`;
  return ms < HOUR ? `${tenth(ms / MINUTE)} min` : `${tenth(ms / HOUR)} h`;
}
