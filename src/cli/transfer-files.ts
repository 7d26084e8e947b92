/**
 * Files that carry a frontier, by their names: packed where they end in .gz, standard input and output as `-`.
 *
 *   x.urls.txt with x.cursor.txt beside it    WebMagic's FileCacheQueueScheduler: lines before the cursor were polled
 *   requests.seen                             Scrapy's RFPDupeFilter: one fingerprint a line, known by its 40 digits
 *   *.txt                                     a URL a line
 *   anything else                             lines of JSON, or URLs
 */
import { createReadStream, createWriteStream, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type { Io } from "./io.ts";

/** As a file's name: standard input or output. */
export const STANDARD = "-";

/** Characters that are written at once. */
const WRITE_CHARS = 65_536;

/** Where the answer of an export goes. */
export interface Output {
  line(text: string): Promise<void>;
  /** All of it is written. */
  end(): Promise<void>;
}

export function outputOf(path: string | undefined, io: Io): Output {
  if (path === undefined || path === STANDARD) return standardOutput(io);
  const file = createWriteStream(path, { mode: 0o600 });
  const out: Writable = path.endsWith(".gz") ? createGzip() : file;
  if (out !== file) out.pipe(file);
  let fault: unknown;
  file.on("error", (cause) => {
    fault = cause;
    out.destroy();
  });
  const buffered = bufferedBy(async (text) => {
    if (fault !== undefined) throw fault;
    if (out.write(text)) return;
    await new Promise<void>((resolve) => {
      out.once("drain", resolve);
      out.once("close", resolve);
    });
  });
  return {
    line: buffered.line,
    async end() {
      await buffered.flush();
      out.end();
      await finished(file);
    },
  };
}

function standardOutput(io: Io): Output {
  const buffered = bufferedBy(async (text) => {
    io.out(text);
    await io.drained?.();
  });
  return { line: buffered.line, end: buffered.flush };
}

function bufferedBy(write: (text: string) => Promise<void>): {
  line: (text: string) => Promise<void>;
  flush: () => Promise<void>;
} {
  let waiting = "";
  const flush = async (): Promise<void> => {
    const text = waiting;
    waiting = "";
    if (text !== "") await write(text);
  };
  return {
    flush,
    async line(text) {
      waiting += `${text}\n`;
      if (waiting.length >= WRITE_CHARS) await flush();
    },
  };
}

/** The lines of a file, unpacked where its name ends in .gz, or of standard input. */
export function linesOfFile(path: string): AsyncIterable<string> {
  return createInterface({ input: inputOf(path), crlfDelay: Number.POSITIVE_INFINITY });
}

function inputOf(path: string): Readable {
  if (path === STANDARD) return process.stdin;
  const input = createReadStream(path);
  if (!path.endsWith(".gz")) return input;
  const unpacked = createGunzip();
  input.on("error", (cause) => unpacked.destroy(cause));
  return input.pipe(unpacked);
}

/** Whether an export to this file is a list of URLs. */
export function isUrlList(path: string | undefined): boolean {
  return path !== undefined && /\.txt(\.gz)?$/.test(path);
}

/** How many of a WebMagic list's lines were polled; undefined: the file is none. */
export function webmagicCursor(path: string): number | undefined {
  if (!path.endsWith(".urls.txt")) return undefined;
  const cursor = path.replace(/\.urls\.txt$/, ".cursor.txt");
  if (!existsSync(cursor)) return undefined;
  // One number per poll, the last whole line counts; an empty file: a kill before the first flush.
  const last = readFileSync(cursor, "utf8").trimEnd().split("\n").at(-1) ?? "";
  return /^\d+$/.test(last) ? Number(last) : 0;
}
