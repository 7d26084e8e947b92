/**
 * robots.txt, by RFC 9309: fetched once per origin and kept until it expires, with a cache file also beyond the process.
 *
 *   answer                          what holds until it expires
 *   2xx                             its rules, of the first ROBOTS_BYTES_MAX bytes
 *   3xx                             followed up to five times, also to other hosts, when it is their turn; then as 4xx
 *   4xx                             all is allowed
 *   5xx, 429, no connection         nothing is allowed; asked again after `retryMs` or Retry-After, the longer, `attempts` times in all
 *   no such name, address refused,
 *   plain HTTP where TLS was asked  nothing is allowed: asking again would show the same
 *
 *   I1  One fetch per origin at a time, for all callers together.
 *   I2  At most ROBOTS_COUNT_MAX origins are remembered, and ROBOTS_HELD_MAX bytes of rules in all; the longest known is
 *       forgotten first.
 */
import { retryAfterMs } from "../../base/time/duration.ts";
import type { Clock } from "../../base/clock.ts";
import { type DownloadError, downloadError } from "../http/download-error.ts";
import type { Download, DownloadRequest } from "../module-registry.ts";
import type { RobotsCacheFile } from "./robots-cache-file.ts";
import type { PolicyStatement } from "../policy/page-policy.ts";
import { readRobots } from "./robots-rules.ts";

interface RobotsOptions {
  readonly userAgent: string;
  readonly clock: Clock;
  readonly expiryMs: number;
  /** After a server's fault. */
  readonly retryMs: number;
  readonly attempts: number;
  readonly maxCrawlDelayMs: number;
  /** The longest Retry-After that is obeyed; default RETRY_AFTER_MS_MAX. */
  readonly maxRetryAfterMs?: number;
  readonly fetch: (request: DownloadRequest) => Promise<Download>;
  /** For what a redirect leads to, when it is its host's turn; `fetch` where missing. */
  readonly fetchElsewhere?: (request: DownloadRequest, origin: string) => Promise<Download>;
  /** Answers of earlier processes, and for later ones. */
  readonly notes?: RobotsCacheFile | undefined;
  /** Called each time that no answer came. */
  readonly onFault?: (url: string, fault: DownloadError) => void;
}

/** What is known of an origin. */
export interface RobotsRules {
  readonly state: "rules" | "allow-all" | "disallow-all" | "unreachable";
  readonly crawlDelayMs: number | undefined;
  readonly sitemaps: readonly string[];
  readonly untilMs: number;
  /** About what they take in memory. */
  readonly heldBytes: number;
  /** So long the server asks not to be asked again. */
  readonly waitMs?: number;
  /** Unreachable by a fault that does not pass. */
  readonly isPermanent?: boolean;
  /** That fault, where each page of the origin has it too: it is no fault of a host that robots.txt was redirected to. */
  readonly fault?: LastingFault;
  /** From an earlier process: no request was made. */
  readonly isNoted?: boolean;
  isAllowed(url: string): boolean;
  /** What it declares about the use of a URL. */
  statementsFor(url: string): readonly PolicyStatement[];
}

export type Robots = ReturnType<typeof createRobots>;

/** How long a file holds, and what follows a failure, unless options differ. */
export const ROBOTS_DEFAULTS = Object.freeze({
  ...{ expiryMs: 86_400_000, retryMs: 5_000, attempts: 3, maxCrawlDelayMs: 300_000 },
});

/** RFC 9309 asks for at least 500 KiB. */
const ROBOTS_BYTES_MAX = 512 * 1024;
const ROBOTS_COUNT_MAX = 20_000;
/** Of a rule beside its text. */
const RULE_BYTES = 320;
/** Of what stands between two stars, or of a sitemap, beside its text: a string and the place that it stands in. */
const TEXT_BYTES = 48;
const ROBOTS_HELD_MAX = 32 * 1024 * 1024;
const REDIRECTS_MAX = 5;
const RETRY_AFTER_MS_MAX = 3_600_000;
/** Faults that the next request would have too, and each of the origin's pages. */
const LASTING = ["address", "no-host", "plain-http"] as const;
export type LastingFault = (typeof LASTING)[number];
const TOO_MANY_REQUESTS = 429;

interface Entry {
  readonly rules: RobotsRules;
  readonly failures: number;
}

export function createRobots(options: RobotsOptions) {
  const { clock } = options;
  const entries = new Map<string, Entry>();
  const running = new Map<string, Promise<RobotsRules>>();
  let fetched = 0;
  let heldBytes = 0;
  const forget = (origin: string): void => {
    heldBytes -= entries.get(origin)?.rules.heldBytes ?? 0;
    entries.delete(origin);
  };
  const remember = (origin: string, entry: Entry): RobotsRules => {
    forget(origin);
    entries.set(origin, entry);
    heldBytes += entry.rules.heldBytes;
    while (entries.size > 1 && (entries.size > ROBOTS_COUNT_MAX || heldBytes > ROBOTS_HELD_MAX)) {
      forget(entries.keys().next().value as string);
    }
    return entry.rules;
  };
  const ask = async (origin: string): Promise<RobotsRules> => {
    fetched++;
    const rules = await askFor(options, origin);
    const failures = rules.state === "unreachable" ? (entries.get(origin)?.failures ?? 0) + 1 : 0;
    if (rules.state !== "unreachable") return remember(origin, { rules, failures });
    const isGivenUp = failures >= options.attempts || rules.isPermanent === true;
    const waitMs = isGivenUp ? options.expiryMs : options.retryMs;
    const untilMs = clock.now() + Math.max(waitMs, rules.waitMs ?? 0);
    const state = isGivenUp ? "disallow-all" : "unreachable";
    return remember(origin, { rules: { ...rules, state, untilMs }, failures });
  };
  return {
    get fetched(): number {
      return fetched;
    },
    /** What is known now; undefined: it must be fetched. */
    known(origin: string): RobotsRules | undefined {
      const entry = entries.get(origin);
      return entry !== undefined && clock.now() < entry.rules.untilMs ? entry.rules : undefined;
    },
    fetch(origin: string): Promise<RobotsRules> {
      const noted = options.notes?.take(origin);
      if (noted !== undefined) {
        const untilMs = noted.atMs + options.expiryMs;
        const rules = { ...rulesOf(options, noted.text, untilMs), isNoted: true };
        return Promise.resolve(remember(origin, { rules, failures: 0 }));
      }
      let answer = running.get(origin);
      if (answer === undefined) {
        answer = ask(origin).finally(() => running.delete(origin));
        running.set(origin, answer);
      }
      return answer;
    },
  };
}

async function askFor(options: RobotsOptions, origin: string): Promise<RobotsRules> {
  const atMs = options.clock.now();
  const untilMs = atMs + options.expiryMs;
  const noted = (text: string | undefined): RobotsRules => {
    options.notes?.keep(origin, { atMs, text });
    return rulesOf(options, text, untilMs);
  };
  let url = `${origin}/robots.txt`;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
    let answer: Download;
    try {
      const request = { url, maxBytes: ROBOTS_BYTES_MAX, mayCut: true };
      const isElsewhere = hop > 0 && options.fetchElsewhere !== undefined;
      answer = await (isElsewhere
        ? options.fetchElsewhere(request, origin)
        : options.fetch(request));
    } catch (cause) {
      const fault = downloadError(cause);
      if (fault.fault !== "aborted") options.onFault?.(url, fault);
      const lasting = LASTING.find((name) => name === fault.fault);
      return {
        ...{ ...allOrNothing("unreachable", untilMs), isPermanent: lasting !== undefined },
        ...(lasting === undefined || hop > 0 ? {} : { fault: lasting }),
      };
    }
    const { status } = answer;
    if (status >= 500 || status === TOO_MANY_REQUESTS) {
      const waitMs = retryAfterMs(answer.headers, options.clock.now()) ?? 0;
      const bounded = Math.min(waitMs, options.maxRetryAfterMs ?? RETRY_AFTER_MS_MAX);
      return { ...allOrNothing("unreachable", untilMs), waitMs: bounded };
    }
    if (status >= 200 && status < 300) return noted(textOf(answer));
    const location = answer.headers.location;
    if (status < 300 || status >= 400 || typeof location !== "string") break;
    const next = URL.canParse(location, url) ? new URL(location, url) : undefined;
    if (next === undefined || !/^https?:$/.test(next.protocol)) break;
    url = next.href;
  }
  return noted(undefined);
}

/** Without a line that the bound has cut: its rule would forbid more than the whole line. */
function textOf({ body, isTruncated }: Download): string {
  const text = body.toString("utf8").replace(/^\ufeff/, "");
  return isTruncated ? text.replace(/[^\r\n]*$/, "") : text;
}

/** Of a file, or where there is none. */
function rulesOf(options: RobotsOptions, text: string | undefined, untilMs: number): RobotsRules {
  return text === undefined ? allOrNothing("allow-all", untilMs) : parsed(options, text, untilMs);
}

function allOrNothing(state: "allow-all" | "unreachable", untilMs: number): RobotsRules {
  const isAllowed = (): boolean => state === "allow-all";
  const statementsFor = (): readonly PolicyStatement[] => [];
  const nothing = { crawlDelayMs: undefined, sitemaps: [], heldBytes: 0, statementsFor };
  return { state, ...nothing, untilMs, isAllowed };
}

function parsed(options: RobotsOptions, text: string, untilMs: number): RobotsRules {
  const read = readRobots(text, options.userAgent);
  const { isAllowed, statementsFor, crawlDelaySeconds: delay = 0, ruleCount, partCount } = read;
  const sitemaps = read.sitemaps.filter((url) => URL.canParse(url));
  return {
    state: "rules",
    crawlDelayMs: delay > 0 ? Math.min(delay * 1000, options.maxCrawlDelayMs) : undefined,
    sitemaps,
    untilMs,
    heldBytes:
      Buffer.byteLength(text) + RULE_BYTES * ruleCount + TEXT_BYTES * (partCount + sitemaps.length),
    isAllowed,
    statementsFor,
  };
}
