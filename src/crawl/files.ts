/**
 * The only file of this room that touches files: items as JSON lines, in files of a bounded size, and modules by path.
 *
 *   items.jsonl ─ full ─▶ items-0001.jsonl, items-0002.jsonl, …: the plain name is the one being written
 *
 *   I1  A line is handed to the system before the page it comes from is done: a killed process loses none of them, though
 *       a page that is visited again writes its items again.
 *   I2  A line that a crash left half-written is cut at the next opening, one that the disk refused at once.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
  writevSync,
} from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { misuse } from "../base/errors.ts";
import { type Field, kind, readObject, shape, whole } from "../base/fields.ts";
import { fingerprint } from "../index.ts";
import type { Page, Pipeline } from "./module-registry.ts";
import { createCsvEnd, createCsvLines, type ItemLines } from "./report/csv-lines.ts";

/** Options of `createItemFile`. */
export interface ItemFileOptions {
  /** The file; items are appended as JSON lines, or as CSV where it ends in `.csv`. */
  readonly path: string;
  /** A file longer than this is put aside. 256 MiB unless given. */
  readonly rotateBytes?: number | undefined;
}

/** The options of a file of items, checked. */
export const ITEM_FILE: Field<ItemFileOptions> = shape<ItemFileOptions>(
  {
    path: kind("a path", (value) => typeof value === "string" && value !== ""),
    rotateBytes: whole(1),
  },
  { needed: ["path"] },
);

const ROTATE_BYTES = 256 * 1024 * 1024;
const TAIL_BYTES = 64 * 1024;
const NEWLINE = 10;

/**
 * Returns a pipeline that appends each item as one line of JSON, or of CSV by the file's ending. Throws the system's error when the file cannot be opened. Costs one
 * synchronous write an item.
 *
 * @example
 * await crawl({ seeds: "https://example.org/", pipelines: [createItemFile({ path: "items.jsonl" })] }).finished;
 */
export function createItemFile(options: ItemFileOptions): Pipeline {
  const { path, rotateBytes = ROTATE_BYTES } = readObject(
    ITEM_FILE,
    options,
    "options",
    "OPTION_INVALID",
  );
  makeFolder(dirname(resolve(path)));
  const isCsv = extname(path) === ".csv";
  const open = isCsv ? openWholeCsv : openWhole;
  let { file, bytes } = open(path);
  const lines = isCsv ? createCsvLines(bytes === 0 ? "" : headOf(path)) : JSONL;
  const write = (item: unknown): undefined => {
    const columns = lines.take(item);
    const isFull = bytes > 0 && bytes + lines.line(item).length > rotateBytes;
    if (isFull || (bytes > 0 && columns === "new")) {
      closeSync(file);
      renameSync(path, freeName(path));
      ({ file, bytes } = open(path));
    }
    const line = Buffer.from(`${bytes === 0 ? lines.head() : ""}${lines.line(item)}`);
    writeWhole(file, line, bytes);
    bytes += line.length;
    return undefined;
  };
  return { processors: [write], failFast: true, close: () => closeSync(file) };
}

/** JSON lines: without a head, and of any shape. */
const JSONL: ItemLines = Object.freeze({
  take: () => "same" as const,
  head: () => "",
  line(item: unknown) {
    const text: string | undefined = JSON.stringify(item);
    if (text !== undefined) return `${text}\n`;
    throw new TypeError(`item: a ${typeof item} (expected: a value that JSON can hold)`);
  },
});

const HEAD_BYTES = 64 * 1024;

/** The first line of a file that is not empty. */
function headOf(path: string): string {
  const file = openSync(path, "r");
  const bytes = Buffer.alloc(HEAD_BYTES);
  const count = readSync(file, bytes, 0, HEAD_BYTES, 0);
  closeSync(file);
  const [head = ""] = bytes.toString("utf8", 0, count).split("\n", 1);
  return head;
}

/** A folder of bodies. */
export type BodyFolder = ReturnType<typeof createBodyFolder>;

/** Endings by which a browser opens a body, by content type. */
const ENDINGS: Readonly<Record<string, string>> = Object.freeze({
  "text/html": "html",
  "application/xhtml+xml": "xhtml",
  "application/pdf": "pdf",
  "application/json": "json",
  "text/plain": "txt",
  "text/css": "css",
  "application/xml": "xml",
  "text/xml": "xml",
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/svg+xml": "svg",
});

/**
 * Writes each body to `<path>/<fingerprint>.<ending>` and a line of `<path>/index.jsonl`: no name of a file comes from a page. A line is
 * written after its body, so that it never names what is not there. `isFirst`: no other thread writes to it yet.
 */
export function createBodyFolder(path: string, isFirst: boolean) {
  makeFolder(resolve(path));
  if (isFirst) closeSync(openWhole(join(path, "index.jsonl")).file);
  return {
    save({ url, status, body, bytes, contentType, isTruncated }: Page): void {
      const file = `${fingerprint(url)}.${ENDINGS[contentType] ?? "bin"}`;
      writeFileSync(join(path, file), body);
      const line = { url, file, status, contentType, bytes, isTruncated };
      appendWhole(join(path, "index.jsonl"), `${JSON.stringify(line)}\n`);
    },
  };
}

/** Opens for appending, behind the last whole line; one that only lacks its line break gets it. */
function openWhole(path: string): { file: number; bytes: number } {
  const file = openSync(path, "a+");
  let end = fstatSync(file).size;
  const tail = Buffer.alloc(TAIL_BYTES);
  while (end > 0) {
    const from = Math.max(end - TAIL_BYTES, 0);
    const count = readSync(file, tail, 0, end - from, from);
    const newline = tail.lastIndexOf(NEWLINE, count - 1);
    end = newline < 0 ? from : from + newline + 1;
    if (newline >= 0) break;
  }
  const { size } = fstatSync(file);
  if (end === size) return { file, bytes: end };
  if (isWholeJson(file, end, size)) return { file, bytes: size + writeSync(file, "\n") };
  ftruncateSync(file, end);
  return { file, bytes: end };
}

/** The same for CSV. It reads the whole file: only all quotes before a line break show whether it ends a line. */
function openWholeCsv(path: string): { file: number; bytes: number } {
  const file = openSync(path, "a+");
  const last = createCsvEnd();
  const piece = Buffer.alloc(TAIL_BYTES);
  let at = 0;
  for (;;) {
    const count = readSync(file, piece, 0, TAIL_BYTES, at);
    if (count === 0) break;
    last.read(piece.subarray(0, count));
    at += count;
  }
  if (last.end < at) ftruncateSync(file, last.end);
  return { file, bytes: last.end };
}

/** Whether the bytes are an object or a list of JSON, which show their end: half a number would be one too. */
function isWholeJson(file: number, from: number, to: number): boolean {
  try {
    const bytes = Buffer.alloc(to - from);
    readSync(file, bytes, 0, bytes.length, from);
    return typeof JSON.parse(bytes.toString()) === "object";
  } catch {
    return false;
  }
}

function freeName(path: string): string {
  const ending = extname(path);
  const stem = ending === "" ? path : path.slice(0, -ending.length);
  for (let serial = 1; ; serial++) {
    const name = `${stem}-${String(serial).padStart(4, "0")}${ending}`;
    if (!existsSync(name)) return name;
  }
}

/** A file of lines that is read whole once, and then rewritten or appended to. */
export interface LineFile {
  /** Returns the whole lines of the file, and releases them. */
  takeLines(): string[];
  /** Whether a crash left half a line at its end. */
  readonly isCut: boolean;
  /** Replaces all lines atomically. */
  rewrite(lines: Iterable<string>): void;
  /** All of them, or none where it throws. */
  append(lines: readonly string[]): void;
}

export function openLineFile(path: string): LineFile {
  makeFolder(dirname(resolve(path)));
  let lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [""];
  const isCut = lines.pop() !== "";
  return {
    isCut,
    takeLines() {
      const taken = lines;
      lines = [];
      return taken;
    },
    rewrite(kept) {
      const fresh = `${path}.new`;
      const text = [...kept].map((line) => `${line}\n`).join("");
      writeFileSync(fresh, text, { mode: 0o600 });
      renameSync(fresh, path);
    },
    append: (more) => appendWhole(path, `${more.join("\n")}\n`, 0o600),
  };
}

/** Appends all of a text, or nothing where it throws. */
function appendWhole(path: string, text: string, mode?: number): void {
  const file = openSync(path, "a", mode);
  try {
    writeWhole(file, Buffer.from(text), fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}

/** The same for an open file of so many bytes: half a line would make the next one unreadable. */
function writeWhole(file: number, bytes: Buffer, size: number): void {
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  } catch (cause) {
    ftruncateSync(file, size);
    throw cause;
  }
}

/** A file of bytes that grows at its end. */
export type BlockFile = ReturnType<typeof openBlockFile>;

export function openBlockFile(path: string) {
  makeFolder(dirname(resolve(path)));
  const file = openSync(path, existsSync(path) ? "r+" : "wx+");
  let { size } = fstatSync(file);
  return {
    get size(): number {
      return size;
    },
    read(offset: number, count: number): Buffer {
      const bytes = Buffer.alloc(Math.max(Math.min(count, size - offset), 0));
      let at = 0;
      while (at < bytes.length) {
        const read = readSync(file, bytes, at, bytes.length - at, offset + at);
        if (read === 0) break;
        at += read;
      }
      return bytes.subarray(0, at);
    },
    /** Appends all parts, or nothing if it throws. */
    append(parts: readonly Uint8Array[]): void {
      const bytes = parts.reduce((sum, part) => sum + part.length, 0);
      try {
        writeAll(file, parts, { at: size, bytes });
      } catch (cause) {
        ftruncateSync(file, size);
        throw cause;
      }
      size += bytes;
    },
    truncate(given: number): void {
      ftruncateSync(file, given);
      size = given;
    },
    /** Makes the file durable and closes it; removes an empty one. */
    close(): void {
      fsyncSync(file);
      closeSync(file);
      if (size === 0) unlinkSync(path);
    },
  };
}

/** In one call of the system, unless that takes less: then the rest is written from one piece. */
function writeAll(
  file: number,
  parts: readonly Uint8Array[],
  { at, bytes }: { readonly at: number; readonly bytes: number },
): void {
  let written = writevSync(file, parts, at);
  if (written === bytes) return;
  const rest = Buffer.concat(parts);
  while (written < bytes) written += writeSync(file, rest, written, bytes - written, at + written);
}

/** Paths of the files in the same folder whose names begin like this one's. */
export function pathsLike(path: string): string[] {
  const folder = dirname(path);
  const stem = basename(path);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.startsWith(stem));
  return names.map((name) => `${path.slice(0, path.length - stem.length)}${name}`);
}

/** The absolute form of a path. */
export function wholePath(path: string): string {
  return resolve(path);
}

/** A file's text. */
export function readText(path: string): string {
  return readFileSync(path, "utf8");
}

/** A path's last part. */
export function nameOf(path: string): string {
  return basename(path);
}

/** A file of a crawl in its directory: beside the frontier's own folder, under its name. undefined: it is in memory. */
export function fileBeside(
  { directory, name = "default" }: { directory?: string | undefined; name?: string | undefined },
  ending: string,
): string | undefined {
  return directory === undefined ? undefined : `${directory}/${encodeURIComponent(name)}.${ending}`;
}

/** The lines of such a file; undefined: it is in memory. */
export function lineFileBeside(
  options: { directory?: string | undefined; name?: string | undefined },
  ending: string,
): LineFile | undefined {
  const path = fileBeside(options, ending);
  return path === undefined ? undefined : openLineFile(path);
}

/** Loads an ES module of the user by its path or URL; its exports. */
export async function loadModule(path: string | URL): Promise<Record<string, unknown>> {
  const isUrl = path instanceof URL || /^[a-z][a-z+.-]+:/i.test(path);
  const url = isUrl ? String(path) : pathToFileURL(resolve(path)).href;
  try {
    return (await import(url)) as Record<string, unknown>;
  } catch (cause) {
    throw misuse(
      "OPTION_INVALID",
      "module",
      String(path),
      `an ES module that loads: ${String(cause)}`,
    );
  }
}

/** Makes a folder with all above it. The platform's own recursive `mkdir` never ends if an existing folder refuses the name. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (cause) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
    const above = dirname(path);
    const isOrphan = (cause as NodeJS.ErrnoException).code === "ENOENT" && !existsSync(above);
    if (!isOrphan || above === path) throw cause;
    makeFolder(above);
    makeFolder(path);
  }
}
