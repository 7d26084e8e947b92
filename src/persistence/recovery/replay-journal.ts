/**
 * Replay: applies the entries of a frame to a core that is being restored.
 *
 *   I1  Applying an entry again, or to a state that later entries have already shaped, ends in the same state: entries
 *       hold values, and all later ones follow (docs/formats/snapshot.md has the argument).
 *   I2  An entry that names something that is not there is skipped while a snapshot's tail is replayed, and is damage after it.
 *   I3  Nothing beyond the frame is read: a length that points outside is damage, whatever the checksum.
 */
import { memoryFull } from "../../base/errors.ts";
import { collected, collectEntries, makeEntries, openEntries } from "./restore-rows.ts";
import { RESTORE_ROWS_MAX } from "../../structures/records/restore-batch.ts";
import { spillDuringRecovery } from "./recovery-spill.ts";
import { bytesOf, double, named, type Replay, take, takeBytes } from "./entry-reader.ts";
import {
  checkBlob,
  checkDeliveries,
  checkDue,
  checkFlags,
  checkKey,
  checkPriority,
  checkStateAfter,
  wrong,
} from "./check-fields.ts";
import {
  applyDisowned,
  applyAddress,
  applyEpoch,
  applyGroupClock,
  applyHost,
  applyHostMade,
  applyNote,
  applyPlain,
  applyUnseen,
  applyVolatile,
} from "./replay-rare-entries.ts";
import {
  LOG_ADMITTED,
  LOG_DONE,
  LOG_LEASED,
  LOG_MOVED,
  LOG_RELEASED,
  LOG_REMOVED,
  LOG_REQUEUED,
  LOG_RESTED,
} from "../../frontier/records/transition-log.ts";
import {
  JOURNAL_ADMITTED_WORDS,
  JOURNAL_AGAIN,
  JOURNAL_CLEARED,
  JOURNAL_DISOWNED,
  JOURNAL_END_WORDS,
  JOURNAL_EPOCH,
  JOURNAL_FORGOTTEN,
  JOURNAL_HAS_BEEN_SEEN,
  JOURNAL_HAS_BLOB,
  JOURNAL_HAS_BUDGET,
  JOURNAL_HAS_DUE,
  JOURNAL_HAS_PARENT,
  JOURNAL_HAS_PRIORITY,
  JOURNAL_GROUP_CLOCK,
  JOURNAL_HAS_TRIES,
  JOURNAL_HOST_ADDRESS,
  JOURNAL_HOST_ALL,
  JOURNAL_HOST_CLOCK,
  JOURNAL_HOST_FORGOTTEN,
  JOURNAL_HOST_MADE,
  JOURNAL_LEASED_WORDS,
  JOURNAL_MEMBER,
  JOURNAL_MOVE_WORDS,
  JOURNAL_NAMELESS,
  JOURNAL_NAME_WORDS,
  JOURNAL_NOTE,
  JOURNAL_PARENT,
  JOURNAL_PARENT_WORDS,
  JOURNAL_STATE_MASK,
  JOURNAL_STATE_SHIFT,
  JOURNAL_UNSEEN,
  JOURNAL_VOLATILE,
  JOURNAL_VOLATILE_WORDS,
} from "../../layout/files/journal.ts";
import { ruleIn } from "../journal/entry-fields.ts";
import { isFinishedValue } from "../../frontier/records/finished-word.ts";
import { keepPeriod } from "../../frontier/records/transitions.ts";
import {
  RECORD_FLAG_NO_IDENTITY,
  RECORD_LEASED,
  RECORD_PENDING,
  RECORD_RESTING,
  RECORD_WAITING,
  parentCreate,
  parentRelease,
  recordBlob,
  recordFlags,
  setRecordAgain,
  setRecordAttempt,
  setRecordDeliveries,
  setRecordDepth,
  setRecordKey,
  setRecordPriority,
} from "../../structures/records/record.ts";
import { seenSet } from "../../structures/seen/seen-set.ts";
import { dropCopied, isCopied } from "./copied-records.ts";
import {
  checkRuleOf,
  dropRestored,
  noteKey,
  type Restoration,
  type Rows,
  restoreRecord,
  restoredRecord,
  ruleOfIndex,
  setDueOfRestored,
} from "./restore-records.ts";
import {
  bookAdmitted,
  bookEntry,
  bookSeen,
  LEDGER,
  restoreState,
  rowOfLog,
} from "../../frontier/records/ledger.ts";

/** Entries after which memory is looked at, within a frame. */
const ENTRIES_PER_LOOK = 64;

/** Applies the entries between two words of a segment. */
export function replayFrame(replay: Replay, words: Uint32Array, at: number, end: number): void {
  replay.words = words;
  replay.bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  replay.at = at;
  replay.end = end;
  const { restoration } = replay;
  restoration.epoch = "";
  // A listener is called for each entry, with the record as the entry left it.
  let isBatched = restoration.listener === undefined && openEntries(restoration, words, at, end);
  let lookAt = replay.entries + ENTRIES_PER_LOOK;
  while (replay.at < end) {
    const kind = (words[replay.at] as number) & 255;
    if (isBatched && kind === LOG_ADMITTED && collect(replay)) continue;
    // These two do nothing to records.
    if (kind !== JOURNAL_PARENT && kind !== JOURNAL_HOST_MADE) makeCollected(replay);
    replay.entries++;
    applyEntry(replay);
    // What entries bring back from disk may exceed the bound on memory. Collected rows hold handles, so none may be open.
    if (replay.entries >= lookAt && collected(restoration) === 0) {
      spillDuringRecovery(restoration);
      lookAt = replay.entries + ENTRIES_PER_LOOK;
    }
    if (kind === JOURNAL_CLEARED && isBatched) isBatched = openEntries(restoration, words, at, end);
  }
  makeCollected(replay);
  dropParent(restoration);
}

/** Collects plain admissions; returns false when the next entry is not one. */
function collect(replay: Replay): boolean {
  const { at, end, restoration } = replay;
  const before = collected(restoration);
  replay.at = collectEntries(restoration, at, end);
  const count = collected(restoration);
  replay.entries += count - before;
  if (count >= RESTORE_ROWS_MAX) makeCollected(replay);
  return replay.at > at;
}

function makeCollected(replay: Replay): void {
  replay.astray += makeEntries(replay.restoration);
}

function applyEntry(replay: Replay): void {
  const { at, words, restoration } = replay;
  const kind = (words[at] as number) & 255;
  switch (kind) {
    case LOG_ADMITTED:
    case LOG_MOVED:
      applyAdmitted(replay);
      break;
    case LOG_LEASED:
      applyLeased(replay);
      break;
    case LOG_DONE:
    case LOG_REMOVED:
      applyEnd(replay, kind);
      break;
    case JOURNAL_PARENT:
      applyParent(replay);
      break;
    case JOURNAL_HOST_MADE:
      applyHostMade(replay);
      break;
    case JOURNAL_HOST_CLOCK:
    case JOURNAL_HOST_ALL:
      applyHost(replay, kind);
      break;
    case JOURNAL_HOST_ADDRESS:
      applyAddress(replay);
      break;
    case JOURNAL_GROUP_CLOCK:
      applyGroupClock(replay);
      break;
    case JOURNAL_NOTE:
      applyNote(replay);
      break;
    case JOURNAL_DISOWNED:
      applyDisowned(replay);
      break;
    case JOURNAL_VOLATILE:
      take(replay, JOURNAL_VOLATILE_WORDS);
      applyVolatile(restoration, words[at + 1] as number, words[at] as number);
      break;
    case JOURNAL_UNSEEN:
      applyUnseen(replay);
      break;
    case JOURNAL_EPOCH:
      applyEpoch(replay);
      break;
    case JOURNAL_HOST_FORGOTTEN:
    case JOURNAL_FORGOTTEN:
    case JOURNAL_MEMBER:
    case JOURNAL_CLEARED:
      take(replay, JOURNAL_NAME_WORDS);
      applyPlain(restoration, kind, words[at + 1] as number, words[at + 2] as number);
      break;
    default:
      if (kind < LOG_RELEASED || kind > LOG_RESTED) throw wrong(`entry of kind ${kind}`);
      applyMove(replay, kind);
      break;
  }
}

function applyAdmitted(replay: Replay): void {
  const { restoration, words, record } = replay;
  const at = take(replay, JOURNAL_ADMITTED_WORDS);
  const head = words[at] as number;
  const packed = words[at + 8] as number;
  const has = (packed >>> 8) & 255;
  record.flags = checkFlags(packed & 255);
  record.lo = words[at + 1] as number;
  record.hi = words[at + 2] as number;
  record.hostLo = words[at + 3] as number;
  record.hostHi = words[at + 4] as number;
  record.key = checkKey(double(replay, at + 5));
  record.textLength = words[at + 7] as number;
  record.depth = packed >>> 16;
  record.rule = ruleIn(head);
  record.state = checkStateAfter(head & 255, stateOf(head));
  record.isMoved = (head & 255) === LOG_MOVED;
  record.isAgain = false;
  record.priority =
    (has & JOURNAL_HAS_PRIORITY) === 0 ? 0 : checkPriority(double(replay, take(replay, 2)));
  record.due = (has & JOURNAL_HAS_DUE) === 0 ? 0 : checkDue(double(replay, take(replay, 2)));
  record.hostAdmitted = (has & JOURNAL_HAS_BUDGET) === 0 ? -1 : (words[take(replay, 1)] as number);
  const tries = (has & JOURNAL_HAS_TRIES) === 0 ? 1 : (words[take(replay, 1)] as number);
  record.attempt = tries & 65_535;
  record.deliveries = tries >>> 16;
  record.blob = undefined;
  if ((has & JOURNAL_HAS_BLOB) !== 0) {
    const blob = take(replay, 2);
    record.maxAttempts = words[blob] as number;
    record.blob = checkBlob(bytesOf(replay, words[blob + 1] as number));
  }
  record.text = words;
  record.textAt = takeBytes(replay, record.textLength);
  const { parent } = restoration;
  if ((has & JOURNAL_HAS_PARENT) === 0) restoration.parent = 0;
  checkRuleOf(restoration.core, ruleOfIndex(restoration, record.rule));
  noteKey(restoration, record.key);
  if ((head & 255) === LOG_ADMITTED) {
    bookAdmitted(restoration.core, record.state === RECORD_WAITING, record.depth);
    const isSeen = (has & JOURNAL_HAS_BEEN_SEEN) !== 0;
    if (!isSeen && (record.flags & RECORD_FLAG_NO_IDENTITY) === 0) bookSeen(restoration.core, 1);
  }
  const isMade = !isCopied(restoration, record) && restoreRecord(restoration, record);
  restoration.parent = parent; // others of this group may have it too
  if (!isMade) replay.astray++;
  else notifyListener(replay, at);
}

function applyLeased(replay: Replay): void {
  const { restoration, words } = replay;
  const at = take(replay, JOURNAL_LEASED_WORDS);
  const { core } = restoration;
  const head = words[at] as number;
  bookEntry(core, LEDGER.lease, RECORD_PENDING, ruleOfEntry(restoration, head));
  const record = named(replay, at);
  if (record === 0) return;
  setRecordDeliveries(core.store, record, checkDeliveries(words[at + 3] as number));
  restoreState(core.store, record, RECORD_LEASED);
  notifyListener(replay, at);
}

function applyEnd(replay: Replay, kind: number): void {
  const { restoration, words } = replay;
  const at = take(replay, JOURNAL_END_WORDS);
  const { core } = restoration;
  const head = words[at] as number;
  const record = named(replay, at);
  // A resting record was counted as done when it began to rest.
  const from = stateOf(head) === RECORD_RESTING ? RECORD_RESTING : RECORD_LEASED;
  bookEntry(core, rowOfLog(kind), from, ruleOfEntry(restoration, head));
  notifyListener(replay, at);
  if (record !== 0) dropRestored(restoration, record);
  if ((head & JOURNAL_NAMELESS) !== 0) return;
  const word = words[at + 3] as number;
  if (!isFinishedValue(word)) throw wrong("an invalid final state");
  dropCopied(restoration, words[at + 1] as number, words[at + 2] as number);
  seenSet(core.seen, words[at + 1] as number, words[at + 2] as number, word);
}

function applyMove(replay: Replay, kind: number): void {
  const { restoration, words } = replay;
  const at = take(replay, JOURNAL_MOVE_WORDS);
  const { core } = restoration;
  const { store } = core;
  const head = words[at] as number;
  const isAgain = (head & JOURNAL_AGAIN) !== 0;
  const from = kind === LOG_REQUEUED && isAgain ? RECORD_RESTING : RECORD_LEASED;
  bookEntry(core, rowOfLog(kind), from, ruleOfEntry(restoration, head));
  const key = checkKey(double(replay, at + 5));
  noteKey(restoration, key);
  const record = named(replay, at);
  if (record === 0) return;
  const tries = words[at + 3] as number;
  restoreState(store, record, checkStateAfter(kind, stateOf(head)));
  if (isAgain) setRecordAgain(store, record);
  setRecordAttempt(store, record, tries & 65_535);
  setRecordDeliveries(store, record, tries >>> 16);
  const packed = words[at + 4] as number;
  setRecordDepth(store, record, packed & 65_535);
  setRecordKey(store, record, key);
  setRecordPriority(store, record, checkPriority(double(replay, at + 7)));
  setDueOfRestored(core, record, checkDue(double(replay, at + 9)));
  notifyListener(replay, at);
  const period = packed >>> 16;
  const isNameless = (recordFlags(store, record) & RECORD_FLAG_NO_IDENTITY) !== 0;
  // A record that loses its identity keeps a period, and gets none later.
  if (isNameless && period !== 0 && recordBlob(store, record) === 0) throw wrong("a new period");
  // Last: the record may have another handle afterwards.
  if (keepPeriod(core, record, period) === 0) throw memoryFull();
}

/** Calls the listener as when the entry was logged. */
function notifyListener({ restoration, words }: Replay, at: number): void {
  const { core, listener, timeMs } = restoration;
  const head = words[at] as number;
  if (listener === undefined || (head & JOURNAL_NAMELESS) !== 0) return;
  const lo = words[at + 1] as number;
  const hi = words[at + 2] as number;
  const record = restoredRecord(restoration, false, lo, hi);
  if (record === 0) listener.onTransitionByHash(head & 255, lo, hi, timeMs);
  else listener.onTransition(core, head & 255, record, timeMs);
}

function stateOf(head: number): number {
  return (head >>> JOURNAL_STATE_SHIFT) & JOURNAL_STATE_MASK;
}

/** The rule queue that an entry names. */
function ruleOfEntry(restoration: Restoration, head: number): number {
  return ruleOfIndex(restoration, ruleIn(head)).handle;
}

function applyParent(replay: Replay): void {
  const { restoration, bytes } = replay;
  const at = take(replay, JOURNAL_PARENT_WORDS);
  dropParent(restoration);
  const print = Buffer.from(bytes.subarray((at + 1) * 4, (at + 5) * 4)).toString("hex");
  restoration.parent = parentCreate(restoration.core.store, print);
}

function dropParent(restoration: Restoration): void {
  const { core, parent } = restoration;
  restoration.parent = 0;
  if (parent === 0) return;
  if (collected(restoration) > 0) (restoration.rows as Rows).parents.push(parent);
  else parentRelease(core.store, parent);
}
