/**
 * The file of a snapshot in progress: sections in buffers, written one after the other off the thread while the next one is filled.
 * One write at a time: more would wait for each other at the file, and take a core from the thread. Only where calls fill buffers and no
 * turn of the event loop ends a write, the thread writes by itself.
 *
 *   add ─▶ filling ─ full ─▶ queue [ being written | next | … ] ─▶ free again
 *             ▲                                                       │
 *             └───────────────────────────────────────────────────────┘      at most QUEUE_MAX, and one slice's buffers up to QUEUE_FULL
 *
 * Every SYNC_BYTES a sync runs beside the writes, so that the last one takes little time.
 *
 *   F1  A buffer does not change while it is written.
 *   F2  The file is closed after the last write has ended, even after an error.
 *   F3  After a failed write no other begins.
 *   F4  A failed sync counts, whatever later ones report: what it could not write may be lost.
 */
import { type Files, later, writeAll, writeAllLater, attempt } from "../files.ts";
import type { Place } from "../directory/frontier-directory.ts";
import { addBytes, addSection, type SectionBuffer } from "./section-buffer.ts";
import { preamble, type Section } from "./snapshot-format.ts";
import { giveBuffer, takeBuffer, WRITE_BYTES } from "./snapshot-buffers.ts";

/** Buffers being written, or full, at which the next slice waits. */
const QUEUE_MAX = 3;
/** Those at which the thread writes the next one itself. */
const QUEUE_FULL = 6;
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
  readonly #queue: Array<{ readonly buffer: SectionBuffer; readonly position: number }> = [];
  #isWriting = false;
  /** Offset in the file of the buffer that is being filled. */
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
    const buffer = this.#filling;
    const position = this.#position;
    this.#position += buffer.used;
    if (this.#queue.length >= QUEUE_FULL) this.#writeNow(buffer, position);
    else {
      this.#queue.push({ buffer, position });
      this.#filling = takeBuffer(this.#free);
    }
    this.#next();
  }

  /** The buffer is filled again afterwards. */
  #writeNow(buffer: SectionBuffer, position: number): void {
    const bytes = buffer.bytes.subarray(0, buffer.used);
    buffer.used = 0;
    if (this.#fault !== undefined) return; // F3
    try {
      writeAll(this.#files, this.#file, bytes, position);
    } catch (error) {
      this.#fault = { error };
    }
    this.#wrote(bytes.length);
  }

  /** Begins the next write, if none is in progress; after a fault it drops the queue (F3). */
  #next(): void {
    if (this.#isWriting) return;
    if (this.#fault !== undefined)
      for (const { buffer } of this.#queue.splice(0)) giveBuffer(this.#free, buffer);
    const [first] = this.#queue;
    if (first !== undefined) this.#write(first.buffer, first.position);
  }

  #write(buffer: SectionBuffer, position: number): void {
    const bytes = buffer.bytes.subarray(0, buffer.used);
    this.#isWriting = true;
    writeAllLater(this.#files, { file: this.#file, bytes, position }, (error) => {
      this.#isWriting = false;
      this.#queue.shift();
      giveBuffer(this.#free, buffer);
      if (error !== undefined) this.#fault ??= { error };
      this.#wrote(bytes.length);
      this.#next();
      this.#wake?.();
    });
  }

  #wrote(bytes: number): void {
    this.#unsynced += bytes;
    if (this.#unsynced >= SYNC_BYTES) this.#sync();
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

/** Renames a finished file to its own name, durable when this resolves. Rejects with the disk's error: then the file is gone, or has its name. */
export async function nameSnapshot({ files, directory }: Place, path: string): Promise<void> {
  const unfinished = `${path}.tmp`;
  try {
    files.rename(unfinished, path);
  } catch (error) {
    attempt(() => files.remove(unfinished));
    throw error;
  }
  await later((done) => files.syncDirectoryLater(directory, done));
}

/** Ends a file that failed, and removes it. */
export async function discardSnapshot(
  files: Files,
  file: SnapshotFile,
  path: string,
): Promise<void> {
  await file.close().catch(() => undefined); // what failed first is reported
  attempt(() => files.remove(path));
}
