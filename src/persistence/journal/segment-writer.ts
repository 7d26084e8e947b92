/**
 * SegmentFile: one segment of the journal as a file, and the frames waiting to be written to it.
 *
 *   begin ─▶ named, durable ──────────────────────────────────────────┐
 *   prepare, off the thread ─▶ head durable, *.tmp ── the segment before it is durable ─▶ named ─▶ directory synced
 *                                                                     └─▶ frames written ─▶ synced ─▶ forgotten
 *
 *   I1  A frame keeps its place: a retry writes it to the same offset.
 *   I2  `durable` rises only after the medium has confirmed everything before it, the file's name included.
 *   I3  After a failed sync everything that is not durable is written again, since the medium may have dropped any of it.
 *
 * Crash: the next start removes a segment without a name. One with a name ends in whole frames and perhaps a torn one.
 */
import { dirname } from "node:path";
import { JOURNAL_HEADER_BYTES } from "../../layout/files/journal.ts";
import { type Files, replaceFile, writeAll, attempt } from "../files.ts";
import { type Identity, type Place, segmentPath } from "../directory/frontier-directory.ts";
import { segmentHead } from "./segment-format.ts";

/** Room allocated ahead in mode `sync`, so that a frame never meets a full disk; more, as for a call of very many, comes in such pieces. */
const AHEAD_BYTES = 1024 * 1024;

interface Frame {
  readonly bytes: Uint8Array;
  readonly offset: number;
}

export class SegmentFile {
  readonly serial: number;
  readonly path: string;
  /** Bytes, written or held. */
  size = JOURNAL_HEADER_BYTES;
  /** Bytes that are durable. */
  durable = JOURNAL_HEADER_BYTES;
  /** Bytes sealed and not durable. */
  heldBytes = 0;
  readonly #files: Files;
  readonly #file: number;
  /** Frames that are sealed and not durable, in the order of their places. */
  readonly #held: Frame[] = [];
  /** How many of them are in the file. */
  #written = 0;
  /** The file has allocated room up to here. */
  #ahead = JOURNAL_HEADER_BYTES;
  #isNamed: boolean;
  #isNameDurable: boolean;
  /** False while bytes that are no frame, written after the last frame, wait for a sync. */
  #isWhole = true;
  readonly #onFree: (bytes: Uint8Array) => void;

  /** Creates a segment under its name; it is durable on return. */
  static begin(place: Place, identity: Identity, serial: number, onFree: OnFree): SegmentFile {
    const path = segmentPath(place, serial);
    replaceFile(place.files, path, segmentHead(identity, serial));
    const file = place.files.open(path, "r+");
    return new SegmentFile(place, serial, file, { isNamed: true, onFree });
  }

  /** Creates the file of a later segment, without its name. Its head is durable when `done` is called without an error. */
  static prepare(
    ...[place, identity, serial, onFree, done]: [
      Place,
      Identity,
      number,
      OnFree,
      (error: unknown, made?: SegmentFile) => void,
    ]
  ): void {
    const { files } = place;
    const file = files.open(`${segmentPath(place, serial)}.tmp`, "w");
    const made = new SegmentFile(place, serial, file, { isNamed: false, onFree });
    try {
      writeAll(files, file, segmentHead(identity, serial), 0);
    } catch (error) {
      made.abandon();
      throw error;
    }
    files.syncLater(file, (error) => {
      if (error === undefined) done(undefined, made);
      else {
        made.abandon();
        done(error);
      }
    });
  }

  private constructor(
    place: Place,
    serial: number,
    file: number,
    { isNamed, onFree }: { isNamed: boolean; onFree: OnFree },
  ) {
    this.serial = serial;
    this.path = segmentPath(place, serial);
    this.#files = place.files;
    this.#file = file;
    this.#isNamed = isNamed;
    this.#isNameDurable = isNamed;
    this.#onFree = onFree;
  }

  /** True when every sealed frame is durable, and so is the file's name. */
  get isDurable(): boolean {
    return this.heldBytes === 0 && this.#isNameDurable;
  }

  /** The same, and what follows the last frame reads as the end: another segment may follow. */
  get isOver(): boolean {
    return this.isDurable && this.#isWhole;
  }

  hold(bytes: Uint8Array): void {
    this.#held.push({ bytes, offset: this.size });
    this.heldBytes += bytes.length;
    this.size += bytes.length;
  }

  /** Writes every held frame that is not in the file. Throws the disk's error. */
  write(): void {
    for (; this.#written < this.#held.length; this.#written++) {
      const { bytes, offset } = this.#held[this.#written] as Frame;
      writeAll(this.#files, this.#file, bytes, offset);
    }
  }

  /** Makes the whole segment durable. Throws the disk's error. */
  sync(): void {
    this.write();
    this.#name();
    if (!this.#isNameDurable) this.#files.syncDirectory(dirname(this.path));
    this.#isNameDurable = true;
    this.checkThere();
    if (this.#held.length > 0 || !this.#isWhole) this.#files.sync(this.#file);
    this.#isWhole = true;
    this.#settle(this.size);
  }

  /** What was written before this call is durable when `done` is called without an error. The thread does not wait. */
  syncLater(done: (error: unknown) => void): void {
    try {
      this.#name();
      this.checkThere();
    } catch (error) {
      done(error);
      return;
    }
    if (this.#isNameDurable) this.#syncFrames(done);
    else {
      this.#files.syncDirectoryLater(dirname(this.path), (error) => {
        this.#isNameDurable ||= error === undefined;
        if (error === undefined) this.#syncFrames(done);
        else done(error);
      });
    }
  }

  /** Allocates `bytes` more in the file, so that writing them cannot meet a full disk. Throws the disk's error. */
  reserve(bytes: number): void {
    const need = this.size + bytes;
    if (this.#ahead >= need) return;
    const from = Math.max(this.#ahead, this.size); // never over written frames
    const end = Math.max(need, from + AHEAD_BYTES);
    this.#isWhole = false; // the room may be torn until a sync
    const zeros = new Uint8Array(Math.min(end - from, AHEAD_BYTES));
    for (let at = from; at < end; at += zeros.length)
      writeAll(this.#files, this.#file, zeros.subarray(0, end - at), at);
    this.#ahead = end;
  }

  /** After a failed sync, every held frame is written again (I3). */
  failed(): void {
    this.#written = 0;
  }

  /** Discards everything that is not durable; returns how many bytes. */
  retract(): number {
    const { heldBytes } = this;
    for (const { bytes } of this.#held.splice(0)) this.#onFree(bytes);
    this.heldBytes = 0;
    this.#written = 0;
    this.size = this.durable;
    this.#ahead = this.size;
    this.#isWhole = false;
    // Some of it may be in the file: a crash must not bring it back.
    // The disk refuses that too. The next frames overwrite it.
    attempt(() => this.#files.truncate(this.#file, this.size));
    return heldBytes;
  }

  /** Throws when the file is no longer under its name: it would accept every byte and keep none. */
  checkThere(): void {
    if (this.#files.exists(this.#isNamed ? this.path : `${this.path}.tmp`)) return;
    throw Object.assign(new Error("the segment is gone"), { code: "ENOENT" });
  }

  /** Closes a file that receives no more frames. */
  close(): void {
    // The zeros after the last frame read as its end.
    if (this.#ahead > this.size) attempt(() => this.#files.truncate(this.#file, this.size));
    this.#files.close(this.#file);
  }

  /** Closes the file as a crash would, and removes it when it has no name yet. */
  abandon(): void {
    this.#files.close(this.#file);
    if (this.#isNamed) return;
    // The next start removes it.
    attempt(() => this.#files.remove(`${this.path}.tmp`));
  }

  #name(): void {
    if (this.#isNamed) return;
    this.#files.rename(`${this.path}.tmp`, this.path);
    this.#isNamed = true;
  }

  #syncFrames(done: (error: unknown) => void): void {
    const { size } = this;
    const ahead = this.#ahead;
    this.#files.syncLater(this.#file, (error) => {
      if (error === undefined) {
        if (ahead === this.#ahead) this.#isWhole = true;
        this.#settle(size);
      }
      done(error);
    });
  }

  #settle(durable: number): void {
    if (durable <= this.durable) return;
    this.durable = durable;
    let count = 0;
    for (const { bytes, offset } of this.#held) {
      if (offset + bytes.length > durable) break;
      this.heldBytes -= bytes.length;
      this.#onFree(bytes);
      count++;
    }
    this.#held.splice(0, count);
    this.#written = Math.max(0, this.#written - count);
  }
}

type OnFree = (bytes: Uint8Array) => void;
