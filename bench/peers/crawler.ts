/** What a crawler is asked for, and what it answers: the case `crawl`. */

export interface Course {
  readonly seed: string;
  readonly concurrency: number;
}

export interface Crawled {
  /** Path to title, of every page. */
  readonly titles: ReadonlyMap<string, string>;
  readonly facts?: Readonly<Record<string, number>>;
  /** Where it is not the time of the call. */
  readonly seconds?: number;
}
