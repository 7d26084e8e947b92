/**
 * Writes runs of the cold tier from end to end.
 *
 *   entries, ascending ─▶ block ─▶ 16 blocks at once ─▶ <name>.tmp ── header, sync, rename, sync directory ─▶ <name>
 *
 *   I1  No file has the run's name before every byte of it is on the medium.
 *   I2  An appended entry that breaks the order stops the engine.
 */
import { assert } from "../../base/assert.ts";
import {
  COLD_BLOCK_BYTES,
  COLD_BLOCK_ENTRIES_MAX,
  COLD_BLOCK_ENTRIES_WORD,
  COLD_BLOCK_HASHES_WORD,
  COLD_BLOCK_INDEX_WORD,
  COLD_BLOCK_SERIAL_WORD,
  COLD_BLOCK_VALUES_WORD,
  COLD_BLOCK_WORDS,
  COLD_CRC_WORD,
} from "../../layout/files/cold-run.ts";
import { type Bloom, bloomInsertWords } from "../../structures/bloom/bloom.ts";
import { createColdBloom, giveColdBloom } from "./cold-bloom.ts";
import {
  beginColdFilter,
  type ColdFilterWriter,
  closeColdFilter,
  coldFilterPath,
  coldFilterStep,
} from "./cold-filter.ts";
import {
  type ColdPlace,
  type ColdRun,
  areCold,
  coldRunPath,
  createColdBlock,
  isAscending,
  sealColdBlock,
  writeColdHeader,
} from "./cold-run.ts";
import type { MediumWait } from "../../structures/storage-tiers.ts";
import { type Files, writeAll, attempt } from "../files.ts";

/** Blocks per write: 64 KiB. */
const WRITE_BLOCKS = 16;

export interface ColdWriter {
  readonly place: ColdPlace;
  readonly serial: number;
  readonly level: number;
  readonly path: string;
  /** The .tmp file, then the finished one; −1 while neither is open. */
  file: number;
  /** True once a manifest on disk may list the run: its file then stays in every case. */
  isListed: boolean;
  readonly bloom: Bloom;
  fences: Uint32Array;
  readonly words: Uint32Array;
  /** Entries appended. */
  count: number;
  /** Blocks begun; blocks written to the file. */
  blocks: number;
  written: number;
  /** The hash appended last: lo, hi. */
  readonly last: Uint32Array;
  /** Checksum of the last block written. */
  lastCrc: number;
  /** Set when its bytes are on their way to the medium off the thread. */
  sync: { isDone: boolean; error: unknown } | undefined;
  /** The file of its filter, begun when all blocks are written. */
  filter: ColdFilterWriter | undefined;
}

/** Begins a run of about `capacity` entries; more of them raise its filter's rate of false positives. */
export function beginColdRun(
  place: ColdPlace,
  serial: number,
  level: number,
  capacity: number,
): ColdWriter {
  const path = coldRunPath(place, serial);
  const bloom = createColdBloom(place, capacity);
  let file: number;
  try {
    file = place.files.open(`${path}.tmp`, "w");
  } catch (error) {
    giveColdBloom(place, bloom);
    throw error;
  }
  return {
    ...{ place, serial, level, path, file, isListed: false, bloom },
    fences: new Uint32Array(Math.ceil(capacity / COLD_BLOCK_ENTRIES_MAX) * 2 + 2),
    words: new Uint32Array(WRITE_BLOCKS * COLD_BLOCK_WORDS),
    ...{ count: 0, blocks: 0, written: 0, last: new Uint32Array(2), lastCrc: 0 },
    ...{ sync: undefined, filter: undefined },
  };
}

/** Appends the next entries: lo, hi each, and their values. Writes the blocks that are full. @hot */
export function coldAppend(
  writer: ColdWriter,
  hashes: Uint32Array,
  values: Uint32Array,
  count: number,
): void {
  if (count === 0) return;
  assert(isAscending(hashes, count, writer.count > 0 ? writer.last : undefined), "I2: ascending");
  assert(
    areCold(values, count),
    "no handle of a live record, and no answer of the hot table, is stored",
  );
  for (let row = 0; row < count; ) {
    const at = writer.count % COLD_BLOCK_ENTRIES_MAX;
    if (at === 0) beginBlock(writer, hashes[row * 2] as number, hashes[row * 2 + 1] as number);
    const size = Math.min(count - row, COLD_BLOCK_ENTRIES_MAX - at);
    const start = (writer.blocks - writer.written - 1) * COLD_BLOCK_WORDS;
    const hashAt = start + COLD_BLOCK_HASHES_WORD + at * 2;
    writer.words.set(hashes.subarray(row * 2, (row + size) * 2), hashAt);
    writer.words.set(values.subarray(row, row + size), start + COLD_BLOCK_VALUES_WORD + at);
    writer.count += size;
    row += size;
  }
  writer.last.set(hashes.subarray(count * 2 - 2, count * 2));
}

function beginBlock(writer: ColdWriter, lo: number, hi: number): void {
  if (writer.blocks - writer.written === WRITE_BLOCKS) writeBlocks(writer);
  if (writer.blocks * 2 === writer.fences.length) growFences(writer);
  writer.fences[writer.blocks * 2] = lo;
  writer.fences[writer.blocks * 2 + 1] = hi;
  writer.blocks += 1;
}

/**
 * Writes the remaining blocks and has all brought to the medium; true once they are there. The run has at least one entry. A sync that
 * runs off the thread has a descriptor of its own: an error is reported to each descriptor once.
 */
export function syncColdRun(writer: ColdWriter, wait: MediumWait): boolean {
  const { file, path, place, sync } = writer;
  if (sync?.error !== undefined) throw sync.error;
  if (sync?.isDone === true) return true;
  if (sync === undefined) writeRest(writer);
  if (wait === "here") place.files.sync(file);
  else if (sync === undefined) writer.sync = syncBeside(place.files, `${path}.tmp`);
  return wait === "here";
}

/** Whether a run's bytes are on their way to the medium off the thread. */
export function isSyncingColdRun({ sync }: ColdWriter): boolean {
  return sync?.isDone === false;
}

function syncBeside(files: Files, path: string): ColdWriter["sync"] {
  const file = files.open(path, "r+");
  const sync = { isDone: false, error: undefined as unknown };
  files.syncLater(file, (error) => {
    Object.assign(sync, { isDone: true, error });
    attempt(() => files.close(file));
  });
  return sync;
}

function writeRest(writer: ColdWriter): void {
  const { place, serial, level, count, words } = writer;
  assert(count > 0, "syncColdRun: entries");
  writeBlocks(writer);
  const header = words.subarray(0, COLD_BLOCK_WORDS);
  writeColdHeader(header, place, { serial, level, count });
  writeAll(place.files, writer.file, asBytes(header), 0);
}

/** Writes the next slice of the filter of a synced run; true when all of it is written. */
export function filterColdRun(writer: ColdWriter): boolean {
  const { place, serial, level, path, count, bloom, blocks, lastCrc } = writer;
  if (writer.filter === undefined) {
    const fences = writer.fences.slice(0, blocks * 2);
    const facts = { serial, level, count };
    writer.filter = beginColdFilter(place.files, { facts, path, fences, bloom, lastCrc });
  }
  return coldFilterStep(place, writer.filter);
}

/** Renames the synced run to its final name (I1) and opens it for lookups. */
export function nameColdRun(writer: ColdWriter): ColdRun {
  const { place, serial, level, path, count, bloom, blocks } = writer;
  const { files } = place;
  closeWriter(writer);
  files.rename(`${path}.tmp`, path);
  files.syncDirectory(place.directory);
  const file = files.open(path, "r");
  writer.file = file;
  const fences = writer.fences.slice(0, blocks * 2);
  const block = createColdBlock();
  const own = { path, file, blockCount: blocks, fences, bloom, block, isDamaged: false };
  return { serial, level, count, ...own };
}

/** Removes everything left of a run that will not be used. Never throws. */
export function dropColdRun(writer: ColdWriter): void {
  const { files } = writer.place;
  giveColdBloom(writer.place, writer.bloom);
  attempt(() => closeWriter(writer));
  if (writer.isListed) return; // the next start reads which manifest survived
  attempt(() => files.remove(`${writer.path}.tmp`));
  attempt(() => files.remove(writer.path));
  attempt(() => files.remove(coldFilterPath(writer.path)));
}

/** Closes a run; with `isRemoved`, removes its file too. If that fails, the next start removes it. */
export function releaseColdRun(place: ColdPlace, run: ColdRun, isRemoved: boolean): void {
  giveColdBloom(place, run.bloom);
  attempt(() => place.files.close(run.file));
  if (!isRemoved) return;
  attempt(() => place.files.remove(run.path));
  attempt(() => place.files.remove(coldFilterPath(run.path)));
}

/** Seals the buffered blocks, adds them to the filter and writes them at their place. */
function writeBlocks(writer: ColdWriter): void {
  const { words, blocks, written, serial, place } = writer;
  const pending = blocks - written;
  for (let i = 0; i < pending; i++) {
    const block = words.subarray(i * COLD_BLOCK_WORDS, (i + 1) * COLD_BLOCK_WORDS);
    const index = written + i + 1;
    const before = (index - 1) * COLD_BLOCK_ENTRIES_MAX;
    const entries = Math.min(writer.count - before, COLD_BLOCK_ENTRIES_MAX);
    block[COLD_BLOCK_SERIAL_WORD] = serial;
    block[COLD_BLOCK_INDEX_WORD] = index;
    block[COLD_BLOCK_ENTRIES_WORD] = entries;
    sealColdBlock(block);
    writer.lastCrc = block[COLD_CRC_WORD] as number;
    bloomInsertWords(writer.bloom, block.subarray(COLD_BLOCK_HASHES_WORD), entries);
  }
  const bytes = asBytes(words.subarray(0, pending * COLD_BLOCK_WORDS));
  writeAll(place.files, writer.file, bytes, (written + 1) * COLD_BLOCK_BYTES);
  words.fill(0);
  writer.written = blocks;
}

/** Grows the fences when more entries come than `capacity` announced. */
function growFences(writer: ColdWriter): void {
  const fences = new Uint32Array(writer.fences.length * 2);
  fences.set(writer.fences);
  writer.fences = fences;
}

function closeWriter(writer: ColdWriter): void {
  const { file, filter, place } = writer;
  writer.file = -1;
  if (file >= 0) place.files.close(file);
  if (filter !== undefined) closeColdFilter(place.files, filter);
}

function asBytes(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}
