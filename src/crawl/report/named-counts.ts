/**
 * What a crawl counts by name, for its report: pages by host, failed requests by reason, policies of pages.
 *
 *   I1  Bounded: pages are counted for COUNTED_HOSTS_MAX hosts, and not for others. Reasons are a fixed set, except those of a user's
 *       module, of which COUNTED_REASONS_MAX are counted separately.
 */

/** A host and how many of its pages were worked on. */
export interface HostPages {
  /** The host. */
  readonly host: string;
  /** Its pages. */
  readonly pages: number;
}

export type NamedCounts = ReturnType<typeof createNamedCounts>;

const COUNTED_HOSTS_MAX = 20_000;
const COUNTED_REASONS_MAX = 100;

export function createNamedCounts() {
  const hosts = new Map<string, number>();
  const failures = new Map<string, number>();
  const policies = new Map<string, number>();
  return {
    page(url: string): void {
      const host = hostOf(url);
      const pages = hosts.get(host);
      if (pages !== undefined) hosts.set(host, pages + 1);
      else if (hosts.size < COUNTED_HOSTS_MAX) hosts.set(host, 1);
    },
    failed: (reason: string | undefined = "other"): void => step(failures, reason),
    /** Counts the policy of a page, by its names. */
    policy(names: readonly string[]): void {
      for (const name of names) step(policies, name);
    },
    /** Those with the most pages, at most `max`. */
    busiest(max: number): HostPages[] {
      const list = [...hosts].map(([host, pages]) => ({ host, pages }));
      return list.sort((a, b) => b.pages - a.pages || (a.host < b.host ? -1 : 1)).slice(0, max);
    },
    /** Hosts by their pages: at i those with 2^i and up to twice as many. */
    hostPages(): number[] {
      const counts: number[] = [];
      for (const pages of hosts.values()) {
        const octave = Math.floor(Math.log2(pages));
        while (counts.length <= octave) counts.push(0);
        counts[octave] = (counts[octave] as number) + 1;
      }
      return counts;
    },
    failures: (): Record<string, number> => sorted(failures),
    policies: (): Record<string, number> => sorted(policies),
  };
}

function step(counts: Map<string, number>, given: string): void {
  const name = counts.has(given) || counts.size < COUNTED_REASONS_MAX ? given : "other";
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function sorted(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1]));
}

/** Name and port of a URL that was visited. */
export function hostOf(url: string): string {
  const start = url.indexOf("://") + 3;
  const end = url.slice(start).search(/[/?#]/);
  return end < 0 ? url.slice(start) : url.slice(start, start + end);
}
