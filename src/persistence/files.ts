/**
 * Room `src/persistence`: the one door to node:fs, checksums, msgpack, and the contract of a store for whole records.
 * Every room of persistence may touch these; nothing else touches a file.
 */

/**
 * Files: the only door to node:fs. The interface is small, so that tests can pass in files that tear, fail, or lie about a sync.
 * Calls are synchronous but for those named …Later. Errors of the platform pass through; `diskFault` turns them into a
 * FrontierError with a stable code, such as DISK_FULL.
 *
 *   I1  writeAll writes all bytes or throws; readAll fills its buffer or returns false. A short write or read is never success.
 *   I2  replaceFile: after a crash at any point the name holds the old bytes or the new ones, whole.
 */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { FrontierError, type FrontierErrorCode, shown } from "../base/errors.ts";

export interface Files {
  /** "r": read; "w": write, created anew; "wx": the same, fails when it exists; "a": append; "r+": read and write. */
  open(path: string, flags: "r" | "w" | "wx" | "a" | "r+"): number;
  close(file: number): void;
  /** Returns the bytes read, 0 at the end. */
  read(file: number, bytes: Uint8Array, start: number, length: number, position: number): number;
  /** Returns the bytes written. `position` null: after the bytes written so far. */
  write(
    file: number,
    bytes: Uint8Array,
    start: number,
    length: number,
    position: number | null,
  ): number;
  /** The same off the thread, `part.length` bytes at most. Calls `done` once, later; `part` must not change until then. */
  writeLater(
    file: number,
    part: Uint8Array,
    position: number,
    done: (error: unknown, wrote: number) => void,
  ): void;
  size(file: number): number;
  truncate(file: number, size: number): void;
  /** The file's bytes are on the medium on return. */
  sync(file: number): void;
  /** The same off the thread. Calls `done` once, later, with the error if it failed. */
  syncLater(file: number, done: (error: unknown) => void): void;
  /** Whether the name exists. */
  exists(path: string): boolean;
  rename(from: string, to: string): void;
  /** Adds a second name for a file; fails with EEXIST when the name is taken. */
  link(from: string, to: string): void;
  remove(path: string): void;
  list(directory: string): string[];
  /** Creates the directory and all missing ones above it; their names are on the medium on return. */
  makeDirectory(path: string): void;
  /** Removes a directory that is empty; any other stays. */
  removeDirectory(path: string): void;
  /** Names created, renamed and removed in it are on the medium on return. */
  syncDirectory(path: string): void;
  /** The same off the thread, as `syncLater`. */
  syncDirectoryLater(path: string, done: (error: unknown) => void): void;
}

/** Without O_NONBLOCK, opening a pipe put in a file's place would wait for a writer. */
const READING = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);

/** The platform's files. */
export const nodeFiles: Files = {
  open: (path, flags) => fs.openSync(path, flags === "r" ? READING : flags, 0o600),
  close: (file) => fs.closeSync(file),
  read: fs.readSync,
  write: (file, ...part) => fs.writeSync(file, ...part),
  writeLater: (file, part, position, done) =>
    fs.write(file, part, 0, part.length, position, (error, wrote) =>
      done(error ?? undefined, wrote),
    ),
  size: (file) => fs.fstatSync(file).size,
  truncate: (file, size) => fs.ftruncateSync(file, size),
  sync: (file) => fs.fdatasyncSync(file),
  syncLater: (file, done) => fs.fdatasync(file, (error) => done(error ?? undefined)),
  exists: (path) => fs.existsSync(path),
  rename: (from, to) => fs.renameSync(from, to),
  link: (from, to) => fs.linkSync(from, to),
  remove,
  list: (directory) => fs.readdirSync(directory),
  makeDirectory,
  removeDirectory(path) {
    if (fs.existsSync(path) && fs.readdirSync(path).length === 0) removeEmptyFolder(path);
  },
  syncDirectory,
  syncDirectoryLater: (path, done) => {
    fs.open(path, "r", (fault, file) => {
      if (fault !== null) done(fault);
      else fs.fsync(file, (error) => fs.close(file, (left) => done(error ?? left ?? undefined)));
    });
  },
};

/** A file of this size or more is freed off the thread. */
const GREAT_BYTES = 2 ** 20;
/**
 * Flags to hold a file that is removed: a link in its place is not followed, a pipe not waited for. Unset where an open file keeps its
 * name.
 */
const HOLDING =
  fs.constants.O_NOFOLLOW === undefined ? undefined : READING | fs.constants.O_NOFOLLOW;

/**
 * Removes the name at once. The bytes of a large file are freed off the thread, when its last descriptor is closed: a system takes 20
 * ms for 100 MB.
 */
function remove(path: string): void {
  const held = holdGreat(path);
  try {
    fs.unlinkSync(path);
  } finally {
    if (held !== undefined) fs.close(held, () => {});
  }
}

/** Opens a large file to hold it; returns undefined when there is none, or when no descriptor is free. */
function holdGreat(path: string): number | undefined {
  if (HOLDING === undefined) return undefined;
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile() || stat.size < GREAT_BYTES) return undefined;
  try {
    return fs.openSync(path, HOLDING);
  } catch {
    return undefined;
  }
}

/**
 * Creates missing directories above it too, and makes each new name durable in the one above it. The platform's own way never returns
 * where an existing directory accepts no new one by that name.
 */
function makeDirectory(path: string): void {
  try {
    fs.mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    if (fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
    const above = dirname(path);
    const isOrphan = (cause as NodeJS.ErrnoException).code === "ENOENT" && !fs.existsSync(above);
    if (!isOrphan || above === path) throw cause;
    makeDirectory(above);
    makeDirectory(path);
    return;
  }
  try {
    syncDirectory(dirname(path));
  } catch (error) {
    // A directory that may be written but not read cannot be synced.
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
  }
}

function syncDirectory(path: string): void {
  const file = fs.openSync(path, "r");
  try {
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}

/** Writes all of `bytes` (I1). */
export function writeAll(
  files: Files,
  file: number,
  bytes: Uint8Array,
  position: number | null,
): void {
  for (let start = 0; start < bytes.length; ) {
    const at = position === null ? null : position + start;
    const wrote = unbroken(() => files.write(file, bytes, start, bytes.length - start, at));
    if (wrote <= 0) throw wroteNothing();
    start += wrote;
  }
}

/** The same off the thread. Calls `done` once, when everything is written or a write failed. */
export function writeAllLater(
  files: Files,
  { file, bytes, position }: { file: number; bytes: Uint8Array; position: number },
  done: (error: unknown) => void,
): void {
  files.writeLater(file, bytes, position, (error, wrote) => {
    if (error !== undefined && (error as NodeJS.ErrnoException).code !== "EINTR") done(error);
    else if (error === undefined && wrote <= 0) done(wroteNothing());
    else {
      const some = error === undefined ? wrote : 0;
      const rest = { file, bytes: bytes.subarray(some), position: position + some };
      if (rest.bytes.length === 0) done(undefined);
      else writeAllLater(files, rest, done);
    }
  });
}

/** Does what may fail: a failure is harmless here, and must not hide one before it. */
export function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // What failed before it is reported.
  }
}

/** Runs a call off the thread; rejects with the disk's error. */
export function later(start: (done: (error: unknown) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error === undefined ? resolve() : reject(error)));
  });
}

/** A platform may report a full disk as a write of no bytes. */
function wroteNothing(): FrontierError {
  return new FrontierError("DISK_FULL", "write: 0 bytes written (expected: room on disk)");
}

/** Fills `bytes` from `position`; returns false when the file ends too early. */
export function readAll(files: Files, file: number, bytes: Uint8Array, position: number): boolean {
  for (let start = 0; start < bytes.length; ) {
    const at = position + start;
    const got = unbroken(() => files.read(file, bytes, start, bytes.length - start, at));
    if (got <= 0) return false;
    start += got;
  }
  return true;
}

/** Repeats a call that a signal interrupted before it did anything; the platform repeats most by itself. */
function unbroken(call: () => number): number {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EINTR") throw error;
    }
  }
}

/** Larger than any file that is read whole: a segment ends at 64 MiB, after the call that fills it. */
const WHOLE_BYTES_MAX = 2 ** 32;

/** Returns the whole file, or undefined when there is none. Throws for a file of more than `most` bytes. */
export function readFile(
  files: Files,
  path: string,
  most: number = WHOLE_BYTES_MAX,
): Uint8Array | undefined {
  const file = openThere(files, path);
  if (file === undefined) return undefined;
  try {
    return named(path, () => {
      const size = files.size(file);
      if (size > most) throw notWhole(path, `${size} bytes`, `at most ${most}`);
      const bytes = new Uint8Array(size);
      if (!readAll(files, file, bytes, 0)) throw becameShorter(path);
      return bytes;
    });
  } finally {
    files.close(file);
  }
}

/** Opens a file for reading; returns undefined when there is none. */
export function openThere(files: Files, path: string): number | undefined {
  try {
    return files.open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Returns what `call` returns. Adds the path to its error, since the platform does not name an open file. */
export function named<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof Error && "syscall" in error) Object.assign(error, { path });
    throw error;
  }
}

/**
 * New file → sync → rename → sync directory (I2). `onRenamed` is called when the name stands for the new bytes. After a later error, a
 * crash may bring back either version.
 */
export function replaceFile(
  files: Files,
  path: string,
  bytes: Uint8Array,
  onRenamed?: () => void,
): void {
  const file = files.open(`${path}.tmp`, "w");
  try {
    writeAll(files, file, bytes, 0);
    files.sync(file);
  } finally {
    files.close(file);
  }
  files.rename(`${path}.tmp`, path);
  onRenamed?.();
  files.syncDirectory(dirname(path));
}

/** Copies a file, or its first bytes, to another name or to its own, durably, by the steps of replaceFile. */
export function copyFile(files: Files, from: string, to: string, size?: number): void {
  const source = files.open(from, "r");
  try {
    copyOpen(files, { source, from, size }, `${to}.tmp`);
  } finally {
    files.close(source);
  }
  files.rename(`${to}.tmp`, to);
  files.syncDirectory(dirname(to));
}

/** Copies an open file, or its first bytes, to a new file, and syncs it; 1 MiB of it is in memory at a time. */
export function copyOpen(
  files: Files,
  { source, from, size = files.size(source) }: CopySource,
  to: string,
): void {
  const target = files.open(to, "w");
  try {
    const bytes = new Uint8Array(Math.min(size, 1024 * 1024));
    for (let at = 0; at < size; at += bytes.length) {
      const part = bytes.subarray(0, Math.min(bytes.length, size - at));
      if (!readAll(files, source, part, at)) throw becameShorter(from);
      writeAll(files, target, part, at);
    }
    files.sync(target);
  } finally {
    files.close(target);
  }
}

interface CopySource {
  readonly source: number;
  readonly from: string;
  readonly size?: number | undefined;
}

export function becameShorter(path: string): FrontierError {
  return notWhole(path, "shrank while it was read", "a file that no other process changes");
}

function notWhole(path: string, what: string, expected: string): FrontierError {
  const message = `${path}: ${what} (expected: ${expected})`;
  return new FrontierError("SNAPSHOT_CORRUPT", message, { path, offset: 0 });
}

/** Creates an empty folder for the caller alone, among the system's temporary ones. */
export function temporaryFolder(): string {
  return fs.mkdtempSync(join(tmpdir(), "outrider-"));
}

/** Removes a folder with everything in it. */
export function removeFolder(path: string): void {
  fs.rmSync(path, { recursive: true, force: true });
}

/** Removes an empty folder; throws ENOTEMPTY when it is not. */
export function removeEmptyFolder(path: string): void {
  fs.rmdirSync(path);
}

/** Turns a disk's error into the FrontierError that callers see: a stable code, and what to do. */
export function diskFault(error: unknown, path: string): FrontierError {
  if (error instanceof FrontierError) return error;
  const { code = "", path: own } = error as NodeJS.ErrnoException;
  // A temporary file is reported under its final name.
  const at = typeof own === "string" && own !== `${path}.tmp` ? own : path;
  return (DISK_FAULTS[code] ?? FAILED)(at, code || shown(error), error);
}

type DiskFault = (path: string, what: string, cause: unknown) => FrontierError;

function faultOf(code: FrontierErrorCode, expected: string): DiskFault {
  return (path, what, cause) =>
    new FrontierError(code, `${path}: ${what} (expected: ${expected})`, { path, cause });
}

const FULL = faultOf("DISK_FULL", "room on disk; the frontier continues when there is some");
const READONLY = faultOf("DISK_READONLY", "a directory that this process may write to");
const GONE = faultOf("DISK_GONE", "a path that exists; check that its disk is there");
const NO_FILE = faultOf("DISK_FAILED", "a file, or nothing, by that name");
const NO_FOLDER = faultOf("DISK_FAILED", "a folder, or nothing, by that name");
const FILES = faultOf("FILES_EXHAUSTED", "free file descriptors; see ulimit -n");
const FAILED = faultOf("DISK_FAILED", "a disk that answers");
const DISK_FAULTS: Readonly<Record<string, DiskFault>> = {
  ...{
    ENOSPC: FULL,
    EDQUOT: FULL,
    EFBIG: FULL,
    EROFS: READONLY,
    EACCES: READONLY,
    EPERM: READONLY,
  },
  ...{ ENOENT: GONE, ENOTDIR: GONE, EMFILE: FILES, ENFILE: FILES },
  ...{ EISDIR: NO_FILE, ELOOP: NO_FILE, EEXIST: NO_FOLDER },
};

/** Like `diskFault`, but an error without a platform's code passes through. */
export function diskError(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? diskFault(error, path) : error;
}

/** Reads a small file of the system; "" where there is none. */
export function readText(path: string): string {
  try {
    return fs.readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** The target of a link; "" where there is none. */
export function linkTarget(path: string): string {
  try {
    return fs.readlinkSync(path);
  } catch {
    return "";
  }
}
