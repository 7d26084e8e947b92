/**
 * The listener to every transition besides the journal, when it is logged and again when it is replayed: the archive of whole records.
 */
import type { Core } from "../../frontier/core.ts";

export interface TransitionListener {
  /** The time of the transitions logged now. */
  timeMs(): number;
  /** A transition (frontier/records/transition-log.ts) of a record with an identity. The record is in its new state. */
  onTransition(core: Core, kind: number, record: number, at: number): void;
  /** The same for a record that is gone: entries replayed over newer copies. */
  onTransitionByHash(kind: number, lo: number, hi: number, at: number): void;
  /** An identity counts as new again, or no longer belongs to its record. */
  onForgotten(lo: number, hi: number): void;
  /** Every identity counts as new again. */
  onAllForgotten(): void;
  onGroupEnd(): void;
  /** All whole groups are in frames up to `mark` of the journal's total. */
  onSealed(mark: number): void;
}
