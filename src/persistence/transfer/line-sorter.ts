/**
 * LineSorter: sorts any number of lines by their keys. Lines that do not fit into memory together are stored in runs on disk, each in
 * order, and the runs are read side by side at the end.
 *
 *   add ─▶ pieces of memory, RUN_BYTES in all ─▶ in order ─▶ a run ┐
 *                                                            a run ├─▶ the lowest first ─▶ lines
 *   run := { key f64 | length u32 | text }                   rest  ┘
 *
 *   I1  Equal lines of one key come once: a snapshot may copy a record twice that returned from disk meanwhile.
 *   I2  All runs are in one file, one after the other: a process may have few files open.
 *   I3  Lines wait as bytes, not as strings, and pieces are reused: no garbage grows with the number of lines.
 *
 * Crash: the file is left and no program reads it, so it belongs in a temporary folder.
 */
import { becameShorter, type Files, readAll, writeAll } from "../files.ts";

/** Most bytes of text in memory: a smaller export is never written to disk. */
const RUN_BYTES = 64 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
/** Written at once, and the size of a piece that holds waiting lines. */
const BLOCK_BYTES = 1024 * 1024;
const HEAD_BYTES = 12;
/** Most bytes of UTF-8 for one character of a string. */
const CHARACTER_BYTES_MAX = 3;

export class LineSorter {
  readonly #files: Files;
  readonly #path: string;
  readonly #runBytes: number;
  #file: { readonly written: number; readonly read: number } | undefined;
  /** The end of each run in the file. */
  readonly #ends: number[] = [];
  readonly #waiting = new Waiting();

  /** `path`: the file of the runs; `runBytes`: bytes of text held in memory, lowered by tests to get many runs. */
  constructor(files: Files, path: string, runBytes = RUN_BYTES) {
    this.#files = files;
    this.#path = path;
    this.#runBytes = runBytes;
  }

  add(key: number, line: string): void {
    this.#waiting.add(key, line);
    if (this.#waiting.bytes >= this.#runBytes) this.#write();
  }

  /** All lines in order, each once (I1). No line may be added afterwards. */
  *lines(): Generator<string> {
    const sources: Source[] = this.#ends.map((end, run) => {
      return new Run(this.#reach, this.#ends[run - 1] ?? 0, end);
    });
    sources.push(new Rest(this.#waiting));
    const heap = sources.filter((source) => source.next());
    for (let at = heap.length >> 1; at >= 0; at--) sink(heap, at);
    let key = Number.NaN;
    let same: string[] = [];
    for (let first = heap[0]; first !== undefined; first = heap[0]) {
      if (first.key !== key) same = [];
      key = first.key;
      if (!same.includes(first.line)) yield first.line;
      same.push(first.line);
      if (!first.next()) {
        const last = heap.pop() as Source;
        if (heap.length > 0) heap[0] = last;
      }
      sink(heap, 0);
    }
  }

  close(): void {
    if (this.#file === undefined) return;
    this.#files.close(this.#file.written);
    this.#files.close(this.#file.read);
    this.#file = undefined;
  }

  #write(): void {
    const waiting = this.#waiting;
    this.#file ??= this.#opened();
    const { written } = this.#file;
    let block = Buffer.alloc(BLOCK_BYTES);
    let end = this.#ends.at(-1) ?? 0;
    let at = 0;
    const flush = (): void => {
      writeAll(this.#files, written, block.subarray(0, at), end);
      end += at;
      at = 0;
    };
    for (const line of waiting.order()) {
      const text = waiting.text(line);
      if (at + HEAD_BYTES + text.length > block.length) flush();
      if (HEAD_BYTES + text.length > block.length) block = Buffer.alloc(HEAD_BYTES + text.length);
      block.writeDoubleLE(waiting.key(line), at);
      block.writeUInt32LE(text.length, at + 8);
      block.set(text, at + HEAD_BYTES);
      at += HEAD_BYTES + text.length;
    }
    flush();
    this.#ends.push(end);
    waiting.clear();
  }

  #opened(): { written: number; read: number } {
    const written = this.#files.open(this.#path, "w");
    try {
      return { written, read: this.#files.open(this.#path, "r") };
    } catch (error) {
      this.#files.close(written);
      throw error;
    }
  }

  readonly #reach: Reach = (part, at) => {
    const isThere = this.#file !== undefined && readAll(this.#files, this.#file.read, part, at);
    if (!isThere) throw becameShorter(this.#path);
  };
}

/** Fills a part of memory with the file's bytes from `at` on. */
type Reach = (part: Uint8Array, at: number) => void;

/** Lines as bytes, in the order in which they were added (I3). */
class Waiting {
  bytes = 0;
  #count = 0;
  #keys = new Float64Array(1024);
  /** For each line: its piece, its start there, its length. */
  #places = new Uint32Array(3 * 1024);
  readonly #pieces: Buffer[] = [];
  #piece = 0;
  #at = 0;

  add(key: number, line: string): void {
    if (this.#count === this.#keys.length) this.#grow();
    const piece = this.#room(line.length * CHARACTER_BYTES_MAX);
    const length = piece.write(line, this.#at, "utf8");
    this.#keys[this.#count] = key;
    this.#places.set([this.#piece, this.#at, length], this.#count * 3);
    this.#count++;
    this.#at += length;
    this.bytes += length;
  }

  key(line: number): number {
    return this.#keys[line] as number;
  }

  text(line: number): Buffer {
    const [piece, start, length] = this.#places.subarray(line * 3, line * 3 + 3);
    const from = start as number;
    return (this.#pieces[piece as number] as Buffer).subarray(from, from + (length as number));
  }

  /** The lines by their keys; lines of one key in the order in which they were added. */
  order(): Uint32Array {
    const keys = this.#keys;
    return Uint32Array.from({ length: this.#count }, (_, at) => at).sort((one, other) => {
      return (keys[one] as number) - (keys[other] as number) || one - other;
    });
  }

  clear(): void {
    this.bytes = 0;
    this.#count = 0;
    this.#piece = 0;
    this.#at = 0;
  }

  /** The piece in which this many bytes fit from `#at` on. */
  #room(bytes: number): Buffer {
    for (; ; this.#piece++, this.#at = 0) {
      const piece = this.#pieces[this.#piece];
      if (piece === undefined) {
        const made = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, bytes));
        this.#pieces.push(made);
        return made;
      }
      if (this.#at + bytes <= piece.length) return piece;
    }
  }

  #grow(): void {
    const keys = new Float64Array(this.#keys.length * 2);
    const places = new Uint32Array(this.#places.length * 2);
    keys.set(this.#keys);
    places.set(this.#places);
    this.#keys = keys;
    this.#places = places;
  }
}

/** Lines in order, one at a time. */
interface Source {
  readonly key: number;
  readonly line: string;
  /** Advances to the next line; returns false when there is none. */
  next(): boolean;
}

/** The lines that were never written. */
class Rest implements Source {
  key = 0;
  line = "";
  readonly #lines: Waiting;
  readonly #order: Uint32Array;
  #at = 0;

  constructor(lines: Waiting) {
    this.#lines = lines;
    this.#order = lines.order();
  }

  next(): boolean {
    const next = this.#order[this.#at++];
    if (next === undefined) return false;
    this.key = this.#lines.key(next);
    this.line = this.#lines.text(next).toString("utf8");
    return true;
  }
}

/** The lines of a run, read through a piece of memory. */
class Run implements Source {
  key = 0;
  line = "";
  readonly #read: Reach;
  readonly #end: number;
  #piece = Buffer.alloc(PIECE_BYTES);
  /** Offsets in the file: of the piece, and of the next line. */
  #from: number;
  #filled = 0;
  #at: number;

  constructor(read: Reach, from: number, end: number) {
    this.#read = read;
    this.#from = from;
    this.#at = from;
    this.#end = end;
  }

  next(): boolean {
    if (this.#at >= this.#end) return false;
    const head = this.#reach(HEAD_BYTES);
    const length = this.#piece.readUInt32LE(head + 8);
    this.key = this.#piece.readDoubleLE(head);
    const start = this.#reach(HEAD_BYTES + length) + HEAD_BYTES;
    this.line = this.#piece.toString("utf8", start, start + length);
    this.#at += HEAD_BYTES + length;
    return true;
  }

  /** Loads this many bytes of the next line into the piece; returns their offset in it. */
  #reach(length: number): number {
    if (this.#at + length <= this.#from + this.#filled) return this.#at - this.#from;
    if (length > this.#piece.length) this.#piece = Buffer.alloc(length * 2);
    this.#filled = Math.min(this.#piece.length, this.#end - this.#at);
    this.#from = this.#at;
    this.#read(this.#piece.subarray(0, this.#filled), this.#at);
    return 0;
  }
}

/** Sinks the source at a place of a heap until it is not above a smaller one. */
function sink(heap: Source[], from: number): void {
  for (let at = from; ; ) {
    let least = at;
    for (let child = at * 2 + 1; child <= at * 2 + 2 && child < heap.length; child++) {
      if ((heap[child] as Source).key < (heap[least] as Source).key) least = child;
    }
    if (least === at) return;
    const other = heap[least] as Source;
    heap[least] = heap[at] as Source;
    heap[at] = other;
    at = least;
  }
}
