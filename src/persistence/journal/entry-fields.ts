/** Reads from the core those fields of journal entries and snapshot columns that are not one word of a record. */
import type { Core } from "../../frontier/core.ts";
import { RULE_QUEUE_INDEX_WORD } from "../../layout/records/host.ts";
import {
  JOURNAL_AGAIN,
  JOURNAL_NAMELESS,
  JOURNAL_RULE_SHIFT,
  JOURNAL_STATE_SHIFT,
} from "../../layout/files/journal.ts";
import { heapKeyOf } from "../../structures/ordering/heap.ts";
import { QUEUE_RULE_WORD } from "../../structures/hosts/host-table.ts";
import {
  RECORD_FLAG_NO_IDENTITY,
  RECORD_RESTING,
  RECORD_WAITING,
  blobPeriod,
  isRecordAgain,
  recordBlob,
  recordQueue,
  recordState,
  isLone,
} from "../../structures/records/record.ts";
import { word } from "../../structures/store.ts";

/** When a waiting or resting record is due, in ms; 0 in every other state. */
export function dueOf(core: Core, record: number): number {
  const state = recordState(core.store, record);
  if (state === RECORD_WAITING) return heapKeyOf(core.waiting, record);
  return state === RECORD_RESTING ? heapKeyOf(core.resting, record) : 0;
}

/** The recrawl period stored with a record; 0 when it has none. */
export function periodOfRecord(core: Core, record: number): number {
  const blob = recordBlob(core.store, record);
  return blob === 0 ? 0 : blobPeriod(core.store, blob);
}

/** Index of the record's rule. */
export function ruleIndexOf(core: Core, record: number): number {
  const { store } = core;
  const queue = recordQueue(store, record);
  const rule = isLone(store, record) ? queue : word(store, queue, QUEUE_RULE_WORD);
  return word(store, rule, RULE_QUEUE_INDEX_WORD);
}

/** Word 0 of an entry about a record. @hot */
export function headOf(core: Core, kind: number, record: number, flags: number): number {
  const nameless = (flags & RECORD_FLAG_NO_IDENTITY) === 0 ? 0 : JOURNAL_NAMELESS;
  const state = recordState(core.store, record) << JOURNAL_STATE_SHIFT;
  const again = isRecordAgain(core.store, record) ? JOURNAL_AGAIN : 0;
  return kind | state | nameless | again | (ruleIndexOf(core, record) << JOURNAL_RULE_SHIFT);
}

/** Words needed for this many bytes. */
export function wordsOf(bytes: number): number {
  return (bytes + 3) >>> 2;
}
