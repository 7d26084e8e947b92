/** What the cases of the suite `core` ask of a frontier, Outrider's and its peers' alike. */
export interface Queue {
  /** Admits what is new; returns how many that were. */
  push(urls: readonly string[]): number | Promise<number>;
  pushOne(url: string): number | Promise<number>;
  /** Hands out up to `max`, finishes them at once, and returns their URLs in order. */
  drain(max: number): string[] | Promise<string[]>;
  drainOne(): string | undefined | Promise<string | undefined>;
  /** Moves the virtual clock of a polite queue. */
  advance(ms: number): void;
  /** What it says of itself. */
  facts(): Record<string, number>;
  close(): Promise<void> | void;
}

export interface QueueOptions {
  /** One lease per host at a time, and so long after the last one; 0: no politeness. */
  readonly delayMs: number;
}
