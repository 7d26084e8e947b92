/**
 * The contract of a store for whole records (`records: 'full'`): what is known of every identity, beside the path of a push.
 *
 *   journal ── durable ─▶ record keeper ── a batch ─▶ RecordTier          a crash between the two: the journal says it again
 *
 * Keys are the two words of an identity's keyed hash. The owner thread alone calls it; a call returns when it is done.
 */

/** One change: the new bytes of an identity, or undefined: nothing is known of it any more. */
export interface RecordChange {
  readonly lo: number;
  readonly hi: number;
  readonly bytes: Uint8Array | undefined;
}

export interface RecordTier {
  /** The bytes of an identity as the last batch left them. */
  get(lo: number, hi: number): Uint8Array | undefined;
  /** All changes, or none after a crash. */
  apply(changes: readonly RecordChange[]): void;
  /** Every identity there is, in the order of the keys. */
  each(): Iterable<{ readonly lo: number; readonly hi: number; readonly bytes: Uint8Array }>;
  clear(): void;
  /** Resolves when all that was applied is on the medium. */
  flushed(): Promise<void>;
  close(): Promise<void>;
}

export type OpenRecordTier = (path: string) => RecordTier;
