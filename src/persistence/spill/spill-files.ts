/**
 * Room `src/persistence/spill`: the spill tier on files: blocks of records for this process alone. Decides where a block
 * is stored; nothing here survives a restart.
 */

/**
 * The spill tier on files: blocks appended to segments, read whole, freed one by one (docs/formats/spill.md).
 *
 *   write ─▶ [ segment 7: block block block … ]  ◀─ open, grows to SEGMENT_BYTES
 *            [ segment 5: ░░░░░ block ░░░░░ ]    ◀─ mostly freed: its blocks move to the open one, its file is removed
 *            [ segment 4: ░░░░░░░░░░░░░░░░░ ]    ◀─ all freed: its file is removed at once
 *
 * Nothing is ever synced: the files serve this process alone and the next start removes them.
 *
 *   I1  A place names one block of one segment until it is freed; moving a block keeps its place.
 *   I2  File bytes ≤ 2 × live bytes + three segments, provided that `step` is called for every write.
 *   I3  A failed write leaves everything as it was; its bytes lie after the segment's end and are overwritten.
 *
 * Crash: files are left behind, and removed by the next `openSpillTier` of the directory.
 */
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { assert } from "../../base/assert.ts";
import { FrontierError } from "../../base/errors.ts";
import {
  SPILL_CRC_WORD,
  SPILL_HEAD_BYTES,
  SPILL_HEAD_WORDS,
  SPILL_LENGTH_WORD,
  SPILL_MAGIC,
  SPILL_NUMBER_WORD,
  SPILL_SERIAL_WORD,
  SPILL_VERSION,
} from "../../layout/files/spill-file.ts";
import type { SpillStats, SpillTier } from "../../structures/storage-tiers.ts";
import { diskError, type Files, nodeFiles, readAll, writeAll, attempt } from "../files.ts";

/** Large enough that 10⁸ records need some 150 files, small enough that a freed one is soon removed. */
const SEGMENT_BYTES = 64 * 2 ** 20;
/** Files open for reading at once. */
const READERS_MAX = 16;
/** Bytes moved for each byte written while there is something to move: I2 holds from two on. */
const MOVED_PER_WRITTEN = 2;

interface SpillTierOptions {
  readonly directory: string;
  readonly files?: Files;
  /** For tests: the size of a segment. */
  readonly segmentBytes?: number;
}

interface Segment {
  readonly serial: number;
  readonly path: string;
  /** Bytes of whole blocks, the head included. */
  size: number;
  /** Bytes of blocks that are not freed. */
  live: number;
}

interface State {
  readonly files: Files;
  readonly directory: string;
  readonly segmentBytes: number;
  readonly segments: Map<number, Segment>;
  /** The segment that grows, and its file. */
  open: Segment | undefined;
  writer: number;
  nextSerial: number;
  /** Files open for reading, the least recently used first. */
  readonly readers: Map<number, number>;
  /** By place: serial of the segment (0: free), offset in it (of a free one: the next free place + 1), bytes with head. */
  serials: Uint32Array;
  offsets: Uint32Array;
  lengths: Uint32Array;
  placeCount: number;
  /** First free place + 1. */
  freePlace: number;
  blocks: number;
  liveBytes: number;
  fileBytes: number;
  buffer: Uint8Array;
  /** The segment whose blocks are being moved, and the offset reached. */
  moving: { segment: Segment; at: number } | undefined;
}

/** Opens the tier in `directory`, which it creates; removes the files of an earlier process. */
export function openSpillTier(options: SpillTierOptions): SpillTier {
  const { directory, files = nodeFiles, segmentBytes = SEGMENT_BYTES } = options;
  files.makeDirectory(directory);
  for (const name of files.list(directory))
    if (/^spill-[0-9a-f]{8}\.seg$/.test(name)) files.remove(join(directory, name));
  const state: State = {
    ...{ files, directory, segmentBytes, segments: new Map(), open: undefined, writer: -1 },
    ...{ nextSerial: 1, readers: new Map(), placeCount: 0, freePlace: 0 },
    ...{ serials: new Uint32Array(64), offsets: new Uint32Array(64), lengths: new Uint32Array(64) },
    ...{ blocks: 0, liveBytes: 0, fileBytes: 0, buffer: new Uint8Array(2 ** 18) },
    moving: undefined,
  };
  return {
    write: (bytes) => write(state, bytes),
    read: (place, bytes) => read(state, place, bytes),
    free: (place) => free(state, place),
    step: (budget) => step(state, budget),
    clear: () => clear(state),
    stats: () => statsOf(state),
    close: () => clear(state),
  };
}

function write(state: State, bytes: Uint8Array): number {
  const place = state.freePlace === 0 ? state.placeCount : state.freePlace - 1;
  if (place === state.serials.length) growPlaces(state);
  const length = SPILL_HEAD_BYTES + bytes.length;
  const block = roomFor(state, length);
  block.set(bytes, SPILL_HEAD_BYTES);
  const at = append(state, block, place);
  if (place === state.placeCount) state.placeCount += 1;
  else state.freePlace = state.offsets[place] as number;
  setPlace(state, place, at, length);
  state.blocks += 1;
  // An error met here is met again by a read of the block concerned.
  attempt(() => void step(state, length * MOVED_PER_WRITTEN));
  return place;
}

function read(state: State, place: number, bytes: Uint8Array): void {
  const segment = segmentOf(state, place);
  const length = state.lengths[place] as number;
  assert(bytes.length === length - SPILL_HEAD_BYTES, "SpillTier: as many bytes as were written");
  const block = roomFor(state, length);
  try {
    readBlock(state, segment, state.offsets[place] as number, block);
  } catch (error) {
    throw diskError(error, segment.path);
  }
  const words = headOf(block);
  if (words[SPILL_NUMBER_WORD] !== place) throw corrupt(segment, "a block of another place");
  bytes.set(block.subarray(SPILL_HEAD_BYTES));
}

function free(state: State, place: number): void {
  const segment = segmentOf(state, place);
  const length = state.lengths[place] as number;
  segment.live -= length;
  state.liveBytes -= length;
  state.blocks -= 1;
  state.serials[place] = 0;
  state.offsets[place] = state.freePlace;
  state.freePlace = place + 1;
  if (segment.live > 0 || segment === state.moving?.segment) return;
  // A small open segment is kept, so that a block that comes and goes does not cost a file each time.
  if (segment !== state.open || segment.size > state.segmentBytes / 16) drop(state, segment);
}

/** Moves blocks out of the emptiest segment, about `budget` bytes. A full disk postpones the work. */
function step(state: State, budget: number): number {
  let left = budget;
  while (left > 0) {
    state.moving ??= worthMoving(state);
    const { moving } = state;
    if (moving === undefined) break;
    try {
      left -= moveBlock(state, moving);
    } catch (error) {
      state.moving = undefined;
      if ((diskError(error, state.directory) as FrontierError).code === "DISK_FULL") break;
      throw error;
    }
  }
  return budget - left;
}

/** Moves the next block of a segment to the open one, unless it was freed. Returns the bytes handled. */
function moveBlock(state: State, moving: NonNullable<State["moving"]>): number {
  const { segment, at } = moving;
  if (at >= segment.size || segment.live === 0) {
    state.moving = undefined;
    if (segment.live === 0) drop(state, segment);
    return SPILL_HEAD_BYTES;
  }
  const head = roomFor(state, SPILL_HEAD_BYTES);
  if (!readAll(state.files, readerOf(state, segment), head, at))
    throw corrupt(segment, "too short");
  const words = headOf(head);
  const place = words[SPILL_NUMBER_WORD] as number;
  const length = SPILL_HEAD_BYTES + (words[SPILL_LENGTH_WORD] as number);
  if (at + length > segment.size) throw corrupt(segment, "a block longer than its segment");
  const isLive = state.serials[place] === segment.serial && state.offsets[place] === at;
  if (isLive) {
    const block = roomFor(state, length);
    readBlock(state, segment, at, block);
    const to = append(state, block, place);
    segment.live -= length;
    state.liveBytes -= length;
    setPlace(state, place, to, length);
  }
  moving.at = at + length;
  return isLive ? length : SPILL_HEAD_BYTES;
}

/** The sealed segment with the fewest live bytes, once half of all file bytes are freed ones. */
function worthMoving(state: State): State["moving"] {
  if (state.fileBytes <= 2 * state.liveBytes + 2 * state.segmentBytes) return undefined;
  let best: Segment | undefined;
  for (const segment of state.segments.values()) {
    if (segment === state.open) continue;
    if (best === undefined || segment.live < best.live) best = segment;
  }
  return best === undefined ? undefined : { segment: best, at: SPILL_HEAD_BYTES };
}

/** Seals a block and writes it after the open segment's last one; returns its place. */
function append(state: State, block: Uint8Array, place: number): { serial: number; at: number } {
  try {
    const segment = openFor(state, block.length);
    const words = headOf(block);
    words[SPILL_LENGTH_WORD] = block.length - SPILL_HEAD_BYTES;
    words[SPILL_NUMBER_WORD] = place;
    words[SPILL_SERIAL_WORD] = segment.serial;
    words[SPILL_CRC_WORD] = crc32(block.subarray(4));
    writeAll(state.files, state.writer, block, segment.size);
    const at = segment.size;
    segment.size += block.length;
    state.fileBytes += block.length;
    return { serial: segment.serial, at };
  } catch (error) {
    throw diskError(error, state.directory);
  }
}

/** The open segment, or a new one when the block does not fit. */
function openFor(state: State, length: number): Segment {
  const { open, files } = state;
  if (open !== undefined && open.size + length <= state.segmentBytes) return open;
  const serial = state.nextSerial;
  const name = `spill-${serial.toString(16).padStart(8, "0")}.seg`;
  const path = join(state.directory, name);
  const writer = files.open(path, "w");
  const head = new Uint32Array(SPILL_HEAD_WORDS);
  head.set([SPILL_MAGIC, SPILL_VERSION, serial]);
  try {
    writeAll(files, writer, new Uint8Array(head.buffer), 0);
  } catch (error) {
    files.close(writer);
    attempt(() => files.remove(path));
    throw error;
  }
  if (state.writer >= 0) files.close(state.writer);
  const segment: Segment = { serial, path, size: SPILL_HEAD_BYTES, live: 0 };
  state.segments.set(serial, segment);
  state.fileBytes += SPILL_HEAD_BYTES;
  state.nextSerial += 1;
  state.writer = writer;
  state.open = segment;
  if (open !== undefined && open.live === 0) drop(state, open);
  return segment;
}

function setPlace(
  state: State,
  place: number,
  to: { serial: number; at: number },
  length: number,
): void {
  state.serials[place] = to.serial;
  state.offsets[place] = to.at;
  state.lengths[place] = length;
  (state.segments.get(to.serial) as Segment).live += length;
  state.liveBytes += length;
}

function segmentOf(state: State, place: number): Segment {
  const segment = state.segments.get(state.serials[place] ?? 0);
  assert(segment !== undefined, "SpillTier: a place that was written and not freed");
  return segment;
}

function readBlock(state: State, segment: Segment, at: number, block: Uint8Array): void {
  if (!readAll(state.files, readerOf(state, segment), block, at))
    throw corrupt(segment, "too short");
  const words = headOf(block);
  const isWhole =
    words[SPILL_CRC_WORD] === crc32(block.subarray(4)) &&
    words[SPILL_LENGTH_WORD] === block.length - SPILL_HEAD_BYTES &&
    words[SPILL_SERIAL_WORD] === segment.serial;
  if (!isWhole) throw corrupt(segment, "a block that is not as it was written");
}

function readerOf(state: State, segment: Segment): number {
  const { readers, files } = state;
  let file = readers.get(segment.serial);
  if (file !== undefined) readers.delete(segment.serial);
  else {
    if (readers.size >= READERS_MAX) closeReader(state, readers.keys().next().value as number);
    file = files.open(segment.path, "r");
  }
  readers.set(segment.serial, file);
  return file;
}

function closeReader(state: State, serial: number): void {
  const file = state.readers.get(serial);
  state.readers.delete(serial);
  if (file !== undefined) attempt(() => state.files.close(file));
}

/** Removes a segment without live blocks, and its file. */
function drop(state: State, segment: Segment): void {
  if (segment === state.open) {
    state.open = undefined;
    attempt(() => state.files.close(state.writer));
    state.writer = -1;
  }
  closeReader(state, segment.serial);
  state.segments.delete(segment.serial);
  state.fileBytes -= segment.size;
  attempt(() => state.files.remove(segment.path)); // if that fails, the next start removes it
}

function clear(state: State): void {
  state.moving = undefined;
  for (const segment of [...state.segments.values()]) drop(state, segment);
  state.serials.fill(0);
  state.placeCount = 0;
  state.freePlace = 0;
  state.blocks = 0;
  state.liveBytes = 0;
}

function statsOf(state: State): SpillStats {
  return { blocks: state.blocks, liveBytes: state.liveBytes, fileBytes: state.fileBytes };
}

function growPlaces(state: State): void {
  for (const field of ["serials", "offsets", "lengths"] as const) {
    const grown = new Uint32Array(state[field].length * 2);
    grown.set(state[field]);
    state[field] = grown;
  }
}

function roomFor(state: State, length: number): Uint8Array {
  if (state.buffer.length < length) state.buffer = new Uint8Array(length * 2);
  return state.buffer.subarray(0, length);
}

function headOf(block: Uint8Array): Uint32Array {
  return new Uint32Array(block.buffer, block.byteOffset, SPILL_HEAD_WORDS);
}

function corrupt(segment: Segment, what: string): FrontierError {
  const { path } = segment;
  const expected = "what this process wrote; what was flushed is still in snapshot and journal";
  return new FrontierError("SNAPSHOT_CORRUPT", `${path}: ${what} (expected: ${expected})`, {
    path,
  });
}
