/**
 * Pushes a million URLs into a frontier in memory, takes them all out again, and tells how it went.
 *
 *   node examples/million.mjs [count]
 *
 * Every fifth URL is one that was pushed before, in another spelling: the frontier must know it.
 * On a terminal the progress is one line drawn anew; off it, one plain line per tenth.
 */
import { openFrontier } from "outrider";

const BATCH = 1000;
const HOSTS = 10_000;
const REDRAW_MS = 100;
const BAR_CELLS = 30;

const count = Number(process.argv[2] ?? 1_000_000);
if (!Number.isSafeInteger(count) || count < 1) {
  console.error(`count: ${process.argv[2]} (expected: a whole number from 1)`);
  process.exit(2);
}

const heapBefore = process.memoryUsage().heapUsed;
const frontier = await openFrontier();

const pushStart = performance.now();
pushAll();
const pushMs = performance.now() - pushStart;

const drainStart = performance.now();
const drained = drainAll();
const drainMs = performance.now() - drainStart;

const heapAfter = process.memoryUsage().heapUsed;
const report = frontier.report();
await frontier.close();
summarize();

function pushAll() {
  const draw = createProgress("push", count);
  for (let start = 0; start < count; start += BATCH) {
    const end = Math.min(start + BATCH, count);
    const urls = [];
    for (let index = start; index < end; index++) urls.push(urlOf(index));
    frontier.pushMany(urls);
    draw(end, end === count);
  }
}

/** Takes out what is there, batch by batch, and finishes it; returns how much that was. */
function drainAll() {
  const { pending } = frontier.report();
  const draw = createProgress("drain", pending);
  let finished = 0;
  for (
    let leases = frontier.pollMany(BATCH);
    leases.length > 0;
    leases = frontier.pollMany(BATCH)
  ) {
    finished += frontier.done(leases);
    draw(finished, finished === pending);
  }
  return finished;
}

/** @param {number} index */
function urlOf(index) {
  if (index % 5 !== 4) return `https://www.host-${index % HOSTS}.example/page/${index}?a=1&b=2`;
  const earlier = index - 2;
  return `HTTPS://www.Host-${earlier % HOSTS}.example:443/x/../page/${earlier}?b=2&a=1#again`;
}

/**
 * A function that shows how far a phase is, `position` of `total`.
 * @param {string} phase
 * @param {number} total
 */
function createProgress(phase, total) {
  const { stdout } = process;
  const start = performance.now();
  let drawnAt = 0;
  let tenth = 0;
  return (/** @type {number} */ position, /** @type {boolean} */ isLast) => {
    const now = performance.now();
    const share = position / total;
    const rate = Math.round(position / Math.max((now - start) / 1000, 0.001));
    const text = `${phase.padEnd(5)} ${percent(share)}  ${rate.toLocaleString("en")} URLs/s`;
    if (stdout.isTTY) {
      if (!isLast && now - drawnAt < REDRAW_MS) return;
      drawnAt = now;
      const cells = Math.round(share * BAR_CELLS);
      const bar = "█".repeat(cells).padEnd(BAR_CELLS, "░");
      stdout.write(`\r\x1b[K${bar}  ${text}${isLast ? "\n" : ""}`);
    } else if (isLast || Math.floor(share * 10) > tenth) {
      tenth = Math.floor(share * 10);
      console.log(text);
    }
  };
}

/** @param {number} share */
function percent(share) {
  return `${Math.floor(share * 100)} %`.padStart(5);
}

function summarize() {
  const perSecond = (/** @type {number} */ urls, /** @type {number} */ ms) =>
    `${whole((urls / ms) * 1000)} URLs/s`;
  const rows = [
    ["pushed", `${whole(count)} in ${(pushMs / 1000).toFixed(2)} s, ${perSecond(count, pushMs)}`],
    ["accepted", whole(report.accepted)],
    ["known already", whole(report.duplicate)],
    [
      "leased, done",
      `${whole(drained)} in ${(drainMs / 1000).toFixed(2)} s, ${perSecond(drained, drainMs)}`,
    ],
    ["left pending", whole(report.pending)],
    ["JS heap", `${((heapAfter - heapBefore) / 2 ** 20).toFixed(1)} MiB more than before`],
  ];
  console.log();
  for (const [name, value] of rows) console.log(`${name?.padEnd(16)}${value}`);
  const expected = count - Math.floor(count / 5);
  if (report.accepted === expected && drained === expected && report.pending === 0) return;
  console.error(`\nexpected ${whole(expected)} accepted and done, each once`);
  process.exitCode = 1;
}

/** @param {number} value */
function whole(value) {
  return Math.round(value).toLocaleString("en");
}
