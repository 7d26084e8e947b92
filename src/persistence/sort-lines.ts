/**
 * LineSorter: lines in the order of their keys, however many there are: those that do not fit into memory together stand in runs on disk,
 * each in order, which are read side by side at the end.
 *
 *   add ─▶ lines of RUN_BYTES in all ─▶ sorted ─▶ a run ┐
 *                                                 a run ├─▶ the lowest first ─▶ lines
 *   run := { key f64 | length u32 | text }        a run ┘
 *
 *   I1  Lines of one key that are the same come once: a snapshot may copy a record twice that came back from disk meanwhile.
 *   I2  All runs stand in one file, one behind the other: a process may have few files open.
 *
 * Crash: the file is left; it means nothing to anybody, so it belongs into a folder of that sort.
 */
import { becameShorter, type Files, readAll, writeAll } from "./files.ts";

const RUN_BYTES = 16 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
const HEAD_BYTES = 12;

interface Keyed {
  readonly key: number;
  readonly line: string;
}

export class LineSorter {
  readonly #files: Files;
  readonly #path: string;
  readonly #runBytes: number;
  #file: { readonly written: number; readonly read: number } | undefined;
  /** Where each run ends in the file. */
  readonly #ends: number[] = [];
  #waiting: Keyed[] = [];
  #bytes = 0;

  /** `path`: the file of the runs; `runBytes`: of text held in memory, for tests that want many. */
  constructor(files: Files, path: string, runBytes = RUN_BYTES) {
    this.#files = files;
    this.#path = path;
    this.#runBytes = runBytes;
  }

  add(key: number, line: string): void {
    this.#waiting.push({ key, line });
    this.#bytes += line.length;
    if (this.#bytes >= this.#runBytes) this.#write();
  }

  /** All of them in order, each once (I1). Nothing may be added any more. */
  *lines(): Generator<string> {
    const sources: Source[] = this.#ends.map((end, run) => {
      return new Run(this.#reach, this.#ends[run - 1] ?? 0, end);
    });
    sources.push(new Rest(sorted(this.#waiting)));
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
    const lines = sorted(this.#waiting);
    const size = lines.reduce((sum, { line }) => sum + HEAD_BYTES + Buffer.byteLength(line), 0);
    const bytes = Buffer.alloc(size);
    let at = 0;
    for (const { key, line } of lines) {
      const length = bytes.write(line, at + HEAD_BYTES, "utf8");
      bytes.writeDoubleLE(key, at);
      bytes.writeUInt32LE(length, at + 8);
      at += HEAD_BYTES + length;
    }
    this.#file ??= this.#opened();
    const from = this.#ends.at(-1) ?? 0;
    writeAll(this.#files, this.#file.written, bytes, from);
    this.#ends.push(from + size);
    this.#waiting = [];
    this.#bytes = 0;
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

/** Fills a part of memory with what the file holds from there on. */
type Reach = (part: Uint8Array, at: number) => void;

function sorted(lines: Keyed[]): Keyed[] {
  return lines.sort((one, other) => one.key - other.key);
}

/** Lines in order, one at a time. */
interface Source {
  readonly key: number;
  readonly line: string;
  /** Goes on to the next; false: there is none. */
  next(): boolean;
}

/** Those that were never written. */
class Rest implements Source {
  key = 0;
  line = "";
  readonly #lines: readonly Keyed[];
  #at = 0;

  constructor(lines: readonly Keyed[]) {
    this.#lines = lines;
  }

  next(): boolean {
    const next = this.#lines[this.#at++];
    if (next === undefined) return false;
    this.key = next.key;
    this.line = next.line;
    return true;
  }
}

/** Those of a run, through a piece of memory. */
class Run implements Source {
  key = 0;
  line = "";
  readonly #read: Reach;
  readonly #end: number;
  #piece = Buffer.alloc(PIECE_BYTES);
  /** Of the file: what the piece holds, and where the next line begins. */
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

  /** So many bytes of the next line are in the piece; where in it. */
  #reach(length: number): number {
    if (this.#at + length <= this.#from + this.#filled) return this.#at - this.#from;
    if (length > this.#piece.length) this.#piece = Buffer.alloc(length * 2);
    this.#filled = Math.min(this.#piece.length, this.#end - this.#at);
    this.#from = this.#at;
    this.#read(this.#piece.subarray(0, this.#filled), this.#at);
    return 0;
  }
}

/** Puts the source at a place of a heap where it belongs among those below it. */
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
