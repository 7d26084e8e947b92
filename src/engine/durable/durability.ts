/**
 * Durability: the side of a frontier that has a directory: when changes reach the disk.
 *
 *   call ── log ─▶ frames ── commit ─┬─ sync: write + fdatasync, then the call returns
 *                                    └─ everyMs: one timer while something is not durable ─▶ fdatasync off the thread
 *   end of a call ─▶ snapshot-schedule.ts: whether a snapshot is due
 *
 *   I1  In mode `sync` a call that changed something returns after its bytes are durable, or throws the disk's error with
 *       `details.isApplied`: its room was reserved, so only a disk that fails gets there, and the change is held (I2).
 *   I2  While the disk refuses, pushes are answered `full`, whatever else would change something throws, and nothing
 *       has changed; each such call tries again first.
 *   I3  `flush` resolves when all changes before it are durable.
 */
import { type Clock, scheduleAfter } from "../../base/clock.ts";
import { FrontierError, type FrontierErrorCode } from "../../base/errors.ts";
import type { Core } from "../../frontier/core.ts";
import { logAllGroups } from "../../frontier/politeness/group-clocks.ts";
import { addressOf } from "../../frontier/politeness/host-groups.ts";
import { hostsCarried } from "../../frontier/politeness/carry-host-clocks.ts";
import { LOG_HOST_ALL } from "../../frontier/records/transition-log.ts";
import { digestPaths, VISITED_NOTE } from "../../persistence/transfer/digest-file.ts";
import { isFailureNote } from "../../persistence/journal/failure-note.ts";
import { Journal } from "../../persistence/journal/journal.ts";
import { JournalLog } from "../../persistence/journal/journal-log.ts";
import { giveLock, type Lock } from "../../persistence/directory/directory-lock.ts";
import { createNames, type Names, spillNames } from "../../persistence/journal/nameless-records.ts";
import {
  type Identity,
  markDiscarded,
  removeDiscarded,
  type Place,
} from "../../persistence/directory/frontier-directory.ts";
import {
  createSnapshotBuffers,
  type SnapshotBuffers,
} from "../../persistence/snapshot/snapshot-buffers.ts";
import { createFrameBuffer, type FrameBuffer } from "../../persistence/journal/frame-buffer.ts";
import type { EventHub } from "../event-hub.ts";
import { NotedValues } from "./noted-values.ts";
import { SnapshotSchedule, type SnapshotState } from "./snapshot-schedule.ts";
import { storedCounters } from "./stored-counters.ts";
import { nextTurn } from "../next-turn.ts";
import type { FailureNotes } from "../records/failure-notes.ts";
import { removeRecordArchive } from "../records/load-record-store.ts";
import type { RecordArchive } from "../records/record-archive.ts";
import type { MediumWait } from "../../structures/storage-tiers.ts";
import type { DiskTiers } from "./disk-tiers.ts";
import type { Settings } from "../options/normalize-options.ts";
import type { Report, SnapshotInfo } from "../types/frontier-types.ts";
import { removeVisitedBefore, writeVisited } from "./visited-digests.ts";

/** A segment of this size ends, so that a recovery never reads a greater one whole into memory. */
const SEGMENT_BYTES = 64 * 1024 * 1024;

interface DurabilityParts {
  readonly settings: Settings;
  readonly events: EventHub;
  readonly place: Place;
  readonly identity: Identity;
  readonly lock: Lock;
  readonly tiers: DiskTiers;
  readonly core: Core;
  readonly names: Names | undefined;
  /** Serial of the segment to begin. */
  readonly serial: number;
  /** Serial and bytes of the newest whole snapshot, 0: none, and bytes of the journal since then. */
  readonly base: number;
  readonly baseBytes: number;
  readonly journalBytes: number;
  /** Something was wrong with the files. */
  readonly isDamaged: boolean;
  /** The user's state. */
  readonly state: () => unknown;
  readonly notes: ReadonlyMap<string, Uint8Array>;
  /** Notes of failures are kept there alone. */
  readonly failures: FailureNotes;
  /** Whole records, where they are kept. */
  readonly archive: RecordArchive | undefined;
  /** Called when the files are closed. */
  readonly onClosed: (() => void) | undefined;
}

interface Waiter {
  readonly mark: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class Durability {
  readonly #parts: DurabilityParts;
  readonly #clock: Clock;
  readonly #frames: FrameBuffer = createFrameBuffer();
  readonly #journal: Journal;
  #core: Core;
  #room: SnapshotBuffers;
  #names: Names;
  #log: JournalLog;
  #cancelTimer: (() => void) | undefined;
  readonly #waiters: Waiter[] = [];
  #flushedAt: number | undefined;
  #faultReported: string | undefined;
  readonly #snapshots: SnapshotSchedule;
  readonly #notes: NotedValues;
  #isClosed = false;

  constructor(parts: DurabilityParts) {
    this.#parts = parts;
    this.#clock = parts.settings.clock;
    const { identity, place, serial } = parts;
    const onSynced = (fault: FrontierError | undefined): void => this.#synced(fault);
    const onSealed = (total: number): void => parts.archive?.onSealed(total);
    this.#journal = new Journal({
      ...{ place, identity, serial, frames: this.#frames, onSynced },
      onSealed: parts.archive === undefined ? undefined : onSealed,
    });
    this.#core = parts.core;
    this.#room = createSnapshotBuffers(parts.core);
    this.#names = parts.names ?? createNames(parts.core);
    this.#notes = new NotedValues(parts.notes, parts.events);
    const { base, baseBytes, events, isDamaged, journalBytes, settings } = parts;
    this.#snapshots = new SnapshotSchedule({
      ...{ settings, events, place, identity, base, baseBytes, journalBytes, isDamaged },
      journal: this.#journal,
      state: () => this.#snapshotState(),
      flush: () => this.flush(),
      settle: async () => {
        // The entry that all was forgotten is not replayed any more either.
        this.#core.seen.tiered?.cold.settle();
        // What was logged before this generation is replayed no more: the store has to have it.
        await parts.archive?.drained();
      },
    });
    this.#log = this.#attach(this.#core, this.#names);
    parts.tiers.settle = (flush, wait) => this.#settleWith(flush, wait);
    this.#note("profile", identity.profile);
    this.#note("options", parts.settings.noted);
    this.#log.end();
  }

  /** Digests that count as seen from here on, those before them included; durable when it resolves. */
  async keepVisited(digests: Uint8Array): Promise<void> {
    const { place } = this.#parts;
    const note = writeVisited(place, this.#notes.bytes.get(VISITED_NOTE), digests);
    this.#note(VISITED_NOTE, note);
    await this.flush();
    removeVisitedBefore(place, note);
  }

  /** Closes a call: its changes are one entry. Throws in mode `sync` when it is not durable (I1). */
  commit(nowMs: number): void {
    const log = this.#log;
    log.end();
    const { durability } = this.#parts.settings;
    if (durability === "sync") {
      if (!log.isUrgent) return;
      log.isUrgent = false;
      const isDurable = this.#journal.sync();
      this.#reportFault();
      if (!isDurable) throw appliedFault(this.#journal.fault as FrontierError);
      this.#keep();
      this.#flushedAt = nowMs;
      // For the next call to write: this one has reserved no bytes for them.
      this.#parts.failures.logPages(log, false);
      log.end();
      this.#endSegment();
    } else if (this.#journal.heldBytes > 0) this.#arm();
    this.#snapshots.atCommit();
  }

  /** Whether the disk refuses a call that will log about so many bytes (I2). */
  refuses(bytes: number): boolean {
    const journal = this.#journal;
    if (this.#parts.settings.durability === "sync") {
      if (journal.fault !== undefined && !journal.sync()) return true;
      const isRefused = !journal.reserve(bytes);
      this.#reportFault();
      return isRefused;
    }
    if (journal.fault === undefined) return false;
    const isRefused = !journal.write();
    if (!isRefused) this.#arm();
    this.#reportFault();
    return isRefused;
  }

  /** Whether the disk, asked once more where it refused before, refuses what a push would log. */
  get isShut(): boolean {
    return this.#journal.fault !== undefined && this.refuses(0);
  }

  /** Throws the disk's error at a call that would change something. */
  need(bytes: number): void {
    if (this.refuses(bytes)) throw this.#journal.fault as FrontierError;
  }

  /** Resolves when everything logged so far is durable; rejects with the disk's error. */
  flush(): Promise<void> {
    this.#noteAll();
    this.#log.end();
    if (this.#journal.isSettled) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#journal.write();
      this.#waiters.push({ mark: this.#journal.total, resolve, reject });
      this.#disarm();
      this.#journal.syncLater();
    });
  }

  snapshot(isWhole: boolean): Promise<SnapshotInfo> {
    return this.#snapshots.take(isWhole);
  }

  /** Writes an entry that is durable when this returns, or throws the disk's error: the entry alone is taken back then. */
  #durably(log: JournalLog, say: () => void): void {
    log.end();
    this.#settle();
    say();
    log.end();
    try {
      this.#settle();
    } catch (error) {
      this.#journal.retract();
      throw error;
    }
  }

  /**
   * The frontier is cleared: its new core takes over, which holds nothing but the pauses of its hosts. All of that is one group, durable
   * when this returns: files are deleted because of it. Throws the disk's error, and nothing has changed then.
   */
  cleared(core: Core): void {
    const names = createNames(core);
    const log = this.#attach(core, names);
    const counters = this.#notes.bytes.get("counters");
    this.#log.end();
    try {
      this.#durably(log, () => {
        log.cleared();
        for (const host of hostsCarried(core)) {
          log.host(host, LOG_HOST_ALL);
          if (addressOf(core, host) !== undefined) log.address(host);
        }
        logAllGroups(core);
        this.#note("counters", storedCounters(core), log);
      });
    } catch (error) {
      if (counters === undefined) this.#notes.bytes.delete("counters");
      else this.#notes.bytes.set("counters", counters);
      throw error;
    }
    this.#core.log = undefined;
    this.#core = core;
    this.#room = createSnapshotBuffers(core);
    this.#names = names;
    this.#log = log;
    this.#snapshots.outdate();
    this.#notes.bytes.delete(VISITED_NOTE);
    this.#parts.archive?.onAllForgotten();
  }

  facts(): Report["durability"] {
    return {
      flushedAt: this.#flushedAt,
      journalBytes: this.#journal.total + this.#journal.heldBytes - this.#journal.sealedBytes,
      snapshotAt: this.#snapshots.takenAt,
    };
  }

  /** Makes everything durable, closes the files and releases the lock. Throws the disk's error, and stays open then. */
  async close(isDiscard: boolean): Promise<void> {
    if (this.#isClosed) return;
    await this.#snapshots.stop(isDiscard);
    if (!isDiscard) {
      do await this.flush();
      while (!this.#journal.isSettled);
    }
    await this.#shut(isDiscard, () => {
      if (isDiscard) {
        this.#discard();
        return;
      }
      this.#journal.close();
      this.#keep();
    });
  }

  /** Closes the files as a crash would: what is not durable is lost. Releases the lock. */
  async abandon(): Promise<void> {
    if (this.#isClosed) return;
    await this.#snapshots.stop(true);
    await this.#shut(false, () => this.#journal.abandon());
  }

  async #shut(isDiscard: boolean, end: () => void): Promise<void> {
    while (this.#journal.isBusy) await nextTurn();
    this.#isClosed = true;
    this.#snapshots.close();
    this.#disarm();
    this.#core.log = undefined;
    end();
    const { archive, place, tiers } = this.#parts;
    await archive?.close(isDiscard);
    tiers.close(isDiscard);
    if (isDiscard) tiers.removeDirectories();
    if (isDiscard && archive !== undefined) removeRecordArchive(place.directory);
    giveLock(this.#parts.place, this.#parts.lock);
    this.#parts.onClosed?.();
  }

  #attach(core: Core, names: Names): JournalLog {
    const log: JournalLog = new JournalLog({
      core,
      names,
      frames: this.#frames,
      listener: this.#parts.archive,
      onGroup: () => this.#relieve(log),
      onBreak: () => this.#snapshots.break(),
      onForgotten: () => {
        this.#notes.bytes.delete(VISITED_NOTE);
        this.#snapshots.outdate();
      },
      onNote: (name, value) => void (isFailureNote(name) || this.#notes.bytes.set(name, value)),
      durably: core.seen.tiered === undefined ? undefined : (say) => this.#durably(log, say),
    });
    core.log = log;
    if (core.spilling !== undefined) core.spilling.spill.names = spillNames(names, false);
    return log;
  }

  /** Writes a full frame, with the pages that its links were found on: a kill leaves no links without them. */
  #relieve(log: JournalLog): void {
    if (this.#journal.isFull && this.#parts.failures.logPages(log, true))
      log.end(); // which calls this again
    else this.#journal.relieve();
  }

  /** Makes the changes of earlier calls durable, or throws the disk's error. */
  #settle(): void {
    if (!this.#journal.sync()) this.#throwFault();
  }

  /** The same, off the thread if the caller comes back for it; true once the changes before the first question are durable. */
  #settleWith(flush: { mark?: number }, wait: MediumWait): boolean {
    const journal = this.#journal;
    if (wait === "here") this.#settle();
    else if (flush.mark === undefined && journal.write()) flush.mark = journal.total;
    else if (journal.fault !== undefined) this.#throwFault(); // of the sync that was asked for
    if (wait === "here" || this.#isDurable(flush.mark)) return true;
    journal.syncLater();
    if (this.#isDurable(flush.mark)) return true;
    if (journal.fault !== undefined) this.#throwFault();
    return false;
  }

  #isDurable(mark = Number.POSITIVE_INFINITY): boolean {
    return this.#journal.total - this.#journal.sealedBytes >= mark;
  }

  #throwFault(): never {
    this.#reportFault();
    throw this.#journal.fault as FrontierError;
  }

  /** What is durable may go to the store of whole records. */
  #keep(): void {
    this.#parts.archive?.durable(this.#journal.total - this.#journal.sealedBytes);
  }

  #arm(): void {
    if (this.#cancelTimer !== undefined || this.#journal.isSyncing || this.#isClosed) return;
    const { durability } = this.#parts.settings;
    const everyMs = typeof durability === "object" ? durability.everyMs : NONE_MS;
    this.#cancelTimer = scheduleAfter(this.#clock, everyMs, () => {
      this.#cancelTimer = undefined;
      this.#noteAll();
      this.#log.end();
      if (durability !== "none") this.#journal.syncLater();
      else if (!this.#journal.write()) this.#arm();
      if (durability === "none") this.#parts.archive?.durable(this.#journal.total);
      this.#reportFault();
    });
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #synced(fault: FrontierError | undefined): void {
    this.#reportFault();
    if (fault === undefined) {
      this.#keep();
      this.#flushedAt = this.#clock.now();
      this.#endSegment();
    }
    const durable = this.#journal.total - this.#journal.sealedBytes;
    for (const waiter of this.#waiters.splice(0)) {
      if (fault !== undefined) waiter.reject(fault);
      else if (waiter.mark <= durable) waiter.resolve();
      else this.#waiters.push(waiter);
    }
    if (this.#isClosed) return;
    if (this.#waiters.length > 0) this.#journal.syncLater();
    else if (this.#journal.heldBytes > 0) this.#arm();
  }

  /** One that is long enough ends as soon as the next is prepared. */
  #endSegment(): void {
    const journal = this.#journal;
    if (journal.size <= SEGMENT_BYTES || journal.rotate()) return;
    journal.prepare().catch(() => undefined); // the old one goes on, and the next call tries again
  }

  /** A fault is reported once, when it begins; its end shows in the report and in pushes that are accepted. */
  #reportFault(): void {
    const { fault } = this.#journal;
    if (fault?.code === this.#faultReported) return;
    this.#faultReported = fault?.code;
    if (fault === undefined) return;
    this.#parts.events.fault({ kind: "disk", stage: "journal", cause: fault });
    this.#parts.events.flush();
  }

  /** What no transition logs: counters, shares, the user's state. Only what changed is written. */
  #noteAll(): void {
    this.#note("counters", storedCounters(this.#core));
    this.#note("state", this.#parts.state());
    this.#parts.failures.logPages(this.#log, true);
  }

  #note(name: string, value: unknown, log = this.#log): void {
    this.#notes.note(log, name, value);
  }

  #snapshotState(): SnapshotState {
    return {
      ...{ core: this.#core, room: this.#room, names: this.#names },
      notes: new Map([...this.#notes.bytes, ...this.#parts.failures.stored()]),
      volatileLive: this.#log.volatileLive,
    };
  }

  /** Deletes every generation and segment. */
  #discard(): void {
    const { place } = this.#parts;
    this.#journal.abandon();
    markDiscarded(place);
    removeDiscarded(place);
    for (const path of digestPaths(place)) place.files.remove(path);
  }
}

/** The disk's error at a call that has changed what it was to change, which the disk does not have yet. */
function appliedFault({ code, message, details }: FrontierError): FrontierError {
  const text = `${message}; the change is made, and written later: do not repeat it`;
  return new FrontierError(code as FrontierErrorCode, text, {
    ...(details as object),
    isApplied: true,
  });
}

/** How often mode `none` hands its bytes to the system. */
const NONE_MS = 100;
