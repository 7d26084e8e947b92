/**
 * Room `src/cli/output`: the form of results: live view, reports in text and HTML, error text. Plain data in, text out.
 */

/**
 * Progress of a crawl: on a terminal a few lines that are redrawn in place, elsewhere one plain line a second.
 *
 *   crawling  00:12   1,204 pages/s   eta ≥ 00:31   ▁▂▄▆█▇
 *   pages     14,310    pending     37,120    under way       32    hosts        1,000
 *   failed        12    forbidden      140    errors           3    duplicates    61 %
 *   p50         3 ms    p99          41 ms    read        31 MiB    lanes        1,002
 *   heap      38 MiB    off heap   3.1 MiB    resident   140 MiB
 *
 * Fields are in columns, as many in a line as the terminal is wide; figures that grow move nothing.
 *
 *   I1  Only what this view drew is overwritten, line by line, so that nothing flickers; the cursor is shown again at the end.
 *   I2  Off a terminal no escape sequence is written.
 *   I3  A terminal that is made narrower breaks the drawn lines; the additional lines are overwritten too.
 */
import type { Crawl, CrawlSample, Visit } from "../../crawl.ts";
import type { Io } from "../io.ts";
import {
  broken,
  bytes,
  clockTime,
  cutTo,
  duration,
  share,
  sparkline,
  whole,
} from "./number-text.ts";
import { failedText, sickHostText } from "./outcome-text.ts";
import { lineText, type ScreenPart, terminalText } from "./terminal-text.ts";

interface View {
  draw(run: Crawl, sample: CrawlSample): void;
  /** Words of the moment, above what is redrawn. */
  print(line: string): void;
  /** One visit that has ended. */
  visit(visit: Visit): void;
  end(): void;
}

const PLAIN_EVERY_MS = 1_000;
const SPARK_COUNT = 24;

/** `form`: of lines where nothing is redrawn; `quiet` leaves progress out. */
export function createView(
  io: Io,
  isLive: boolean,
  form: "text" | "json" | "quiet" = "text",
): View {
  if (isLive) return liveView(io);
  return form === "json" ? jsonView(io) : plainView(io, form === "quiet");
}

/** One object a line, by its `event`: progress, visit, message. */
function jsonView(io: Io): View {
  const writeEvent = (event: string, fields: object): void =>
    io.err(`${JSON.stringify({ event, ...fields })}\n`);
  let printedAt = Number.NEGATIVE_INFINITY;
  return {
    draw(run, sample) {
      if (sample.elapsedMs - printedAt < PLAIN_EVERY_MS) return;
      printedAt = sample.elapsedMs;
      const { busiest, failures, failing } = run.report();
      const recent = failing.slice(-PANE_ROWS);
      writeEvent("progress", {
        ...sample,
        hosts: busiest.slice(0, PANE_ROWS),
        failures,
        failing: recent,
      });
    },
    print: (message) => writeEvent("message", { message }),
    visit: (visit) => writeEvent("visit", visit),
    end: () => {},
  };
}

function visitLine({ outcome, status, url, reason, bytes: size }: Visit): string {
  const why = reason === undefined || reason === `status ${status}` ? "" : `  ${reason}`;
  const read = size === undefined ? "" : `  ${bytes(size)}`;
  return lineText(`${outcome}  ${status ?? "-"}${read}  ${url}${why}`);
}

function plainView(io: Io, isQuiet: boolean): View {
  let printedAt = Number.NEGATIVE_INFINITY;
  let printedUrl = "";
  let before: CrawlSample | undefined;
  return {
    draw(run, sample) {
      if (isQuiet || sample.elapsedMs - printedAt < PLAIN_EVERY_MS) return;
      const rate = rateOf(before, sample);
      printedAt = sample.elapsedMs;
      before = sample;
      const { busiest, failing, failures } = run.report();
      const { pages, pending, errors } = sample;
      const { failed, forbidden } = failedApart(sample, failures);
      const parts = [
        duration(sample.elapsedMs),
        `pages ${whole(pages)}`,
        `${whole(rate)}/s`,
        `pending ${whole(pending)}`,
        `failed ${whole(failed)}`,
        `forbidden ${whole(forbidden)}`,
        `errors ${whole(errors)}`,
      ];
      const [host] = busiest;
      const last = failing.at(-1);
      if (host !== undefined) parts.push(`most of ${host.host} ${whole(host.pages)}`);
      if (last !== undefined && last.url !== printedUrl) {
        printedUrl = last.url;
        parts.push(`last failed ${last.reason} ${last.url}`);
      }
      io.err(`${lineText(parts.join("  "))}\n`);
    },
    print: (line) => io.err(`${line}\n`),
    visit: (visit) => io.err(`${visitLine(visit)}\n`),
    end: () => {},
  };
}

function liveView(io: Io): View {
  const rates: number[] = [];
  let before: CrawlSample | undefined;
  let drawn: string[] = [];
  const strong = (text: string): ScreenPart[] =>
    io.hasColor ? [{ command: "strong" }, text, { command: "notStrong" }] : [text];
  /** To the beginning of what was drawn. */
  const back = (): ScreenPart[] => {
    const columns = Math.max(io.columns(), 1);
    const rows = drawn.reduce(
      (sum, { length }) => sum + Math.max(Math.ceil(length / columns), 1),
      0,
    );
    return rows === 0 ? [] : [{ command: "up", rows }, { command: "lineStart" }];
  };
  io.draw([{ command: "hideCursor" }]);
  const show = (lines: string[]): void => {
    const columns = io.columns();
    const cut = lines.map((line) => cutTo(line, columns - 1));
    const shown = cut.flatMap((line, at): ScreenPart[] => [
      ...(at === 0 ? strong(line) : [line]),
      { command: "clearLine" },
      "\n",
    ]);
    io.draw([...back(), ...shown, { command: "clearBelow" }]);
    drawn = cut;
  };
  return {
    draw(run, sample) {
      if (before !== undefined && sample.elapsedMs > before.elapsedMs) {
        rates.push(rateOf(before, sample));
        if (rates.length > SPARK_COUNT) rates.shift();
      }
      before = sample;
      const columns = io.columns() - 1;
      show([
        headOf(run, sample, { rates, columns }),
        ...grid(fieldsOf(run, sample), columns),
        ...panesOf(run),
      ]);
    },
    visit(visit) {
      this.print(visitLine(visit));
    },
    print(line) {
      const again = drawn;
      // What becomes of a letter that is written as its code is broken with the rest.
      const lines = terminalText(line)
        .split("\n")
        .flatMap((each) => broken(each, io.columns() - 1));
      io.draw([...back(), { command: "clearBelow" }, `${lines.join("\n")}\n`]);
      drawn = [];
      if (again.length > 0) show(again);
    },
    end() {
      io.draw([...back(), { command: "clearBelow" }, { command: "showCursor" }]);
      drawn = [];
    },
  };
}

const PANE_ROWS = 3;

/** A host that answers worse than this is shown. */
const SCORE_SHOWN = 75;

/** The busiest hosts, those that answer badly, and what failed last: three lines each, where there are some. */
function panesOf(run: Crawl): string[] {
  const { busiest, failing, sickest } = run.report();
  const hosts = busiest.slice(0, PANE_ROWS);
  const failed = failing.slice(-PANE_ROWS).reverse();
  const named = (name: string, lines: readonly string[]): string[] =>
    lines.map((line, at) => `${(at === 0 ? name : "").padEnd(NAME_LETTERS)}${lineText(line)}`);
  return [
    ...(hosts.length < 2
      ? []
      : named(
          "by host",
          hosts.map(({ host, pages }) => `${whole(pages).padStart(VALUE_LETTERS)}  ${host}`),
        )),
    ...named(
      "unwell",
      sickest
        .filter(({ score }) => score < SCORE_SHOWN)
        .slice(0, PANE_ROWS)
        .map((each) => `${whole(each.score).padStart(VALUE_LETTERS)}  ${sickHostText(each)}`),
    ),
    ...named(
      "failing",
      failed.map(({ reason, url, foundOn }) => {
        return `${failedText(reason)}  ${url}${foundOn === undefined ? "" : `  on ${foundOn}`}`;
      }),
    ),
  ];
}

interface Head {
  readonly rates: readonly number[];
  readonly columns: number;
}

function headOf(run: Crawl, { elapsedMs, pending }: CrawlSample, { rates, columns }: Head): string {
  const recent = rates.slice(-8);
  const rate = recent.reduce((sum, each) => sum + each, 0) / Math.max(recent.length, 1);
  // What is pending takes at least this long; what it leads to is not known yet.
  const hasEta = run.status === "running" && rate >= 1 && pending > 0;
  const parts = [
    `${run.status === "running" ? "crawling" : run.status}  ${clockTime(elapsedMs)}`,
    `${whole(rate)} pages/s`,
    ...(hasEta ? [`eta ≥ ${clockTime((pending / rate) * 1000)}`] : []),
  ];
  const head = `${parts.join("   ")}   `;
  // Of a narrow terminal the newest bars.
  return head + sparkline(rates).slice(-Math.max(columns - head.length, 1));
}

/** What robots.txt forbids is no fault of the crawl. */
function failedApart(
  { failed }: CrawlSample,
  { robots: forbidden = 0 }: Record<string, number>,
): { failed: number; forbidden: number } {
  return { failed: Math.max(failed - forbidden, 0), forbidden };
}

type Field = readonly [name: string, value: string];

function fieldsOf(run: Crawl, sample: CrawlSample): Field[] {
  const { latencyMs, memory, hosts, duplicate, failures } = run.report();
  const { failed, forbidden } = failedApart(sample, failures);
  const { pages, pending, leased, errors, accepted } = sample;
  return [
    ["pages", whole(pages)],
    ["pending", whole(pending)],
    ["under way", whole(leased)],
    ["hosts", whole(hosts)],
    ["failed", whole(failed)],
    ["forbidden", whole(forbidden)],
    ["errors", whole(errors)],
    ["duplicates", share(duplicate, duplicate + accepted)],
    ["p50", `${whole(latencyMs.p50)} ms`],
    ["p99", `${whole(latencyMs.p99)} ms`],
    ["read", bytes(sample.bytes)],
    ["lanes", whole(run.frontier?.report().lanes ?? 0)],
    ["heap", bytes(memory.heapBytes)],
    ["off heap", bytes(memory.offHeapBytes)],
    ["resident", bytes(memory.residentBytes)],
  ];
}

const NAME_LETTERS = 10;
const VALUE_LETTERS = 8;
const GAP_LETTERS = 2;

/** Fields in columns of one width, names to the left and values to the right; at most `columns` wide. */
function grid(fields: readonly Field[], columns: number): string[] {
  const width = NAME_LETTERS + VALUE_LETTERS;
  const many = Math.floor((columns + GAP_LETTERS) / (width + GAP_LETTERS));
  const count = Math.max(Math.min(many, 4), 1);
  const cells = fields.map(([name, value]) => `${name.padEnd(width - value.length)}${value}`);
  const lines: string[] = [];
  for (let at = 0; at < cells.length; at += count) {
    lines.push(cells.slice(at, at + count).join(" ".repeat(GAP_LETTERS)));
  }
  return lines;
}

function rateOf(before: CrawlSample | undefined, sample: CrawlSample): number {
  const from = before ?? { pages: 0, elapsedMs: 0 };
  const ms = sample.elapsedMs - from.elapsedMs;
  return ms <= 0 ? 0 : ((sample.pages - from.pages) * 1000) / ms;
}
