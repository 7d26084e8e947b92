/**
 * Room `src/crawl/robots`: what a site permits: robots.txt, its cache, meta robots, sitemaps. Decides whether a lease
 * may be visited now.
 */

/**
 * The robots gate: whether a lease may be visited now. It runs on the thread that owns the frontier, so that robots.txt is requested once
 * per origin, and that request counts for the host's clock.
 *
 *   lease ─▶ rules known? ─ yes ─▶ allowed | disallowed | unreachable, or the fault: no server could be asked, so nothing is allowed
 *                 └─ no ─▶ fetch ─▶ crawl-delay to the host's clock ─▶ later: the lease goes back to its place
 *
 *   I1  After a fetch the host waits for its delay: robots.txt is a visit like any other. Rules that an earlier process has stored cause
 *       no delay, unless their crawl-delay is not the host's yet.
 */
import type { Clock } from "../../base/clock.ts";
import type { Frontier, RequestInput } from "../../index.ts";
import type { PolicyStatement } from "../policy/page-policy.ts";
import type { LastingFault, Robots, RobotsRules } from "./robots-txt.ts";
import { SITEMAP_HANDLER } from "./sitemap.ts";

/** A fault of the connection: no server could be asked for robots.txt, and none could be for the page. */
export type GateAnswer =
  | "allowed"
  | "disallowed"
  | "unreachable"
  | LastingFault
  | "over-budget"
  | "later";

/** The question to a gate. A sitemap is named by robots.txt itself, so only budgets apply to it. */
export interface GateRequest {
  readonly url: string;
  /** The lease's, which a worker's gate passes on to the owner. */
  readonly rule: string;
  readonly isSitemap: boolean;
}

export interface RobotsGate {
  /** What robots.txt declares about the use of a URL; a worker's gate has it from its last answer. */
  statementsFor(url: string): readonly PolicyStatement[];
  /** The answer, if it needs no request. A worker's gate does not have this method. */
  known?(asked: GateRequest): GateAnswer | undefined;
  ask(asked: GateRequest): Promise<GateAnswer>;
}

/** A gate that calls `refused` first, then the other gate, if there is one. */
export function withRefusal(
  gate: RobotsGate | undefined,
  refused: (url: string) => GateAnswer | undefined,
): RobotsGate {
  const known = (asked: GateRequest): GateAnswer | undefined =>
    refused(asked.url) ?? (gate === undefined ? "allowed" : gate.known?.(asked));
  return {
    statementsFor: (url) => gate?.statementsFor(url) ?? [],
    known,
    ask: async (asked) => known(asked) ?? (await gate?.ask(asked)) ?? "allowed",
  };
}

interface CrawlGateOptions {
  readonly frontier: Frontier;
  readonly robots: Robots;
  readonly clock: Clock;
  readonly delayMs: number;
  readonly withSitemaps: boolean;
  /** Only sitemaps are visited: the robots.txt that names further ones is read first. */
  readonly isSitemapOnly?: boolean;
  /** The politeness unit of a URL. */
  readonly hostKeyOf: (url: string) => string;
  readonly onRules?: (origin: string, rules: RobotsRules) => void;
}

export function createCrawlGate(options: CrawlGateOptions): Required<RobotsGate> {
  const { frontier, robots, clock } = options;
  const learn = (url: string, origin: string, rules: RobotsRules): number => {
    const host = frontier.host(options.hostKeyOf(url));
    const delayMs = Math.max(options.delayMs, rules.crawlDelayMs ?? 0);
    const isSlower = rules.crawlDelayMs !== undefined && delayMs > host.delayMs;
    if (isSlower) host.delayMs = delayMs;
    const retryMs = rules.state === "unreachable" ? rules.untilMs - clock.now() : 0;
    const waitMs = rules.isNoted === true && !isSlower ? 0 : Math.max(delayMs, retryMs);
    const untilMs = clock.now() + waitMs;
    if (waitMs > 0 && host.blockedUntil < untilMs) host.blockUntil(untilMs);
    if (options.withSitemaps && rules.sitemaps.length > 0) {
      frontier.pushMany(rules.sitemaps.map(sitemapRequest));
    }
    options.onRules?.(origin, rules);
    return waitMs;
  };
  const judge = (rules: RobotsRules, url: string): GateAnswer => {
    if (rules.state === "unreachable") return "later";
    if (rules.state === "disallow-all") return rules.fault ?? "unreachable";
    return rules.isAllowed(url) ? "allowed" : "disallowed";
  };
  return {
    statementsFor: (url) => robots.known(originOf(url))?.statementsFor(url) ?? [],
    known({ url, isSitemap }) {
      if (isSitemap && options.isSitemapOnly !== true) return "allowed";
      const rules = robots.known(originOf(url));
      if (isSitemap && rules !== undefined) return "allowed";
      return rules === undefined ? undefined : judge(rules, url);
    },
    async ask({ url, isSitemap }) {
      if (isSitemap && options.isSitemapOnly !== true) return "allowed";
      const origin = originOf(url);
      let rules = robots.known(origin);
      if (rules === undefined) {
        rules = await robots.fetch(origin);
        if (learn(url, origin, rules) > 0) return "later";
      }
      if (isSitemap) return "allowed";
      return judge(rules, url);
    },
  };
}

/** The origin of a serialised URL; user info is no part of it. */
function originOf(url: string): string {
  const end = url.indexOf("/", url.indexOf("://") + 3);
  const origin = end < 0 ? url : url.slice(0, end);
  return end < 0 || origin.includes("@") ? new URL(url).origin : origin;
}

function sitemapRequest(url: string): RequestInput {
  return { url, handler: SITEMAP_HANDLER };
}
