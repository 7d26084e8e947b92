/**
 * Files that carry a frontier, by their names: packed where they end in .gz, standard input and output as `-`.
 *
 *   x.urls.txt with x.cursor.txt beside it    WebMagic's FileCacheQueueScheduler: lines before the cursor were polled
 *   requests.seen                             Scrapy's RFPDupeFilter: one fingerprint a line, known by its 40 digits
 *   *.txt                                     a URL a line
 *   anything else                             lines of JSON, or URLs
 */
import {
  createReadStream,
  createWriteStream,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type { Io } from "../io.ts";

/** As a file's name: standard input or output. */
export const STANDARD = "-";

/** Characters that are written at once. */
const WRITE_CHARS = 65_536;

/** How the name of an export under way ends, and how long nothing has come to one that was left. */
const LEFT_END = ".tmp";
const LEFT_MS = 3_600_000;

/** Where the answer of an export goes. */
export interface Output {
  line(text: string): Promise<void>;
  /** All of it is written. */
  end(): Promise<void>;
  /** The export broke off: what was written of its file goes. At once. */
  drop?(): void;
}

export function outputOf(path: string | undefined, io: Io): Output {
  if (path === undefined || path === STANDARD) return standardOutput(io);
  const target = targetOf(path);
  const { beside } = target;
  const file = withNamedFault(path, () => {
    if (beside === undefined) return createWriteStream(path);
    const fd = openSync(beside, "w", 0o600);
    removeLeft(target.path, beside);
    return createWriteStream(beside, { fd, flush: true });
  });
  const out: Writable = path.endsWith(".gz") ? createGzip() : file;
  if (out !== file) out.pipe(file);
  let fault: unknown;
  file.on("error", (cause) => {
    fault = faultAt(path, cause);
    out.destroy();
  });
  const buffered = bufferedBy(async (text) => {
    if (fault !== undefined) throw fault;
    if (out.destroyed) throw new Error(`${path}: the export was interrupted`);
    if (out.write(text)) return;
    await roomIn(out);
  });
  return {
    line: buffered.line,
    async end() {
      await buffered.flush();
      out.end();
      await finished(file).catch((cause: unknown) => {
        throw fault ?? cause;
      });
      if (beside !== undefined) withNamedFault(path, () => renameSync(beside, target.path));
    },
    drop() {
      out.destroy();
      file.destroy();
      if (beside !== undefined) rmSync(beside, { force: true });
    },
  };
}

/** Resolves when it takes more, or nothing more. */
function roomIn(out: Writable): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      out.off("drain", over);
      out.off("close", over);
      resolve();
    };
    out.on("drain", over);
    out.on("close", over);
  });
}

/**
 * A file is written beside its name and gets it when it is whole: an export that breaks off leaves what stood there. Where no file stands
 * (a pipe, a terminal), it goes there at once; where a link stands, what it leads to is the file.
 */
function targetOf(path: string): { path: string; beside?: string } {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) return { path };
  const real = found === undefined ? path : realpathSync(path);
  return { path: real, beside: `${real}.${process.pid}${LEFT_END}` };
}

/**
 * What a killed export left beside the same name goes, once another one is made there: its process is not on this machine, and no other
 * machine has written to it for an hour, by the clock of the disk itself.
 */
function removeLeft(path: string, beside: string): void {
  const folder = dirname(path);
  const now = statSync(beside).mtimeMs;
  // Who may not look through the folder may still write there.
  let names: readonly string[] = [];
  try {
    names = readdirSync(folder);
  } catch {}
  for (const name of names) {
    const middle = name.slice(basename(path).length, -LEFT_END.length);
    const isOurs = name === `${basename(path)}${middle}${LEFT_END}` && /^\.\d{1,9}$/.test(middle);
    if (!isOurs || isAlive(Number(middle.slice(1)))) continue;
    const left = join(folder, name);
    const found = statSync(left, { throwIfNoEntry: false });
    if (found?.isFile() === true && now - found.mtimeMs > LEFT_MS) rmSync(left, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** What an action on a file gives; what the disk says is told by the name that was given. */
function withNamedFault<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw faultAt(path, error);
  }
}

function faultAt(path: string, cause: unknown): Error {
  const { message } = cause as Error;
  return new Error(`${path}: ${message.replace(/, (open|rename|stat|scandir) '.*$/s, "")}`, {
    cause,
  });
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
