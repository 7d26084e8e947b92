/**
 * Tiers: what the structures need of the world below memory, as synchronous interfaces handed in from above.
 *
 *   seen-set: hot table ─▶ bloom "surely new" ─▶ ColdTier
 *   lanes: cold end of a lane ─▶ SpillTier ─▶ back before it is needed
 *
 * The owner thread alone calls a tier, and every call returns when it is done. Arrays passed in stay the caller's.
 */
import { SPILL_VALUE } from "../layout/records/spill-block.ts";
import { TABLE_RESERVED_MIN } from "../layout/seen/table.ts";

export interface ColdStats {
  /** Entries on disk; a hash that waits in two runs for their merge counts twice. */
  readonly count: number;
  readonly runs: number;
  /** Memory for run filters and fence keys. */
  readonly bytes: number;
  readonly fileBytes: number;
  /** Above the serial of every run there ever was. */
  readonly nextSerial: number;
  /** Blocks of 4 KiB that lookups read so far. */
  readonly reads: number;
}

/**
 * What a call may do where bytes have to reach the medium: go on without them, have them written off the thread and come back later,
 * or wait for them.
 */
export type MediumWait = "never" | "beside" | "here";

/**
 * Makes durable what entries stand for before they move; true once it is. `flush`: an empty object with the first question, the same
 * one until the answer is true. Throws the disk's error.
 */
export type BeforeMove = (flush: { mark?: number }, wait: MediumWait) => boolean;

/**
 * Exact set of (64-bit hash, u32 value) pairs on a slower medium. Value 0 is never stored: it means absent.
 * Hashes are two words each: lo, hi. Passing values (`isPassing`) that an earlier process stored read as COLD_REMOVED.
 */
export interface ColdTier {
  /** Once, before everything else: opens what is there. Returns how many entries earlier processes left. */
  load(): number;
  /**
   * values[i] = the value added last for hash i, or 0; COLD_REMOVED is 0 as well. One read of 4 KiB per run and hash at most.
   * `isOwnOnly`: what earlier processes left is not asked.
   */
  has(hashes: Uint32Array, count: number, values: Uint32Array, isOwnOnly?: boolean): void;
  /**
   * Shows the finished hashes whose high half is at least `from`, in no order and some before it too, about `entries` of them. Returns the high half
   * below which all were shown, 2³² at the end.
   */
  scan(from: number, entries: number, visit: (hashes: Uint32Array, count: number) => void): number;
  /**
   * Adds distinct hashes in any order; durable when it returns. Throws DISK_FULL and leaves the tier as it was.
   * A crash keeps all of a batch or nothing.
   */
  add(hashes: Uint32Array, values: Uint32Array, count: number): void;
  /** Begins a batch that comes in slices; one at a time. `capacity`: about how many entries. */
  begin(capacity: number): ColdBatch;
  /**
   * Merges for about `budget` entries; returns the entries handled, 0 when there is nothing to do. `wait`: what it may do where the
   * medium is needed, once or twice then; "here" if it is not given.
   */
  step(budget: number, wait?: MediumWait): number;
  /** Whether merges have ended that are to be committed, or wait for the medium. */
  isCommitting(): boolean;
  /** Memory that filters shall take at most from now on; with less of it lookups read more. */
  bound(bytes: number): void;
  /** Drops everything. Never throws: where the medium refuses, `settle` has to make it durable. */
  clear(): void;
  /** Makes durable that it was emptied, where that could not be done at once. Throws the medium's error. */
  settle(): void;
  stats(): ColdStats;
  /** Closes the files. Merges under way are dropped; nothing added is lost. */
  close(): void;
}

/** Entries on their way into a tier. A call that throws has ended the batch and left the tier as it was. */
export interface ColdBatch {
  /** Memory it takes beside what the tier's stats count; 0 when committed. */
  readonly bytes: number;
  /** The next entries, ascending by (hi, lo) through the whole batch. Never waits for the medium. */
  append(hashes: Uint32Array, values: Uint32Array, count: number): void;
  /**
   * The next step of making it durable, one wait at a time, here if `wait` is not given. True: the tier holds all of it and a crash does
   * not undo it.
   */
  commit(wait?: MediumWait): boolean;
  /** Its bytes are being written off the thread: a commit that does not wait here has nothing to do. */
  readonly isSyncing: boolean;
  /** After commit: copies entries in their order from number `from` on, as many as `values` has; returns how many. */
  read(from: number, hashes: Uint32Array, values: Uint32Array): number;
  /** Closes the batch; one not committed is dropped, and nothing of it is there. */
  end(): void;
}

/**
 * A value that stands for "removed" and outlives, in a newer place, the value an older place still holds.
 * A merge that reaches the oldest run drops it. The three values above it are answers of the hot table (layout/seen/table.ts),
 * and what is finished lies above those.
 */
export const COLD_REMOVED = TABLE_RESERVED_MIN;

/**
 * Whether a value names a place of this process alone (layout/records/spill-block.ts): in the next process it means nothing, since its
 * record comes back from snapshot and journal. @hot
 */
export function isPassing(value: number): boolean {
  return value >= SPILL_VALUE && value < COLD_REMOVED;
}

/** Whether a cold tier may hold the value: what is finished, removed, or a passing place. Handles of live records never leave. @hot */
export function isColdValue(value: number): boolean {
  return value >= 0x8000_0000 || (value >= SPILL_VALUE && value <= COLD_REMOVED);
}

export interface SpillStats {
  readonly blocks: number;
  /** Bytes of blocks that are there, and of the files that hold them. */
  readonly liveBytes: number;
  readonly fileBytes: number;
}

/**
 * Blocks of bytes on a slower medium, each written once, read any number of times and then freed. Nothing of it is
 * meant to outlive the process: what is durable lies elsewhere.
 */
export interface SpillTier {
  /** Keeps the block and returns its place, 0 … SPILL_PLACES_MAX − 1. Throws DISK_FULL: nothing is kept then. */
  write(bytes: Uint8Array): number;
  /** Copies the block at `place` into the front of `bytes`; throws SNAPSHOT_CORRUPT where it is not what was written. */
  read(place: number, bytes: Uint8Array): void;
  free(place: number): void;
  /** Moves blocks together for about `budget` bytes, so that files shrink; bytes handled, 0 when there is nothing to do. */
  step(budget: number): number;
  /** Drops everything. */
  clear(): void;
  stats(): SpillStats;
  /** Closes the files and removes them. */
  close(): void;
}
