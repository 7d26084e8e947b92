/** The final report of a crawl as text. Rows without a value are left out. */
import type { CrawlSummary } from "../../crawl.ts";
import {
  bytes,
  counted,
  durationWords,
  share,
  sum,
  table,
  together,
  whole,
} from "./number-text.ts";
import { failedText, outcomeText, refusedText, statusText } from "./outcome-text.ts";

/** `columns`: width of the terminal; undefined: lines are not broken. */
export function reportText(summary: CrawlSummary, columns?: number): string {
  const { latencyMs, duplicate, memory, elapsedMs, truncated, trapped } = summary;
  const links = duplicate + sum(summary.depths);
  const speed = `${durationWords(elapsedMs)}, ${whole(summary.pagesPerSecond)} a second`;
  const percentiles = [
    `half within ${latencyMs.p50} ms`,
    `99 % within ${latencyMs.p99} ms`,
    `the slowest ${latencyMs.max} ms`,
  ];
  const sizes = [
    `heap ${bytes(memory.heapBytes)}`,
    `off heap ${bytes(memory.offHeapBytes)}`,
    `resident ${bytes(memory.residentBytes)}`,
  ];
  const errors = Object.entries(summary.errors).filter(([, count]) => count > 0);
  const bounds = [
    ...(truncated > 0 ? [`${counted(truncated, "page")} cut at the size limit`] : []),
    ...(trapped > 0 ? [`${counted(trapped, "link")} not followed: like a trap`] : []),
  ];
  const { robots: forbidden = 0, ...broken } = summary.failures;
  const isAnswered = Object.keys(summary.statuses).length > 0;
  const rows: Array<readonly [string, string]> = [
    ["pages", `${whole(summary.pages)} in ${speed}`],
    ["read", bytes(summary.bytes)],
    [
      "hosts",
      `${whole(summary.hosts)}, robots.txt asked ${counted(summary.robotsFetched, "time")}`,
    ],
    ["items", summary.items === 0 ? "" : whole(summary.items)],
    [
      "duplicates",
      duplicate === 0
        ? ""
        : `${counted(duplicate, "link")} led to pages known already, ${share(duplicate, links)}`,
    ],
    ["refused", counts(outcomeText(summary.rejected, refusedText), "link")],
    ["forbidden", forbidden === 0 ? "" : `${counted(forbidden, "page")} by robots.txt`],
    [
      "policy",
      Object.entries(summary.policies)
        .map(([name, count]) => `${name} ${whole(count)}`)
        .join(", "),
    ],
    ["failed", counts(outcomeText(broken, failedText), "page")],
    ["tried again", summary.retried === 0 ? "" : whole(summary.retried)],
    ["answers", outcomeText(summary.statuses, statusText).map(times).join(", ")],
    ["not modified", summary.notModified === 0 ? "" : whole(summary.notModified)],
    ["sitemaps", summary.sitemaps === 0 ? "" : whole(summary.sitemaps)],
    ["traps", trapsText(summary)],
    ["bounded", bounds.join(", ")],
    ["errors", errors.map(([stage, count]) => `${stage} ${whole(count)}`).join(", ")],
    ["first byte", isAnswered ? percentiles.join(", ") : ""],
    ["memory", sizes.join(", ")],
    ["pending", whole(summary.pending)],
  ];
  return table(
    rows.filter(([, value]) => value !== ""),
    columns,
  );
}

const TRAPS_SHOWN = 3;

/** Those of which the most links were left. */
function trapsText({ traps }: CrawlSummary): string {
  const texts = traps.slice(0, TRAPS_SHOWN).map(({ shape, left, active }) => {
    return together(`${shape} ${whole(left)} left${active ? "" : ", ended"}`);
  });
  return texts.join(", ");
}

const KINDS_MAX = 6;

/** `12 links: 9 too deep, 3 no URL`; the rarest are left out where there are many kinds. */
function counts(list: ReadonlyArray<readonly [string, number]>, of: string): string {
  if (list.length === 0) return "";
  const parts = list
    .slice(0, KINDS_MAX)
    .map(([words, count]) => together(`${whole(count)} ${words}`));
  if (list.length > KINDS_MAX) parts.push("…");
  return `${counted(sum(list.map(([, count]) => count)), of)}: ${parts.join(", ")}`;
}

function times([words, count]: readonly [string, number]): string {
  return together(`${words} × ${whole(count)}`);
}
