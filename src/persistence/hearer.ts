/** Who hears every transition beside the journal, as it is said and again as it is replayed: the keeper of whole records. */
import type { Core } from "../frontier/core.ts";

export interface RecordHearer {
  /** The time that what is said now gets. */
  timeMs(): number;
  /** A transition (frontier/log.ts) of a record with an identity; the record is as it is after it. */
  hear(core: Core, kind: number, record: number, at: number): void;
  /** The same of one that is not there any more: at replay over copies that are newer. */
  hearName(kind: number, lo: number, hi: number, at: number): void;
  /** An identity is new again, or no longer its record's. */
  forgotten(lo: number, hi: number): void;
  /** All of them are. */
  allForgotten(): void;
  groupEnded(): void;
  /** All whole groups stand in frames up to `mark` of the journal's total. */
  sealed(mark: number): void;
}
