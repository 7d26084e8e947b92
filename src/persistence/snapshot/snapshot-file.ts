/**
 * The file of a snapshot under way: sections in buffers, written beside the thread one after the other while the next is filled. One
 * write at a time: more would wait for each other at the file and take a core from the thread.
 *
 *   add ─▶ filling ─ full ─▶ queue [ being written | next | … ] ─▶ free again
 *             ▲                                                       │
 *             └───────────────────────────────────────────────────────┘      never more than QUEUE_MAX, but for what one slice makes
 *
 * Every SYNC_BYTES the medium is waited for beside the writes, so that little is left to wait for at the end.
 *
 *   F1  A buffer is left alone from the moment its write begins to its end.
 *   F2  The file is closed when nothing is being written any more, whatever happened.
 *   F3  After a write that failed none begins.
 *   F4  A wait for the medium that failed counts, whatever later ones say: what it could not write may be gone.
 */
import { type Files, later, writeAllLater } from "../files.ts";
import { addBytes, addSection, type SectionBuffer } from "./section-buffer.ts";
import { preamble, type Section } from "./snapshot-format.ts";
import { giveBuffer, takeBuffer, WRITE_BYTES } from "./snapshot-buffers.ts";

/** Buffers being written, or full, when the next slice has to wait. */
const QUEUE_MAX = 3;
/** Bytes written that the medium may not have before it is waited for. */
const SYNC_BYTES = 16 * 1024 * 1024;

interface SnapshotFileParts {
  readonly files: Files;
  readonly path: string;
  readonly serial: number;
  /** Buffers that are free, its own from here to `close`. */
  readonly free: SectionBuffer[];
}

export class SnapshotFile {
  offset = 0;
  readonly #files: Files;
  readonly #file: number;
  readonly #serial: number;
  readonly #free: SectionBuffer[];
  #filling: SectionBuffer;
  /** Full ones; while `#isWriting` the first of them is the system's. */
  readonly #queue: SectionBuffer[] = [];
  #isWriting = false;
  /** Where the first of the queue stands in the file. */
  #position = 0;
  /** Bytes written since the last wait for the medium began. */
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

  /** Resolves when more may be added; throws what the disk said. */
  async ready(): Promise<void> {
    await this.#until(() => this.#queue.length < QUEUE_MAX);
    this.#check();
  }

  /** Resolves when the system has all that was added; throws what the disk said. */
  async written(): Promise<void> {
    if (this.#filling.used > 0) this.#full();
    await this.#until(() => this.#queue.length === 0);
    this.#check();
  }

  /** Resolves when what is written is on the medium; throws what the disk said (F4). */
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

  /** Begins the next write, if none is under way; after a fault there is none (F3). */
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
