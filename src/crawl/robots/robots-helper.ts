/**
 * robots.txt for a loop of your own: the gate of a crawl over any frontier, without the crawl.
 *
 *   lease ─▶ admit ─▶ allowed ─▶ true: visit it
 *                 ├─ disallowed, unreachable ─▶ failed with reason `robots`, `robots-unreachable`: false
 *                 ├─ address refused, no such name ─▶ failed with reason `address`, `no-host`, as each of its pages would: false
 *                 └─ not known yet ─▶ fetched; the host is blocked for its delay ─▶ released: false, it comes again
 *
 *   I1  robots.txt is fetched once per origin at a time, for all callers together, and what a host asks for between two visits
 *       becomes its delay.
 */
import { type Clock, createSystemClock } from "../../base/clock.ts";
import {
  callable,
  kind,
  MILLISECONDS,
  readObject,
  shape,
  TRUTH,
  whole,
} from "../../base/fields.ts";
import { givenOf } from "../../base/plain-copy.ts";
import type { AsyncFrontier, AsyncLease, Frontier, Outcome } from "../../index.ts";
import { createDownloader } from "../http/downloader.ts";
import { CLOCK, withMethods } from "../http/downloader-options.ts";
import type { Downloader } from "../module-registry.ts";
import { ROBOTS_DEFAULTS, createRobots, type RobotsRules } from "./robots-txt.ts";

/**
 * Options of `createRobotsGate`. Times are in milliseconds.
 *
 * @example
 * createRobotsGate({ frontier, userAgent: "mine/1.0 (+https://example.org/bot)", delayMs: 1000 });
 */
export interface RobotsGateOptions {
  /** The frontier whose hosts wait as robots.txt asks: from `openFrontier` or `openFrontierThread`. */
  frontier: Pick<Frontier, "host"> | Pick<AsyncFrontier, "host">;
  /** User-Agent of the request, and product name in robots.txt. */
  userAgent: string;
  /**
   * Fetches robots.txt.
   * @defaultValue a downloader of its own, with this `userAgent`
   */
  downloader?: Downloader | undefined;
  /**
   * Permits loopback, private and link-local addresses, where it has a downloader of its own.
   * @defaultValue false
   */
  allowPrivate?: boolean | undefined;
  /**
   * Least pause of a host after its robots.txt was fetched, in milliseconds.
   * @defaultValue the host's delay
   */
  delayMs?: number | undefined;
  /**
   * How long a robots.txt holds, in milliseconds.
   * @defaultValue a day
   */
  expiryMs?: number | undefined;
  /**
   * Wait before one that could not be fetched is asked for again, in milliseconds.
   * @defaultValue 5,000
   */
  retryMs?: number | undefined;
  /**
   * Attempts before nothing of the origin is allowed, for `expiryMs`.
   * @defaultValue 3
   */
  attempts?: number | undefined;
  /**
   * Longest crawl-delay that is obeyed, in milliseconds.
   * @defaultValue 300,000
   */
  maxCrawlDelayMs?: number | undefined;
  /**
   * The politeness unit of a URL, where it is not its host.
   * @defaultValue the URL's host
   */
  hostKeyOf?: ((url: string) => string) | undefined;
  /**
   * The source of time: the frontier's.
   * @defaultValue the machine's clock
   */
  clock?: Clock | undefined;
}

/** A lease that a gate can end. */
export type GatedLease = Pick<AsyncLease, "url"> & {
  /** As `Lease.fail`. */
  fail(reason?: string, outcome?: Outcome): unknown;
  /** As `Lease.release`. */
  release(): unknown;
};

/** robots.txt over a frontier; see `createRobotsGate`. */
export interface LeaseGate extends AsyncDisposable {
  /**
   * Whether the lease may be visited. False: the lease has ended. It failed where robots.txt forbids it, or was released until
   * robots.txt is known and the host may be asked again.
   */
  admit(lease: GatedLease): Promise<boolean>;
  /**
   * The verdict of robots.txt on a URL. `unreachable`: it could not be fetched, so nothing is allowed. `later`: it was
   * fetched just now, or is to be asked for again, and the host waits.
   */
  ask(url: string): Promise<"allowed" | "disallowed" | "unreachable" | "later">;
  /** Sitemaps that the robots.txt of a URL names; [] where it is not known yet. */
  sitemaps(url: string): readonly string[];
  /** Closes the downloader that it has made. */
  close(): Promise<void>;
}

const readOptions = shape<RobotsGateOptions>(
  {
    frontier: withMethods("a frontier", ["host"]),
    userAgent: kind(
      "who asks, such as 'mine/1.0'",
      (value) => typeof value === "string" && value.trim() !== "",
    ),
    downloader: withMethods("a downloader", ["download"]),
    allowPrivate: TRUTH,
    delayMs: MILLISECONDS,
    expiryMs: MILLISECONDS,
    retryMs: MILLISECONDS,
    attempts: whole(1),
    maxCrawlDelayMs: MILLISECONDS,
    hostKeyOf: callable(),
    clock: CLOCK,
  },
  { needed: ["frontier", "userAgent"] },
);

/** The host was not asked for the page. */
const UNVISITED: Outcome = Object.freeze({ visited: false });

/**
 * Makes a gate by which a loop of your own obeys robots.txt (RFC 9309), over any frontier. Throws `OPTION_INVALID` without a frontier or
 * a `userAgent`. Costs one request for each origin.
 *
 * @example
 * const gate = createRobotsGate({ frontier, userAgent: "mine/1.0 (+https://example.org/bot)" });
 * for await (const lease of frontier) {
 *   if (await gate.admit(lease)) settle(lease, await fetch(lease.url));
 * }
 */
export function createRobotsGate(options: RobotsGateOptions): LeaseGate {
  const read = readObject(readOptions, options, "options", "OPTION_INVALID");
  const { frontier, userAgent, clock = createSystemClock(), delayMs = 0 } = read;
  const { expiryMs, retryMs, attempts, maxCrawlDelayMs } = read;
  const { hostKeyOf = (url: string): string => new URL(url).host } = read;
  const own =
    read.downloader === undefined
      ? createDownloader({ userAgent, clock, allowPrivate: read.allowPrivate ?? false })
      : undefined;
  const downloader = read.downloader ?? (own as Downloader);
  const robots = createRobots({
    ...{ userAgent, clock, ...ROBOTS_DEFAULTS },
    ...givenOf({ expiryMs, retryMs, attempts, maxCrawlDelayMs }),
    fetch: (request) => downloader.download(request),
  });
  const ask: LeaseGate["ask"] = async (url) => {
    const { origin } = new URL(url);
    let rules = robots.known(origin);
    if (rules === undefined) {
      rules = await robots.fetch(origin);
      const retry = rules.state === "unreachable" ? rules.untilMs - clock.now() : 0;
      const wait = await steer(frontier, hostKeyOf(url), { rules, delayMs, retry, clock });
      if (wait > 0) return "later";
    }
    if (rules.state === "unreachable") return "later";
    if (rules.state === "disallow-all") return "unreachable";
    return rules.isAllowed(url) ? "allowed" : "disallowed";
  };
  const close = async (): Promise<void> => own?.close();
  return {
    ask,
    async admit(lease) {
      const answer = await ask(lease.url);
      if (answer === "allowed") return true;
      const { fault = "robots-unreachable" } = robots.known(new URL(lease.url).origin) ?? {};
      const reason = answer === "disallowed" ? "robots" : fault;
      await (answer === "later" ? lease.release() : lease.fail(reason, UNVISITED));
      return false;
    },
    sitemaps: (url) => robots.known(new URL(url).origin)?.sitemaps ?? [],
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Learned {
  readonly rules: RobotsRules;
  readonly delayMs: number;
  readonly retry: number;
  readonly clock: Clock;
}

/** Its crawl-delay becomes the host's, which waits as after any visit; for how long. */
async function steer(
  frontier: RobotsGateOptions["frontier"],
  key: string,
  { rules, delayMs, retry, clock }: Learned,
): Promise<number> {
  const host = frontier.host(key);
  const view = "view" in host ? await host.view() : host;
  const asked = rules.crawlDelayMs ?? 0;
  if (asked > view.delayMs) {
    if ("set" in host) await host.set({ delayMs: asked });
    else host.delayMs = asked;
  }
  const waitMs = Math.max(delayMs, asked, view.delayMs, retry);
  const untilMs = clock.now() + waitMs;
  if (waitMs > 0 && view.blockedUntil < untilMs) await host.blockUntil(untilMs);
  return waitMs;
}
