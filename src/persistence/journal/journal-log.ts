/**
 * JournalLog: the transition log of a frontier with a directory (frontier/records/transition-log.ts). Writes transitions as entries to
 * the frame buffer (frame-buffer.ts). Touches no file: journal.ts seals and writes the frame.
 *
 *   log.record(kind, record) ─▶ fields read from the record's own words ─▶ entry of u32 words
 *
 *   I1  An entry holds absolute values. Replaying it twice, or over a newer state that later entries produce anyway, changes
 *       nothing in the end.
 *   I2  A host's name precedes the first entry that names the host by its hash, in the journal or in the snapshot before it.
 */
import type { TransitionListener } from "./transition-listener.ts";
import { packr } from "../msgpack.ts";
import { writeParent } from "./parent-entries.ts";
import { writeRecordText } from "./record-text.ts";
import { hostHashWord, orderKeyOf } from "../../structures/hosts/lone-host.ts";
import {
  LOG_ADMITTED,
  LOG_DONE,
  LOG_HOST_ALL,
  LOG_HOST_CLOCK,
  LOG_LEASED,
  LOG_MOVED,
  LOG_REMOVED,
  type TransitionLog,
} from "../../frontier/records/transition-log.ts";
import type { Core } from "../../frontier/core.ts";
import { isInMemory } from "../../frontier/scheduling/spill-control.ts";
import { isRestingValue } from "../../frontier/epochs/row-epochs.ts";
import { finishedView, isFinishedValue } from "../../frontier/records/finished-word.ts";
import { hostOf } from "../../frontier/records/transitions.ts";
import {
  JOURNAL_ADMITTED_WORDS,
  JOURNAL_CLEARED,
  JOURNAL_DISOWNED,
  JOURNAL_DISOWNED_WORDS,
  JOURNAL_END_WORDS,
  JOURNAL_EPOCH,
  JOURNAL_EPOCH_WORDS,
  JOURNAL_FORGOTTEN,
  JOURNAL_HAS_BEEN_SEEN,
  JOURNAL_HAS_BLOB,
  JOURNAL_HAS_BUDGET,
  JOURNAL_HAS_DUE,
  JOURNAL_HAS_PARENT,
  JOURNAL_HAS_PRIORITY,
  JOURNAL_HAS_TRIES,
  JOURNAL_HOST_FORGOTTEN,
  JOURNAL_LEASED_WORDS,
  JOURNAL_MEMBER,
  JOURNAL_MOVE_WORDS,
  JOURNAL_NAME_WORDS,
  JOURNAL_NOTE,
  JOURNAL_NOTE_WORDS,
  JOURNAL_UNSEEN,
  JOURNAL_UNSEEN_WORDS,
  JOURNAL_VOLATILE_WORDS,
  JOURNAL_WAS_DONE,
  JOURNAL_WAS_FAILED,
  JOURNAL_WAS_REMOVED,
} from "../../layout/files/journal.ts";
import {
  HOST_ADMITTED_WORD,
  HOST_HASH_HI_WORD,
  HOST_HASH_LO_WORD,
  HOST_MARKED,
  hostFlag,
  setHostFlag,
} from "../../structures/hosts/host-table.ts";
import {
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_VOLATILE,
  blobBytes,
  recordAttempt,
  recordBlob,
  recordDeliveries,
  recordDepth,
  recordFlags,
  recordHi,
  recordLo,
  recordParent,
  recordPriority,
  recordTextLength,
} from "../../structures/records/record.ts";
import {
  admittedRecord,
  admittedWords,
  writeAdmitted,
} from "../../structures/records/entry-batch.ts";
import { seenFind } from "../../structures/seen/seen-set.ts";
import { word } from "../../structures/store.ts";
import { dueOf, headOf, periodOfRecord, wordsOf } from "./entry-fields.ts";
import {
  writeAddress,
  writeGroupClock,
  writeHost,
  writeHostMade,
  writeLoneHost,
} from "./host-entries.ts";
import { memberAddress } from "../../structures/hosts/group-table.ts";
import { dropName, forgetNames, type Names, nameRecord, openNames } from "./nameless-records.ts";
import { volatileHead, volatileStep } from "./volatile-counts.ts";
import {
  type FrameBuffer,
  frameRoom,
  writeBytesPadded,
  writeDouble,
  writeWords,
} from "./frame-buffer.ts";

/** Note of the time at which the rest of its group was logged; written only for a listener. */
export const TIME_NOTE = "time";
/** Flags that belong to the record itself; flags about its place are not written. */
const KEPT_FLAGS = 15;
/** Most words of an admission before its blob and text. */
const ADMITTED_WORDS_MAX = JOURNAL_ADMITTED_WORDS + 9;

interface LogParts {
  readonly core: Core;
  readonly names: Names;
  readonly frames: FrameBuffer;
  /** Called after every whole group. */
  readonly onGroup: () => void;
  /** The log began on a frontier that already had hosts: the first entry about a host carries all of its fields. */
  readonly isLate?: boolean;
  /** Notified of every transition of a record with an identity. */
  readonly listener?: TransitionListener | undefined;
  /** Called at a change that no snapshot in progress may contain half of: generations, rules. */
  readonly onBreak: () => void;
  /** Called when `forget` begins a new generation. */
  readonly onForgotten?: () => void;
  /** Called with another room's note, which later snapshots must contain. */
  readonly onNote?: (name: string, value: Uint8Array) => void;
  /**
   * Runs `say`, which writes the entry that must be durable before files are deleted. Throws when that fails; the entry is then
   * withdrawn.
   */
  readonly durably?: ((say: () => void) => void) | undefined;
}

export class JournalLog implements TransitionLog {
  readonly core: Core;
  readonly names: Names;
  readonly frames: FrameBuffer;
  readonly parts: LogParts;
  /** The parent that the group named last; 0 after the group's end. */
  parent = 0;
  readonly print = new Uint32Array(4);
  /** The epoch that the group named last. */
  epoch = "";
  /** The time that the group noted last. */
  timeNoted = Number.NaN;
  /** An entry was written that a caller in mode `sync` waits for. */
  isUrgent = false;
  /** Live volatile records (volatile-counts.ts). */
  volatileLive = 0;
  /** The set of rules whose indices are in the journal. */
  specsNoted: unknown = undefined;

  constructor(parts: LogParts) {
    this.parts = parts;
    this.core = parts.core;
    this.names = parts.names;
    this.frames = parts.frames;
    this.core.hosts.loneFlags = HOST_MARKED; // its name is logged with its record
  }

  ready(): boolean {
    return openNames(this.names);
  }

  /** @hot */
  record(kind: number, record: number, value: number): void {
    const { core, frames } = this;
    const { store } = core;
    const flags = recordFlags(store, record);
    if ((flags & RECORD_FLAG_VOLATILE) !== 0) {
      this.#volatile(kind, record);
      return;
    }
    if (core.specs !== this.specsNoted) this.noteRules();
    if (this.parts.listener !== undefined) this.#notifyListener(this.parts.listener, kind, record);
    if (kind === LOG_ADMITTED) {
      if ((flags & RECORD_FLAG_NO_IDENTITY) !== 0) nameRecord(this.names, record);
      this.#admitted(LOG_ADMITTED, record, value === 0 ? 0 : JOURNAL_HAS_BEEN_SEEN);
      return;
    }
    if (kind === LOG_MOVED) {
      this.#admitted(LOG_MOVED, record, 0);
      return;
    }
    const at = frameRoom(frames, JOURNAL_MOVE_WORDS);
    const { u32 } = frames;
    u32[at] = headOf(core, kind, record, flags);
    u32[at + 1] = recordLo(store, record);
    u32[at + 2] = recordHi(store, record);
    if (kind === LOG_LEASED) {
      u32[at + 3] = recordDeliveries(store, record);
      frames.end = at + JOURNAL_LEASED_WORDS;
      return;
    }
    this.isUrgent = true;
    if (kind === LOG_DONE || kind === LOG_REMOVED) {
      u32[at + 3] = value;
      frames.end = at + JOURNAL_END_WORDS;
      if ((flags & RECORD_FLAG_NO_IDENTITY) !== 0) dropName(this.names, record);
      return;
    }
    u32[at + 3] = recordAttempt(store, record) | (recordDeliveries(store, record) << 16);
    u32[at + 4] = recordDepth(store, record) | (periodOfRecord(core, record) << 16);
    writeDouble(frames, at + 5, orderKeyOf(store, record));
    writeDouble(frames, at + 7, recordPriority(store, record));
    writeDouble(frames, at + 9, dueOf(core, record));
    frames.end = at + JOURNAL_MOVE_WORDS;
  }

  /** @hot */
  admitted(count: number): void {
    const { core, frames, parts } = this;
    const isRare = parts.listener !== undefined || parts.isLate === true;
    for (let at = 0; at < count; at++) {
      if (!isRare && core.specs === this.specsNoted) {
        const next = writeAdmitted(core.scratch, at, count, this);
        if (next > at) {
          writeWords(frames, admittedWords(core.scratch));
          this.isUrgent = true;
        }
        at = next;
      }
      if (at < count) this.record(LOG_ADMITTED, admittedRecord(core.scratch, at), 0);
    }
  }

  /** @hot */
  host(host: number, fields: number): void {
    if (!hostFlag(this.core.store, host, HOST_MARKED)) this.#hostMade(host);
    if (fields !== LOG_HOST_CLOCK) this.isUrgent = true;
    writeHost(this.core.store, this.frames, host, fields);
  }

  address(host: number): void {
    const { store } = this.core;
    if (!hostFlag(store, host, HOST_MARKED)) this.#hostMade(host);
    this.isUrgent = true;
    writeAddress(store, this.frames, host);
  }

  /** @hot */
  group(group: number): void {
    writeGroupClock(this.core.store, this.frames, group);
  }

  /** Writes the time once a group, so that a replay reports the same time to the listener. */
  #notifyListener(listener: TransitionListener, kind: number, record: number): void {
    const at = listener.timeMs();
    if (at !== this.timeNoted) this.noteBytes(TIME_NOTE, packr.pack(at));
    this.timeNoted = at;
    const flags = recordFlags(this.core.store, record);
    if ((flags & RECORD_FLAG_NO_IDENTITY) === 0) listener.onTransition(this.core, kind, record, at);
  }

  hostForgotten(host: number): void {
    const { store } = this.core;
    if (!hostFlag(store, host, HOST_MARKED)) return;
    const lo = word(store, host, HOST_HASH_LO_WORD);
    this.#words(JOURNAL_HOST_FORGOTTEN, lo, word(store, host, HOST_HASH_HI_WORD));
  }

  /**
   * Names every surviving record before the seen-set is emptied; replay derives the same names. Where files are deleted with the
   * generation, throws the disk's error and changes nothing.
   */
  forgotten(): void {
    const say = (): void => this.#words(JOURNAL_FORGOTTEN, 0, 0);
    if (this.parts.durably === undefined) say();
    else this.parts.durably(say);
    this.isUrgent = true;
    this.parts.onForgotten?.();
    this.parts.listener?.onAllForgotten();
    forgetNames(this.names, (record) => this.#volatile(JOURNAL_UNSEEN, record));
    this.parts.onBreak();
  }

  identityForgotten(lo: number, hi: number): void {
    this.isUrgent = true;
    const { core } = this;
    const value = seenFind(core.seen, lo, hi);
    if (isInMemory(value) && this.#isVolatile(value)) {
      // Of the record only its number is written, so that is what changes.
      this.#volatile(JOURNAL_UNSEEN, value);
      this.#unseen(lo, hi, JOURNAL_WAS_REMOVED);
      return;
    }
    let was = JOURNAL_WAS_FAILED;
    if (isRestingValue(core, value)) was = JOURNAL_WAS_DONE;
    else if (isFinishedValue(value)) {
      was = finishedView(value).isRemoved ? JOURNAL_WAS_REMOVED : JOURNAL_WAS_DONE;
    }
    this.#unseen(lo, hi, was);
  }

  #unseen(lo: number, hi: number, was: number): void {
    const { frames } = this;
    this.parts.listener?.onForgotten(lo, hi);
    const at = frameRoom(frames, JOURNAL_UNSEEN_WORDS);
    const { u32 } = frames;
    u32[at] = JOURNAL_UNSEEN;
    u32[at + 1] = lo;
    u32[at + 2] = hi;
    u32[at + 3] = was;
    frames.end = at + JOURNAL_UNSEEN_WORDS;
  }

  joined(epoch: string, lo: number, hi: number): void {
    if (epoch !== this.epoch) {
      const name = Buffer.from(epoch, "utf8");
      const named = frameRoom(this.frames, JOURNAL_EPOCH_WORDS);
      this.frames.u32[named] = JOURNAL_EPOCH;
      this.frames.u32[named + 1] = name.length;
      this.frames.end = named + JOURNAL_EPOCH_WORDS;
      writeBytesPadded(this.frames, name);
      this.epoch = epoch;
    }
    this.#words(JOURNAL_MEMBER, lo, hi);
  }

  disowned(record: number): void {
    this.isUrgent = true;
    const { store } = this.core;
    if (this.#isVolatile(record)) {
      // No entry names the record; an earlier record of its identity may have finished.
      this.#unseen(recordLo(store, record), recordHi(store, record), JOURNAL_WAS_REMOVED);
      return;
    }
    const at = frameRoom(this.frames, JOURNAL_DISOWNED_WORDS);
    const { u32 } = this.frames;
    u32[at] = JOURNAL_DISOWNED;
    u32[at + 1] = recordLo(store, record);
    u32[at + 2] = recordHi(store, record);
    this.parts.listener?.onForgotten(u32[at + 1] as number, u32[at + 2] as number);
    nameRecord(this.names, record);
    u32[at + 3] = recordLo(store, record);
    u32[at + 4] = recordHi(store, record);
    this.frames.end = at + JOURNAL_DISOWNED_WORDS;
    this.parts.onBreak();
  }

  /** Everything but the notes is gone. The clocks that the hosts must still keep follow in the same group. */
  cleared(): void {
    this.isUrgent = true;
    this.#words(JOURNAL_CLEARED, 0, 0);
    this.noteRules();
  }

  note(name: string, value: unknown): void {
    this.isUrgent = true;
    const bytes = Uint8Array.from(packr.pack(value));
    this.noteBytes(name, bytes);
    this.parts.onNote?.(name, bytes);
  }

  /** Writes which rule each index means: entries name rules by index. */
  noteRules(): void {
    const { rules, specs } = this.core;
    this.specsNoted = specs;
    this.noteBytes("ruleIds", packr.pack(rules.map(({ id }) => id)));
    this.parts.onBreak(); // an index may mean another rule from now on
  }

  /** Writes a note whose value is already packed. */
  noteBytes(name: string, value: Uint8Array): void {
    const { frames } = this;
    const title = Buffer.from(name, "utf8");
    const words = wordsOf(title.length) + wordsOf(value.length);
    const at = frameRoom(frames, JOURNAL_NOTE_WORDS + words);
    frames.u32[at] = JOURNAL_NOTE;
    frames.u32[at + 1] = title.length;
    frames.u32[at + 2] = value.length;
    frames.end = at + JOURNAL_NOTE_WORDS;
    writeBytesPadded(this.frames, title);
    writeBytesPadded(this.frames, value);
  }

  /** @hot */
  end(): void {
    const { frames } = this;
    if (frames.groupEnd === frames.end) return;
    frames.groupEnd = frames.end;
    this.parent = 0; // its handle may belong to another parent by the next group
    this.epoch = "";
    this.timeNoted = Number.NaN;
    this.parts.listener?.onGroupEnd();
    this.parts.onGroup();
  }

  /** @hot */
  #admitted(kind: number, record: number, seen: number): void {
    const { core, frames } = this;
    const { store } = core;
    this.isUrgent = true;
    const parent = recordParent(store, record);
    if (parent !== 0) writeParent(store, frames, this, parent);
    const host = hostOf(core, record);
    if (host === 0) writeLoneHost(store, frames, record);
    else if (!hostFlag(store, host, HOST_MARKED)) this.#hostMade(host);
    const length = recordTextLength(store, record);
    const blob = recordBlob(store, record);
    const blobWords = blob === 0 ? 0 : wordsOf(word(store, blob, 0));
    const at = frameRoom(frames, ADMITTED_WORDS_MAX + blobWords + wordsOf(length));
    const { u32 } = frames;
    const priority = recordPriority(store, record);
    const due = dueOf(core, record);
    const admitted = host === 0 ? 0 : word(store, host, HOST_ADMITTED_WORD);
    const hash = hostHashWord(store, record);
    const flags = recordFlags(store, record);
    let has = seen | (parent === 0 ? 0 : JOURNAL_HAS_PARENT);
    u32[at] = headOf(core, kind, record, flags);
    u32[at + 1] = recordLo(store, record);
    u32[at + 2] = recordHi(store, record);
    u32[at + 3] = store.region.views.u32[hash] as number;
    u32[at + 4] = store.region.views.u32[hash + 1] as number;
    writeDouble(frames, at + 5, orderKeyOf(store, record));
    u32[at + 7] = length;
    let next = at + JOURNAL_ADMITTED_WORDS;
    if (priority !== 0) {
      has |= JOURNAL_HAS_PRIORITY;
      writeDouble(frames, next, priority);
      next += 2;
    }
    if (due !== 0) {
      has |= JOURNAL_HAS_DUE;
      writeDouble(frames, next, due);
      next += 2;
    }
    if (admitted !== 0) {
      has |= JOURNAL_HAS_BUDGET;
      u32[next++] = admitted;
    }
    if (kind === LOG_MOVED) {
      has |= JOURNAL_HAS_TRIES;
      u32[next++] = recordAttempt(store, record) | (recordDeliveries(store, record) << 16);
    }
    if (blob !== 0) {
      has |= JOURNAL_HAS_BLOB;
      u32[next++] = word(store, blob, 1); // maxAttempts and period
      u32[next++] = word(store, blob, 0);
    }
    u32[at + 8] = (flags & KEPT_FLAGS) | (has << 8) | (recordDepth(store, record) << 16);
    frames.end = next;
    if (blob !== 0) writeBytesPadded(this.frames, blobBytes(store, blob));
    writeRecordText(store, frames, record);
  }

  #hostMade(host: number): void {
    const { store } = this.core;
    writeHostMade(store, this.frames, host);
    setHostFlag(store, host, HOST_MARKED, true);
    if (this.parts.isLate !== true) return;
    writeHost(store, this.frames, host, LOG_HOST_ALL);
    if (memberAddress(store, host) !== undefined) writeAddress(store, this.frames, host);
  }

  #isVolatile(record: number): boolean {
    return (recordFlags(this.core.store, record) & RECORD_FLAG_VOLATILE) !== 0;
  }

  /** Writes what the counters need of a volatile record, so that a resume can report how many were lost. */
  #volatile(kind: number, record: number): void {
    const head = volatileHead(this.core, record);
    const step = volatileStep(kind, head);
    if (step === undefined) return;
    this.volatileLive += step.live;
    const at = frameRoom(this.frames, JOURNAL_VOLATILE_WORDS);
    this.frames.u32[at] = head;
    this.frames.u32[at + 1] = kind;
    this.frames.end = at + JOURNAL_VOLATILE_WORDS;
  }

  #words(kind: number, lo: number, hi: number): void {
    const at = frameRoom(this.frames, JOURNAL_NAME_WORDS);
    const { u32 } = this.frames;
    u32[at] = kind;
    u32[at + 1] = lo;
    u32[at + 2] = hi;
    this.frames.end = at + JOURNAL_NAME_WORDS;
  }
}
