/**
 * What a crawl's own files record about one URL, beside what its frontier explains: the line of robots.txt that decides, and the
 * pattern that leaves it out.
 */
import { type Clock, createSystemClock } from "../../base/clock.ts";
import { fileBeside, openLineFile } from "../files.ts";
import { USER_AGENT } from "../http/downloader.ts";
import type { PolicyStatement } from "../policy/page-policy.ts";
import { compilePatterns } from "../page/link-patterns.ts";
import { openRobotsCacheFile } from "../robots/robots-cache-file.ts";
import { parseRobots } from "../robots/robots-rules.ts";
import { ROBOTS_DEFAULTS } from "../robots/robots-txt.ts";

/** What a crawl's own files record about a URL. */
export interface UrlExplanation {
  /** The verdict of robots.txt: `unknown` when it was never fetched, or has expired. */
  readonly robots: "allowed" | "disallowed" | "none" | "unknown";
  /** The line of robots.txt that decides; missing: none does. */
  readonly robotsLine?: string;
  /** Content-Usage and Content-Signal of robots.txt that hold for it. */
  readonly statements?: readonly PolicyStatement[];
  /** The pattern that leaves a link to it out: `exclude *.pdf`, or `include` where none of those matches. */
  readonly leftOutBy?: string;
}

/**
 * Options of `explainUrl`.
 *
 * @example
 * explainUrl("crawl-data", "https://example.org/", { userAgent: "mine/1.0" });
 */
export interface ExplainUrlOptions {
  /**
   * Name of the frontier.
   * @defaultValue "default"
   */
  name?: string;
  /**
   * The crawl's User-Agent.
   * @defaultValue "Outrider/0.1"
   */
  userAgent?: string;
  /**
   * The source of time.
   * @defaultValue the machine's clock
   */
  clock?: Clock;
}

/**
 * Returns what a crawl's own files record about a URL; changes nothing. Costs reading both files. Use it beside
 * `frontier.explain(url)`.
 *
 * @example
 * const { robots, robotsLine } = explainUrl("crawl-data", "https://example.org/private/");
 */
export function explainUrl(
  directory: string,
  url: string,
  options: ExplainUrlOptions = {},
): UrlExplanation {
  const { name, userAgent = USER_AGENT, clock = createSystemClock() } = options;
  const place = { directory, ...(name === undefined ? {} : { name }) };
  const leftOutBy = leftOut(fileBeside(place, "patterns.json") as string, url);
  const about = leftOutBy === undefined ? {} : { leftOutBy };
  if (!URL.canParse(url)) return { robots: "unknown", ...about };
  const path = fileBeside(place, "robots.jsonl") as string;
  const open = (): ReturnType<typeof openLineFile> => ({ ...openLineFile(path), ...UNCHANGED });
  const cache = openRobotsCacheFile({ clock, expiryMs: ROBOTS_DEFAULTS.expiryMs, open });
  const note = cache.take(new URL(url).origin);
  if (note === undefined) return { robots: "unknown", ...about };
  if (note.text === undefined) return { robots: "none", ...about };
  const { href } = new URL(url);
  const file = parseRobots(note.text);
  const { isAllowed, rule } = file.explain(userAgent, href);
  // Statements about a page that may not be visited are of no use.
  const statements = isAllowed ? file.statements(userAgent, href) : [];
  return {
    robots: isAllowed ? "allowed" : "disallowed",
    ...(rule === undefined ? {} : { robotsLine: rule }),
    ...(statements.length === 0 ? {} : { statements }),
    ...about,
  };
}

/** A file that is only read, beside a crawl that writes it. */
const UNCHANGED = Object.freeze({ isCut: false, rewrite: () => {}, append: () => {} });

function leftOut(path: string, url: string): string | undefined {
  const [line = ""] = openLineFile(path).takeLines();
  if (line === "") return undefined;
  return compilePatterns(JSON.parse(line) as Parameters<typeof compilePatterns>[0])?.refusal(url);
}
