/**
 * SnapshotSchedule: when a snapshot is due, of which kind it is, and the one that is under way.
 *
 *   journal since the last whole one ──┬─ > everyBytes and > that snapshot ─▶ a whole one
 *                                      └─ older than everyMs, or asked for by hand ─┬─▶ partial, where little has changed
 *                                                                                   └─▶ whole
 *
 *   I1  One snapshot is written at a time. Its segment begins in the turn in which its head, or its totals, are taken.
 *   I2  A partial one continues a whole one that reads back without a fault. The journal between them has at most PARTIAL_PART of its size, so
 *       an opening reads little more than the whole one.
 */
import type { Clock } from "../../base/clock.ts";
import { FrontierError } from "../../base/errors.ts";
import type { Core } from "../../frontier/core.ts";
import { diskFault } from "../../persistence/files.ts";
import type { Identity, Place } from "../../persistence/directory/frontier-directory.ts";
import {
  keepNewestGenerations,
  removePartialsBefore,
} from "../../persistence/directory/retention.ts";
import type { Journal } from "../../persistence/journal/journal.ts";
import type { Names } from "../../persistence/journal/nameless-records.ts";
import { totalsOf, writePartial } from "../../persistence/snapshot/partial-snapshot.ts";
import type { SnapshotBuffers } from "../../persistence/snapshot/snapshot-buffers.ts";
import { snapshotHead } from "../../persistence/snapshot/snapshot-head.ts";
import { writeSnapshot } from "../../persistence/snapshot/write-snapshot.ts";
import type { EventHub } from "../event-hub.ts";
import { nextTurn } from "../next-turn.ts";
import type { Settings } from "../options/normalize-options.ts";
import type { SnapshotInfo } from "../types/frontier-types.ts";
import { PACE_LEAD_BYTES, SnapshotPace } from "./snapshot-pace.ts";

/** How often a snapshot asked for by hand begins again after something broke it. */
const TRIES = 8;
/** One that was broken off is due again soon, and not at once: what breaks it may come often. */
const BROKEN_PART = 0.25;
/** A partial snapshot is written while the journal since the whole one has at most this part of its size. */
const PARTIAL_PART = 0.25;
/** Smaller ones are written whole: that takes some milliseconds. */
const PARTIAL_BYTES_LEAST = 1024 * 1024;
/** Segments since a whole snapshot: an opening reads no more small files than this. */
const PARTIAL_SEGMENTS_MAX = 256;

/** What a snapshot copies, which another frontier's `clear` replaces. */
export interface SnapshotState {
  readonly core: Core;
  readonly room: SnapshotBuffers;
  readonly names: Names;
  readonly volatileLive: number;
  /** Notes by name, packed. */
  readonly notes: ReadonlyMap<string, Uint8Array>;
}

interface ScheduleParts {
  readonly settings: Settings;
  readonly events: EventHub;
  readonly place: Place;
  readonly identity: Identity;
  readonly journal: Journal;
  /** Serial and bytes of the newest whole snapshot, 0: none, and bytes of the journal since then. */
  readonly base: number;
  readonly baseBytes: number;
  readonly journalBytes: number;
  /** Something was wrong with the files: the next one has to be whole. */
  readonly isDamaged: boolean;
  readonly state: () => SnapshotState;
  /** Resolves when the journal is durable up to now. */
  readonly flush: () => Promise<void>;
  /** Resolves when nothing but the journal before the snapshot's segment needs that journal. */
  readonly settle: () => Promise<void>;
}

interface Done {
  readonly info: SnapshotInfo;
  readonly isWhole: boolean;
}

export class SnapshotSchedule {
  /** The time at which the last one was finished. */
  takenAt: number | undefined;
  readonly #parts: ScheduleParts;
  readonly #clock: Clock;
  readonly #pace: SnapshotPace;
  #base: number;
  #baseBytes: number;
  /** The journal's total when the last whole one began; below 0: before this opening. */
  #totalAtBase: number;
  /** The same of the last one of either kind. */
  #totalAtLast: number;
  /** By the clock that never goes back. */
  #lastAtMs: number;
  /** How much of the bytes that make a snapshot due does. */
  #duePart = 1;
  /** Processes before this one did not live to write the snapshot under way: `close` waits for it. */
  #isOwed = false;
  #isBroken = false;
  /** Most of the last whole one is no longer true, or the files had a fault. */
  #needsWhole: boolean;
  #writing: Promise<Done | undefined> | undefined;
  #isClosed = false;

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
    this.#clock = parts.settings.clock;
    // Few rows in a slice are for tests, whose calls are to run slices from the first byte on.
    this.#pace = new SnapshotPace(parts.settings.snapshotRows === undefined ? PACE_LEAD_BYTES : 0);
    this.#base = parts.base;
    this.#baseBytes = parts.baseBytes;
    this.#totalAtBase = this.#totalAtLast = -parts.journalBytes;
    this.#needsWhole = parts.isDamaged;
    this.#lastAtMs = this.#clock.monotonic();
  }

  /** Forget, clear or new rules: a snapshot under way cannot be finished. */
  break(): void {
    this.#isBroken = true;
  }

  /** Forget or clear: most of the last whole one is no longer true, and the next one is whole. */
  outdate(): void {
    this.#isBroken = true;
    this.#needsWhole = true;
  }

  /** At the end of each call: runs slices of the snapshot under way, or begins one that is due. */
  atCommit(): void {
    const { everyBytes, everyMs } = this.#parts.settings.snapshots;
    const { total } = this.#parts.journal;
    this.#pace.keep(total);
    const isOld = this.#clock.monotonic() - this.#lastAtMs >= everyMs && total > this.#totalAtLast;
    const isLong =
      total - this.#totalAtBase > this.#duePart * Math.max(everyBytes, this.#baseBytes);
    if (isOld || isLong) this.#soon();
  }

  /** A snapshot now, or the one under way; done when it is durable. `isWhole`: a partial one does not do. */
  async take(isWhole: boolean): Promise<SnapshotInfo> {
    for (let tries = 0; tries < TRIES; tries++) {
      if (isWhole) this.#needsWhole = true;
      const done = await (this.#writing ?? this.#begin());
      if (done !== undefined && (!isWhole || done.isWhole)) return done.info;
    }
    const what = `interrupted ${TRIES} times by forget, clear or setRules`;
    const message = `snapshot: ${what} (expected: a quiet moment; call it again)`;
    throw new FrontierError("STATE_INVALID", message);
  }

  /** Ends the snapshot under way, or waits for one that is due. */
  async stop(isDiscard: boolean): Promise<void> {
    if (isDiscard || !this.#isOwed) this.#isBroken = true;
    await this.#writing?.catch(() => undefined);
  }

  /** From here on nothing is reported. */
  close(): void {
    this.#isClosed = true;
  }

  #soon(): void {
    const { events, journal } = this.#parts;
    if (this.#writing !== undefined || journal.fault !== undefined) return;
    this.#isOwed = this.#totalAtBase < 0;
    this.#begin().catch((cause: unknown) => {
      if (this.#isClosed) return;
      this.#lastAtMs = this.#clock.monotonic(); // not again at once
      this.#totalAtBase = this.#totalAtLast = journal.total;
      this.#needsWhole = true;
      events.fault({ kind: "disk", stage: "snapshot", cause });
      events.flush();
    });
  }

  #begin(): Promise<Done | undefined> {
    this.#writing = this.#write()
      .then((done) => this.#done(done))
      .catch((error: unknown) => {
        throw diskFault(error, this.#parts.place.directory);
      })
      .finally(() => {
        this.#pace.end();
        this.#writing = undefined;
        this.#isOwed = false;
      });
    return this.#writing;
  }

  /** From the turn of the journal to the head, or the totals, nothing is awaited: a call in between would count twice, or not at all (I1). */
  async #write(): Promise<Done | undefined> {
    const { flush, journal } = this.#parts;
    do {
      await journal.prepare();
      await flush();
      if (journal.isSyncing) await nextTurn();
    } while (!journal.rotate() && journal.fault === undefined);
    if (journal.fault !== undefined) throw journal.fault;
    journal.syncLater(); // the new segment gets its name soon, whatever the mode
    this.#totalAtLast = journal.total;
    this.#lastAtMs = this.#clock.monotonic();
    return this.#isPartialEnough() ? this.#writePartial() : this.#writeWhole();
  }

  /** Asked when the journal of all calls so far is sealed, and counted (I2). */
  #isPartialEnough(): boolean {
    const { journal, settings } = this.#parts;
    if (this.#base === 0 || this.#needsWhole) return false;
    if (this.#baseBytes < (settings.partialBytesLeast ?? PARTIAL_BYTES_LEAST)) return false;
    if (journal.serial - this.#base >= PARTIAL_SEGMENTS_MAX) return false;
    return journal.total - this.#totalAtBase <= PARTIAL_PART * this.#baseBytes;
  }

  #done(done: Done | undefined): Done | undefined {
    const { events } = this.#parts;
    this.#duePart = done === undefined ? BROKEN_PART : 1;
    if (done === undefined) return undefined;
    this.takenAt = this.#clock.now();
    events.emit("snapshot", done.info);
    events.flush();
    return done;
  }

  async #writePartial(): Promise<Done> {
    const { flush, journal, place, state } = this.#parts;
    const { core, room, volatileLive } = state();
    const { failed, leased, pending, waiting } = core.counters;
    const records = pending + waiting + leased + failed + core.resting.count - volatileLive;
    const { path, bytes } = await writePartial({
      ...{ place, room, flush },
      section: {
        ...{ t: "partial", serial: journal.serial, base: this.#base },
        ...{ savedAt: this.#clock.now(), totals: totalsOf(core) },
      },
    });
    removePartialsBefore(place, journal.serial);
    return { info: { path, records, bytes }, isWhole: false };
  }

  async #writeWhole(): Promise<Done | undefined> {
    const { flush, identity, journal, place, settings, settle, state } = this.#parts;
    this.#totalAtBase = journal.total;
    this.#isBroken = false;
    this.#needsWhole = true; // until this one stands
    const { core, names, notes, room, volatileLive } = state();
    const { serial } = journal;
    const head = snapshotHead(core, {
      ...{ serial, identity, savedAt: this.#clock.now(), notes, volatileLive },
    });
    const done = await writeSnapshot({
      ...{ core, room, names, place, clock: this.#clock, head },
      pause: nextTurn,
      rows: settings.snapshotRows,
      isOver: () => this.#isBroken,
      onSlices: (slices) => this.#pace.begin(slices, journal.total),
      position: () => {
        journal.write();
        return { segment: journal.serial, offset: journal.size };
      },
      flush: async () => {
        await flush();
        await settle();
      },
    });
    if (done === undefined) return undefined;
    this.#needsWhole = this.#isBroken;
    this.#base = serial;
    this.#baseBytes = done.bytes;
    await keepNewestGenerations(place, settings.snapshots.keep, nextTurn);
    removePartialsBefore(place, serial);
    const { path, records, bytes } = done;
    return { info: { path, records, bytes }, isWhole: true };
  }
}
