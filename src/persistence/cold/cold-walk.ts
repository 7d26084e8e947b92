/**
 * Walks over runs of the cold tier side by side: every hash once, ascending, with the value of the newest run that holds it.
 *
 *   oldest ─▶ cursor ─┐
 *             cursor ─┼─▶ smallest hash, newest value ─▶ lo, hi, value
 *   newest ─▶ cursor ─┘
 */
import { type ColdCursor, coldAdvance } from "./cold-run-stream.ts";

export interface ColdWalk {
  /** Cursors that have entries left, oldest run first. */
  open: readonly ColdCursor[];
  /** Called when a cursor has advanced to its next block. */
  readonly onBlock: ((cursor: ColdCursor) => void) | undefined;
  lo: number;
  hi: number;
  value: number;
}

export function createColdWalk(
  cursors: readonly ColdCursor[],
  onBlock?: (cursor: ColdCursor) => void,
): ColdWalk {
  return { open: cursors.filter(({ isDone }) => !isDone), onBlock, lo: 0, hi: 0, value: 0 };
}

/** Advances to the next hash; returns false after the last one. Throws SNAPSHOT_CORRUPT. @hot */
export function coldWalkNext(walk: ColdWalk): boolean {
  const { open } = walk;
  if (open.length === 0) return false;
  let best = open[0] as ColdCursor;
  for (let at = 1; at < open.length; at++) {
    const other = open[at] as ColdCursor;
    // Not greater: the later cursor is the newer run, and of equals the newest wins.
    if (other.hi < best.hi || (other.hi === best.hi && other.lo <= best.lo)) best = other;
  }
  const { lo, hi } = best;
  walk.lo = lo;
  walk.hi = hi;
  walk.value = best.value;
  let isAnyDone = false;
  for (let at = 0; at < open.length; at++) {
    const cursor = open[at] as ColdCursor;
    if (cursor.lo !== lo || cursor.hi !== hi) continue;
    const { index } = cursor.block;
    coldAdvance(cursor);
    if (cursor.isDone) isAnyDone = true;
    else if (cursor.block.index !== index) walk.onBlock?.(cursor);
  }
  if (isAnyDone) dropDone(walk);
  return true;
}

function dropDone(walk: ColdWalk): void {
  walk.open = walk.open.filter(({ isDone }) => !isDone);
}
