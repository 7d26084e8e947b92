/**
 * Journal: segments on disk, written frame by frame, made durable in groups.
 *
 *   tape ── seal ─▶ frames ── write ─▶ in the file ── fdatasync ─▶ durable, frame forgotten
 *                     └──────────────────── kept until then: a write or sync that failed is done again, at its place
 *
 *   I1  A frame keeps its place: whatever is written again is written where it stood.
 *   I2  `durable` rises only after the medium said so for everything before it.
 *   I3  A new segment begins only when all of the one before is durable.
 *   I4  While `fault` is set nothing was lost: all that is not durable is held, and tried again at the next call.
 *
 * Crash: the segment ends in whole frames and perhaps a torn one, which the next start cuts off.
 */
import type { FrontierError } from "../base/errors.ts";
import { JOURNAL_HEADER_BYTES } from "../layout/journal.ts";
import { diskFault, replaceFile, writeAll } from "./files.ts";
import { type Identity, type Place, segmentPath } from "./place.ts";
import { sealFrame, segmentHead } from "./segment.ts";
import { type Tape, tapeBytes, tapeReuse, tapeSeal } from "./tape.ts";

/** A frame of this size is written at once. */
export const FRAME_BYTES = 256 * 1024;
/** Bytes held and not durable, above which a call waits for the medium itself. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;
/** Room written ahead in mode `sync`, so that a frame never meets a full disk. */
const AHEAD_BYTES = 1024 * 1024;

interface Frame {
  readonly bytes: Uint8Array;
  readonly offset: number;
}

export interface JournalOptions {
  readonly place: Place;
  readonly identity: Identity;
  readonly serial: number;
  readonly tape: Tape;
  /** Told when a frame is sealed, before anything of it is written. */
  readonly onSealed?: ((total: number) => void) | undefined;
  /** Told after every sync, with the error if there was one. */
  readonly onSynced: (fault: FrontierError | undefined) => void;
}

export class Journal {
  readonly place: Place;
  readonly tape: Tape;
  serial: number;
  /** Bytes of the segment: written, or held. */
  size = 0;
  /** Bytes of the segment that are durable. */
  durable = 0;
  /** Bytes of all segments since the journal was opened. */
  total = 0;
  fault: FrontierError | undefined;
  readonly #identity: Identity;
  readonly #onSealed: ((total: number) => void) | undefined;
  readonly #onSynced: (fault: FrontierError | undefined) => void;
  #path = "";
  #file = -1;
  /** Sealed and not durable, in the order of their places. */
  readonly #held: Frame[] = [];
  #heldBytes = 0;
  /** How many of the held are in the file. */
  #written = 0;
  /** The file has room written up to here. */
  #ahead = 0;
  #isSyncing = false;

  /** Opens a new segment; throws what the disk said. */
  constructor(options: JournalOptions) {
    this.place = options.place;
    this.tape = options.tape;
    this.serial = options.serial;
    this.#identity = options.identity;
    this.#onSynced = options.onSynced;
    this.#onSealed = options.onSealed;
    this.#begin(options.serial);
  }

  /** Bytes said and not durable. */
  get heldBytes(): number {
    return this.#heldBytes + tapeBytes(this.tape);
  }

  /** Of those, what is sealed and counted in `total`. */
  get sealedBytes(): number {
    return this.#heldBytes;
  }

  get isSyncing(): boolean {
    return this.#isSyncing;
  }

  /** Seals what the tape holds, and writes all that is not in the file. False: the disk refused (`fault`). */
  write(): boolean {
    if (tapeBytes(this.tape) > 0) {
      const bytes = tapeSeal(this.tape);
      sealFrame(bytes, this.serial, this.size, this.durable);
      this.#held.push({ bytes, offset: this.size });
      this.#heldBytes += bytes.length;
      this.size += bytes.length;
      this.total += bytes.length;
      this.#onSealed?.(this.total);
    }
    try {
      if (this.fault?.code === "DISK_GONE") this.#checkThere();
      for (; this.#written < this.#held.length; this.#written++) {
        const { bytes, offset } = this.#held[this.#written] as Frame;
        writeAll(this.place.files, this.#file, bytes, offset);
      }
    } catch (error) {
      this.fault = diskFault(error, this.#path);
      return false;
    }
    if (this.fault !== undefined && !this.#isSyncing) this.fault = undefined;
    return true;
  }

  /** A frame is full: into the file with it; beyond the bound, onto the medium. */
  relieve(): void {
    if (tapeBytes(this.tape) < FRAME_BYTES || this.fault !== undefined) return;
    this.write();
    if (this.#heldBytes > HELD_BYTES_MAX) this.sync();
  }

  /** Everything said is durable when it returns true. */
  sync(): boolean {
    if (!this.write()) return false;
    if (this.#held.length === 0) return true;
    try {
      this.#checkThere();
      this.place.files.sync(this.#file);
    } catch (error) {
      this.#failed(error);
      return false;
    }
    this.#settle(this.size);
    return true;
  }

  /** The same beside the thread; `onSynced` tells. Nothing to do: told at once. */
  syncLater(): void {
    if (this.#isSyncing) return;
    if (!this.write()) {
      this.#onSynced(this.fault);
      return;
    }
    const { serial, size } = this;
    try {
      this.#checkThere();
    } catch (error) {
      this.#failed(error);
      this.#onSynced(this.fault);
      return;
    }
    this.#isSyncing = true;
    this.place.files.syncLater(this.#file, (error) => {
      this.#isSyncing = false;
      if (error !== undefined) this.#failed(error);
      else if (serial === this.serial) this.#settle(size);
      this.#onSynced(this.fault);
    });
  }

  /** Takes back all that is not durable: who said it is told that it did not happen. */
  retract(): void {
    for (const { bytes } of this.#held.splice(0)) {
      this.total -= bytes.length;
      tapeReuse(this.tape, bytes);
    }
    this.#heldBytes = 0;
    this.#written = 0;
    this.size = this.durable;
    this.#ahead = this.size;
    try {
      // Some of it may be in the file: a crash must not bring it back.
      this.place.files.truncate(this.#file, this.size);
    } catch {
      // The disk refuses that too. What comes next is written over it.
    }
  }

  /** Room for `bytes` more in the file itself: what is written into it meets no full disk. */
  reserve(bytes: number): boolean {
    if (!this.write()) return false;
    const need = this.size + bytes;
    if (this.#ahead >= need) return true;
    const from = Math.max(this.#ahead, this.size); // never over what is written
    const step = Math.max(need, from + AHEAD_BYTES) - from;
    try {
      writeAll(this.place.files, this.#file, new Uint8Array(step), from);
      this.#ahead = from + step;
    } catch (error) {
      this.fault = diskFault(error, this.#path);
      return false;
    }
    return true;
  }

  /** Ends the segment and begins the next one; false: the disk refused, and the old one goes on. */
  rotate(): boolean {
    if (this.#isSyncing || !this.sync()) return false;
    const { files } = this.place;
    const before = this.#file;
    const { size } = this;
    try {
      this.#begin(this.serial + 1);
    } catch (error) {
      this.fault = diskFault(error, segmentPath(this.place, this.serial + 1));
      return false;
    }
    try {
      if (this.#aheadBefore > size) files.truncate(before, size);
    } catch {
      // The zeros behind the last frame read as its end.
    }
    files.close(before);
    return true;
  }

  /** Makes all durable and lets go of the file. Throws what the disk said. */
  close(): void {
    const isDurable = this.sync();
    const { files } = this.place;
    if (isDurable && this.#ahead > this.size) files.truncate(this.#file, this.size);
    files.close(this.#file);
    if (!isDurable) throw this.fault as FrontierError;
  }

  /** Lets go of the file as a crash would. */
  abandon(): void {
    this.place.files.close(this.#file);
  }

  #aheadBefore = 0;

  #begin(serial: number): void {
    const { files } = this.place;
    const path = segmentPath(this.place, serial);
    replaceFile(files, path, segmentHead(this.#identity, serial));
    this.#file = files.open(path, "r+");
    this.#aheadBefore = this.#ahead;
    this.#path = path;
    this.serial = serial;
    this.size = JOURNAL_HEADER_BYTES;
    this.durable = JOURNAL_HEADER_BYTES;
    this.#ahead = JOURNAL_HEADER_BYTES;
    this.total += JOURNAL_HEADER_BYTES;
  }

  /** A file that is no longer under its name would take all bytes and keep none. */
  #checkThere(): void {
    if (this.place.files.exists(this.#path)) return;
    throw Object.assign(new Error("the segment is gone"), { code: "ENOENT" });
  }

  /** The medium may have dropped anything that was not durable: all of it is to be written again. */
  #failed(error: unknown): void {
    this.fault = diskFault(error, this.#path);
    this.#written = 0;
  }

  #settle(durable: number): void {
    this.durable = durable;
    let count = 0;
    for (const { bytes, offset } of this.#held) {
      if (offset + bytes.length > durable) break;
      this.#heldBytes -= bytes.length;
      tapeReuse(this.tape, bytes);
      count++;
    }
    this.#held.splice(0, count);
    this.#written = Math.max(0, this.#written - count);
    this.fault = undefined;
  }
}
