/**
 * Room `src/server/crawls`: crawls as the protocol sees them: which queue may go, what a URL becomes, what is kept of it. Each crawl is
 * one frontier; times are the protocol's whole seconds.
 */

/**
 * Crawl: the calls of the protocol on one crawl, for any kind of frontier. A frontier in this process answers at once, all others by
 * promises.
 */

/** An answer now, or later. */
export type Soon<T> = T | Promise<T>;

/** A URL that was found. */
export interface FoundUrl {
  readonly url: string;
  readonly key: string;
  readonly metadata: Uint8Array | undefined;
  /** Where the host of a plain URL ends; 0: it is not plain; undefined: nothing is known of that. */
  readonly hostEnd?: number | undefined;
}

/** A URL that was fetched, or is due at a time. */
export interface KnownUrl extends FoundUrl {
  /** Seconds since 1970; 0: never again. */
  readonly refetchAt: number;
}

/** A URL as it is stored. */
export interface StoredUrl extends FoundUrl {
  /** Seconds since 1970 from which it may be fetched; 0: it is finished. */
  readonly refetchAt: number;
  /** Seconds since 1970. */
  readonly createdAt: number;
}

export interface UrlFilter {
  /** One queue; empty: all. */
  readonly key: string;
  /** Part of the URL; empty, or blanks alone: any. */
  readonly text: string;
  readonly ignoreCase: boolean;
}

export interface QueueCounts {
  readonly active: number;
  readonly inProcess: number;
  readonly completed: number;
  readonly queues: number;
  readonly activeQueues: number;
}

export interface QueueChange {
  readonly delay?: number;
  readonly blockedUntil?: number;
  readonly limit?: number;
}

/** How many URLs at most are leased between two writes to a client. */
export const CHUNK_URLS = 256;

export interface UrlsAsked {
  /** Most URLs of the queue. */
  readonly urlsMax: number;
  /** Seconds for which they are held. */
  readonly delay: number;
  /** Whether the caller takes no more: what is not sent goes back. */
  readonly isGone: () => boolean;
}

/** Sends URLs to a client; resolves, or returns, when more may be sent. */
export type SendUrls = (urls: readonly StoredUrl[]) => Soon<void>;

export interface Crawl {
  readonly id: string;
  /** A status for each: found URLs that are new become pending. */
  discover(urls: readonly FoundUrl[]): Soon<Uint8Array>;
  /** A status for each: the URLs become finished, or due at their dates, whatever they were. */
  putKnown(urls: readonly KnownUrl[]): Soon<Uint8Array>;
  /** Sends URLs of the next queues that may go, at most `queuesMax` of them; how many queues. */
  serveQueues(queuesMax: number, asked: UrlsAsked, send: SendUrls): Soon<number>;
  /** Sends URLs of one queue, if it may go; how many. */
  serveQueue(key: string, asked: UrlsAsked, send: SendUrls): Soon<number>;
  /**
   * Keys of queues, in the order in which they were created. On Redis that is exact within a partition, whose queues are numbered as they
   * are made; over a frontier that a program uses too there is none.
   */
  queues(isAll: boolean): Soon<Iterable<string>>;
  /** Of a queue, or of all for an empty key. */
  counts(key: string): Soon<QueueCounts>;
  /** False: there is no such queue. */
  change(key: string, change: QueueChange): Soon<boolean>;
  status(url: string, key: string): Soon<StoredUrl | undefined>;
  urls(filter: UrlFilter): AsyncIterable<StoredUrl>;
  /** How many URLs there are. */
  count(filter: UrlFilter): Soon<number>;
  /** Deletes a queue; how many URLs it held. */
  deleteQueue(key: string): Soon<number>;
  /** Deletes everything; how many URLs there were. */
  deleteAll(): Soon<number>;
  /** Deletes URLs that came before a second; how many. */
  purge(key: string, before: number): Promise<number>;
  /** The default delay of queues has changed. */
  delayChanged(): Soon<void>;
}

export const NO_COUNTS: QueueCounts = Object.freeze({
  ...{ active: 0, completed: 0, inProcess: 0 },
  ...{ queues: 0, activeQueues: 0 },
});

/** Whether a filter's text is part of a URL. */
export function textMatcher({ text, ignoreCase }: UrlFilter): (url: string) => boolean {
  if (isAny(text)) return () => true;
  if (!ignoreCase) return (url) => url.includes(text);
  const wanted = text.toLowerCase();
  return (url) => url.toLowerCase().includes(wanted);
}

function isAny(text: string): boolean {
  return text.trim() === "";
}

/** How many URLs a crawl has that a filter takes. */
export async function countMatching(
  crawl: Pick<Crawl, "counts" | "urls">,
  filter: UrlFilter,
): Promise<number> {
  if (isAny(filter.text)) {
    const { active, completed } = await crawl.counts(filter.key);
    return active + completed;
  }
  let count = 0;
  for await (const _url of crawl.urls(filter)) count++;
  return count;
}
