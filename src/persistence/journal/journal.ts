/**
 * Room `src/persistence/journal`: the durable sequence of transitions: entries, frames, segments. Decides when a frame
 * counts as durable. May touch files, layout and the core's words; takes no decision of the frontier.
 */

/**
 * Journal: segments on disk, written frame by frame, made durable in groups.
 *
 *   frames ── seal ─▶ frames ── write ─▶ in the file ── fdatasync ─▶ durable, frame forgotten        (segment-writer.ts)
 *                     └──────────────────── kept until then: a failed write or sync is retried at the same place
 *
 *   segment n ── rotate ─▶ n ended, n + 1 takes new entries         the thread waits for neither
 *                            └ n durable ─▶ n + 1 gets its name ─▶ the name durable ─▶ frames of n + 1 durable
 *
 *   I1  Frames become durable in the order of their entries: `total` less the held bytes is durable.
 *   I2  A segment gets its name only when all of the one before is durable, so only the last segment can have a torn tail.
 *   I3  While `fault` is set nothing is lost: everything that is not durable is held, and retried at the next call.
 *
 * Crash: the last segment ends in whole frames and perhaps a torn one, which the next start cuts off.
 */
import type { FrontierError } from "../../base/errors.ts";
import { JOURNAL_HEADER_BYTES } from "../../layout/files/journal.ts";
import { diskFault } from "../files.ts";
import { type Identity, type Place, segmentPath } from "../directory/frontier-directory.ts";
import { sealFrame } from "./segment-format.ts";
import { SegmentFile } from "./segment-writer.ts";
import {
  dropSpares,
  type FrameBuffer,
  reuseFrame,
  sealableBytes,
  takeFrame,
} from "./frame-buffer.ts";

/** Entries of this size in all are sealed and written. */
const FRAME_BYTES = 256 * 1024;
/** Above this many bytes that are held and not durable, a sync begins, whatever the mode: their chunks fill again (frame-buffer.ts). */
const HELD_BYTES = 16 * 1024 * 1024;
/** Above this many, a call waits for the medium. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;

interface JournalOptions {
  readonly place: Place;
  readonly identity: Identity;
  readonly serial: number;
  readonly frames: FrameBuffer;
  /** Called when a frame is sealed, before any of it is written. */
  readonly onSealed?: ((total: number) => void) | undefined;
  /** Called after every sync, with the error if it failed. */
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
  /** The previous segment, until all of it is durable. */
  #ended: SegmentFile | undefined;
  /** The next segment, once its file is prepared. */
  #next: SegmentFile | undefined;
  #preparing: Promise<void> | undefined;
  /** Segments that are finished; they are closed when no sync is in progress. */
  readonly #over: SegmentFile[] = [];
  #isSyncing = false;

  /** Opens a new segment. Throws the disk's error. */
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

  /** Serial of the segment that takes new entries. */
  get serial(): number {
    return this.#segment.serial;
  }

  /** Bytes of that segment, written or held. */
  get size(): number {
    return this.#segment.size;
  }

  /** Bytes logged and not durable. */
  get heldBytes(): number {
    return this.sealedBytes + sealableBytes(this.frames);
  }

  /** Bytes that are sealed and counted in `total`, and not durable. */
  get sealedBytes(): number {
    return this.#segment.heldBytes + (this.#ended?.heldBytes ?? 0);
  }

  /** True when everything logged is durable, and so is its segment's name. */
  get isSettled(): boolean {
    return sealableBytes(this.frames) === 0 && this.#ended === undefined && this.#segment.isDurable;
  }

  get isSyncing(): boolean {
    return this.#isSyncing;
  }

  /** True while a sync or the preparation of a segment is in progress off the thread. */
  get isBusy(): boolean {
    return this.#isSyncing || this.#preparing !== undefined;
  }

  /** Seals the buffered entries and writes every frame that is not in the file. Returns false when the disk fails (`fault`). */
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

  /** Whether `relieve` would write. */
  get isFull(): boolean {
    return sealableBytes(this.frames) >= FRAME_BYTES && this.fault === undefined;
  }

  /** Writes a full frame. When many bytes are held, begins a sync; when too many are, waits for the medium. */
  relieve(): void {
    if (!this.isFull || !this.write()) return;
    const { sealedBytes } = this;
    if (sealedBytes > HELD_BYTES_MAX) this.sync();
    else if (sealedBytes > HELD_BYTES) this.syncLater();
  }

  /** Makes everything logged durable. Returns false when the disk fails (`fault`). */
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

  /** Does the same off the thread and reports to `onSynced`. Does nothing while such a sync is in progress. */
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

  /** Discards everything that is not durable. The calls that logged it must fail. */
  retract(): void {
    this.total -= this.#segment.retract();
  }

  /** Allocates `bytes` more in the file, so that writing them cannot meet a full disk. Returns false when the disk fails (`fault`). */
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

  /** Creates the next segment's file off the thread. Rejects with the disk's error. */
  prepare(): Promise<void> {
    if (this.#next !== undefined) return Promise.resolve();
    this.#preparing ??= this.#prepared().finally(() => {
      this.#preparing = undefined;
    });
    return this.#preparing;
  }

  /**
   * Ends the segment; later entries go to the prepared one. Returns false when that is not possible yet. The rest of the old segment
   * becomes durable with the next sync, before anything of the new one (I1, I2).
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

  /** Makes everything durable and closes the files. Throws the disk's error. */
  close(): void {
    const isDurable = this.sync();
    if (isDurable) this.#segment.close();
    else this.#segment.abandon();
    this.#dropOthers();
    if (!isDurable) throw this.fault as FrontierError;
  }

  /** Closes the files as a crash would. */
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

  /** Retires the ended segment, all of which is durable. Its file is closed when no sync is in progress. */
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
    else {
      this.fault = undefined;
      if (this.isSettled) dropSpares(this.frames);
    }
    this.#onSynced(this.fault);
  }

  /** A sync failed: everything that is not durable must be written again. */
  #failed(error: unknown): void {
    this.fault = this.#faultOf(error);
    this.#segment.failed();
    this.#ended?.failed();
  }

  #faultOf(error: unknown): FrontierError {
    return diskFault(error, this.#segment.path);
  }
}
