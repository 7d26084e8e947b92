/**
 * Reading a table from a thread that does not own it.
 *
 *   owner: entry     value, then hash (release)                        reader: hash, then value
 *   owner: segment   new lines, sequence odd, descriptor and directory, sequence even, fence;
 *                    only then are old pages given back
 *   reader           directory → sequence (even) → descriptor, lines → sequence again → directory
 *                    again
 *
 * A reader that finds the sequence odd or changed, or the directory pointing elsewhere, starts
 * anew. So does one that is led to a page which its own instance does not see yet.
 * Every load is atomic: a reader may see the pages of a segment that has moved on, never half a
 * word.
 *
 *   I1  "There" is never said of a hash that was never inserted: an answer counts only if the
 *       segment stood still while it was made.
 *   I2  "Absent" is never said of a hash whose insertion happened before the call, unless the owner
 *       died or stood still while it moved the segment: readers do not wait for ever.
 *   I3  A descriptor is never given back, and its sequence never runs back, so that an even and
 *       equal sequence with an equal directory entry means the same segment.
 */
import {
  SEGMENT_DEPTH_WORD,
  SEGMENT_LINES_WORD,
  SEGMENT_SEQUENCE_WORD,
  SEGMENT_UNITS_WORD,
  TABLE_ABSENT,
  TABLE_DIRECTORY_BITS,
  TABLE_DIRECTORY_OFFSET,
  TABLE_LINE_BYTES,
  TABLE_LINE_SLOTS_BARE,
  TABLE_LINE_SLOTS_VALUED,
  TABLE_NEW,
  TABLE_SKIP,
  TABLE_UNIT_LINES,
  TABLE_VALUED_WORD,
} from "../src/layout/table";
import { headerValue, isHeaderHash, valueAt } from "./table";
import { tableFindBatch } from "./table-batch";
import { stepIndex } from "./table-steps";

/** Some tenths of a second: no owner that lives keeps a segment in motion for so long. */
const TRIES_MAX: u32 = 1 << 26;

/** No entry holds this value. */
const MOVED: u32 = TABLE_NEW;

/** tableFindBatch for other threads, which must bring their own hashes and values. @hot */
export function tableFindShared(table: usize, hashes: usize, count: u32, values: usize): i32 {
  if (!ASC_FEATURE_THREADS) return tableFindBatch(table, hashes, count, values);
  const isValued = load<u32>(table, TABLE_VALUED_WORD << 2) !== 0;
  let found: i32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const value = values + (i << 2);
    if (load<i32>(value) === TABLE_SKIP) continue;
    const result = findShared(table, load<u64>(hashes + (i << 3)), isValued);
    store<u32>(value, result);
    found += <i32>(result !== 0);
  }
  return found;
}

function findShared(table: usize, hash: u64, isValued: bool): u32 {
  if (isHeaderHash(hash)) {
    const value = readWord(headerValue(table, hash));
    return isValued ? value : <u32>(value !== 0);
  }
  const index = <usize>(hash >> (64 - TABLE_DIRECTORY_BITS));
  const entry = table + TABLE_DIRECTORY_OFFSET + (index << 2);
  for (let tries: u32 = 0; tries < TRIES_MAX; tries++) {
    const segment = readWord(entry);
    if (!isMapped(segment)) continue;
    const sequence = readWord(segment + (SEGMENT_SEQUENCE_WORD << 2));
    if ((sequence & 1) !== 0) continue;
    const result = findInSegment(segment, hash, isValued);
    if (readWord(segment + (SEGMENT_SEQUENCE_WORD << 2)) !== sequence) continue;
    if (readWord(entry) === segment && result !== MOVED) return result;
  }
  return TABLE_ABSENT;
}

/**
 * Probes at most once around; what it reads may be in motion, and the caller throws it away then.
 */
function findInSegment(segment: u32, hash: u64, isValued: bool): u32 {
  const lines = readWord(segment + (SEGMENT_LINES_WORD << 2));
  const depth: u64 = readWord(segment + (SEGMENT_DEPTH_WORD << 2));
  const slots: u32 = isValued ? TABLE_LINE_SLOTS_VALUED : TABLE_LINE_SLOTS_BARE;
  const home = <u32>((((hash << depth) >> 32) * <u64>lines) >> 32);
  for (let step: u32 = 0; step < lines; step++) {
    const index = stepIndex(home, hash, step, lines);
    const unit = readWord(segment + ((SEGMENT_UNITS_WORD + (index >> 10)) << 2));
    if (!isMapped(unit)) return MOVED;
    const line: usize = unit + (index & (TABLE_UNIT_LINES - 1)) * TABLE_LINE_BYTES;
    for (let slot = line; slot !== line + (slots << 3); slot += 8) {
      const word = readLong(slot);
      if (word === 0) return 0;
      if (word === hash) return isValued ? readWord(valueAt(slot)) : 1;
    }
  }
  return 0;
}

/**
 * False while this thread does not know yet of a page that the owner has grown the memory by: the
 * engine tells it at a loop's head, so that trying again is enough.
 */
function isMapped(offset: u32): bool {
  return offset >> 16 < <u32>memory.size();
}

function readWord(at: usize): u32 {
  return ASC_FEATURE_THREADS ? atomic.load<u32>(at) : load<u32>(at);
}

function readLong(at: usize): u64 {
  return ASC_FEATURE_THREADS ? atomic.load<u64>(at) : load<u64>(at);
}
