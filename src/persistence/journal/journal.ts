/**
 * Room `src/persistence/journal`: the durable sequence of transitions: entries, frames, segments. Decides when a frame
 * counts as durable. May touch files, layout and the core's words; never a decision of the frontier.
 */

/**
 * Journal: segments on disk, written frame by frame, made durable in groups.
 *
 *   frames ── seal ─▶ frames ── write ─▶ in the file ── fdatasync ─▶ durable, frame forgotten        (segment-writer.ts)
 *                     └──────────────────── kept until then: a write or sync that failed is done again, at its place
 *
 *   segment n ── rotate ─▶ n ended, n + 1 takes what is said        the thread waits for neither
 *                            └ n durable ─▶ n + 1 gets its name ─▶ the name durable ─▶ frames of n + 1 durable
 *
 *   I1  `total` less what is held is durable: frames become durable in the order in which they were said.
 *   I2  A segment has a name only when all of the one before is durable: a torn tail is always the last segment's.
 *   I3  While `fault` is set nothing was lost: all that is not durable is held, and tried again at the next call.
 *
 * Crash: the last segment ends in whole frames and perhaps a torn one, which the next start cuts off.
 */
import type { FrontierError } from "../../base/errors.ts";
import { JOURNAL_HEADER_BYTES } from "../../layout/files/journal.ts";
import { diskFault } from "../files.ts";
import { type Identity, type Place, segmentPath } from "../directory/frontier-directory.ts";
import { sealFrame } from "./segment-format.ts";
import { SegmentFile } from "./segment-writer.ts";
import { type FrameBuffer, sealableBytes, reuseFrame, takeFrame } from "./frame-buffer.ts";

/** A frame of this size is written at once. */
const FRAME_BYTES = 256 * 1024;
/** Bytes held and not durable, above which a call waits for the medium itself. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;

interface JournalOptions {
  readonly place: Place;
  readonly identity: Identity;
  readonly serial: number;
  readonly frames: FrameBuffer;
  /** Told when a frame is sealed, before anything of it is written. */
  readonly onSealed?: ((total: number) => void) | undefined;
  /** Told after every sync, with the error if there was one. */
  readonly onSynced: (fault: FrontierError | undefined) => void;
}

export class Journal {
  readonly place: Place;
  readonly frames: FrameBuffer;
  /** Bytes of all segments since the journal was opened. */
  total = 0;
  fault: FrontierError | undefined;
  readonly #identity: Identity;
  readonly #onSealed: ((total: number) => void) | undefined;
  readonly #onSynced: (fault: FrontierError | undefined) => void;
  readonly #onFree: (bytes: Uint8Array) => void;
  #segment: SegmentFile;
  /** The one before it, until all of that is durable. */
  #ended: SegmentFile | undefined;
  /** The one to come, as far as it was prepared. */
  #next: SegmentFile | undefined;
  #preparing: Promise<void> | undefined;
  /** Done with, while a wait for one of them may be under way. */
  readonly #over: SegmentFile[] = [];
  #isSyncing = false;

  /** Opens a new segment; throws what the disk said. */
  constructor(options: JournalOptions) {
    this.place = options.place;
    this.frames = options.frames;
    this.#identity = options.identity;
    this.#onSynced = options.onSynced;
    this.#onSealed = options.onSealed;
    this.#onFree = (bytes) => reuseFrame(this.frames, bytes);
    const { place, identity, serial } = options;
    this.#segment = SegmentFile.begin(place, identity, serial, this.#onFree);
    this.total += JOURNAL_HEADER_BYTES;
  }

  /** Of the segment that takes what is said. */
  get serial(): number {
    return this.#segment.serial;
  }

  /** Its bytes: written, or held. */
  get size(): number {
    return this.#segment.size;
  }

  /** Bytes said and not durable. */
  get heldBytes(): number {
    return this.sealedBytes + sealableBytes(this.frames);
  }

  /** Of those, what is sealed and counted in `total`. */
  get sealedBytes(): number {
    return this.#segment.heldBytes + (this.#ended?.heldBytes ?? 0);
  }

  /** Everything said is durable, and so is the name of where it stands. */
  get isSettled(): boolean {
    return sealableBytes(this.frames) === 0 && this.#ended === undefined && this.#segment.isDurable;
  }

  get isSyncing(): boolean {
    return this.#isSyncing;
  }

  /** Something goes on beside the thread. */
  get isBusy(): boolean {
    return this.#isSyncing || this.#preparing !== undefined;
  }

  /** Seals what the frame buffer holds, and writes all that is not in the file. False: the disk refused (`fault`). */
  write(): boolean {
    const segment = this.#segment;
    if (sealableBytes(this.frames) > 0) {
      const bytes = takeFrame(this.frames);
      sealFrame(bytes, segment.serial, segment.size, segment.durable);
      segment.hold(bytes);
      this.total += bytes.length;
      this.#onSealed?.(this.total);
    }
    try {
      if (this.fault?.code === "DISK_GONE") segment.checkThere();
      this.#ended?.write();
      segment.write();
    } catch (error) {
      this.fault = this.#faultOf(error);
      return false;
    }
    if (this.fault !== undefined && !this.#isSyncing) this.fault = undefined;
    return true;
  }

  /** A frame is full: into the file with it; beyond the bound, onto the medium. */
  relieve(): void {
    if (sealableBytes(this.frames) < FRAME_BYTES || this.fault !== undefined) return;
    this.write();
    if (this.sealedBytes > HELD_BYTES_MAX) this.sync();
  }

  /** Everything said is durable when it returns true. */
  sync(): boolean {
    if (!this.write()) return false;
    if (this.isSettled) return true;
    try {
      this.#ended?.sync();
      this.#letGo();
      this.#segment.sync();
    } catch (error) {
      this.#failed(error);
      return false;
    }
    this.fault = undefined;
    return true;
  }

  /** The same beside the thread; `onSynced` tells. Nothing to do: told at once. */
  syncLater(): void {
    if (this.#isSyncing) return;
    if (!this.write()) {
      this.#onSynced(this.fault);
      return;
    }
    this.#isSyncing = true;
    const ended = this.#ended;
    if (ended === undefined) this.#segment.syncLater((error) => this.#synced(error));
    else {
      ended.syncLater((error) => {
        if (error !== undefined) this.#synced(error);
        else {
          if (this.#ended === ended) this.#letGo();
          this.#segment.syncLater((later) => this.#synced(later));
        }
      });
    }
  }

  /** Takes back all that is not durable: who said it is told that it did not happen. */
  retract(): void {
    this.total -= this.#segment.retract();
  }

  /** Room for `bytes` more in the file itself: what is written into it meets no full disk. */
  reserve(bytes: number): boolean {
    if (!this.write()) return false;
    try {
      this.#segment.reserve(bytes);
    } catch (error) {
      this.fault = this.#faultOf(error);
      return false;
    }
    return true;
  }

  /** Makes the file of the next segment beside the thread. Rejects with what the disk said. */
  prepare(): Promise<void> {
    if (this.#next !== undefined) return Promise.resolve();
    this.#preparing ??= this.#prepared().finally(() => {
      this.#preparing = undefined;
    });
    return this.#preparing;
  }

  /**
   * Ends the segment: what is said from here on stands in the one that was prepared. False: none is, or not yet. What the old one
   * still holds becomes durable with the next sync, before anything of the new one does (I1, I2).
   */
  rotate(): boolean {
    const next = this.#next;
    if (next === undefined || this.#ended !== undefined || this.#isSyncing) return false;
    if (!this.write()) return false;
    this.#next = undefined;
    this.#ended = this.#segment;
    this.#segment = next;
    this.total += JOURNAL_HEADER_BYTES;
    if (this.#ended.isOver) this.#letGo();
    return true;
  }

  /** Makes all durable and lets go of the files. Throws what the disk said. */
  close(): void {
    const isDurable = this.sync();
    if (isDurable) this.#segment.close();
    else this.#segment.abandon();
    this.#dropOthers();
    if (!isDurable) throw this.fault as FrontierError;
  }

  /** Lets go of the files as a crash would. */
  abandon(): void {
    this.#segment.abandon();
    this.#dropOthers();
  }

  #prepared(): Promise<void> {
    const { place } = this;
    const serial = this.serial + 1;
    return new Promise<void>((resolve, reject) => {
      SegmentFile.prepare(place, this.#identity, serial, this.#onFree, (error, made) => {
        this.#next = made;
        if (error === undefined) resolve();
        else reject(error);
      });
    }).catch((error: unknown) => {
      throw diskFault(error, segmentPath(place, serial));
    });
  }

  #dropOthers(): void {
    this.#ended?.abandon();
    this.#next?.abandon();
    this.#ended = this.#next = undefined;
  }

  /** All of the ended segment is durable. Its file is closed when nothing waits for it. */
  #letGo(): void {
    if (this.#ended === undefined) return;
    this.#over.push(this.#ended);
    this.#ended = undefined;
    this.#closeOver();
  }

  #closeOver(): void {
    if (!this.#isSyncing) for (const segment of this.#over.splice(0)) segment.close();
  }

  #synced(error: unknown): void {
    this.#isSyncing = false;
    this.#closeOver();
    if (error !== undefined) this.#failed(error);
    else this.fault = undefined;
    this.#onSynced(this.fault);
  }

  /** All that is not durable is to be written again. */
  #failed(error: unknown): void {
    this.fault = this.#faultOf(error);
    this.#segment.failed();
    this.#ended?.failed();
  }

  #faultOf(error: unknown): FrontierError {
    return diskFault(error, this.#segment.path);
  }
}
