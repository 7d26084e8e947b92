/** Options of FrontierRequestManager: their types, what they are by default, and how those of the frontier are separated from ours. */
import type { AsyncFrontier, Frontier, FrontierOptions } from "../../index.ts";
import type { Clock } from "../../base/clock.ts";
import {
  atLeast,
  callable,
  type Fields,
  kind,
  readObject,
  shape,
  TRUTH,
} from "../../base/fields.ts";
import { hasFunction } from "../../base/type-guards.ts";
import type { RequestClass } from "./crawlee-packages.ts";
import type { CrawleeRequest } from "./crawlee-types.ts";

/**
 * Options of a request manager beside its frontier.
 *
 * @example
 * await FrontierRequestManager.open({ maxRetryAfterSecs: 600, onRefused: ({ url }) => console.log(url) });
 */
export interface ManagerSettings {
  /**
   * Priority of a request, larger first; undefined: the rule's. Called when it is added, and when it is reclaimed.
   * @defaultValue `request.userData.priority`
   */
  priority?: ((request: CrawleeRequest) => number | undefined) | undefined;
  /**
   * Whether handled requests keep their data, for `getRequest`. Costs a second journal entry and the memory of the data.
   * @defaultValue false
   */
  keepHandled?: boolean | undefined;
  /**
   * Called for each request that the frontier refuses, with a verdict's reason: out of a rule's scope, over a budget, no room.
   * @defaultValue none
   */
  onRefused?: ((request: CrawleeRequest, reason: string) => void) | undefined;
  /**
   * How long a host rests after its first 429 without Retry-After, in seconds; doubled with each that follows.
   * @defaultValue 2
   */
  baseDelaySecs?: number | undefined;
  /**
   * Longest such rest, in seconds.
   * @defaultValue 60
   */
  maxDelaySecs?: number | undefined;
  /**
   * Longest rest that a Retry-After can ask for, in seconds.
   * @defaultValue 3,600
   */
  maxRetryAfterSecs?: number | undefined;
  /**
   * How long a host may refuse everything before `assertNoStalledDomains` rejects, in seconds.
   * @defaultValue 900
   */
  maxDomainStallSecs?: number | undefined;
  /**
   * Crawlee's class `Request`, where it can not be found beside outrider, the program or the working directory.
   * @defaultValue that of the installed package
   */
  Request?: RequestClass | undefined;
}

/**
 * Options of `new FrontierRequestManager`.
 *
 * @example
 * const frontier = await openFrontier({ directory: "crawl-data" });
 * const manager = new FrontierRequestManager({ frontier, priority: ({ url }) => (url.endsWith(".pdf") ? -1 : 0) });
 */
export interface FrontierRequestManagerOptions extends ManagerSettings {
  /** The frontier: of this process, of a thread of its own, or Redis. It stays open when the crawler ends. */
  frontier: Frontier | AsyncFrontier;
  /**
   * The source of time of blocks and locks.
   * @defaultValue the machine's clock
   */
  clock?: Clock | undefined;
}

/**
 * Options of `FrontierRequestManager.open`: those of `openFrontier` and those of the manager, in one object.
 *
 * @example
 * const manager = await FrontierRequestManager.open({
 *   directory: "crawl-data", // continues after a crash
 *   defaults: { politeness: { delayMs: 1_000 } },
 * });
 */
export interface OpenManagerOptions extends FrontierOptions, ManagerSettings {
  /**
   * Begins with an empty queue, whatever the directory holds.
   * @defaultValue false
   */
  purge?: boolean | undefined;
}

const SECONDS = atLeast(0, "seconds, a finite number of at least 0");
const SETTINGS: Fields<ManagerSettings> = {
  priority: callable(),
  keepHandled: TRUTH,
  onRefused: callable(),
  baseDelaySecs: SECONDS,
  maxDelaySecs: SECONDS,
  maxRetryAfterSecs: SECONDS,
  maxDomainStallSecs: SECONDS,
  Request: callable(),
};

const readManager = shape<FrontierRequestManagerOptions>(
  {
    ...SETTINGS,
    frontier: kind("a Frontier or an AsyncFrontier", (value) => hasFunction(value, "pollMany")),
    clock: kind("a Clock", (value) => hasFunction(value, "now")),
  },
  { needed: ["frontier"] },
);
const readSettings = shape<ManagerSettings>(SETTINGS);

/** Reads the constructor's argument. Throws OPTION_INVALID. */
export function readManagerOptions(given: unknown): FrontierRequestManagerOptions {
  return readObject(readManager, given, "options", "OPTION_INVALID");
}

/** Separates the manager's own options from the frontier's, which the frontier reads. Throws OPTION_INVALID for a wrong one of ours. */
export function splitOpenOptions({ purge, ...given }: OpenManagerOptions): {
  settings: ManagerSettings;
  frontier: FrontierOptions;
  purge: boolean;
} {
  const own: Record<string, unknown> = {};
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given))
    (name in SETTINGS ? own : others)[name] = value;
  const settings = readObject(readSettings, own, "options", "OPTION_INVALID");
  return { settings, frontier: crawleeFrontier(others), purge: purge === true };
}

/**
 * The options of a frontier below Crawlee. Crawlee counts retries itself and returns locks as it likes, so that neither attempts nor
 * hand-outs end a request; each lock names its own time, for which a lease is made longer, never shorter. What the caller asks for wins.
 */
export function crawleeFrontier(given: FrontierOptions): FrontierOptions {
  const endless = Number.POSITIVE_INFINITY;
  const defaults = { maxAttempts: endless, ...given.defaults };
  return { maxDeliveries: endless, leaseMs: LEASE_MS, ...given, defaults };
}

const LEASE_MS = 1_000;
/** Crawlee's own time for a request in progress, where no crawler has set another. */
export const LOCK_SECS = 180;
