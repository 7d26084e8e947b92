/**
 * Room `src/crawl/policy`: what a site declares about the use of its pages, collected for each page. It is attached and counted, and
 * blocks nothing by itself; the user's hook decides. Text in, plain data out: no network, no frontier.
 */

/**
 * The policy of a page: every statement about its use, and their result.
 *
 *   robots.txt ─ Content-Usage, Content-Signal: lines of our group, longest path ─┐
 *   headers ──── Content-Usage, Content-Signal, X-Robots-Tag ─────────────────────┼─▶ PagePolicy ─▶ page, item, visit, log, report
 *   markup ───── meta robots ─────────────────────────────────────────────────────┘
 *
 *   I1  Where statements about one use differ, the one that forbids it holds (draft-ietf-aipref-vocab-08, 5.1).
 *   I2  STATEMENTS_MAX statements of TEXT_MAX characters each are kept; all of them count.
 */
import { dateMs } from "../../base/clock.ts";
import type { RobotsDirectives } from "../robots/robots-meta.ts";
import {
  readContentSignal,
  readContentUsage,
  stricterSignal,
  stricterUsage,
  type UsagePreference,
} from "./usage-preferences.ts";

/** One statement about the use of a page. */
export interface PolicyStatement {
  /** Where it was found. */
  readonly source: "robots.txt" | "header" | "meta";
  /** What it is: `robots` are directives of X-Robots-Tag or of a meta element. */
  readonly kind: "content-usage" | "content-signal" | "robots";
  /** As it is written, without its name. */
  readonly text: string;
  /** Line of robots.txt, from 1. */
  readonly line?: number;
}

/** What a site declares about the use of one page. It blocks nothing by itself. */
export interface PagePolicy {
  /** By category of Content-Usage (`train-ai`, `ai-use`, `search`). Without an entry nothing is known. */
  readonly usage: Readonly<Record<string, UsagePreference>>;
  /** By name of Content-Signal (`ai-train`, `ai-input`, `search`): `yes`, `no`, or another value as it is written. */
  readonly signals: Readonly<Record<string, string>>;
  /** Whether it forbids indexing: `noindex`, `none`, or `unavailable_after` a time that is over. */
  readonly isNoIndex: boolean;
  /** Whether it forbids following its links: `nofollow`, `none`. The built-in analyzer finds none then. */
  readonly isNoFollow: boolean;
  /** The time of `unavailable_after`, milliseconds since 1970. */
  readonly unavailableAfterMs?: number;
  /** What the rest was put together from, in the order in which it was read. */
  readonly statements: readonly PolicyStatement[];
}

const STATEMENTS_MAX = 32;
const TEXT_MAX = 500;

export interface PolicySources {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Lines of robots.txt that hold for the page. */
  readonly robots: readonly PolicyStatement[];
  /** Directives of X-Robots-Tag that are ours. */
  readonly tag: RobotsDirectives;
  /** Directives of its meta elements. */
  readonly meta: RobotsDirectives | undefined;
  readonly nowMs: number;
}

/** Collects the statements about a page; undefined: there are none. */
export function policyOf(sources: PolicySources): PagePolicy | undefined {
  const { headers, robots, tag, meta, nowMs } = sources;
  const all = [
    ...robots,
    ...headerStatements(headers),
    ...robotsStatement("header", tag),
    ...robotsStatement("meta", meta),
  ];
  if (all.length === 0) return undefined;
  const usage: Record<string, UsagePreference> = {};
  const signals: Record<string, string> = {};
  for (const { kind, text } of all) {
    if (kind === "content-usage") {
      for (const [name, preference] of Object.entries(readContentUsage(text)))
        usage[name] = stricterUsage(usage[name], preference);
    } else if (kind === "content-signal") {
      for (const [name, value] of Object.entries(readContentSignal(text)))
        signals[name] = stricterSignal(signals[name], value);
    }
  }
  const ends = [tag, meta].flatMap((each) => {
    const atMs = dateMs(each?.unavailableAfter ?? "");
    return Number.isNaN(atMs) ? [] : [atMs];
  });
  const endMs = ends.length === 0 ? undefined : Math.min(...ends);
  const isOver = endMs !== undefined && endMs <= nowMs;
  return {
    usage,
    signals,
    isNoIndex: tag.isNoIndex || meta?.isNoIndex === true || isOver,
    isNoFollow: tag.isNoFollow || meta?.isNoFollow === true,
    ...(endMs === undefined ? {} : { unavailableAfterMs: endMs }),
    statements: all.slice(0, STATEMENTS_MAX).map(shortened),
  };
}

/** Lines of one header are one dictionary (RFC 9651, 4.2). */
function headerStatements(headers: PolicySources["headers"]): PolicyStatement[] {
  return (["content-usage", "content-signal"] as const).flatMap((kind) => {
    const value = headers[kind];
    if (value === undefined) return [];
    return [{ source: "header" as const, kind, text: [value].flat().join(", ") }];
  });
}

function robotsStatement(
  source: "header" | "meta",
  directives: RobotsDirectives | undefined,
): PolicyStatement[] {
  const text = directives?.text ?? "";
  return text === "" ? [] : [{ source, kind: "robots", text }];
}

function shortened(statement: PolicyStatement): PolicyStatement {
  const { text } = statement;
  return text.length <= TEXT_MAX ? statement : { ...statement, text: text.slice(0, TEXT_MAX) };
}

/** What counts in a report: `train-ai=disallow`, `ai-train=no`, `noindex`, `nofollow`. */
export function policyNames({ usage, signals, isNoIndex, isNoFollow }: PagePolicy): string[] {
  return [
    ...Object.entries(usage).map(([name, preference]) => `${name}=${preference}`),
    ...Object.entries(signals).map(([name, value]) => `${name}=${value}`),
    ...(isNoIndex ? ["noindex"] : []),
    ...(isNoFollow ? ["nofollow"] : []),
  ];
}
