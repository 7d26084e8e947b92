/**
 * The file of a snapshot under way: sections in buffers, written beside the thread one after the other while the next is filled. One
 * write at a time: more would wait for each other at the file and take a core from the thread.
 *
 *   add ─▶ filling ─ full ─▶ queue [ being written | next | … ] ─▶ free again
 *             ▲                                                       │
 *             └───────────────────────────────────────────────────────┘      never more than QUEUE_MAX, but for what one slice makes
 *
 *   F1  A buffer is left alone from the moment its write begins to its end.
 *   F2  The file is closed when nothing is being written any more, whatever happened.
 *   F3  After a write that failed none begins.
 */
import { type Files, writeAllLater } from "./files.ts";
import { addBytes, addSection, type SectionBuffer } from "./section-buffer.ts";
import { preamble, type Section } from "./snapshot-format.ts";
import { giveBuffer, takeBuffer, WRITE_BYTES } from "./snapshot-room.ts";

/** Buffers being written, or full, when the next slice has to wait. */
const QUEUE_MAX = 3;

export interface SnapshotFileParts {
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
  /** The first is being written. */
  readonly #queue: SectionBuffer[] = [];
  /** Where the first of the queue stands in the file. */
  #position = 0;
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
    await this.#fewer(QUEUE_MAX);
    this.#check();
  }

  /** Resolves when the system has all that was added; throws what the disk said. */
  async written(): Promise<void> {
    if (this.#filling.used > 0) this.#full();
    await this.#fewer(1);
    this.#check();
  }

  /** Resolves when what is written is on the medium; throws what the disk said. */
  async synced(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const done = (error: unknown): void => (error === undefined ? resolve() : reject(error));
      this.#files.syncLater(this.#file, done);
    });
  }

  /** F2 */
  async close(): Promise<void> {
    await this.#fewer(1);
    giveBuffer(this.#free, this.#filling);
    this.#files.close(this.#file);
  }

  #check(): void {
    if (this.#fault !== undefined) throw this.#fault.error;
  }

  /** Resolves when fewer than `most` buffers are in the queue. */
  async #fewer(most: number): Promise<void> {
    while (this.#queue.length >= most) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #full(): void {
    const { length } = this.#queue;
    this.#queue.push(this.#filling);
    this.#filling = takeBuffer(this.#free);
    if (this.#fault !== undefined) this.#drop();
    else if (length === 0) this.#write(this.#queue[0] as SectionBuffer);
  }

  #write(buffer: SectionBuffer): void {
    const bytes = buffer.bytes.subarray(0, buffer.used);
    const job = { file: this.#file, bytes, position: this.#position };
    this.#position += bytes.length;
    writeAllLater(this.#files, job, (error) => {
      giveBuffer(this.#free, buffer);
      this.#queue.shift();
      if (error !== undefined) this.#fault ??= { error };
      const next = this.#queue[0];
      if (this.#fault !== undefined) this.#drop();
      else if (next !== undefined) this.#write(next);
      this.#wake?.();
    });
  }

  /** F3 */
  #drop(): void {
    for (const buffer of this.#queue.splice(0)) giveBuffer(this.#free, buffer);
  }
}
