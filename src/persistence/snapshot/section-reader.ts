/**
 * Reads a snapshot file section by section and checks each one: its length, its checksum, its content.
 *
 *   file ─▶ body ─ msgpack ─▶ columns anywhere in it ─▶ room: each on eight bytes ─▶ read as words and doubles, without another copy
 */
import { crcAt } from "../checksum.ts";
import { type Files, readAll } from "../files.ts";
import { packr } from "../msgpack.ts";
import { damaged, otherFormat } from "../directory/frontier-directory.ts";
import { checkSection } from "./check-section.ts";
import {
  alignedSize,
  alignColumns,
  PREAMBLE_BYTES,
  SECTION_HEAD_BYTES,
  type Section,
  SNAPSHOT_MAGIC,
  SNAPSHOT_VERSION,
  SNAPSHOT_VERSION_MIN,
} from "./snapshot-format.ts";

/** Longest section: a chunk of records with bodies and data. */
const SECTION_BYTES_MAX = 2 ** 31;

/** Reads a snapshot section by section. Throws SNAPSHOT_CORRUPT or FORMAT_UNSUPPORTED, which names the file. */
export class SnapshotReader {
  readonly path: string;
  readonly size: number;
  offset = PREAMBLE_BYTES;
  /** Columns are valid only until the next section is read, so that its memory can be reused. */
  isPassing = false;
  #body = new Uint8Array(0);
  /** Holds the columns of a section while `isPassing`. */
  #room = new Uint8Array(0);
  readonly #files: Files;
  readonly #file: number;
  readonly #serial: number;

  constructor(files: Files, path: string, serial: number) {
    this.path = path;
    this.#files = files;
    this.#serial = serial;
    this.#file = files.open(path, "r");
    try {
      this.size = files.size(this.#file);
      this.#checkPreamble();
    } catch (error) {
      files.close(this.#file);
      throw error;
    }
  }

  /** Returns the next section; undefined after the last one. */
  next(): Section | undefined {
    const { offset, path } = this;
    if (offset === this.size) return undefined;
    const head = new Uint32Array(2);
    if (!this.#read(new Uint8Array(head.buffer), offset)) throw damaged(path, offset, "cut off");
    const [length = 0, crc = 0] = head;
    const start = offset + SECTION_HEAD_BYTES;
    if (length > SECTION_BYTES_MAX || start + length > this.size) {
      throw damaged(path, offset, "cut off, or a wrong length");
    }
    const body = this.#bodyOf(length);
    if (!this.#read(body, start)) throw damaged(path, offset, "cut off");
    if (crcAt(body, this.#serial, offset) !== crc) throw damaged(path, offset, "wrong checksum");
    this.offset = start + length;
    let section: unknown;
    try {
      section = packr.unpack(body);
    } catch {
      throw damaged(path, offset, "not msgpack");
    }
    this.#align(section);
    return checkSection(section, { path, offset, size: this.size });
  }

  close(): void {
    this.#files.close(this.#file);
  }

  /** Columns are read several times: they are copied once, to an aligned place where readers need no copy. */
  #align(section: unknown): void {
    if (!this.isPassing || typeof section !== "object" || section === null) return;
    const bytes = alignedSize(section);
    if (this.#room.length < bytes) this.#room = new Uint8Array(bytes * 2);
    alignColumns(section, this.#room);
  }

  #bodyOf(length: number): Uint8Array {
    if (!this.isPassing) return new Uint8Array(length);
    if (this.#body.length < length) this.#body = new Uint8Array(length * 2);
    return this.#body.subarray(0, length);
  }

  #checkPreamble(): void {
    const words = new Uint32Array(PREAMBLE_BYTES / 4);
    if (!this.#read(new Uint8Array(words.buffer), 0)) throw damaged(this.path, 0, "cut off");
    const [magic, version, serial, zero] = words;
    if (magic !== SNAPSHOT_MAGIC) throw damaged(this.path, 0, "not a snapshot");
    const isKnown = version !== undefined && version >= SNAPSHOT_VERSION_MIN;
    if (!isKnown || version > SNAPSHOT_VERSION) {
      const known = `version ${SNAPSHOT_VERSION_MIN} to ${SNAPSHOT_VERSION}`;
      throw otherFormat(this.path, `version ${version}`, known);
    }
    if (serial !== this.#serial || zero !== 0)
      throw damaged(this.path, 0, "the preamble of another snapshot");
  }

  #read(bytes: Uint8Array, offset: number): boolean {
    return readAll(this.#files, this.#file, bytes, offset);
  }
}
