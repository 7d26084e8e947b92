/**
 * A peer: another program's frontier, taken through the same steps as ours (peers/steps.ts).
 *
 *   in this process      open ─▶ push … ─▶ poll … ─▶ done … ─▶ close          adapter.ts of its folder
 *   outside Node         a driver of ours in its language reads the workload file and answers one line of JSON
 *
 * What a peer does not have it does not do: one without acknowledgements has no `done` time, one without a directory no resume.
 */
export type Maybe<T> = T | Promise<T>;

export interface OpenOptions {
  /** Where it keeps what must survive the process; without it memory only. */
  readonly directory?: string;
}

export interface PeerQueue<H = unknown> {
  /** Hands in URLs, duplicates refused; how many were new. */
  push(urls: readonly string[]): Maybe<number>;
  /** Up to `max` to work on; none when there are no more. */
  poll(max: number): Maybe<H[]>;
  urlOf(handle: H): string;
  /** Says that they are finished. */
  done?(handles: readonly H[]): Maybe<void>;
  /** Everything said so far is on disk when this returns. */
  flush?(): Maybe<void>;
  close(): Maybe<void>;
}

export interface Peer {
  readonly name: string;
  /** What it is, with its version where that is known. */
  title(): string;
  /** Why it cannot run here. */
  missing(): string | undefined;
  /** Most pushed URLs of a run that ends in seconds. */
  readonly urlsMax: number;
  /** The same with a directory, where that is slower. */
  readonly durableUrlsMax?: number;
  /** Whether it can keep its URLs in a directory. */
  readonly isDurable: boolean;
  /** In memory each call's worth is finished before the next is polled, as a crawler does it; else all is polled, then all finished. */
  readonly inTurn?: boolean;
  /** In this process. */
  open?(options: OpenOptions): Maybe<PeerQueue>;
  /** Outside: the program and its first words; those of `driver.ts` follow. */
  command?(): readonly string[];
}
