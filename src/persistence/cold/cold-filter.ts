/**
 * The filter of a run in a file beside it, so that an opening reads a tenth of what the run takes (layout/files/cold-run.ts
 * draws the bytes).
 *
 *   run synced ─▶ fences, bits: a slice a call ─▶ header ─▶ run named ─▶ listed        opening: header, fences, bits ─▶ run
 *                                                                     └ missing, damaged, too large ─▶ made from the run, and written
 *
 *   I1  A filter file counts only with its checksums, and with a run that ends in the block whose checksum it repeats.
 *   I2  It is never needed: what it holds can be made from its run. So it is not synced.
 *
 * Crash: leaves a file without a header, a torn one, or one whose run no manifest lists. The first two do not count; the
 * next start removes the third.
 */
import { crc32 } from "node:zlib";
import {
  COLD_BLOCK_BYTES,
  COLD_BLOCK_WORDS,
  COLD_CRC_WORD,
  COLD_FILTER_BLOCKS_WORD,
  COLD_FILTER_CAPACITY_WORD,
  COLD_FILTER_HEADER_WORDS,
  COLD_FILTER_INSERTED_WORD,
  COLD_FILTER_LAST_WORD,
  COLD_FILTER_MAGIC,
  COLD_FILTER_REST_WORD,
  COLD_LEVEL_WORD,
  COLD_MAGIC_WORD,
} from "../../layout/files/cold-run.ts";
import { BLOOM_BLOCK_BYTES } from "../../layout/seen/bloom.ts";
import type { Bloom } from "../../structures/bloom/bloom.ts";
import { bloomFill, bloomLayers, bloomPiece } from "../../structures/bloom/bloom-copy.ts";
import { createColdBloomOf, giveColdBloom } from "./cold-bloom.ts";
import {
  type ColdBlock,
  type ColdPlace,
  type ColdRunFacts,
  checkColdFile,
  createColdBlock,
  sealColdBlock,
  writeColdHeader,
} from "./cold-run.ts";
import { type Files, readAll, writeAll } from "../files.ts";

/** Bytes of a slice: some tenths of a millisecond to write. */
const SLICE_BYTES = 2 ** 20;

/** What a filter file holds about its run. */
export interface ColdFilterSource {
  readonly facts: ColdRunFacts;
  /** Path of the run. */
  readonly path: string;
  readonly fences: Uint32Array;
  readonly bloom: Bloom;
  /** Checksum of the run's last block. */
  readonly lastCrc: number;
}

export interface ColdFilterWriter {
  readonly source: ColdFilterSource;
  /** −1 once it is closed. */
  file: number;
  /** Bytes behind the header that are written. */
  at: number;
  crc: number;
}

/** The name of the file beside a run. */
export function coldFilterPath(runPath: string): string {
  return runPath.replace(/cold$/, "filter");
}

/** Bytes of the file. */
export function coldFilterBytes(fences: Uint32Array, bloom: Bloom): number {
  return COLD_BLOCK_BYTES + fences.byteLength + bitsBytes(bloom);
}

export function beginColdFilter(files: Files, source: ColdFilterSource): ColdFilterWriter {
  return { source, file: files.open(coldFilterPath(source.path), "w"), at: 0, crc: 0 };
}

/** Writes the next slice; true when all of it is written and the file is closed. */
export function coldFilterStep(place: ColdPlace, writer: ColdFilterWriter): boolean {
  const { fences, bloom } = writer.source;
  const { files } = place;
  const isFences = writer.at < fences.byteLength;
  const piece = isFences
    ? new Uint8Array(fences.buffer, fences.byteOffset, fences.byteLength)
    : // A copy: not every system writes from memory that threads share.
      bloomPiece(bloom, 0, writer.at - fences.byteLength, SLICE_BYTES).slice();
  writer.crc = crc32(piece, writer.crc);
  writeAll(files, writer.file, piece, COLD_BLOCK_BYTES + writer.at);
  writer.at += piece.length;
  if (writer.at < fences.byteLength + bitsBytes(bloom)) return false;
  writeAll(files, writer.file, headerOf(place, writer), 0);
  closeColdFilter(files, writer);
  return true;
}

export function closeColdFilter(files: Files, writer: ColdFilterWriter): void {
  const { file } = writer;
  writer.file = -1;
  if (file >= 0) files.close(file);
}

/** Reads the filter of a run whose last block is given; undefined: none that counts (I1), or none that memory has room for. */
export function readColdFilter(
  place: ColdPlace,
  run: { readonly facts: ColdRunFacts; readonly path: string },
  fences: Uint32Array,
  last: ColdBlock,
): Bloom | undefined {
  const { files } = place;
  const path = coldFilterPath(run.path);
  if (!files.exists(path)) return undefined;
  const file = files.open(path, "r");
  try {
    const header = readHeader(place, run.facts, file, path);
    if (header === undefined) return undefined;
    const [blocks = 0, capacity = 0, inserted = 0] = header.subarray(COLD_FILTER_BLOCKS_WORD);
    const bytes = blocks * BLOOM_BLOCK_BYTES;
    const isWhole = files.size(file) === COLD_BLOCK_BYTES + fences.byteLength + bytes;
    if (!isWhole || blocks === 0 || capacity === 0) return undefined;
    if (header[COLD_FILTER_LAST_WORD] !== last.words[COLD_CRC_WORD]) return undefined;
    const bloom = createColdBloomOf(place, { blocks, capacity, inserted });
    if (bloom === undefined) return undefined;
    const crc = header[COLD_FILTER_REST_WORD] as number;
    if (readRest(files, file, { fences, bloom, crc })) return bloom;
    giveColdBloom(place, bloom);
    return undefined;
  } finally {
    files.close(file);
  }
}

function headerOf(place: ColdPlace, { source, crc }: ColdFilterWriter): Uint8Array {
  const words = new Uint32Array(COLD_BLOCK_WORDS);
  const [layer] = bloomLayers(source.bloom);
  writeColdHeader(words, place, { ...source.facts, level: 0 });
  words[COLD_MAGIC_WORD] = COLD_FILTER_MAGIC;
  words[COLD_FILTER_REST_WORD] = crc;
  words[COLD_FILTER_BLOCKS_WORD] = layer?.blocks ?? 0;
  words[COLD_FILTER_CAPACITY_WORD] = layer?.capacity ?? 0;
  words[COLD_FILTER_INSERTED_WORD] = layer?.inserted ?? 0;
  words[COLD_FILTER_LAST_WORD] = source.lastCrc;
  sealColdBlock(words);
  return new Uint8Array(words.buffer);
}

/** The words of a header that is whole and of this run. */
function readHeader(
  place: ColdPlace,
  facts: ColdRunFacts,
  file: number,
  path: string,
): Uint32Array | undefined {
  const { words, bytes } = createColdBlock();
  if (!readAll(place.files, file, bytes, 0)) return undefined;
  try {
    checkColdFile(place.identity, path, words, COLD_FILTER_MAGIC);
  } catch {
    return undefined; // damaged, or of another version or frontier
  }
  const expected = new Uint32Array(COLD_BLOCK_WORDS);
  writeColdHeader(expected, place, { ...facts, level: 0 });
  for (let at = COLD_MAGIC_WORD + 1; at < COLD_FILTER_BLOCKS_WORD; at++) {
    const isOwn = at === COLD_FILTER_REST_WORD || at === COLD_LEVEL_WORD;
    if (!isOwn && words[at] !== expected[at]) return undefined;
  }
  return words.subarray(COLD_FILTER_HEADER_WORDS).every((word) => word === 0) ? words : undefined;
}

/** Reads fences and bits; false: they are not what was written. */
function readRest(
  files: Files,
  file: number,
  { fences, bloom, crc }: { fences: Uint32Array; bloom: Bloom; crc: number },
): boolean {
  const first = new Uint8Array(fences.buffer, fences.byteOffset, fences.byteLength);
  if (!readAll(files, file, first, COLD_BLOCK_BYTES)) return false;
  let sum = crc32(first);
  const slice = new Uint8Array(SLICE_BYTES);
  const end = bitsBytes(bloom);
  for (let from = 0; from < end; from += SLICE_BYTES) {
    const piece = slice.subarray(0, Math.min(SLICE_BYTES, end - from));
    if (!readAll(files, file, piece, COLD_BLOCK_BYTES + fences.byteLength + from)) return false;
    sum = crc32(piece, sum);
    if (!bloomFill(bloom, 0, from, piece)) return false;
  }
  return sum === crc;
}

function bitsBytes(bloom: Bloom): number {
  return (bloomLayers(bloom)[0]?.blocks ?? 0) * BLOOM_BLOCK_BYTES;
}
