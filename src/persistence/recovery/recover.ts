/**
 * Room `src/persistence/recovery`: files back to a core: newest good snapshot, then the journal, then every record to
 * its place. Decides which damaged files count and how they are repaired.
 */

/**
 * Recovery: from the files of a frontier to its core, streamed (docs/formats/snapshot.md).
 *
 *   newest good snapshot ─▶ core ◀─ segments from its serial on, frame by frame ─▶ settled ─▶ files repaired (repair.ts)
 *        └ a bad one is set aside; the one before it, with the journal since then, serves as well
 *
 *   R1  A snapshot counts whole or not at all: nothing of a bad one is in the core that is used.
 *   R2  Frames are applied in order up to the first that is not whole. In the last segment the rest is a torn tail, which is
 *       cut off. Where later bytes show that it had been durable, and in any other segment, it is damage: reported by name and
 *       set aside. What came before it is used.
 *   R3  Nothing that could not be read is removed.
 *   R5  A partial snapshot adds nothing. Where the journal before it does not add up to its totals, that is reported, and all counts.
 *   R4  A whole frame with an impossible value (check-fields.ts), or that names what does not exist, does not count at all: the files
 *       are read again up to that frame, and the journal ends there as with a wrong checksum.
 */
import { FrontierError } from "../../base/errors.ts";
import type { Core } from "../../frontier/core.ts";
import { crcOf } from "../checksum.ts";
import type { TransitionListener } from "../journal/transition-listener.ts";
import { repairDirectory, type DamageFound } from "./repair.ts";
import {
  damaged,
  type DirectoryFiles,
  listDirectory,
  otherProfile,
  partialPath,
  removeDiscarded,
  contentOf,
  type Place,
  segmentPath,
  snapshotPath,
} from "../directory/frontier-directory.ts";
import { replayFrame } from "./replay-journal.ts";
import { createReplay, type Replay } from "./entry-reader.ts";
import { createRestoration, type Restoration } from "./restore-records.ts";
import { placeRestored } from "./place-restored.ts";
import { spillDuringRecovery } from "./recovery-spill.ts";
import type { SegmentHead } from "../journal/segment-format.ts";
import { SegmentReader } from "../journal/segment-reader.ts";
import { loadSnapshot, readSnapshotHead } from "./load-snapshot.ts";
import type { PartialSection, SnapshotEnd } from "../snapshot/snapshot-format.ts";
import { readPartial, totalsFault } from "../snapshot/partial-snapshot.ts";
import { STANDALONE_SERIAL } from "../snapshot/standalone-snapshot.ts";
import { join } from "node:path";

interface RecoveryProgress {
  readonly phase: "snapshot" | "journal";
  /** Records and entries read so far. */
  readonly records: number;
  readonly bytes: number;
  /** Bytes in all, of this phase. */
  readonly size: number;
}

export interface RecoveryOptions {
  readonly place: Place;
  /** The key profile of the opening frontier; undefined: any. */
  readonly profile: string | undefined;
  readonly nowMs: number;
  /** Creates an empty core under this secret. */
  readonly make: (secret: Uint32Array, isCleared?: boolean) => Core;
  /** Notified again of the transitions that the journal holds. */
  readonly listener?: TransitionListener | undefined;
  /** Throws when a note is not as a frontier writes it. */
  readonly checkNote?: (name: string, value: Uint8Array) => void;
  /** Lets other work run. */
  readonly pause: () => Promise<void>;
  readonly onProgress: (progress: RecoveryProgress) => void;
}

export interface Recovered {
  readonly restoration: Restoration;
  readonly secret: Uint32Array;
  /** Serial of the last existing segment. */
  readonly serial: number;
  /** Serial of the snapshot that was used; 0: none. */
  readonly snapshot: number;
  readonly entries: number;
  /** Damage that was found. */
  readonly damage: readonly FrontierError[];
  /** Volatile records, lost with the process. */
  readonly lost: number;
}

/** Frames between two pauses. */
const FRAMES_PER_PAUSE = 16;

/** Recovers the frontier of a directory; undefined when there never was one. */
export async function recover(options: RecoveryOptions): Promise<Recovered | undefined> {
  const { place } = options;
  removeDiscarded(place);
  const found = listDirectory(place);
  for (const name of found.unfinished) place.files.remove(join(place.directory, name));
  if (found.segments.length === 0 && found.snapshots.length === 0) return undefined;
  let believed: Disbelief | undefined;
  for (;;) {
    try {
      return await recoverUpTo(believed, options, found);
    } catch (error) {
      if (!(error instanceof Disbelief) || !error.isBefore(believed)) throw error;
      believed = error; // R4
    }
  }
}

/** Where the journal ceases to be believed, and why. */
class Disbelief extends Error {
  readonly serial: number;
  readonly offset: number;
  readonly why: FrontierError;

  constructor(serial: number, offset: number, why: FrontierError) {
    super(why.message);
    this.serial = serial;
    this.offset = offset;
    this.why = why;
  }

  /** Each attempt ends before the one before it, so there is a last one. */
  isBefore(other: Disbelief | undefined): boolean {
    if (other === undefined || this.serial !== other.serial) {
      return other === undefined || this.serial < other.serial;
    }
    return this.offset < other.offset;
  }
}

/** One attempt at all generations, the newest first. */
async function recoverUpTo(
  believed: Disbelief | undefined,
  options: RecoveryOptions,
  found: DirectoryFiles,
): Promise<Recovered | undefined> {
  const { place } = options;
  const damage: FrontierError[] = [];
  const toRepair: DamageFound = { snapshots: [], segment: undefined };
  const partial = newestPartial(place, found, { damage, toRepair });
  for (const serial of [...found.snapshots].reverse()) {
    const run = new Run(options, found, { damage, toRepair, believed, partial });
    if (!(await run.load(serial))) continue;
    return run.finish(serial);
  }
  const run = new Run(options, found, { damage, toRepair, believed, partial });
  if (found.segments[0] !== 1) {
    throw damage[0] ?? damaged(segmentPath(place, 1), 0, "the journal's beginning is missing");
  }
  if (!run.begin()) return undefined;
  return run.finish(0);
}

/** The partial snapshot to compare with; undefined: none, or it is damaged. */
function newestPartial(
  place: Place,
  { partials }: DirectoryFiles,
  { damage, toRepair }: Pick<Attempt, "damage" | "toRepair">,
): PartialSection | undefined {
  const serial = partials.at(-1);
  if (serial === undefined) return undefined;
  try {
    return readPartial(place, serial);
  } catch (error) {
    if (!isDamage(error)) throw error;
    damage.push(error);
    toRepair.snapshots.push(partialPath(place, serial));
    return undefined;
  }
}

interface Attempt {
  readonly damage: FrontierError[];
  readonly toRepair: DamageFound;
  readonly believed: Disbelief | undefined;
  readonly partial: PartialSection | undefined;
}

/** One attempt: a core, and what is read into it. */
class Run {
  readonly #options: RecoveryOptions;
  readonly #found: DirectoryFiles;
  readonly #attempt: Attempt;
  #restoration: Restoration | undefined;
  #replay: Replay | undefined;
  #secret: Uint32Array = new Uint32Array(4);
  #end: SnapshotEnd | undefined;
  #frames = 0;

  constructor(options: RecoveryOptions, found: DirectoryFiles, attempt: Attempt) {
    this.#options = options;
    this.#found = found;
    this.#attempt = attempt;
  }

  /** Loads a snapshot; returns false when it is damaged (R1). */
  async load(serial: number): Promise<boolean> {
    const { place, profile, onProgress, pause } = this.#options;
    try {
      this.#end = await loadSnapshot({
        ...{ place, serial, profile },
        replay: (entries) => {
          const replay = this.#replay as Replay;
          replayFrame(replay, entries, 0, entries.length);
          replay.astray = 0; // copies may name records that came and went meanwhile
        },
        begin: (head) => this.#start(Uint32Array.from(new Uint32Array(head.secret.slice().buffer))),
        pause: (records, bytes, size) => {
          (this.#restoration as Restoration).snapshotBytes = size;
          onProgress({ phase: "snapshot", records, bytes, size });
          return ++this.#frames % FRAMES_PER_PAUSE === 0 ? pause() : Promise.resolve();
        },
      });
      this.#checkNotesOf(serial);
      return true;
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#attempt.damage.push(error);
      this.#attempt.toRepair.snapshots.push(snapshotPath(place, serial));
      return false;
    }
  }

  /** Begins without a snapshot; returns false when not even the first segment's head was finished. */
  begin(): boolean {
    const { place } = this.#options;
    const path = segmentPath(place, 1);
    const head = headOf(place, 1);
    if (head === undefined && this.#found.segments.length === 1) {
      place.files.remove(path);
      return false;
    }
    if (head === undefined) throw damaged(path, 0, "no header");
    this.#start(head.secret);
    return true;
  }

  async finish(snapshot: number): Promise<Recovered> {
    const { place, nowMs } = this.#options;
    const first = Math.max(snapshot, 1);
    let last = Math.max(snapshot, this.#found.segments.at(-1) ?? 0);
    for (let serial = first; serial <= last; serial++) {
      const isLast = serial === last;
      if (serial === this.#attempt.partial?.serial) this.#compare(this.#attempt.partial);
      if (await this.#segment(serial, isLast)) continue;
      // The next segment takes the number of a segment of which nothing is left, so that there is no gap before it.
      const isGone = (this.#attempt.toRepair.segment?.size ?? 0) === 0;
      last = isGone ? serial - 1 : serial;
    }
    // Its serial would be another segment's one day.
    if (this.#attempt.partial !== undefined && this.#attempt.partial.serial > last)
      this.#setAside(this.#attempt.partial);
    const restoration = this.#restoration as Restoration;
    const replay = this.#replay as Replay;
    this.#checkNotes(restoration);
    placeRestored(restoration, nowMs);
    if (restoration.isCorrected) {
      const what = "invalid content: counts or places that cannot be; they were corrected";
      this.#attempt.damage.push(damaged(segmentPath(place, last), 0, what));
    }
    repairDirectory(place, this.#attempt.toRepair);
    return {
      ...{ restoration, secret: this.#secret, serial: last, snapshot },
      ...{ entries: replay.entries, damage: this.#attempt.damage, lost: restoration.volatileLive },
    };
  }

  /** R5 */
  #compare(partial: PartialSection): void {
    const { core } = this.#restoration as Restoration;
    const fault = totalsFault(partial, core);
    if (fault === undefined) return;
    this.#attempt.damage.push(damaged(partialPath(this.#options.place, partial.serial), 0, fault));
    this.#setAside(partial);
  }

  #setAside({ serial }: PartialSection): void {
    this.#attempt.toRepair.snapshots.push(partialPath(this.#options.place, serial));
  }

  /** A snapshot's notes are believed or not with all of it (R1). */
  #checkNotesOf(serial: number): void {
    const { checkNote, place } = this.#options;
    const { notes } = this.#restoration as Restoration;
    const check = (): void => {
      for (const [name, value] of notes) checkNote?.(name, value);
    };
    contentOf(snapshotPath(place, serial), 0, check);
  }

  /** The last note of each name counts, so only that one is checked (R4). */
  #checkNotes({ notes, notedAt }: Restoration): void {
    const { checkNote, place } = this.#options;
    for (const [name, value] of notes) {
      const at = notedAt.get(name);
      if (at === undefined || checkNote === undefined) continue; // a snapshot's
      const path = segmentPath(place, at.serial);
      try {
        contentOf(path, at.offset, () => checkNote(name, value));
      } catch (error) {
        if (!isDamage(error)) throw error;
        throw new Disbelief(at.serial, at.offset, error);
      }
    }
  }

  #start(secret: Uint32Array): Restoration {
    this.#secret = secret;
    const { make, nowMs } = this.#options;
    this.#restoration = createRestoration(make(secret), () => make(secret, true), nowMs);
    this.#restoration.listener = this.#options.listener;
    this.#replay = createReplay(this.#restoration);
    return this.#restoration;
  }

  /** Replays a segment; returns false when it ends early, and nothing after it counts (R2). */
  async #segment(serial: number, isLast: boolean): Promise<boolean> {
    const { place } = this.#options;
    const reader = SegmentReader.open(place, serial);
    if (reader === undefined) {
      // After a standalone file the journal begins with the next segment.
      if (serial === STANDALONE_SERIAL && this.#restoration?.isAlone === true) return true;
      return this.#bad(serial, damaged(segmentPath(place, serial), 0, "missing"), 0);
    }
    try {
      if (!this.#checkHead(reader, isLast)) return false;
      const believed = await this.#frameRun(reader);
      const { end } = reader;
      if (believed !== undefined) return this.#bad(serial, believed.why, believed.offset);
      const rest = reader.rest();
      if (rest === "damaged" || (rest === "torn" && !isLast)) {
        return this.#bad(serial, damaged(reader.path, end, "wrong checksum"), end);
      }
      if (isLast) this.#attempt.toRepair.segment = { serial, size: end, later: [], isTorn: true };
      return true;
    } finally {
      reader.close();
    }
  }

  /** Whether a segment has a head with this frontier's keys; false: the journal ends before it. */
  #checkHead(reader: SegmentReader, isLast: boolean): boolean {
    const { profile } = this.#options;
    const { path, serial } = reader;
    try {
      const head = reader.head();
      if (head === undefined) {
        if (!isLast) throw damaged(path, 0, "no header");
        this.#endWith(serial, 0); // the segment was never begun
        return false;
      }
      if (profile === undefined || head.profile === crcOf(Buffer.from(profile, "utf8")))
        return true;
      throw otherProfile(path, this.#profileNote(), profile);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return this.#bad(serial, error, 0);
    }
  }

  /** Applies frames as long as they are whole; returns where the journal ends before its end (R4). */
  async #frameRun(reader: SegmentReader): Promise<Disbelief | undefined> {
    const { onProgress, pause } = this.#options;
    const { path, serial, size } = reader;
    const replay = this.#replay as Replay;
    replay.restoration.journalBytes += size;
    const report = (): void => {
      onProgress({ phase: "journal", records: replay.entries, bytes: reader.end, size });
    };
    const believed = this.#attempt.believed?.serial === serial ? this.#attempt.believed : undefined;
    while (reader.next()) {
      if (believed !== undefined && reader.offset >= believed.offset) return believed;
      replay.place = { serial, offset: reader.offset };
      try {
        contentOf(path, reader.offset, () => {
          replayFrame(replay, reader.words, reader.firstWord, reader.lastWord);
        });
      } catch (error) {
        if (!isDamage(error)) throw error;
        throw new Disbelief(serial, reader.offset, error);
      }
      spillDuringRecovery(replay.restoration);
      // Until the copies end, entries may name records that came and went before their table was walked.
      if (!this.#isBehindSnapshot(serial, reader.offset)) replay.astray = 0;
      if (replay.astray > 0) {
        const what = `${replay.astray} entries refer to missing records`;
        throw new Disbelief(serial, reader.offset, damaged(path, reader.offset, what));
      }
      if (++this.#frames % FRAMES_PER_PAUSE !== 0) continue;
      report();
      await pause();
    }
    report();
    return undefined;
  }

  #isBehindSnapshot(serial: number, offset: number): boolean {
    const end = this.#end;
    if (end === undefined) return true;
    return serial > end.segment || (serial === end.segment && offset >= end.offset);
  }

  /** The journal ends in this segment, after `size` whole bytes. */
  #bad(serial: number, error: FrontierError, size: number): false {
    this.#attempt.damage.push(error);
    this.#endWith(serial, size);
    return false;
  }

  #endWith(serial: number, size: number): void {
    const later = this.#found.segments.filter((other) => other > serial);
    this.#attempt.toRepair.segment = { serial, size, later, isTorn: false };
  }

  #profileNote(): string {
    try {
      const snapshot = this.#found.snapshots.at(-1);
      if (snapshot !== undefined) return readSnapshotHead(this.#options.place, snapshot).profile;
    } catch {
      // The message does without it.
    }
    return "another one";
  }
}

function isDamage(error: unknown): error is FrontierError {
  return error instanceof FrontierError && error.code === "SNAPSHOT_CORRUPT";
}

/** The head of a segment; undefined when there is no segment any more. */
function headOf(place: Place, serial: number): SegmentHead | undefined {
  const reader = SegmentReader.open(place, serial);
  try {
    return reader?.head();
  } finally {
    reader?.close();
  }
}
