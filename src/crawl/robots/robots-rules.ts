/**
 * The rules of a robots.txt, by RFC 9309 and as Google's parser reads it: its lines read once, and paths matched against the rules of an agent.
 *
 *   text ─ robots-lines.ts ─▶ groups { names, rules } ─▶ those that name the agent; where there is none, those of "*"
 *                                                      └▶ patterns, the longest first ─ robots-patterns.ts ─▶ the line that decides
 *
 *   I1  Linear in the file, whatever it holds: names, rules and stars are each read once, however many there are.
 *   I2  Only rules end the names of a group; records that are none of the protocol do not (RFC 9309, 2.2.4). A Crawl-delay, a Content-Usage
 *       and a Content-Signal hold for the names before them, back to the rule or such a record before those.
 */
import { misuse } from "../../base/errors.ts";
import { TEXT } from "../../base/fields.ts";
import { isMadeBy } from "../../base/type-guards.ts";
import type { PolicyStatement } from "../policy/page-policy.ts";
import { readRobotsLines } from "./robots-lines.ts";
import { matches, patternsOf, type RobotsPattern, robotsPath } from "./robots-patterns.ts";

/** A rule of a robots.txt. */
export interface RobotsRule {
  /** Its line, from 1. */
  readonly line: number;
  /** Allow, or else Disallow. */
  readonly isAllow: boolean;
  /** The path pattern as it is written; empty: it matches nothing. */
  readonly pattern: string;
}

/** User agents of a robots.txt, and the rules that follow them. */
export interface RobotsGroup {
  /** Names as they are written, `*` among them. */
  readonly agents: readonly string[];
  /** Line of its first name, from 1. */
  readonly line: number;
  /** Its rules, in the order of the file. */
  readonly rules: readonly RobotsRule[];
}

/** The verdict of a robots.txt on one URL. */
export interface RobotsDecision {
  /** Whether the URL may be visited. */
  readonly isAllowed: boolean;
  /** Line of the rule that decided, from 1; undefined: no rule matches, and the URL is allowed. */
  readonly line: number | undefined;
  /** That rule, as `Disallow: /private`. */
  readonly rule: string | undefined;
  /** Name of the group that holds for the agent: its own, or `*`; undefined: there is none. */
  readonly agent: string | undefined;
}

/** A robots.txt that was read. */
export interface RobotsFile {
  /** Its groups, in the order of the file. */
  readonly groups: readonly RobotsGroup[];
  /** Every Sitemap line's value, in the order of the file. */
  readonly sitemaps: readonly string[];
  /** Whether an agent may visit a URL. Costs a comparison with each of its rules. Never throws. */
  isAllowed(userAgent: string, url: string): boolean;
  /** The same, with the line that decided. */
  explain(userAgent: string, url: string): RobotsDecision;
  /** Crawl-delay of an agent in seconds; undefined: none, or no number. */
  crawlDelaySeconds(userAgent: string): number | undefined;
  /** Content-Usage and Content-Signal that hold for a URL: of each those with the longest path. */
  statements(userAgent: string, url: string): PolicyStatement[];
}

/** The rules of a robots.txt for one agent. */
export type AgentRules = ReturnType<typeof rulesFor>;

interface Group extends RobotsGroup {
  readonly agents: string[];
  readonly rules: RobotsRule[];
}

interface Delay {
  readonly agents: readonly string[];
  readonly seconds: number;
}

/** A Content-Usage or Content-Signal. */
interface Statement {
  readonly agents: readonly string[];
  readonly kind: "content-usage" | "content-signal";
  readonly path: string;
  readonly text: string;
  readonly line: number;
}

interface ReadFile {
  readonly groups: readonly Group[];
  readonly delays: readonly Delay[];
  readonly statements: readonly Statement[];
  readonly sitemaps: readonly string[];
}

const ANYBODY = "*";

/**
 * Reads a robots.txt by RFC 9309 and as Google's parser reads it. Costs one pass. Never throws for a file: lines that
 * are no rules are ignored.
 *
 * A user agent is a product token (`Outrider`) or a User-Agent header that begins with one (`Outrider/0.1 (+https://…)`); a URL is
 * serialised as `new URL()` does it.
 *
 * @example
 * const file = parseRobots("User-agent: *\nDisallow: /private");
 * file.isAllowed("Outrider", "https://example.org/private/a"); // false
 */
export function parseRobots(text: string | Uint8Array): RobotsFile {
  if (typeof text !== "string" && !isMadeBy(text, Uint8Array))
    throw misuse("ARGUMENT_INVALID", "text", text, "a string or its bytes");
  const file = readFile(typeof text === "string" ? text : Buffer.from(text).toString("utf8"));
  let last: { readonly userAgent: string; readonly rules: AgentRules } | undefined;
  const rulesOf = (userAgent: string): AgentRules => {
    if (last?.userAgent !== userAgent) {
      TEXT(userAgent, "userAgent", "ARGUMENT_INVALID");
      last = { userAgent, rules: rulesFor(file, tokenOf(userAgent)) };
    }
    return last.rules;
  };
  return {
    groups: file.groups,
    sitemaps: file.sitemaps,
    isAllowed: (userAgent, url) => rulesOf(userAgent).isAllowed(url),
    explain: (userAgent, url) => rulesOf(userAgent).explain(url),
    crawlDelaySeconds: (userAgent) => rulesOf(userAgent).crawlDelaySeconds,
    statements: (userAgent, url) => rulesOf(userAgent).statementsFor(url),
  };
}

/** The rules of a file for one product, without those for others. Never throws. */
export function readRobots(
  text: string,
  userAgent: string,
): AgentRules & { readonly sitemaps: readonly string[] } {
  const file = readFile(text);
  return { ...rulesFor(file, productOf(userAgent)), sitemaps: file.sitemaps };
}

function readFile(text: string): ReadFile {
  const groups: Group[] = [];
  const delays: Delay[] = [];
  const statements: Statement[] = [];
  const sitemaps: string[] = [];
  let open: Group | undefined;
  let delayed: string[] = [];
  let isDelayed = false;
  for (const { key, number: line, value } of readRobotsLines(text)) {
    if (key === "user-agent") {
      if (open === undefined || open.rules.length > 0) {
        open = { agents: [], line, rules: [] };
        groups.push(open);
        isDelayed = true;
      }
      if (isDelayed) delayed = [];
      isDelayed = false;
      open.agents.push(value);
      delayed.push(value);
    } else if (key === "allow" || key === "disallow") {
      open?.rules.push({ line, isAllow: key === "allow", pattern: value });
    } else if (key === "sitemap") {
      if (value !== "") sitemaps.push(value);
    } else if (key === "crawl-delay") {
      isDelayed = true;
      const seconds = value === "" ? Number.NaN : Number(value);
      if (!Number.isNaN(seconds)) delays.push({ agents: delayed, seconds });
    } else if (key === "content-usage" || key === "content-signal") {
      isDelayed = true;
      // Without a path it holds for all, as most files have it.
      const [, path = "/", text = ""] = /^(\/\S*)?\s*(.*)$/.exec(value) ?? [];
      if (text !== "") statements.push({ agents: delayed, kind: key, path, text, line });
    }
  }
  return { groups, delays, statements, sitemaps };
}

function rulesFor({ groups, delays, statements }: ReadFile, token: string) {
  const own = groups.filter(({ agents }) => agents.some((agent) => isNamed(agent, token)));
  const holding = own.length > 0 ? own : groups.filter(({ agents }) => agents.some(isAnybody));
  const [first] = holding;
  const isOurs = own.length > 0 ? (agent: string) => isNamed(agent, token) : isAnybody;
  const patterns = holding.flatMap(({ rules }) =>
    rules.flatMap((rule) =>
      patternsOf(rule.isAllow, rule.pattern).map((pattern) => ({ rule, pattern })),
    ),
  );
  patterns.sort((a, b) => byWeight(a.pattern, b.pattern));
  const agent = first?.agents.find(isOurs);
  const ourStatements = statements
    .filter(({ agents }) => agents.some(isOurs))
    .map((statement) => ({
      ...statement,
      pattern: patternsOf(false, statement.path)[0] as RobotsPattern,
    }));
  const deciding = (url: string): RobotsRule | undefined => {
    if (patterns.length === 0) return undefined;
    const path = robotsPath(url);
    return patterns.find(({ pattern }) => matches(pattern, path))?.rule;
  };
  return {
    isAllowed: (url: string): boolean => deciding(url)?.isAllow ?? true,
    explain(url: string): RobotsDecision {
      const rule = deciding(url);
      return {
        isAllowed: rule?.isAllow ?? true,
        line: rule?.line,
        rule: rule && `${rule.isAllow ? "Allow" : "Disallow"}: ${rule.pattern}`,
        agent,
      };
    },
    /** Statements about the use of a URL: of each kind those with the longest path. */
    statementsFor(url: string): PolicyStatement[] {
      if (ourStatements.length === 0) return [];
      const path = robotsPath(url);
      const fitting = ourStatements.filter(({ pattern }) => matches(pattern, path));
      const longest = { "content-usage": 0, "content-signal": 0 };
      for (const { kind, pattern } of fitting)
        longest[kind] = Math.max(longest[kind], pattern.length);
      return fitting
        .filter(({ kind, pattern }) => pattern.length === longest[kind])
        .map(({ kind, text, line }) => ({ source: "robots.txt", kind, text, line }));
    },
    crawlDelaySeconds: delays.findLast(({ agents }) => agents.some(isOurs))?.seconds,
    ruleCount: patterns.length + ourStatements.length,
    /** Of all rules and their spellings: what stands between their stars. */
    partCount: patterns.reduce(
      (sum, { pattern: { exact, decoded } }) =>
        sum + exact.parts.length + (decoded?.parts.length ?? 0),
      0,
    ),
  };
}

/** The longest goes first; of two alike the one that allows. */
function byWeight(a: RobotsPattern, b: RobotsPattern): number {
  return b.length - a.length || Number(b.isAllow) - Number(a.isAllow);
}

/** `* every crawler` also means all agents, as Google's parser reads it. */
function isAnybody(agent: string): boolean {
  return agent === ANYBODY || /^\*\s/.test(agent);
}

/** A name counts to its first blank or slash, and to the first letter that RFC 9309, 2.2.1, has in no product token. */
function isNamed(agent: string, token: string): boolean {
  if (token === "" || isAnybody(agent)) return false;
  const word = productOf(agent);
  return word === token || /^[a-z_-]*/.exec(word)?.[0] === token;
}

/** `Outrider/0.1 (+https://…)` is outrider, and so is `Outrider (+https://…)`. */
export function productOf(userAgent: string): string {
  const [product = ""] = userAgent.trim().toLowerCase().split(/[\s/]/, 1);
  return product;
}

/** The product of an agent; of several words without a version or a comment none is the product, and the agent has no name. */
function tokenOf(userAgent: string): string {
  return /^\s*[^\s/]+(?:\s*$|\/|\s+[(\d])/.test(userAgent) ? productOf(userAgent) : "";
}
