/**
 * Checks every invariant of a fingerprint table over all of its bytes: for tests and for `verify`
 * runs. It reads with its own arithmetic, not with the kernel's.
 */
import { assert } from "../../base/assert.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import {
  SEGMENT_DEPTH_WORD,
  SEGMENT_FULL_OFFSET,
  SEGMENT_LINES_WORD,
  SEGMENT_PREFIX_WORD,
  SEGMENT_REMOVED_WORD,
  SEGMENT_SLOTS_WORD,
  SEGMENT_USED_WORD,
  TABLE_COUNT_WORD,
  TABLE_DIRECTORY_BITS,
  TABLE_DIRECTORY_COUNT,
  TABLE_DIRECTORY_OFFSET,
  TABLE_FILTER_OFFSET,
  TABLE_FIRST_PAGES,
  TABLE_GROUP_LINES,
  TABLE_HEADER_HASHES,
  TABLE_HEADER_VALUES_WORD,
  TABLE_LINE_SLOTS_BARE,
  TABLE_LINE_SLOTS_VALUED,
  TABLE_LINE_VALUES_BYTES,
  TABLE_REMOVED_HASH,
  TABLE_REMOVED_WORD,
  TABLE_RUN_LINES,
  TABLE_SEGMENT_COUNT_WORD,
  TABLE_UNIT_LINES,
} from "../../layout/seen/table.ts";
import { type FingerprintTable, segmentsOf, unitsOf } from "./table-growth.ts";

/** One segment with what the checks need at hand. */
interface Segment {
  readonly u32: Uint32Array;
  readonly word: number;
  readonly units: readonly number[];
  readonly lines: number;
  readonly depth: number;
  readonly perLine: number;
  readonly isValued: boolean;
  /** Groups already known to have no empty slot. */
  readonly fullGroups: Set<number>;
}

interface Tally {
  used: number;
  removed: number;
  readonly hashes: bigint[];
}

/** Throws InvariantError when the table breaks an invariant of assembly/seen/table.ts. */
export function verifyTable(table: FingerprintTable): void {
  const { u32 } = table.kernel.region.views;
  const header = table.offset / 4;
  const segments = segmentsOf(table);
  const pages = new Set<number>();
  let count = 0;
  for (let hash = 0; hash < TABLE_HEADER_HASHES; hash++) {
    if (u32[header + TABLE_HEADER_VALUES_WORD + hash] !== 0) count++;
  }
  let removed = 0;
  verifyDirectory(table, segments);
  for (const offset of segments) {
    const segment = segmentAt(table, offset);
    for (const unit of segment.units) {
      assert(unit !== 0 && unit % REGION_PAGE_BYTES === 0, "a unit is a page");
      assert(!pages.has(unit), "no page belongs to two segments");
      pages.add(unit);
    }
    const tally = verifySegment(segment);
    count += tally.used - tally.removed;
    removed += tally.removed;
  }
  assert(u32[header + TABLE_COUNT_WORD] === count, "count = live entries");
  assert(u32[header + TABLE_REMOVED_WORD] === removed, "removed = entries without a value");
  assert(u32[header + TABLE_SEGMENT_COUNT_WORD] === segments.length, "segmentCount");
  assert(table.descriptorCount === segments.length, "one descriptor per segment");
  const held = TABLE_FIRST_PAGES + table.descriptorPages.length + pages.size;
  assert(table.pageCount === held, "pageCount = pages held");
}

/** Every directory entry names the segment whose prefix it has. */
function verifyDirectory(table: FingerprintTable, segments: readonly number[]): void {
  const { u32 } = table.kernel.region.views;
  const directory = (table.offset + TABLE_DIRECTORY_OFFSET) / 4;
  let index = 0;
  for (const segment of segments) {
    const depth = u32[segment / 4 + SEGMENT_DEPTH_WORD] as number;
    const span = 1 << (TABLE_DIRECTORY_BITS - depth);
    assert(
      u32[segment / 4 + SEGMENT_PREFIX_WORD] === index / span,
      "a segment's prefix is its place",
    );
    for (const end = index + span; index < end; index++) {
      assert(u32[directory + index] === segment, "the directory names each segment all along");
    }
  }
  assert(index === TABLE_DIRECTORY_COUNT, "segments cover the directory");
}

function segmentAt(table: FingerprintTable, offset: number): Segment {
  const { u32 } = table.kernel.region.views;
  const word = offset / 4;
  return {
    u32,
    word,
    units: unitsOf(table, offset),
    lines: u32[word + SEGMENT_LINES_WORD] as number,
    depth: u32[word + SEGMENT_DEPTH_WORD] as number,
    perLine: table.isValued ? TABLE_LINE_SLOTS_VALUED : TABLE_LINE_SLOTS_BARE,
    isValued: table.isValued,
    fullGroups: new Set(),
  };
}

function verifySegment(segment: Segment): Tally {
  const { u32, word, lines, perLine } = segment;
  const tally: Tally = { used: 0, removed: 0, hashes: [] };
  assert(u32[word + SEGMENT_SLOTS_WORD] === lines * perLine, "slots = lines × slots per line");
  for (let line = 0; line < lines; line++) verifyLine(segment, line, tally);
  if (segment.isValued) verifyMap(segment);
  verifyDistinct(BigUint64Array.from(tally.hashes));
  assert(u32[word + SEGMENT_USED_WORD] === tally.used, "used = slots in use");
  assert(u32[word + SEGMENT_REMOVED_WORD] === tally.removed, "removed = slots without a value");
  assert(tally.used < lines * perLine, "I2: a segment keeps an empty slot");
  return tally;
}

function verifyLine(segment: Segment, line: number, tally: Tally): void {
  const { u32, perLine, depth, word } = segment;
  const at = lineWord(segment, line);
  let hasEnded = false;
  for (let slot = 0; slot < perLine; slot++) {
    const lo = u32[at + 2 * slot] as number;
    const hi = u32[at + 2 * slot + 1] as number;
    if (lo === 0 && hi === 0) {
      hasEnded = true;
      continue;
    }
    assert(!hasEnded, "I2: empty slots come last in a line");
    tally.used++;
    if (!segment.isValued && hi === 0 && lo === TABLE_REMOVED_HASH) {
      tally.removed++;
      continue;
    }
    assert(hi !== 0 || lo >= TABLE_HEADER_HASHES, "I5: marks are no entries");
    const prefix = depth === 0 ? 0 : hi >>> (32 - depth);
    assert(prefix === u32[word + SEGMENT_PREFIX_WORD], "an entry stands in its segment");
    verifyReach(segment, line, [lo, hi]);
    tally.hashes.push((BigInt(hi) << 32n) | BigInt(lo));
    if (segment.isValued && u32[at + TABLE_LINE_VALUES_BYTES / 4 + slot] === 0) tally.removed++;
  }
}

/**
 * I1: the lines that a probe passes before it comes to this one are full. Whole groups that are full
 * are looked at once: uneven hashes make long probes.
 */
function verifyReach(segment: Segment, line: number, [lo, hi]: readonly [number, number]): void {
  const { lines, depth } = segment;
  const next = depth === 0 ? hi : ((hi << depth) | (lo >>> (32 - depth))) >>> 0;
  const home = Math.floor((next * lines) / 2 ** 32);
  const target = Math.floor(line / TABLE_GROUP_LINES);
  for (let step = 0; ; ) {
    assert(step < lines, "I1: an entry is within its probe sequence");
    const at = probeLine(home, lo, step, lines);
    if (at === line) {
      if (segment.isValued && step > 0) verifyFilter(segment, home, lo);
      return;
    }
    if (step % TABLE_GROUP_LINES === 0 && Math.floor(at / TABLE_GROUP_LINES) !== target) {
      assert(isGroupFull(segment, at), "I1: lines before an entry are full");
      step += TABLE_GROUP_LINES;
      continue;
    }
    assert(isLineFull(segment, at), "I1: lines before an entry are full");
    step++;
  }
}

/** I6: the home of an entry that went on from it has that entry's bit. */
function verifyFilter(segment: Segment, home: number, lo: number): void {
  const filter = segment.u32[lineWord(segment, home) + TABLE_FILTER_OFFSET / 4] as number;
  assert(((filter >>> (lo & 31)) & 1) === 1, "I6: a filter has the entries that went on");
}

/** I6: the map of a valued segment has the lines that are full, and no others. */
function verifyMap(segment: Segment): void {
  const { u32, word, lines } = segment;
  for (let line = 0; line < lines; line++) {
    const bits = u32[word + SEGMENT_FULL_OFFSET / 4 + (line >>> 5)] as number;
    const isMarked = ((bits >>> (line & 31)) & 1) === 1;
    assert(isMarked === isLineFull(segment, line), "I6: the map marks full lines");
  }
}

function isGroupFull(segment: Segment, line: number): boolean {
  const group = Math.floor(line / TABLE_GROUP_LINES);
  if (segment.fullGroups.has(group)) return true;
  const first = group * TABLE_GROUP_LINES;
  for (let at = first; at < first + TABLE_GROUP_LINES; at++) {
    if (!isLineFull(segment, at)) return false;
  }
  segment.fullGroups.add(group);
  return true;
}

/** Slots fill from the first (I2, which is checked by itself), so that the last one decides. */
function isLineFull(segment: Segment, line: number): boolean {
  const last = lineWord(segment, line) + 2 * (segment.perLine - 1);
  return segment.u32[last] !== 0 || segment.u32[last + 1] !== 0;
}

/** I4, over all hashes of one segment. */
function verifyDistinct(hashes: BigUint64Array): void {
  hashes.sort();
  for (let i = 1; i < hashes.length; i++) {
    assert(hashes[i] !== hashes[i - 1], "I4: no hash stands twice");
  }
}

/**
 * The line that a probe reads after `step` full ones: neighbour, pairs of the run, other runs of the group, next group.
 */
function probeLine(home: number, lo: number, step: number, lines: number): number {
  const group = Math.floor(home / TABLE_GROUP_LINES) + Math.floor(step / TABLE_GROUP_LINES);
  const runs = TABLE_GROUP_LINES / TABLE_RUN_LINES;
  const pairs = TABLE_RUN_LINES / 2;
  const runOf = (line: number): number => Math.floor(line / TABLE_RUN_LINES) % runs;
  const run = runOf(home) ^ runOf(step);
  const stride = (lo | 1) & (pairs - 1);
  const first = Math.floor((home % TABLE_RUN_LINES) / 2);
  const pair = (first + Math.floor((step % TABLE_RUN_LINES) / 2) * stride) % pairs;
  const within = run * TABLE_RUN_LINES + 2 * pair + ((home + step) % 2);
  return (group * TABLE_GROUP_LINES + within) % lines;
}

function lineWord(segment: Segment, line: number): number {
  const unit = segment.units[Math.floor(line / TABLE_UNIT_LINES)] as number;
  return unit / 4 + (line % TABLE_UNIT_LINES) * 16;
}
