/**
 * Room `src/frontier/records`: the ledger: every change of a record's state, with its counter, event and log entry in
 * one step. Decides nothing: callers do. No other file writes a state.
 */

/**
 * TransitionLog: what a frontier writes of every change that must survive it. One interface, handed in from above; a frontier in
 * memory has none, and each place that would speak pays one predictable branch for that.
 *
 *   transition, admission, schedule, politeness, steering ──▶ log.record · host · note … ──▶ log.end
 *
 *   I1  Everything logged between two `end`s is one atomic entry: after a crash all of it is there, or none.
 *   I2  An entry holds values, never steps: applied twice it changes nothing. `record` is called after the
 *       change, and before the record is freed; the log reads what it needs from the record itself.
 *   I3  Every change of a record, an identity or a host is logged here, or it is lost with the process.
 */

/** A new record is in its place, its text after it. */
export const LOG_ADMITTED = 1;
/** Handed out: it is delivered once more; after a crash it is pending at its old place. */
export const LOG_LEASED = 2;
/** Its end, logged while it still exists, with the identity's last state. */
export const LOG_DONE = 3;
export const LOG_REMOVED = 4;
/** From here on: state, place, attempts and priority as they now are. */
export const LOG_RELEASED = 5;
export const LOG_EXPIRED = 6;
export const LOG_RETRIED = 7;
export const LOG_FAILED = 8;
export const LOG_WOKEN = 9;
/** Depth, priority, due time or rule changed in place. */
export const LOG_CHANGED = 10;
export const LOG_REQUEUED = 11;
/** Done and comes again by itself: it rests until its key in the resting heap. `value`: its last word until then. */
export const LOG_RESTED = 12;
/** It goes on under another rule, perhaps on another host and with its text made anew. */
export const LOG_MOVED = 13;

/** Which of a host's fields changed. */
export const LOG_HOST_CLOCK = 1;
export const LOG_HOST_ALL = 2;

export interface TransitionLog {
  /** Whether records may come to be without identity: what names them is there. Asked before such a step. */
  ready(): boolean;
  /** A record's transition: one of LOG_ADMITTED … LOG_MOVED. `value`: of an end, the identity's last word; of an admission, what was known of it. @hot */
  record(kind: number, record: number, value: number): void;
  /** LOG_ADMITTED of the first `count` records that the scratch names (structures/records/entry-batch.ts), in their order. */
  admitted(count: number): void;
  /** A host's turn and delay clock (LOG_HOST_CLOCK), or everything of it (LOG_HOST_ALL), changed. @hot */
  host(host: number, fields: number): void;
  /** The address of a host is known, or has changed. */
  address(host: number): void;
  /** The clock of a group was set. @hot */
  group(group: number): void;
  /** A host that nothing lives on is forgotten; logged before it is freed. */
  hostForgotten(host: number): void;
  /** A new generation: finished and failed identities are gone. Called before the seen-set is emptied. */
  forgotten(): void;
  /** An identity is a member of a named epoch. */
  joined(epoch: string, lo: number, hi: number): void;
  /** One finished or failed identity is new again, as an epoch that was forgotten leaves it; logged before it is. */
  identityForgotten(lo: number, hi: number): void;
  /** A live record goes on without identity; logged before anything of it changes. */
  disowned(record: number): void;
  /** Anything rare, as plain data under a name: rules, re-seed times, the user's state. The last one of a name counts. */
  note(name: string, value: unknown): void;
  /** The end of one atomic entry. @hot */
  end(): void;
}
