/**
 * The order in which a probe reads lines, as numbers alone, and by the map the first of them that has room.
 *
 *   home, its pair's other line │ pairs of the run at a stride of the hash │ other runs of the group │ next groups
 *
 * A segment's map has a bit for each full line (I6 of table.ts): 8 bytes a run.
 */
import { TABLE_GROUP_LINES, TABLE_RUN_LINES } from "../../src/layout/seen/table";

const GROUP_LINES: u32 = TABLE_GROUP_LINES;
const RUN_LINES: u32 = TABLE_RUN_LINES;

/** The `step`-th line, in a group, of a hash whose home is line `index` of the group. */
export function groupIndex(index: u32, hash: u64, step: u32): u32 {
  const pair = ((index >> 1) + (step >> 1) * (<u32>hash | 1)) & (RUN_LINES / 2 - 1);
  return ((index ^ step) & (GROUP_LINES - RUN_LINES + 1)) | (pair << 1);
}

/**
 * Number of the line, in a segment of `lines`, that a probe from line `home` reads after `step`.
 */
export function stepIndex(home: u32, hash: u64, step: u32, lines: u32): u32 {
  const index = groupIndex(home & (GROUP_LINES - 1), hash, step & (GROUP_LINES - 1));
  const group = (home & ~(GROUP_LINES - 1)) + (step & ~(GROUP_LINES - 1));
  return (group < lines ? group : group - lines) + index;
}

/**
 * How far a probe from line `home` goes to one that is not full, by the map of full lines; `lines` when all are.
 * The first steps are looked at all at once: half of the lines are full, so that a branch at each would be a
 * guess. @hot
 */
export function stepsToRoom(full: usize, lines: u32, hash: u64, home: u32): u32 {
  const run = ~load<u64>(full + <usize>((home & ~(RUN_LINES - 1)) >> 3));
  const other = groupIndex(home, hash, 2);
  const last = groupIndex(home, hash, 4);
  const near = roomIn(run, home) | (roomIn(run, other) << 2) | (roomIn(run, last) << 4);
  if (near !== 0) return <u32>ctz(near);
  return farSteps(full, lines, hash, home);
}

/** Two bits of a run's free lines: that of `line` and that of the other one of its pair. */
function roomIn(run: u64, line: u32): u32 {
  const own = <u32>(run >> <u64>(line & (RUN_LINES - 1))) & 1;
  const twin = <u32>(run >> <u64>((line ^ 1) & (RUN_LINES - 1))) & 1;
  return own | (twin << 1);
}

/**
 * The same one by one, where the first six lines are full. Full groups are passed over, so that uneven hashes
 * do not make a sweep quadratic.
 */
function farSteps(full: usize, lines: u32, hash: u64, home: u32): u32 {
  for (let start: u32 = 0; start < lines; start += GROUP_LINES) {
    if (isGroupFull(full, stepIndex(home, hash, start, lines))) continue;
    for (let step = start; step < start + GROUP_LINES; step++) {
      if (!isMarked(full, stepIndex(home, hash, step, lines))) return step;
    }
  }
  return lines;
}

function isGroupFull(full: usize, line: u32): bool {
  const group = full + <usize>((line & ~(GROUP_LINES - 1)) >> 3);
  return !v128.any_true(v128.not(v128.and(v128.load(group), v128.load(group, 16))));
}

function isMarked(map: usize, line: u32): bool {
  return ((load<u8>(map + (line >> 3)) >> (line & 7)) & 1) !== 0;
}
