/**
 * Draws docs/picture.svg, the picture in README: a URL's way through a frontier, light and dark.
 *
 *   node tools/picture.mjs            writes it; test/api/docs.test.ts fails where it is not current
 *
 * The text is large enough to be read at a third of its width, on a phone.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const WIDTH = 640;
const HEIGHT = 470;
const PATH = fileURLToPath(new URL("../docs/picture.svg", import.meta.url));

const STYLE = `
  text {
    font: 17px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif;
    fill: #1f2328;
    text-anchor: middle;
  }
  .soft { fill: #59636e; font-size: 15px }
  .code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 15px }
  .name { font-weight: 600 }
  .ground { fill: #ffffff; stroke: none }
  .box { fill: #f6f8fa; stroke: #818b98 }
  .step { fill: #ffffff; stroke: #0969da; stroke-width: 1.5 }
  .way { fill: none; stroke: #0969da; stroke-width: 2 }
  .side { stroke: #818b98; stroke-dasharray: 5 4 }
  .head { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .soft { fill: #9198a1 }
    .ground { fill: #0d1117 }
    .box { fill: #151b23; stroke: #656c76 }
    .step { fill: #0d1117; stroke: #4493f8 }
    .way { stroke: #4493f8 }
    .side { stroke: #656c76 }
    .head { fill: #4493f8 }
  }`;

/** @type {(x: number, y: number, size: readonly [number, number], kind: string) => string} */
const box = (x, y, [width, height], kind) =>
  `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`;

/** @type {(x: number, y: number, words: string, kind?: string) => string} */
const text = (x, y, words, kind = "") =>
  `<text x="${x}" y="${y}"${kind === "" ? "" : ` class="${kind}"`}>${words}</text>`;

/** @type {(path: string, kind?: string) => string} */
const way = (path, kind = "way") =>
  `<path class="${kind}" d="${path}"${kind === "way" ? ' marker-end="url(#head)"' : ""}/>`;

/** A step of the way: what is decided, and how. @type {(x: number, y: number, name: string, how: string) => string[]} */
const step = (x, y, name, how) => [
  box(x, y, [260, 66], "step"),
  text(x + 130, y + 28, name, "name"),
  text(x + 130, y + 51, how, "soft"),
];

export const picture = [
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}"`,
  `  width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title">`,
  '<title id="title">Your crawler pushes URLs into Outrider and takes leases out of it.</title>',
  `<style>${STYLE}\n</style>`,
  '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4"',
  '  markerWidth="7" markerHeight="7" orient="auto">',
  '<path class="head" d="M0 0 8 4 0 8z"/></marker></defs>',
  `<rect class="ground" width="${WIDTH}" height="${HEIGHT}"/>`,
  box(10, 10, [620, 56], "box"),
  text(320, 33, "Your crawler", "name"),
  text(320, 55, "fetches pages, finds links", "soft"),
  box(10, 118, [620, 248], "box"),
  text(320, 146, "Outrider", "name"),
  way("M60 66 V154"),
  text(188, 97, "push(urls), done({ found })", "code"),
  way("M580 160 V72"),
  text(500, 97, "poll() → lease", "code"),
  ...step(40, 160, "One form for each URL", "canonical bytes, 64-bit hash"),
  way("M170 226 V266"),
  ...step(40, 274, "Seen before?", "duplicates stop here"),
  way("M300 307 H336"),
  ...step(340, 274, "Rule and host queue", "delay, limit, budget"),
  way("M470 274 V232"),
  ...step(340, 160, "Next URL that is due", "priority, then FIFO or LIFO"),
  way("M170 366 V400", "side"),
  way("M470 366 V400", "side"),
  box(40, 400, [260, 60], "box"),
  text(170, 425, "Directory", "name"),
  text(170, 447, "optional: journal, snapshots", "soft"),
  box(340, 400, [260, 60], "box"),
  text(470, 425, "Worker threads", "name"),
  text(470, 447, "optional: shared memory", "soft"),
  "</svg>",
  "",
].join("\n");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(PATH, picture);
  console.log("docs/picture.svg");
}
