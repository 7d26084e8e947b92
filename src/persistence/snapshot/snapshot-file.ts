/**
 * The file of a snapshot in progress: sections in buffers, written one after the other beside the thread while the next one is filled.
 * One write at a time: more would wait for each other at the file, and take a core from the thread.
 *
 *   add ─▶ filling ─ full ─▶ queue [ being written | next | … ] ─▶ free again
 *             ▲                                                       │
 *             └───────────────────────────────────────────────────────┘      at most QUEUE_MAX, beyond that one slice's buffers
 *
 * Every SYNC_BYTES a sync runs beside the writes, so that the last one takes little time.
 *
 *   F1  A buffer does not change while it is written.
 *   F2  The file is closed after the last write has ended, even after an error.
 *   F3  After a failed write no other begins.
 *   F4  A failed sync counts, whatever later ones report: what it could not write may be lost.
 */
import { type Files, later, writeAllLater } from "../files.ts";
import { addBytes, addSection, type SectionBuffer } from "./section-buffer.ts";
import { preamble, type Section } from "./snapshot-format.ts";
import { giveBuffer, takeBuffer, WRITE_BYTES } from "./snapshot-buffers.ts";

/** Buffers being written, or full, at which the next slice waits. */
const QUEUE_MAX = 3;
/** Bytes written since the last sync began, at which the next one begins. */
const SYNC_BYTES = 16 * 1024 * 1024;

interface SnapshotFileParts {
  readonly files: Files;
  readonly path: string;
  readonly serial: number;
  /** Free buffers, which this file owns until `close`. */
  readonly free: SectionBuffer[];
}

export class SnapshotFile {
  offset = 0;
  readonly #files: Files;
  readonly #file: number;
  readonly #serial: number;
  readonly #free: SectionBuffer[];
  #filling: SectionBuffer;
  /** Full buffers; while `#isWriting`, the system reads the first of them. */
  readonly #queue: SectionBuffer[] = [];
  #isWriting = false;
  /** Offset in the file of the queue's first buffer. */
  #position = 0;
  /** Bytes written since the last sync began. */
  #unsynced = 0;
  #isSyncing = false;
  #fault: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor({ files, path, serial, free }: SnapshotFileParts) {
    this.#files = files;
    this.#file = files.open(path, "w");
    this.#serial = serial;
    this.#free = free;
    this.#filling = takeBuffer(free);
    this.offset += addBytes(this.#filling, preamble(serial));
  }

  add(section: Section): void {
    const place = { serial: this.#serial, offset: this.offset };
    this.offset += addSection(this.#filling, section, place);
    if (this.#filling.used >= WRITE_BYTES) this.#full();
  }

  /** Resolves when more may be added. Throws the disk's error. */
  async ready(): Promise<void> {
    await this.#until(() => this.#queue.length < QUEUE_MAX);
    this.#check();
  }

  /** Resolves when the system has everything that was added. Throws the disk's error. */
  async written(): Promise<void> {
    if (this.#filling.used > 0) this.#full();
    await this.#until(() => this.#queue.length === 0);
    this.#check();
  }

  /** Resolves when everything written is on the medium. Throws the disk's error (F4). */
  async synced(): Promise<void> {
    await this.#until(() => !this.#isSyncing);
    this.#check();
    await later((done) => this.#files.syncLater(this.#file, done));
  }

  /** F2 */
  async close(): Promise<void> {
    await this.#until(() => this.#queue.length === 0 && !this.#isSyncing);
    giveBuffer(this.#free, this.#filling);
    this.#files.close(this.#file);
  }

  #check(): void {
    if (this.#fault !== undefined) throw this.#fault.error;
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #full(): void {
    this.#queue.push(this.#filling);
    this.#filling = takeBuffer(this.#free);
    this.#next();
  }

  /** Begins the next write, if none is in progress; after a fault it drops the queue (F3). */
  #next(): void {
    if (this.#isWriting) return;
    if (this.#fault !== undefined)
      for (const buffer of this.#queue.splice(0)) giveBuffer(this.#free, buffer);
    const [buffer] = this.#queue;
    if (buffer !== undefined) this.#write(buffer);
  }

  #write(buffer: SectionBuffer): void {
    const bytes = buffer.bytes.subarray(0, buffer.used);
    const job = { file: this.#file, bytes, position: this.#position };
    this.#position += bytes.length;
    this.#isWriting = true;
    writeAllLater(this.#files, job, (error) => {
      this.#isWriting = false;
      this.#queue.shift();
      giveBuffer(this.#free, buffer);
      if (error !== undefined) this.#fault ??= { error };
      this.#unsynced += bytes.length;
      if (this.#unsynced >= SYNC_BYTES) this.#sync();
      this.#next();
      this.#wake?.();
    });
  }

  #sync(): void {
    if (this.#isSyncing || this.#fault !== undefined) return;
    this.#isSyncing = true;
    this.#unsynced = 0;
    this.#files.syncLater(this.#file, (error) => {
      this.#isSyncing = false;
      if (error !== undefined) this.#fault ??= { error };
      this.#wake?.();
    });
  }
}
