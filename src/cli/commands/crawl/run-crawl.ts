/**
 * Runs one crawl for a user: progress, Ctrl-C, the report at its end.
 *
 *   first Ctrl-C or SIGTERM   running visits end, everything is saved, the way to resume is printed; exit 130
 *   second one                visits are abandoned, exit 130 at once; everything flushed is safe
 */
import { closeSync, openSync, writeFileSync } from "node:fs";
import {
  type Crawl,
  crawl,
  type CrawlOptions,
  type CrawlSample,
  type CrawlSummary,
} from "../../../crawl.ts";
import { createSystemClock } from "../../../index.ts";
import { UsageError } from "../../flags.ts";
import { openCrawlPage } from "./crawl-page.ts";
import { EXIT_FAILED, EXIT_FAULT, EXIT_INTERRUPTED, EXIT_OK, type Io } from "../../io.ts";
import { momentText } from "../../output/number-text.ts";
import { faultText } from "../../output/fault-text.ts";
import { createView } from "../../output/live-view.ts";
import { reportHtml } from "../../output/report-html.ts";
import { reportText } from "../../output/report-text.ts";

interface Showing {
  readonly title: string;
  readonly isJson: boolean;
  /** Redraw in place, if there is a terminal. */
  readonly isLive: boolean;
  readonly report: string | undefined;
  /** The command line, for the report. */
  readonly settings?: string;
  /** Exit with EXIT_FAILED if there were any. */
  readonly failOn?: "errors" | "failed" | undefined;
  readonly logFormat?: "json" | "text" | undefined;
  /** No progress, and no report at the end but what `isJson` asks for. */
  readonly isQuiet?: boolean;
  /** A line for each visit. */
  readonly isVerbose?: boolean;
  /** Shows the live page at this port, undefined: the usual one; `ui` undefined: no page. */
  readonly ui?: { port: number | undefined } | undefined;
  /** Printed when something is left. */
  readonly goOn: string | undefined;
  /** Printed when URLs of a directory have failed. */
  readonly onFailed?: string | undefined;
  /** Called when the crawl is created; returns a function to call at its end. */
  readonly onStart?: (run: Crawl, say: (line: string) => void) => () => void;
  /** More fields for the summary, collected before the crawl's servers are closed. */
  readonly onEnd?: (summary: CrawlSummary) => Promise<Record<string, unknown>>;
}

const LIVE_MS = 150;
const PLAIN_MS = 1_000;
const FAULTS_SHOWN = 3;

export async function runCrawl(io: Io, options: CrawlOptions, showing: Showing): Promise<number> {
  if (showing.report !== undefined) checkReport(showing.report);
  const { isQuiet = false, isVerbose = false, logFormat = "text" } = showing;
  const isLive = showing.isLive && io.isTerminal && !isQuiet && logFormat === "text";
  const run = crawl({ ...options, progressMs: isLive ? LIVE_MS : PLAIN_MS });
  const view = createView(io, isLive, isQuiet ? "quiet" : logFormat);
  const say = (line: string): void => view.print(line);
  let stops = 0;
  const ignore = io.onInterrupt(() => {
    if (++stops > 1) {
      view.end();
      io.exit(EXIT_INTERRUPTED);
      return;
    }
    say("stopping: visits under way are finished; once more to stop at once");
    void run.stop().catch(() => {});
  });
  run.on("progress", (sample) => {
    if (run.status !== "stopping") view.draw(run, sample);
  });
  // A continued crawl that has read pages before does not count as one without pages.
  let doneBefore = 0;
  run.on("status", ({ from }) => {
    if (from === "opening") doneBefore = run.frontier?.report().done ?? 0;
  });
  if (isVerbose) run.on("visit", (visit) => view.visit(visit));
  // Before the first page a fault is likely the user's to fix; later faults come from the web, and are counted.
  const shown = new Set<string>();
  run.on("error", (fault) => {
    const text = faultText(fault);
    if (run.report().pages > 0 || shown.size >= FAULTS_SHOWN || shown.has(text)) return;
    shown.add(text);
    say(text);
  });
  const end = showing.onStart?.(run, say);
  const endPage = showing.ui && openCrawlPage(run, showing.ui.port, say);
  let summary: CrawlSummary;
  try {
    summary = await run.finished;
  } finally {
    await endPage?.();
    view.end();
    end?.();
    ignore();
  }
  const more = (await showing.onEnd?.(summary)) ?? {};
  const isVain = doneBefore === 0 && isInVain(summary);
  const complaint = showSummary(io, { summary, isVain, more, showing, samples: run.samples() });
  if (complaint !== undefined) io.err(complaint);
  if (stops > 0) {
    if (showing.isJson && showing.goOn !== undefined) io.err(`${showing.goOn}\n`);
    return EXIT_INTERRUPTED;
  }
  if (complaint !== undefined) return EXIT_FAULT;
  return isVain || isFailed(summary, showing.failOn) ? EXIT_FAILED : EXIT_OK;
}

/** Whether something that `--fail-on` names has happened. A page that robots.txt forbids has not failed. */
function isFailed(summary: CrawlSummary, failOn: Showing["failOn"]): boolean {
  const { errors, failures } = summary;
  const { robots: _, ...failed } = failures;
  const { dropped: __, ...stages } = errors;
  if (failOn === "failed" && Object.keys(failed).length > 0) return true;
  return failOn === "errors" && Object.values(stages).some((count) => count > 0);
}

/** Whether a crawl has ended without a page that could be read. */
function isInVain({ reason, pages, notModified, sitemaps, failures }: CrawlSummary): boolean {
  const isNothing = pages + notModified + sitemaps === 0;
  return reason === "finished" && isNothing && Object.keys(failures).length > 0;
}

/** Detects before the crawl, not after it, that its report cannot be written. */
function checkReport(path: string): void {
  try {
    closeSync(openSync(path, "a"));
  } catch (cause) {
    throw new UsageError(`--report: ${path}: ${(cause as Error).message}`);
  }
}

interface ShownSummary {
  readonly summary: CrawlSummary;
  readonly isVain: boolean;
  readonly more: Record<string, unknown>;
  readonly showing: Showing;
  readonly samples: readonly CrawlSample[];
}

/** Prints the summary. Returns an error text when the report page could not be written; the summary is printed in any case. */
function showSummary(
  io: Io,
  { summary, isVain, more, showing, samples }: ShownSummary,
): string | undefined {
  let complaint: string | undefined;
  if (showing.report !== undefined) {
    const when = momentText(createSystemClock().now());
    const settings = showing.settings === undefined ? {} : { settings: showing.settings };
    const page = { title: showing.title, summary, samples, when, ...settings };
    try {
      writeFileSync(showing.report, reportHtml(page));
    } catch (cause) {
      complaint = `outrider: --report: ${showing.report}: ${(cause as Error).message}\n`;
    }
  }
  if (showing.isJson) {
    io.out(`${JSON.stringify({ ...summary, ...more })}\n`);
    return complaint;
  }
  if (showing.isQuiet === true) return complaint;
  io.out(`${headline(summary, isVain)}\n\n${reportText(summary, io.outColumns())}`);
  if (showing.report !== undefined && complaint === undefined) {
    io.out(`report      ${showing.report}\n`);
  }
  const { robots: _, ...failures } = summary.failures;
  if (Object.keys(failures).length > 0 && showing.onFailed !== undefined) {
    io.out(`\n${showing.onFailed}\n`);
  }
  if (summary.pending > 0 && showing.goOn !== undefined) io.out(`\n${showing.goOn}\n`);
  return complaint;
}

function headline(summary: CrawlSummary, isVain: boolean): string {
  const { reason, pending } = summary;
  if (reason === "max-pages") return "ended at the page limit";
  if (reason === "max-time") return "ended at the time limit";
  if (reason === "stopped") return pending > 0 ? "stopped before the end" : "stopped";
  return isVain ? "finished, and no page could be read" : "finished: nothing is left";
}
