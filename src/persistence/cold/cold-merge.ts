/**
 * A merge of neighbouring runs into one, in slices.
 *
 *   inputs ─▶ walk over them (cold-walk.ts) ─▶ rows ─▶ writer
 *
 *   I1  Inputs are untouched and stay live until the manifest lists the result instead of them.
 *   I2  Of equal hashes the newest input's value is kept; COLD_REMOVED is dropped only when there is no older run.
 */
import { COLD_REMOVED } from "../../structures/storage-tiers.ts";
import { type ColdCommit, beginColdCommit } from "./cold-commit.ts";
import type { ColdRun } from "./cold-run.ts";
import { type ColdWriter, coldAppend, dropColdRun } from "./cold-run-stream.ts";
import { type ColdWalk, coldWalkRows, createColdWalk } from "./cold-walk.ts";

export interface ColdMerge {
  /** Oldest first. */
  readonly inputs: readonly ColdRun[];
  readonly writer: ColdWriter;
  readonly walk: ColdWalk;
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
  try {
    const walk = createColdWalk(writer.place, inputs, writer.place.firstOwn);
    return { inputs, writer, walk, isBottom, commit: undefined };
  } catch (error) {
    dropColdRun(writer);
    throw error;
  }
}

/** Merges until about `budget` input entries are handled, or all; returns how many. */
export function coldMergeStep(merge: ColdMerge, budget: number): number {
  const { writer, walk, isBottom } = merge;
  let handled = 0;
  while (handled < budget && walk.inputs.length > 0) {
    const count = coldWalkRows(walk, budget - handled);
    coldAppend(writer, walk.hashes, walk.values, isBottom ? dropRemoved(walk, count) : count);
    handled += walk.handled;
  }
  if (walk.inputs.length === 0) merge.commit = beginColdCommit(writer, merge.inputs);
  return handled;
}

/** Abandons a merge: its inputs stay as they are. */
export function endColdMerge(merge: ColdMerge): void {
  dropColdRun(merge.writer);
}

/** Leaves removals out of the rows; returns how many stay. @hot */
function dropRemoved({ hashes, values }: ColdWalk, count: number): number {
  let kept = 0;
  for (let row = 0; row < count; row++) {
    const value = values[row] as number;
    if (value === COLD_REMOVED) continue;
    hashes[kept * 2] = hashes[row * 2] as number;
    hashes[kept * 2 + 1] = hashes[row * 2 + 1] as number;
    values[kept++] = value;
  }
  return kept;
}
