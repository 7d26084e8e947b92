/**
 * The contract of a store for whole records (`records: 'full'`): the full record of every identity, beside the path of a push.
 *
 *   journal ── durable ─▶ record keeper ── a batch ─▶ RecordTier          after a crash between the two, the journal replays it
 *
 * Keys are the two words of an identity's keyed hash. Only the owner thread calls it; a call has taken effect when it returns.
 */

/** One change: the new bytes of an identity, or undefined to remove it. */
export interface RecordChange {
  readonly lo: number;
  readonly hi: number;
  readonly bytes: Uint8Array | undefined;
}

export interface RecordTier {
  /** The bytes of an identity after the last batch. */
  get(lo: number, hi: number): Uint8Array | undefined;
  /** Applies all changes; after a crash all of them are there, or none. */
  apply(changes: readonly RecordChange[]): void;
  /** Every identity, in the order of the keys. */
  each(): Iterable<{ readonly lo: number; readonly hi: number; readonly bytes: Uint8Array }>;
  clear(): void;
  /** Resolves when everything applied is on the medium. */
  flushed(): Promise<void>;
  close(): Promise<void>;
}

/** Opens or makes the store at `path`; with `isReadOnly` only reads it, beside the process that writes it. */
export type OpenRecordTier = (path: string, isReadOnly?: boolean) => RecordTier;
