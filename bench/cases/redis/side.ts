/** What a process of the case `redis` does on every side: push a share of the URLs, then poll and finish until nothing is left. */
export interface RedisSide {
  /** Admits what is new; resolves when all of it is in the server. */
  push(urls: readonly string[]): Promise<void>;
  /** Takes and finishes until no process has anything left; returns how many URLs it had. */
  drain(): Promise<number>;
  /** Work in slices beside a crawl, after a drain: leases that expire, failures that are requeued, a pattern that is removed. */
  sweep?(urls: readonly string[]): Promise<number>;
  close(): Promise<void>;
}

export interface RedisSideOptions {
  /** The server's socket. */
  readonly socket: string;
  /** URLs of all processes together. */
  readonly urls: number;
  readonly partitions: number;
}

/** URLs of one call, on every side that has batches. */
export const CALL = 1_000;
/** Calls under way at once, on every side that pipelines. */
export const IN_FLIGHT = 4;
/** Leases of one call. */
export const LEASES = 256;
/** A host rests so long between two visits, where a side is polite. */
export const DELAY_MS = 1;
