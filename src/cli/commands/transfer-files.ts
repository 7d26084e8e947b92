/**
 * Files that carry a frontier, by their names: compressed when they end in .gz, standard input and output as `-`.
 *
 *   x.urls.txt with x.cursor.txt beside it    WebMagic's FileCacheQueueScheduler: lines before the cursor were polled
 *   requests.seen                             Scrapy's RFPDupeFilter: one fingerprint of 40 digits a line
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

/** The file name for standard input or output. */
export const STANDARD = "-";

/** Characters written at once. */
const WRITE_CHARS = 65_536;

/** The ending of an unfinished export's name, and the time without a write after which one counts as left over. */
const LEFT_END = ".tmp";
const LEFT_MS = 3_600_000;

/** Where an export is written. */
export interface Output {
  line(text: string): Promise<void>;
  /** Resolves when everything is written. */
  end(): Promise<void>;
  /** Called when the export broke off: removes the unfinished file, at once. */
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

/** Resolves when it accepts more, or is closed. */
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
 * A file is written beside its name and renamed when it is whole: an interrupted export leaves the old file. A pipe or a terminal is
 * written directly; a link is replaced at its target.
 */
function targetOf(path: string): { path: string; beside?: string } {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) return { path };
  const real = found === undefined ? path : realpathSync(path);
  return { path: real, beside: `${real}.${process.pid}${LEFT_END}` };
}

/**
 * Removes unfinished files of killed exports to the same name: their process is not on this machine, and no other machine has written to
 * them for an hour, by the clock of the disk itself.
 */
function removeLeft(path: string, beside: string): void {
  const folder = dirname(path);
  const now = statSync(beside).mtimeMs;
  // A user who may not read the folder may still write there.
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

/** Returns what the action returns; an error of the disk is reported under the user's name of the file. */
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

/** The lines of a file, decompressed when its name ends in .gz, or of standard input. */
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

/** How many lines of a WebMagic list were polled; undefined when the file is not one. */
export function webmagicCursor(path: string): number | undefined {
  if (!path.endsWith(".urls.txt")) return undefined;
  const cursor = path.replace(/\.urls\.txt$/, ".cursor.txt");
  if (!existsSync(cursor)) return undefined;
  // One number per poll, the last whole line counts; an empty file: a kill before the first flush.
  const last = readFileSync(cursor, "utf8").trimEnd().split("\n").at(-1) ?? "";
  return /^\d+$/.test(last) ? Number(last) : 0;
}
