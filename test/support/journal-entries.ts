/**
 * The entries of a journal's segment, field by field, and a segment made of them again, with right checksums: what a forger writes who
 * knows the format (docs/formats/journal.md).
 *
 *   bytes ─ segmentOf ─▶ frames ─▶ entries: words, and which words are which field ─ bytesOfSegment ─▶ bytes
 */
import { JOURNAL_FRAME_BYTES, JOURNAL_HEADER_BYTES } from "../../src/layout/files/journal.ts";
import { sealFrame } from "../../src/persistence/journal/segment-format.ts";

type FieldType = "word" | "double" | "bits" | "length" | "bytes";

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** Word of the entry at which it begins, and how many words it has. */
  readonly at: number;
  readonly words: number;
  /** Of bits: the lowest, and how many. */
  readonly shift?: number;
  readonly width?: number;
}

export interface Entry {
  readonly kind: number;
  readonly words: Uint32Array;
  readonly fields: readonly Field[];
}

export interface Segment {
  readonly head: Uint8Array;
  readonly serial: number;
  readonly frames: Entry[][];
}

/** Reads a segment that a frontier wrote. */
export function segmentOf(bytes: Uint8Array, serial: number): Segment {
  const copy = bytes.slice();
  const words = new Uint32Array(copy.buffer, 0, copy.length >> 2);
  const frames: Entry[][] = [];
  for (let at = JOURNAL_HEADER_BYTES; at + JOURNAL_FRAME_BYTES < copy.length; ) {
    const size = words[at >> 2] as number;
    if (size === 0) break;
    at += JOURNAL_FRAME_BYTES;
    frames.push(entriesOf(words.subarray(at >> 2, (at + size) >> 2)));
    at += size;
  }
  return { head: copy.slice(0, JOURNAL_HEADER_BYTES), serial, frames };
}

/** Writes a segment, each frame sealed for its place. */
export function bytesOfSegment({ head, serial, frames }: Segment): Uint8Array {
  const parts: Uint8Array[] = [head];
  let offset = JOURNAL_HEADER_BYTES;
  for (const entries of frames) {
    const size = entries.reduce((sum, { words }) => sum + words.length * 4, 0);
    if (size === 0) continue;
    const frame = new Uint8Array(JOURNAL_FRAME_BYTES + size);
    let at = JOURNAL_FRAME_BYTES;
    for (const { words } of entries) {
      frame.set(new Uint8Array(words.buffer, words.byteOffset, words.byteLength), at);
      at += words.byteLength;
    }
    sealFrame(frame, serial, offset, JOURNAL_HEADER_BYTES);
    parts.push(frame);
    offset += frame.length;
  }
  return Buffer.concat(parts);
}

/** Reads the entries of a frame. */
export function entriesOf(words: Uint32Array): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at < words.length; ) {
    const reader = new EntryReader(words, at);
    entries.push(reader.read());
    at = reader.at;
  }
  return entries;
}

const ADMITTED = new Set([1, 13]);
const ENDS = new Set([3, 4]);
const NAMED = new Set([36, 44]);

class EntryReader {
  at: number;
  readonly #words: Uint32Array;
  readonly #start: number;
  readonly #fields: Field[] = [];

  constructor(words: Uint32Array, at: number) {
    this.#words = words;
    this.#start = at;
    this.at = at;
  }

  read(): Entry {
    const kind = (this.#words[this.at] as number) & 255;
    this.#bits("kind", 0, 8);
    if (kind < 32) {
      this.#bits("state", 8, 3);
      this.#bits("nameless", 11, 1);
      this.#bits("again", 12, 1);
      this.#bits("rule", 16, 16);
    }
    if (kind === 42) {
      this.#bits("state", 8, 3);
      this.#bits("again", 12, 1);
    }
    this.at++;
    this.#body(kind);
    const words = this.#words.slice(this.#start, this.at);
    return { kind, words, fields: this.#fields };
  }

  #body(kind: number): void {
    if (ADMITTED.has(kind)) this.#admitted();
    else if (kind === 2) this.#list("name:2", "deliveries");
    else if (ENDS.has(kind)) this.#list("name:2", "last");
    else if (kind >= 5 && kind <= 12) this.#moved();
    else if (kind === 32) this.#list("parent:4");
    else if (kind === 33) this.#host();
    else if (kind === 34) this.#list("hash:2", "turn:d", "readyAt:d");
    else if (kind === 35) this.#hostAll();
    else if (NAMED.has(kind)) this.#list("hash:2");
    else if (kind === 37 || kind === 41) this.at += 2;
    else if (kind === 38) this.#list("name:2", "was");
    else if (kind === 39) this.#list("name:2", "after:2");
    else if (kind === 40) this.#note();
    else if (kind === 42) this.#list("step");
    else if (kind === 43) this.#bytes("epoch", this.#length("epochBytes"));
    else if (kind === 45) this.#address();
    else if (kind === 46) this.#list("hash:2", "readyAt:d");
    else throw new Error(`entry of kind ${kind}`);
  }

  #admitted(): void {
    this.#list("name:2", "host:2", "key:d");
    const length = this.#length("textBytes");
    const has = ((this.#words[this.at] as number) >>> 8) & 255;
    this.#bits("flags", 0, 8);
    this.#bits("has", 8, 8);
    this.#bits("depth", 16, 16);
    this.at++;
    if ((has & 1) !== 0) this.#list("priority:d");
    if ((has & 2) !== 0) this.#list("due:d");
    if ((has & 4) !== 0) this.#list("budget");
    if ((has & 32) !== 0) this.#tries();
    if ((has & 8) !== 0) {
      this.#bits("maxAttempts", 0, 16);
      this.#bits("period", 16, 16);
      this.at++;
      this.#bytes("blob", this.#length("blobBytes"));
    }
    this.#bytes("text", length);
  }

  #moved(): void {
    this.#list("name:2");
    this.#tries();
    this.#bits("depth", 0, 16);
    this.#bits("period", 16, 16);
    this.at++;
    this.#list("key:d", "priority:d", "due:d");
  }

  #tries(): void {
    this.#bits("attempt", 0, 16);
    this.#bits("deliveries", 16, 16);
    this.at++;
  }

  #host(): void {
    this.#list("hash:2");
    const length = this.#length("nameBytes");
    this.#list("turn:d");
    this.#bytes("hostName", length);
  }

  #hostAll(): void {
    const doubles = ["turn:d", "readyAt:d", "blockUntil:d", "delay:d", "adaptive:d", "bytes:d"];
    this.#list("hash:2", ...doubles, "limit", "failures", "admitted", "hostFlags");
  }

  #address(): void {
    this.#list("hash:2");
    this.#bytes("address", this.#length("addressBytes"));
  }

  #note(): void {
    const name = this.#length("noteBytes");
    const value = this.#length("valueBytes");
    this.#bytes("note", name);
    this.#bytes("value", value);
  }

  /** Fields one after the other: `name` of a word, `name:n` of n words, `name:d` of a double. */
  #list(...fields: string[]): void {
    for (const field of fields) {
      const [name = "", size = "1"] = field.split(":");
      const words = size === "d" ? 2 : Number(size);
      this.#add(name, size === "d" ? "double" : "word", words);
      this.at += words;
    }
  }

  #length(name: string): number {
    this.#add(name, "length", 1);
    return this.#words[this.at++] as number;
  }

  #bytes(name: string, length: number): void {
    const words = (length + 3) >>> 2;
    if (words > 0) this.#add(name, "bytes", words);
    this.at += words;
  }

  #bits(name: string, shift: number, width: number): void {
    this.#fields.push({ ...this.#field(name, "bits", 1), shift, width });
  }

  #add(name: string, type: FieldType, words: number): void {
    this.#fields.push(this.#field(name, type, words));
  }

  #field(name: string, type: FieldType, words: number): Field {
    return { name, type, at: this.at - this.#start, words };
  }
}
