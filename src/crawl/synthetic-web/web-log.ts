/**
 * The requests to the synthetic web: one entry for each, and how polite the crawler was.
 *
 *   gap of a host      least time between two requests of it, from begin to begin
 *   parallel of a host most requests of it at once: one ends with its answer, or when its client has left
 */

/** One request that a synthetic web answered. */
export interface WebLogEntry {
  /** The host. */
  readonly host: string;
  /** The path. */
  readonly path: string;
  /** The User-Agent. */
  readonly agent: string;
  /** When it began, in milliseconds of the monotonic clock. */
  readonly beginMs: number;
  /** HTTP status; 0: cut off. */
  status: number;
  /** When it ended, in milliseconds of the same clock; undefined: it has not. */
  endMs: number | undefined;
}

/** The requests that a synthetic web answered. */
export interface WebLog {
  /** Every request, in order. */
  readonly entries: readonly WebLogEntry[];
  /** Notes the beginning of a request. */
  begin(asked: {
    /** The host. */
    host: string;
    /** The path. */
    path: string;
    /** The User-Agent. */
    agent: string;
  }): WebLogEntry;
  /** Notes the end of a request. */
  end(entry: WebLogEntry): void;
  /** Pairs of requests to one host that begin less than `delayMs` apart. */
  violations(delayMs: number): WebLogEntry[];
  /** The most requests that one host had at once. */
  parallelMax(): number;
}

/** Timers may fire, and clocks be read, a millisecond early on either side. */
const TOLERANCE_MS = 2;

export function createWebLog(now: () => number, isKept = true): WebLog {
  const entries: WebLogEntry[] = [];
  const open = new Map<string, number>();
  let parallelMax = 0;
  return {
    entries,
    begin(asked) {
      const entry: WebLogEntry = { ...asked, beginMs: now(), status: 0, endMs: undefined };
      if (isKept) entries.push(entry);
      const count = (open.get(asked.host) ?? 0) + 1;
      open.set(asked.host, count);
      parallelMax = Math.max(parallelMax, count);
      return entry;
    },
    end(entry) {
      if (entry.endMs !== undefined) return;
      entry.endMs = now();
      const count = (open.get(entry.host) ?? 1) - 1;
      if (count === 0) open.delete(entry.host);
      else open.set(entry.host, count);
    },
    violations(delayMs) {
      const last = new Map<string, number>();
      return entries.filter((entry) => {
        const before = last.get(entry.host);
        last.set(entry.host, entry.beginMs);
        return before !== undefined && entry.beginMs - before < delayMs - TOLERANCE_MS;
      });
    },
    parallelMax: () => parallelMax,
  };
}
