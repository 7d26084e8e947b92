/**
 * A merge of neighbouring runs into one, in slices: cursors over the inputs, a writer for the result.
 *
 *   oldest ─▶ cursor ─┐
 *             cursor ─┼─▶ smallest hash, newest value ─▶ writer
 *   newest ─▶ cursor ─┘
 *
 *   I1  Inputs are untouched and stay live until the manifest lists the result instead of them.
 *   I2  Of equal hashes the newest input's value is kept; COLD_REMOVED is dropped only when there is no older run.
 *   I3  A passing value of an earlier process counts as a removal: the older values below it must stay hidden.
 */
import { COLD_REMOVED, isPassing } from "../../structures/storage-tiers.ts";
import { type ColdCommit, beginColdCommit } from "./cold-commit.ts";
import type { ColdRun } from "./cold-run.ts";
import {
  type ColdCursor,
  type ColdWriter,
  coldAdvance,
  coldAppend,
  dropColdRun,
  openColdCursor,
} from "./cold-run-stream.ts";

export interface ColdMerge {
  /** Oldest first. */
  readonly inputs: readonly ColdRun[];
  readonly writer: ColdWriter;
  /** Cursors of the inputs that have entries left; oldest first. */
  cursors: ColdCursor[];
  /** The oldest input is the oldest run of all: removals need not be kept. */
  readonly isBottom: boolean;
  /** Set once all inputs are read. */
  commit: ColdCommit | undefined;
}

export function beginColdMerge(
  writer: ColdWriter,
  inputs: readonly ColdRun[],
  isBottom: boolean,
): ColdMerge {
  let cursors: ColdCursor[];
  try {
    cursors = inputs.map((run) => openColdCursor(writer.place, run));
  } catch (error) {
    dropColdRun(writer);
    throw error;
  }
  return { inputs, writer, cursors, isBottom, commit: undefined };
}

/** Merges until about `budget` input entries are handled, or all; returns how many. */
export function coldMergeStep(merge: ColdMerge, budget: number): number {
  const { writer, isBottom } = merge;
  let handled = 0;
  while (handled < budget && merge.cursors.length > 0) {
    const { cursors } = merge;
    let best = cursors[0] as ColdCursor;
    for (let i = 1; i < cursors.length; i++) {
      const other = cursors[i] as ColdCursor;
      // Not greater: the later cursor is the newer run, and of equals the newest wins.
      if (other.hi < best.hi || (other.hi === best.hi && other.lo <= best.lo)) best = other;
    }
    const { lo, hi } = best;
    const isPast = best.run.serial < writer.place.firstOwn && isPassing(best.value);
    const value = isPast ? COLD_REMOVED : best.value; // I3
    if (value !== COLD_REMOVED || !isBottom) coldAppend(writer, lo, hi, value);
    handled += advancePast(merge, lo, hi);
  }
  if (merge.cursors.length === 0) merge.commit = beginColdCommit(writer, merge.inputs);
  return handled;
}

/** Abandons a merge: its inputs stay as they are. */
export function endColdMerge(merge: ColdMerge): void {
  dropColdRun(merge.writer);
  merge.cursors = [];
}

/** Advances every cursor at this hash; returns how many advanced. */
function advancePast(merge: ColdMerge, lo: number, hi: number): number {
  const { cursors } = merge;
  let advanced = 0;
  let isAnyDone = false;
  for (let i = 0; i < cursors.length; i++) {
    const cursor = cursors[i] as ColdCursor;
    if (cursor.lo !== lo || cursor.hi !== hi) continue;
    coldAdvance(cursor);
    advanced += 1;
    isAnyDone ||= cursor.isDone;
  }
  if (isAnyDone) merge.cursors = cursors.filter((cursor) => !cursor.isDone);
  return advanced;
}
