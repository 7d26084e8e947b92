/**
 * Room `src/cli/commands`: one file for each command or family of commands: flags to options, answer to text or JSON.
 * Public entries only.
 */

/**
 * Answers about single URLs of a directory: `outrider failed` and `outrider visited`. Both read a copy, also beside a crawl that runs.
 *
 *   failed    records in state `failed`, with the reason, status, time and page that the frontier keeps of the last 10,000
 *   visited   records in state `done` or `failed` of a frontier with full records, or the lines of a crawl's own log (`crawl --log`):
 *             the one that is named, or that the last crawl of the directory wrote
 */
import { existsSync } from "node:fs";
import { crawlLogOf } from "../../crawl.ts";
import type { RecordView } from "../../index.ts";
import {
  chosenFrontierOf,
  COMMON,
  DIRECTORY,
  FILTER,
  filterOf,
  openChosen,
  openCopy,
} from "./chosen-frontier.ts";
import { type Flag, type Parsed, UsageError } from "../flags.ts";
import { EXIT_OK, type Io } from "../io.ts";
import { momentText, whole } from "../output/number-text.ts";
import { failedText } from "../output/outcome-text.ts";
import { lineText } from "../output/terminal-text.ts";
import { linesOfFile } from "./transfer-files.ts";

const LISTED: readonly Flag[] = [
  { name: "csv", text: "as CSV, with a head" },
  { name: "max", value: "<n>", text: "at most this many" },
];

const SHARED: readonly Flag[] = [
  ...LISTED,
  ...FILTER,
  ...COMMON.map((flag) => (flag.name === "json" ? { ...flag, text: "a line of JSON each" } : flag)),
];
export const FAILED_FLAGS: readonly Flag[] = [
  DIRECTORY,
  { name: "reason", value: "<text>", text: "with this reason alone, such as 'status 404'" },
  ...SHARED,
];
export const VISITED_FLAGS: readonly Flag[] = [
  DIRECTORY,
  { name: "log", value: "<file.jsonl>", text: "from this log of crawl --log" },
  ...SHARED,
];

interface Row {
  readonly url: string;
  readonly [name: string]: string | number | undefined;
}

export async function failedCommand(args: Parsed, io: Io): Promise<number> {
  await using frontier = await openCopy(args, "failed");
  const wanted = args.text("reason");
  const rows = function* (): Iterable<Row> {
    for (const record of frontier.records({ state: "failed", ...filterOf(args) })) {
      const { failure, attempts, depth } = record;
      if (wanted !== undefined && failure?.reason !== wanted) continue;
      yield {
        url: record.url ?? "",
        reason: failure?.reason ?? "no longer kept",
        status: failure?.status,
        at: momentOf(failure?.atMs),
        foundOn: failure?.foundOn,
        ...{ attempts, depth },
      };
    }
  };
  const columns = ["url", "reason", "status", "at", "foundOn", "attempts", "depth"];
  await list(args, io, { columns, rows: rows(), line: failedLine });
  return EXIT_OK;
}

function failedLine({ url, reason, at, foundOn, attempts }: Row): string {
  const words = failedText(String(reason));
  const where = foundOn === undefined ? "" : `\n    found on ${foundOn}`;
  const when = at === undefined ? "" : `, ${at}`;
  return `${words}  ${url}\n    attempt ${attempts}${when}${where}`;
}

export async function visitedCommand(args: Parsed, io: Io): Promise<number> {
  const columns = [
    "url",
    "outcome",
    "reason",
    "status",
    "bytes",
    "latencyMs",
    "at",
    "depth",
    "parent",
  ];
  const listLog = async (log: string): Promise<number> => {
    if (!existsSync(log)) throw new UsageError(`--log: ${log}: no such file`);
    const host = args.text("host");
    await list(args, io, { columns, rows: rowsOfLog(log, host), line: visitedLine });
    return EXIT_OK;
  };
  const asked = args.text("log");
  if (asked !== undefined) return listLog(asked);
  const chosen = await chosenFrontierOf(args, "visited");
  if (chosen.options.records !== "full") {
    const log = crawlLogOf(chosen.directory, chosen.name);
    if (log !== undefined) return listLog(log);
    const expected =
      "--log <file.jsonl>, as crawl --log wrote it, or a frontier with records: full";
    throw new UsageError(
      `visited: ${chosen.directory}: keeps no done URLs (expected: ${expected})`,
    );
  }
  await using frontier = await openChosen(chosen, { readOnly: true, records: "full" });
  const rows = function* (): Iterable<Row> {
    for (const state of ["done", "failed"] as const) {
      for (const record of frontier.records({ state, ...filterOf(args) })) yield endedRow(record);
    }
  };
  await list(args, io, { columns, rows: rows(), line: visitedLine });
  return EXIT_OK;
}

function endedRow(record: RecordView): Row {
  const { state, url = "", times, failure, depth, attempts, parent } = record;
  const { reason, status } = failure ?? {};
  const at = momentOf(times?.finishedAt ?? failure?.atMs);
  return { url, outcome: state, reason, status, at, depth, attempts, parent };
}

async function* rowsOfLog(path: string, host: string | undefined): AsyncIterable<Row> {
  for await (const line of linesOfFile(path)) {
    let visit: Record<string, unknown>;
    try {
      visit = JSON.parse(line) as Record<string, unknown>;
    } catch {
      continue; // a last line that a kill cut off
    }
    const { url, atMs, ...rest } = visit as { url: string; atMs: number } & Row;
    if (host !== undefined && (!URL.canParse(url) || new URL(url).host !== host)) continue;
    yield { ...rest, url, at: momentOf(atMs) };
  }
}

function visitedLine({ url, outcome, reason, status, at, bytes }: Row): string {
  const size = bytes === undefined ? "" : `  ${whole(Number(bytes))} B`;
  const why = reason === undefined || reason === `status ${status}` ? "" : `  ${reason}`;
  return `${at ?? "unknown"}  ${outcome}  ${status ?? "-"}${size}  ${url}${why}`;
}

interface Listed {
  readonly columns: readonly string[];
  readonly rows: Iterable<Row> | AsyncIterable<Row>;
  readonly line: (row: Row) => string;
}

/** Rows as lines to read, as lines of JSON, or as CSV. */
async function list(args: Parsed, io: Io, { columns, rows, line }: Listed): Promise<void> {
  const most = args.whole("max") ?? Number.POSITIVE_INFINITY;
  const [isJson, isCsv] = [args.has("json"), args.has("csv")];
  if (isJson && isCsv) throw new UsageError("--json, --csv: one form too many (expected: one)");
  if (isCsv) io.out(`${columns.join(",")}\n`);
  let count = 0;
  for await (const row of rows) {
    if (count >= most) break;
    count++;
    if (isJson) io.out(`${JSON.stringify(row)}\n`);
    else if (isCsv) io.out(`${columns.map((name) => cell(row[name])).join(",")}\n`);
    else io.out(`${line(row).split("\n").map(lineText).join("\n")}\n`);
    await io.drained?.();
  }
  if (count === 0 && !isJson && !isCsv) io.out("none\n");
}

function cell(value: string | number | undefined): string {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function momentOf(atMs: number | undefined): string | undefined {
  return atMs === undefined ? undefined : momentText(atMs);
}
