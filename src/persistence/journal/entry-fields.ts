/** Reads from the core those fields of journal entries and snapshot columns that are not one word of a record. */
import type { Core } from "../../frontier/core.ts";
import { RULE_QUEUE_INDEX_WORD } from "../../layout/records/host.ts";
import {
  JOURNAL_AGAIN,
  JOURNAL_NAMELESS,
  JOURNAL_RULE_HIGH,
  JOURNAL_RULE_HIGH_SHIFT,
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
  return kind | state | nameless | again | ruleBits(ruleIndexOf(core, record));
}

/** A rule's index beside kind or state, and flags, in word 0 of an entry or of a snapshot's row. @hot */
export function ruleBits(index: number): number {
  return (index << JOURNAL_RULE_SHIFT) | ((index >>> JOURNAL_RULE_HIGH_SHIFT) & JOURNAL_RULE_HIGH);
}

/** The rule's index in word 0. @hot */
export function ruleIn(head: number): number {
  return (head >>> JOURNAL_RULE_SHIFT) | ((head & JOURNAL_RULE_HIGH) << JOURNAL_RULE_HIGH_SHIFT);
}

/** The record's flags in word 0 of a snapshot's row. */
export function flagsIn(head: number): number {
  return (head >>> 8) & 31;
}

/** Words needed for this many bytes. */
export function wordsOf(bytes: number): number {
  return (bytes + 3) >>> 2;
}
