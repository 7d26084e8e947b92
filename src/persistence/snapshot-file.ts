/**
 * The file of a snapshot under way: sections in buffers, each written beside the thread when it is full while the next is filled.
 *
 *   addSection ─▶ buffer ─ full ─▶ writing … ─▶ free again
 *                    ▲                             │
 *                    └─────────────────────────────┘      never more than BUFFERS_MAX, but for what one slice makes
 *
 *   F1  A buffer is left alone from the moment its write begins to its end.
 *   F2  The file is closed when nothing is being written any more, whatever happened.
 */
import { type Files, writeAllLater } from "./files.ts";
import { addBytes, addSection, createSectionBuffer, type SectionBuffer } from "./section-buffer.ts";
import { preamble, type Section } from "./snapshot-format.ts";

/** Bytes written at once: that many take the system as long as the thread takes to make them. */
const WRITE_BYTES = 1024 * 1024;
/** Buffers being written when the next slice has to wait. */
const BUFFERS_MAX = 4;

export class SnapshotFile {
  offset = 0;
  readonly #files: Files;
  readonly #file: number;
  readonly #serial: number;
  readonly #free: SectionBuffer[] = [];
  #buffer = createSectionBuffer(WRITE_BYTES);
  #writing = 0;
  #fault: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(files: Files, path: string, serial: number) {
    this.#files = files;
    this.#file = files.open(path, "w");
    this.#serial = serial;
    this.offset += addBytes(this.#buffer, preamble(serial));
  }

  add(section: Section): void {
    const place = { serial: this.#serial, offset: this.offset };
    this.offset += addSection(this.#buffer, section, place);
    if (this.#buffer.used >= WRITE_BYTES) this.#write();
  }

  /** Resolves when more may be added; throws what the disk said. */
  async ready(): Promise<void> {
    await this.#fewer(BUFFERS_MAX);
    this.#check();
  }

  /** Resolves when the system has all that was added; throws what the disk said. */
  async written(): Promise<void> {
    if (this.#buffer.used > 0) this.#write();
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
    this.#files.close(this.#file);
  }

  #check(): void {
    if (this.#fault !== undefined) throw this.#fault.error;
  }

  /** Resolves when fewer than `most` buffers are being written. */
  async #fewer(most: number): Promise<void> {
    while (this.#writing >= most) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #write(): void {
    const buffer = this.#buffer;
    this.#buffer = this.#free.pop() ?? createSectionBuffer(WRITE_BYTES);
    this.#writing++;
    const bytes = buffer.bytes.subarray(0, buffer.used);
    const job = { file: this.#file, bytes, position: this.offset - buffer.used };
    writeAllLater(this.#files, job, (error) => {
      buffer.used = 0;
      this.#free.push(buffer);
      this.#writing--;
      if (error !== undefined) this.#fault ??= { error };
      this.#wake?.();
    });
  }
}
