/**
 * What single visits leave in a crawl's summary: those that failed, the slowest, answers by depth.
 *
 *   I1  Bounded: the last FAILING_MAX failures, SLOWEST_MAX pages, of HOSTS_MAX hosts their times, STATUSES_MAX statuses of DEPTHS_MAX depths.
 */
import type { PagePolicy } from "../policy/page-policy.ts";
import type { TakenDecision } from "../policy/policy-hook.ts";
import { hostOf } from "./named-counts.ts";

/** A URL that failed for good. */
export interface FailedUrl {
  /** The URL. */
  readonly url: string;
  /** Why: `status 404`, `timeout`, `robots` … */
  readonly reason: string;
  /** Distance from a seed. */
  readonly depth: number;
  /** HTTP status of the last attempt; missing: there was no answer. */
  readonly status?: number;
  /** URL of the page that it was found on, as `FailureView.foundOn`. */
  readonly foundOn?: string;
}

/** A page that took long. */
export interface SlowPage {
  /** The page. */
  readonly url: string;
  /** Time to its first byte in milliseconds. */
  readonly latencyMs: number;
  /** Status of the answer. */
  readonly status: number;
}

/** A host and the time that it takes. */
export interface SlowHost {
  /** The host. */
  readonly host: string;
  /** Mean time to the first byte in milliseconds. */
  readonly latencyMs: number;
  /** Answers that it is the mean of. */
  readonly answers: number;
}

/** How one visit of a URL ended. A URL that is tried again has several. */
export interface Visit {
  /** The URL. */
  readonly url: string;
  /** `done`: its links were handed on. `retried`: it comes again. `failed`: for good. */
  readonly outcome: "done" | "retried" | "failed";
  /** Why it was retried or failed. */
  readonly reason?: string;
  /** HTTP status; missing: there was no answer. */
  readonly status?: number;
  /** Bytes of the body as they came. */
  readonly bytes?: number;
  /** Time to the first byte in milliseconds. */
  readonly latencyMs?: number;
  /** When it ended, in milliseconds since 1970. */
  readonly atMs: number;
  /** Distance from a seed. */
  readonly depth: number;
  /** Fingerprint of the page that it was found on. */
  readonly parent?: string;
  /** What robots.txt, headers and markup declare about its use; missing: nothing, or no page. */
  readonly policy?: PagePolicy;
  /** What the option `policy` decided on that. */
  readonly decision?: TakenDecision;
}

export type VisitStatistics = ReturnType<typeof createVisitStatistics>;

const FAILING_MAX = 100;
const SLOWEST_MAX = 10;
const HOSTS_MAX = 20_000;
const DEPTHS_MAX = 100;
const STATUSES_MAX = 100;

export function createVisitStatistics() {
  const failing: FailedUrl[] = [];
  let slowest: SlowPage[] = [];
  let failedCount = 0;
  const hosts = new Map<string, { sumMs: number; answers: number }>();
  const depths = new Map<number, number[]>();
  return {
    failing,
    /** How many have failed since it began. */
    get failedCount(): number {
      return failedCount;
    },
    visit({ url, status, latencyMs, depth }: Visit): void {
      if (status === undefined) return;
      let counts = depths.get(status);
      if (counts === undefined && depths.size < STATUSES_MAX) {
        counts = [];
        depths.set(status, counts);
      }
      const at = Math.min(depth, DEPTHS_MAX);
      while (counts !== undefined && counts.length <= at) counts.push(0);
      if (counts !== undefined) counts[at] = (counts[at] as number) + 1;
      if (latencyMs === undefined) return;
      if (slowest.length < SLOWEST_MAX || latencyMs > (slowest.at(-1)?.latencyMs ?? 0)) {
        slowest.push({ url, latencyMs, status });
        slowest = slowest.sort((a, b) => b.latencyMs - a.latencyMs).slice(0, SLOWEST_MAX);
      }
      const host = hostOf(url);
      const times = hosts.get(host);
      if (times !== undefined) {
        times.sumMs += latencyMs;
        times.answers++;
      } else if (hosts.size < HOSTS_MAX) hosts.set(host, { sumMs: latencyMs, answers: 1 });
    },
    failed(failed: FailedUrl): void {
      failedCount++;
      failing.push(failed);
      if (failing.length > FAILING_MAX) failing.shift();
    },
    slowest: (): SlowPage[] => [...slowest],
    slowestHosts(): SlowHost[] {
      const list = [...hosts].map(([host, { sumMs, answers }]) => {
        return { host, latencyMs: Math.round((10 * sumMs) / answers) / 10, answers };
      });
      return list.sort((a, b) => b.latencyMs - a.latencyMs).slice(0, SLOWEST_MAX);
    },
    statusDepths: (): Record<string, number[]> =>
      Object.fromEntries([...depths].map(([status, all]) => [status, [...all]])),
  };
}
