/** Plots as inline SVG: one accent colour, direct labels, colours by the page's own variables. */

/** Points, x ascending. */
export type Curve = ReadonlyArray<readonly [number, number]>;

const WIDTH = 460;
const HEIGHT = 200;
const LEFT = 44;
const BOTTOM = 22;
const ROW = 26;
const NAME = 72;
const BARS_MAX = 16;

type Shown = (value: number) => string;

/** A curve over seconds, filled to its foot. */
export function lines(curve: Curve, shown: Shown): string {
  if (curve.length < 2) return empty();
  const end = Math.max(...curve.map(([x]) => x), 1e-9);
  const top = niceTop(Math.max(...curve.map(([, y]) => y)));
  const x = (value: number): string => (LEFT + (value / end) * (WIDTH - LEFT)).toFixed(1);
  const y = (value: number): string => ((1 - value / top) * (HEIGHT - BOTTOM) + 4).toFixed(1);
  const points = curve.map(([at, value]) => `${x(at)},${y(value)}`).join(" ");
  const steps = [0, 0.5, 1].map((part) => {
    const at = y(part * top);
    const label = { x: LEFT - 6, y: at, dy: 4, "text-anchor": "end" };
    return (
      element("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: at, y2: at }) +
      element("text", label, shown(part * top))
    );
  });
  const foot = y(0);
  const area = `${x(curve[0]?.[0] ?? 0)},${foot} ${points} ${x(end)},${foot}`;
  const seconds = `${end < 100 ? end.toFixed(1) : Math.round(end)} s`;
  return svg(HEIGHT, [
    ...steps,
    element("polygon", { class: "area", points: area }),
    element("polyline", { class: "line", points }),
    element("text", { x: LEFT, y: HEIGHT - 2 }, "0 s"),
    element("text", { x: WIDTH, y: HEIGHT - 2, "text-anchor": "end" }, seconds),
  ]);
}

/** Named values as bars from the left; what does not fit is added up in the last. */
export function bars(given: ReadonlyArray<readonly [string, number]>, shown: Shown): string {
  const values = fold(given.filter(([, value]) => value > 0));
  if (values.length === 0) return empty();
  const most = Math.max(...values.map(([, value]) => value));
  const rows = values.map(([name, value], index) => {
    const width = Math.max((value / most) * (WIDTH - NAME - 120), 1);
    const middle = index * ROW + ROW / 2;
    return [
      element("text", { x: NAME - 8, y: middle, dy: 4, "text-anchor": "end" }, name),
      element("rect", { class: "bar", x: NAME, y: middle - 8, width, height: 16, rx: 2 }),
      element("text", { class: "value", x: NAME + width + 8, y: middle, dy: 4 }, shown(value)),
    ].join("");
  });
  return svg(values.length * ROW, rows);
}

/** One element; its text is of our own making. */
function element(name: string, attributes: Record<string, string | number>, text = ""): string {
  const written = Object.entries(attributes).map(
    ([key, value]) =>
      ` ${key}="${typeof value === "number" ? Math.round(value * 10) / 10 : value}"`,
  );
  return `<${name}${written.join("")}>${text}</${name}>`;
}

function fold(values: ReadonlyArray<readonly [string, number]>): Array<readonly [string, number]> {
  if (values.length <= BARS_MAX) return [...values];
  const kept = values.slice(0, BARS_MAX - 1);
  const rest = values.slice(BARS_MAX - 1).reduce((sum, [, value]) => sum + value, 0);
  return [...kept, ["others", rest]];
}

function svg(height: number, inner: readonly string[]): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height + 4}" role="img">${inner.join("")}</svg>`;
}

function empty(): string {
  return "<p>too little to draw</p>";
}

/** The next of 1, 2, 5 × 10ⁿ that is no smaller. */
function niceTop(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((each) => each * power >= value) ?? 10;
  return step * power;
}
