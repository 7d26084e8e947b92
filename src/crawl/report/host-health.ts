/**
 * HostHealth: how well hosts answer, from what their visits show; and pauses for a host that does not.
 *
 *   visit ─▶ a mark from 0, well, to 1, not at all ─▶ mean in which the newest counts an eighth ─▶ score 100 … 0
 *   bad mark, score below SICK_SCORE ─▶ pause, then one visit more: bad again ─▶ a pause twice as long      score above WELL_SCORE ─▶ pauses begin anew
 *
 *   mark   1            no answer that could be read, 429 or 5xx
 *          up to 0.5    the first byte after SLOW_FROM_MS; at SLOW_TO_MS and later 0.5
 *          0.5          2xx without a byte
 *          0            anything else: a 404 and what robots.txt forbids are no fault of a host
 *
 *   I1  A host without a fault is not kept. Of HOSTS_MAX others the one goes first that has been kept longest.
 *   I2  A pause never ends before one that the host has already: Retry-After, back-off.
 */
import type { Clock } from "../../base/clock.ts";
import type { HostView } from "../../index.ts";
import { hostOf } from "./named-counts.ts";
import type { Visit } from "./visit-statistics.ts";

/** A host whose visits had faults. */
export interface SickHost {
  /** The host. */
  readonly host: string;
  /** From 0, not at all well, to 100. The newest visit counts an eighth. */
  readonly score: number;
  /** Visits since its first fault. */
  readonly visits: number;
  /** Those without an answer that could be read, or with 429 or 5xx. */
  readonly failures: number;
  /** Those whose first byte took a second or longer. */
  readonly slow: number;
  /** Answers 2xx without a byte. */
  readonly empty: number;
  /** Pauses in a row that the option `pauseSickHosts` made. */
  readonly pauses: number;
  /** When the last of them ends, in milliseconds since 1970; missing: none. */
  readonly pausedUntil?: number;
}

/** A host of a crawl. */
export interface CrawlHost {
  /** The host in the frontier: clocks, limits, hold. */
  readonly view: HostView;
  /** How well it answers: from 0, not at all, to 100. The newest visit counts an eighth. */
  readonly score: number;
  /** What its visits lacked; missing: nothing. */
  readonly sick?: SickHost;
}

export interface HostHealth {
  /** Makes pauses from now on: called with a URL of a sick host and the time until which nothing of it shall be visited. */
  onSick: ((url: string, until: number) => void) | undefined;
  visit(visit: Visit): void;
  /** What is kept of a host; undefined: it is well, or was not visited. */
  of(host: string): SickHost | undefined;
  /** Hosts with the lowest scores, at most ten. */
  sickest(): SickHost[];
}

const HOSTS_MAX = 20_000;
const SICKEST_MAX = 10;
const NEWEST_SHARE = 1 / 8;
const SLOW_FROM_MS = 1_000;
const SLOW_TO_MS = 10_000;
const SICK_SCORE = 50;
const WELL_SCORE = 75;
/** A host that is this well is kept no longer. */
const KEPT_MARK = 0.01;
const PAUSE_MS = 30_000;
const PAUSE_MS_MAX = 600_000;
/** Reasons of `retry` and `fail` that count as faults of the host. */
const FAULTS: ReadonlySet<string> = new Set([
  ...["dns", "no-host", "connect", "timeout", "reset", "tls", "protocol", "encoding"],
]);

type Entry = { -readonly [K in keyof Omit<SickHost, "host" | "score">]: SickHost[K] } & {
  mark: number;
};

export function createHostHealth(clock: Clock): HostHealth {
  const hosts = new Map<string, Entry>();
  const health: HostHealth = {
    onSick: undefined,
    visit(visit) {
      const mark = markOf(visit);
      const host = hostOf(visit.url);
      let entry = hosts.get(host);
      if (entry === undefined) {
        if (mark === 0) return;
        if (hosts.size >= HOSTS_MAX) hosts.delete(hosts.keys().next().value as string);
        entry = { mark: 0, visits: 0, failures: 0, slow: 0, empty: 0, pauses: 0 };
        hosts.set(host, entry);
      }
      count(entry, visit);
      entry.mark += (mark - entry.mark) * NEWEST_SHARE;
      if (entry.mark < KEPT_MARK) hosts.delete(host);
      else if (scoreOf(entry) > WELL_SCORE) entry.pauses = 0;
      else if (mark > 0 && scoreOf(entry) < SICK_SCORE) pause(entry, visit.url);
    },
    of(host) {
      const entry = hosts.get(host);
      return entry && sickHostOf(host, entry);
    },
    sickest() {
      const list = [...hosts].map(([host, entry]) => sickHostOf(host, entry));
      return list.sort((one, other) => one.score - other.score).slice(0, SICKEST_MAX);
    },
  };
  const pause = (entry: Entry, url: string): void => {
    const now = clock.now();
    // Visits that were under way when a pause began make no second one.
    if (health.onSick === undefined || (entry.pausedUntil ?? 0) > now) return;
    const ms = Math.min(PAUSE_MS * 2 ** entry.pauses, PAUSE_MS_MAX);
    entry.pauses++;
    entry.pausedUntil = now + ms;
    health.onSick(url, now + ms);
  };
  return health;
}

function sickHostOf(host: string, { mark, ...entry }: Entry): SickHost {
  return { host, score: Math.round(100 * (1 - mark)), ...entry };
}

function markOf(visit: Visit): number {
  if (isFailure(visit)) return 1;
  if (isEmpty(visit)) return 0.5;
  const late = ((visit.latencyMs ?? 0) - SLOW_FROM_MS) / (SLOW_TO_MS - SLOW_FROM_MS);
  return Math.min(Math.max(late, 0), 1) / 2;
}

function isFailure({ status, reason, outcome }: Visit): boolean {
  if (outcome === "done") return false;
  if (status === undefined) return FAULTS.has(reason ?? "");
  return status === 429 || status >= 500;
}

function isEmpty({ status = 0, bytes, outcome }: Visit): boolean {
  return outcome === "done" && status >= 200 && status < 300 && status !== 204 && bytes === 0;
}

function count(entry: Entry, visit: Visit): void {
  entry.visits++;
  if (isFailure(visit)) entry.failures++;
  else if (isEmpty(visit)) entry.empty++;
  if ((visit.latencyMs ?? 0) >= SLOW_FROM_MS) entry.slow++;
}

function scoreOf({ mark }: Entry): number {
  return 100 * (1 - mark);
}
