/**
 * One run of the cold tier: a file of sorted (hash, value) blocks; in memory its filter and one fence key per block.
 *
 *   file    [ header ][ block 1: 340 entries ][ block 2 ] …            layout/files/cold-run.ts, docs/formats/cold-run.md
 *   memory  bloom (≈ 10 bits an entry)   fences: first hash of every block      both in a file beside it (cold-filter.ts)
 *
 *   lookup: bloom ── certainly absent ─▶ 0
 *             └─ maybe ─▶ fences ─▶ one block of 4 KiB ─▶ binary search
 *
 *   I1  Hashes ascend strictly through the whole file; no value is 0.
 *   I2  A block is trusted only after its checksum, serial and index were checked; otherwise SNAPSHOT_CORRUPT names the file.
 *   I3  Written whole, synced, then renamed to its name: a file of that name is never half a run.
 *
 * Crash: leaves a .tmp file, or a whole run that no manifest lists; both are removed on the next start.
 */
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { assert } from "../../base/assert.ts";
import { FrontierError } from "../../base/errors.ts";
import {
  COLD_ALGORITHM_WORD,
  COLD_BLOCKS_WORD,
  COLD_BLOCK_BYTES,
  COLD_BLOCK_ENTRIES_MAX,
  COLD_BLOCK_ENTRIES_WORD,
  COLD_BLOCK_HASHES_WORD,
  COLD_BLOCK_INDEX_WORD,
  COLD_BLOCK_SERIAL_WORD,
  COLD_BLOCK_VALUES_WORD,
  COLD_BLOCK_WORDS,
  COLD_COUNT_WORD,
  COLD_CRC_WORD,
  COLD_HEADER_WORDS,
  COLD_LEVEL_WORD,
  COLD_MAGIC_WORD,
  COLD_RUN_MAGIC,
  COLD_SECRET_WORD,
  COLD_SERIAL_WORD,
  COLD_VERSION,
  COLD_VERSION_MIN,
  COLD_VERSION_WORD,
} from "../../layout/files/cold-run.ts";
import { type Bloom, type BloomKernel, bloomHas } from "../../structures/bloom/bloom.ts";
import { isColdValue } from "../../structures/storage-tiers.ts";
import { type Files, readAll } from "../files.ts";

/** The hash function and the secret of the hashes: a tier of another frontier is refused. */
export interface ColdIdentity {
  readonly algorithm: number;
  /** Two words derived from the secret, not the secret. */
  readonly secretCheck: readonly [lo: number, hi: number];
}

export interface ColdPlace {
  readonly kernel: BloomKernel;
  readonly files: Files;
  readonly directory: string;
  readonly identity: ColdIdentity;
  readonly bitsPerEntry: number;
  /** Runs of lower serials are of earlier processes: passing values in them no longer count. */
  readonly firstOwn: number;
  /** Bytes of all runs' filters, and their upper bound. */
  readonly filters: { bytes: number; bytesMax: number };
}

/** The part of a place that a reader of runs needs. */
export type ColdReading = Pick<ColdPlace, "files" | "directory" | "identity">;

/** The manifest's fields about a run. */
export interface ColdRunFacts {
  readonly serial: number;
  readonly level: number;
  readonly count: number;
}

export interface ColdRun extends ColdRunFacts {
  readonly path: string;
  readonly file: number;
  readonly blockCount: number;
  /** First hash of each block: lo, hi. */
  readonly fences: Uint32Array;
  readonly bloom: Bloom;
  /** The block that a lookup read last. */
  readonly block: ColdBlock;
  /** A block of it could not be read: it is asked, and never merged. */
  isDamaged: boolean;
}

/** A block of a file in memory, with the views its readers need. */
export interface ColdBlock {
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  readonly hashes: Uint32Array;
  readonly values: Uint32Array;
  /** Serial of the run and index of the block that it holds now; 0: none. */
  serial: number;
  index: number;
}

export function createColdBlock(words = new Uint32Array(COLD_BLOCK_WORDS)): ColdBlock {
  return {
    words,
    bytes: new Uint8Array(words.buffer, words.byteOffset, words.byteLength),
    hashes: words.subarray(COLD_BLOCK_HASHES_WORD, COLD_BLOCK_VALUES_WORD),
    values: words.subarray(COLD_BLOCK_VALUES_WORD),
    serial: 0,
    index: 0,
  };
}

/** The run's file name. */
export function coldRunName(serial: number): string {
  return `run-${serial.toString(16).padStart(8, "0")}.cold`;
}

/** Returns the value of a hash in one run, or 0. Reads at most one block, and counts it in `reads.count`. Throws SNAPSHOT_CORRUPT. */
export function coldRunFind(
  place: ColdPlace,
  run: ColdRun,
  reads: { count: number },
  hash: { lo: number; hi: number },
): number {
  const { lo, hi } = hash;
  const { block } = run;
  if (!bloomHas(run.bloom, lo, hi)) return 0;
  const index = lastAtMost(run.fences, run.blockCount, lo, hi) + 1;
  if (index === 0) return 0;
  if (block.serial === 0 || block.index !== index) {
    reads.count += 1;
    readColdBlock(place, run, index, block);
  }
  const entries = block.words[COLD_BLOCK_ENTRIES_WORD] as number;
  const at = lastAtMost(block.hashes, entries, lo, hi);
  if (at < 0 || block.hashes[at * 2] !== lo || block.hashes[at * 2 + 1] !== hi) return 0;
  const value = block.values[at] as number;
  if (!isColdValue(value)) throw corrupt(run.path, index, "an entry with an impossible value");
  return value;
}

/** Reads block `index` (from 1) and checks it (I2). */
export function readColdBlock(
  place: Pick<ColdReading, "files">,
  run: { serial: number; path: string; file: number },
  index: number,
  block: ColdBlock,
): void {
  block.serial = 0;
  const { words, bytes } = block;
  if (!readAll(place.files, run.file, bytes, index * COLD_BLOCK_BYTES))
    throw corrupt(run.path, index, "the file ends before this block");
  if (!isSealed(words, bytes)) throw corrupt(run.path, index, "wrong checksum");
  const entries = words[COLD_BLOCK_ENTRIES_WORD] as number;
  if (words[COLD_BLOCK_SERIAL_WORD] !== run.serial || words[COLD_BLOCK_INDEX_WORD] !== index)
    throw corrupt(run.path, index, "a block of another place");
  if (entries === 0 || entries > COLD_BLOCK_ENTRIES_MAX)
    throw corrupt(run.path, index, "impossible number of entries");
  block.serial = run.serial;
  block.index = index;
}

/** Fills `words` with a run's header. */
export function writeColdHeader(
  words: Uint32Array,
  place: Pick<ColdReading, "identity">,
  facts: ColdRunFacts,
): void {
  const { algorithm, secretCheck } = place.identity;
  words.fill(0);
  words[COLD_MAGIC_WORD] = COLD_RUN_MAGIC;
  words[COLD_VERSION_WORD] = COLD_VERSION;
  words[COLD_ALGORITHM_WORD] = algorithm;
  words.set(secretCheck, COLD_SECRET_WORD);
  words[COLD_SERIAL_WORD] = facts.serial;
  words[COLD_LEVEL_WORD] = facts.level;
  words[COLD_COUNT_WORD] = facts.count;
  words[COLD_COUNT_WORD + 1] = Math.floor(facts.count / 2 ** 32);
  words[COLD_BLOCKS_WORD] = Math.ceil(facts.count / COLD_BLOCK_ENTRIES_MAX);
  sealColdBlock(words);
}

/** Opens a run that the manifest lists. */
export function openListedRun(files: Files, path: string): number {
  try {
    return files.open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw corrupt(path, 0, "the manifest lists it, the file is missing");
  }
}

/** Reads a run's header and checks it against the manifest. */
export function checkColdHeader(
  place: ColdReading,
  run: ColdRunFacts & { path: string; file: number },
  block: ColdBlock,
): void {
  block.serial = 0;
  const { words, bytes } = block;
  if (!readAll(place.files, run.file, bytes, 0)) throw corrupt(run.path, 0, "incomplete header");
  checkColdFile(place.identity, run.path, words, COLD_RUN_MAGIC);
  const have = words.slice(0, COLD_HEADER_WORDS);
  const version = have[COLD_VERSION_WORD] as number;
  const isBlank = words.subarray(COLD_HEADER_WORDS).every((word) => word === 0);
  writeColdHeader(words, place, run);
  words[COLD_VERSION_WORD] = version; // checked above
  const isEqual = have.every((word, at) => at === COLD_CRC_WORD || word === words[at]);
  if (!isEqual || !isBlank) throw corrupt(run.path, 0, "header and manifest differ");
  // Computed from the manifest: the header holds only the low 32 bits.
  const blocks = Math.ceil(run.count / COLD_BLOCK_ENTRIES_MAX);
  if (place.files.size(run.file) !== (blocks + 1) * COLD_BLOCK_BYTES)
    throw corrupt(run.path, blocks, "the file's size is not that of its blocks");
}

/** Checks checksum, magic, version and identity, in this order: every file of the tier begins with them. */
export function checkColdFile(
  identity: ColdIdentity,
  path: string,
  words: Uint32Array,
  magic: number,
): void {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  if (!isSealed(words, bytes)) throw corrupt(path, 0, "wrong checksum");
  if (words[COLD_MAGIC_WORD] !== magic) throw corrupt(path, 0, "wrong magic");
  const version = words[COLD_VERSION_WORD] as number;
  if (version < COLD_VERSION_MIN || version > COLD_VERSION) {
    const known = `version ${COLD_VERSION_MIN} to ${COLD_VERSION}`;
    const expected = `${known}; use the version of outrider that wrote it, or another directory`;
    const message = `${path}: version ${version} (expected: ${expected})`;
    throw new FrontierError("FORMAT_UNSUPPORTED", message, { path });
  }
  const [lo, hi] = identity.secretCheck;
  if (
    words[COLD_ALGORITHM_WORD] !== identity.algorithm ||
    words[COLD_SECRET_WORD] !== lo >>> 0 ||
    words[COLD_SECRET_WORD + 1] !== hi >>> 0
  ) {
    const expected = "the hash algorithm and secret of this frontier";
    const message = `${path}: hashes of another frontier (expected: ${expected})`;
    throw new FrontierError("PROFILE_MISMATCH", message, { path });
  }
}

/** Writes the checksum of words 1 … into word 0. */
export function sealColdBlock(words: Uint32Array): void {
  const bytes = new Uint8Array(words.buffer, words.byteOffset + 4, words.byteLength - 4);
  words[COLD_CRC_WORD] = crc32(bytes);
}

export function corrupt(path: string, block: number, reason: string): FrontierError {
  return new FrontierError("SNAPSHOT_CORRUPT", `${path}, block ${block}: ${reason}`, {
    path,
    block,
    offset: block * COLD_BLOCK_BYTES,
    reason,
  });
}

/** Path of a run in its directory. */
export function coldRunPath(place: Pick<ColdReading, "directory">, serial: number): string {
  return join(place.directory, coldRunName(serial));
}

function isSealed(words: Uint32Array, bytes: Uint8Array): boolean {
  return words[COLD_CRC_WORD] === crc32(bytes.subarray(4));
}

/** The last of `count` ascending hashes that is at most (lo, hi); −1 when all are greater. @hot */
export function lastAtMost(hashes: Uint32Array, count: number, lo: number, hi: number): number {
  assert(hashes.length >= count * 2, "lastAtMost: count");
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const there = hashes[middle * 2 + 1] as number;
    if (there < hi || (there === hi && (hashes[middle * 2] as number) <= lo)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Whether `count` hashes, one at least, ascend, the first one after `last`, if there is one before. @hot */
export function isAscending(hashes: Uint32Array, count: number, last?: Uint32Array): boolean {
  let lo = last === undefined ? -1 : (last[0] as number);
  let hi = last === undefined ? -1 : (last[1] as number);
  for (let at = 0; at < count * 2; at += 2) {
    const nextLo = hashes[at] as number;
    const nextHi = hashes[at + 1] as number;
    if (nextHi < hi || (nextHi === hi && nextLo <= lo)) return false;
    lo = nextLo;
    hi = nextHi;
  }
  return true;
}

/** Whether a cold tier may hold all of `count` values. @hot */
export function areCold(values: Uint32Array, count: number): boolean {
  for (let at = 0; at < count; at++) if (!isColdValue(values[at] as number)) return false;
  return true;
}
