/** The listener to every transition beside the journal, when it is logged and again when it is replayed: the archive of whole records. */
import type { Core } from "../../frontier/core.ts";

export interface TransitionListener {
  /** The time that what is said now gets. */
  timeMs(): number;
  /** A transition (frontier/records/transition-log.ts) of a record with an identity; the record is as it is after it. */
  onTransition(core: Core, kind: number, record: number, at: number): void;
  /** The same of one that is not there any more: at replay over copies that are newer. */
  onTransitionByHash(kind: number, lo: number, hi: number, at: number): void;
  /** An identity is new again, or no longer its record's. */
  onForgotten(lo: number, hi: number): void;
  /** All of them are. */
  onAllForgotten(): void;
  onGroupEnd(): void;
  /** All whole groups stand in frames up to `mark` of the journal's total. */
  onSealed(mark: number): void;
}
