/**
 * Room `src/persistence/directory`: the directory of one frontier: its file names, its lock, which generations stay, and
 * an overlay for tools that only read. Decides who owns the directory.
 */

/**
 * The directory of one frontier, and the names of its files (docs/formats/journal.md, snapshot.md).
 *
 *   <directory>/<name>/  lock                      the process that has it open
 *                        journal-00000001.log …    segments, in the order of their serials
 *                        snapshot-00000004.msgpack state at the beginning of segment 4
 *                        discarded                 none of these files counts: a removal that a crash interrupted
 *                        *.tmp                     unfinished: removed at the next start
 *                        *.damaged                 set aside by a start that could not read it
 */
import { join } from "node:path";
import { FrontierError, InvariantError, misuse } from "../../base/errors.ts";
import { HASH_FINAL_ROUNDS, HASH_WORD_ROUNDS } from "../../layout/seen/fingerprint.ts";
import { crcOf } from "../checksum.ts";
import { type Files, replaceFile } from "../files.ts";

/** Where a frontier's files are. */
export interface Place {
  readonly files: Files;
  /** The frontier's own directory. */
  readonly directory: string;
}

/** Properties that all files of one frontier share. */
export interface Identity {
  readonly secret: Uint32Array;
  /** The key policy as text; policies that make different keys have different texts. */
  readonly profile: string;
}

/** The keyed hash of the tables, as files record it: SipHash-1-3. */
export const HASH_ALGORITHM = HASH_WORD_ROUNDS * 16 + HASH_FINAL_ROUNDS;

/** Two words that distinguish secrets without revealing them. */
export function secretCheck(secret: Uint32Array): readonly [number, number] {
  const bytes = Buffer.from(new Uint8Array(secret.buffer, secret.byteOffset, 16));
  const first = Buffer.concat([Buffer.from("outrider cold tier"), bytes]);
  return [crcOf(first), crcOf(Buffer.concat([first, first]))];
}

const SERIAL_DIGITS = 8;

/** The directory of a name. Characters that some file systems reject are written as %XX. */
export function frontierDirectory(directory: string, name: string): string {
  for (const [field, value] of Object.entries({ directory, name })) {
    if (typeof value !== "string") throw misuse("ARGUMENT_INVALID", field, value, "a string");
  }
  const safe = Array.from(Buffer.from(name, "utf8"), (byte) => {
    const letter = String.fromCharCode(byte);
    return /[A-Za-z0-9_-]/.test(letter) ? letter : `%${byte.toString(16).padStart(2, "0")}`;
  });
  return join(directory, safe.join(""));
}

export function segmentPath(place: Place, serial: number): string {
  return join(place.directory, `journal-${padded(serial)}.log`);
}

export function snapshotPath(place: Place, serial: number): string {
  return join(place.directory, `snapshot-${padded(serial)}.msgpack`);
}

export function partialPath(place: Place, serial: number): string {
  return join(place.directory, `snapshot-${padded(serial)}.partial.msgpack`);
}

export interface DirectoryFiles {
  /** Ascending. */
  readonly segments: readonly number[];
  /** Whole ones. */
  readonly snapshots: readonly number[];
  readonly partials: readonly number[];
  readonly unfinished: readonly string[];
}

/** Lists the files of a frontier's directory. */
export function listDirectory(place: Place): DirectoryFiles {
  const names = place.files.exists(place.directory) ? place.files.list(place.directory) : [];
  return {
    segments: serials(names, /^journal-(\d+)\.log$/),
    snapshots: serials(names, /^snapshot-(\d+)\.msgpack$/),
    partials: serials(names, /^snapshot-(\d+)\.partial\.msgpack$/),
    unfinished: names.filter((name) => /^(journal|snapshot)-.*\.tmp$/.test(name)),
  };
}

const DISCARDED = "discarded";

/** Marks the place as discarded: none of its files counts from here on, even after a crash. */
export function markDiscarded(place: Place): void {
  replaceFile(place.files, join(place.directory, DISCARDED), new Uint8Array(0));
}

/** Removes the files of a discarded place, then the mark. A start that finds the mark continues the removal. */
export function removeDiscarded(place: Place): void {
  const { files, directory } = place;
  const mark = join(directory, DISCARDED);
  if (!files.exists(mark)) return;
  const { partials, segments, snapshots } = listDirectory(place);
  for (const serial of partials) files.remove(partialPath(place, serial));
  for (const serial of snapshots) files.remove(snapshotPath(place, serial));
  for (const serial of segments) files.remove(segmentPath(place, serial));
  files.syncDirectory(directory);
  files.remove(mark);
}

/** The error for a path without a frontier. */
export function noFrontierThere(path: string): FrontierError {
  const message = `${path}: no frontier (expected: the directory and the name of one)`;
  return new FrontierError("DISK_GONE", message, { path });
}

/** The error for a file whose content differs from what was written. */
export function damaged(path: string, offset: number, what: string): FrontierError {
  const expected =
    "an undamaged file; restore it from a copy, or move it away to continue without it";
  return new FrontierError(
    "SNAPSHOT_CORRUPT",
    `${path} at ${offset}: ${what} (expected: ${expected})`,
    { path, offset },
  );
}

/**
 * Returns what `apply` returns for a part of a file. An error caused by content that no frontier wrote becomes SNAPSHOT_CORRUPT with file
 * and offset; errors of the platform and of the frontier pass through.
 */
export function contentOf<T>(path: string, offset: number, apply: () => T): T {
  try {
    return apply();
  } catch (error) {
    if (!isOverContent(error)) throw error;
    throw damaged(path, offset, `invalid content: ${error.message}`);
  }
}

/** True for a failed assertion, a trap of the kernel, a value of the wrong type, and invalid msgpack. */
function isOverContent(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof FrontierError) return false;
  if (error instanceof TypeError || error instanceof RangeError) return true;
  const isPlain = Object.getPrototypeOf(error) === Error.prototype;
  if (isPlain) return (error as NodeJS.ErrnoException).code === undefined;
  return error instanceof InvariantError || error.name === "RuntimeError";
}

export function unsupported(path: string, what: string, expected: string): FrontierError {
  return new FrontierError("FORMAT_UNSUPPORTED", `${path}: ${what} (expected: ${expected})`, {
    path,
  });
}

/** The error for a format of another version, or with other hashes. */
export function otherFormat(path: string, what: string, known: string): FrontierError {
  const advice = "use the version of outrider that wrote it, or another directory";
  return unsupported(path, what, `${known}; ${advice}`);
}

export function otherProfile(path: string, profile: string, expected: string): FrontierError {
  const advice = `${expected}; open with the key policy it was made with, or in another directory`;
  return new FrontierError(
    "PROFILE_MISMATCH",
    `${path}: key profile ${profile} (expected: ${advice})`,
    { path, profile, expected },
  );
}

function padded(serial: number): string {
  return String(serial).padStart(SERIAL_DIGITS, "0");
}

function serials(names: readonly string[], pattern: RegExp): number[] {
  return names
    .flatMap((name) => pattern.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}
