/**
 * Volatile records: never written to the journal. An entry has only the step that one of them took, so that the counters add up after a
 * resume, and so that it can report how many records were lost.
 *
 *   live: admitted, and neither done, resting, removed nor forgotten. The live ones are lost with their process.
 */
import {
  JOURNAL_AGAIN,
  JOURNAL_STATE_MASK,
  JOURNAL_STATE_SHIFT,
  JOURNAL_UNSEEN,
  JOURNAL_VOLATILE,
} from "../../layout/files/journal.ts";
import { LEDGER, STATE_NONE, type Transition } from "../../frontier/records/ledger.ts";
import {
  LOG_ADMITTED,
  LOG_DONE,
  LOG_REMOVED,
  LOG_REQUEUED,
  LOG_RESTED,
} from "../../frontier/records/transition-log.ts";
import { RECORD_LEASED, RECORD_RESTING, RECORD_WAITING } from "../../layout/records/record.ts";
import type { Core } from "../../frontier/core.ts";
import { headOf } from "./entry-fields.ts";

interface VolatileStep {
  /** The row of the ledger that is counted. */
  readonly entry: Transition;
  readonly from: number;
  /** By how much the number of live ones changes. */
  readonly live: number;
}

/** Fields of an entry's head that count; its rule does not. */
const HEAD_MASK = 255 | (JOURNAL_STATE_MASK << JOURNAL_STATE_SHIFT) | JOURNAL_AGAIN;

/** The head of an entry about a step of a volatile record. */
export function volatileHead(core: Core, record: number): number {
  return headOf(core, JOURNAL_VOLATILE, record, 0) & HEAD_MASK;
}

/** What a step of this kind counts; undefined: nothing. JOURNAL_UNSEEN: the record is forgotten. */
export function volatileStep(kind: number, head: number): VolatileStep | undefined {
  const state = (head >>> JOURNAL_STATE_SHIFT) & JOURNAL_STATE_MASK;
  const isResting = state === RECORD_RESTING;
  const from = isResting ? RECORD_RESTING : RECORD_LEASED;
  const live = isResting ? 0 : -1;
  switch (kind) {
    case LOG_ADMITTED:
      return {
        entry: state === RECORD_WAITING ? LEDGER.defer : LEDGER.admit,
        from: STATE_NONE,
        live: 1,
      };
    case LOG_DONE:
      return { entry: LEDGER.done, from, live };
    case LOG_REMOVED:
      return { entry: LEDGER.remove, from, live };
    case JOURNAL_UNSEEN:
      return { entry: LEDGER.forget, from, live };
    case LOG_RESTED:
      return { entry: LEDGER.rest, from: RECORD_LEASED, live: -1 };
    case LOG_REQUEUED:
      // A failed one that is asked for again was live all the time.
      if ((head & JOURNAL_AGAIN) === 0) return undefined;
      return { entry: LEDGER.comeAgain, from: RECORD_RESTING, live: 1 };
    default:
      return undefined;
  }
}
