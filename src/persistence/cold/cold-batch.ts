/**
 * A batch written to the cold tier in slices: appended in order, committed in steps, and read back so that the caller can
 * release the entries that are durable now.
 *
 *   begin ─▶ append … ─▶ commit … true ─▶ read … ─▶ end
 *                └───────────┴── end: abandoned, nothing of it is there
 *
 *   I1  Nothing of a batch is found before commit has returned true, all of it after that.
 *   I2  While a batch is open its run is not merged, so that it can be read back.
 */
import { assert } from "../../base/assert.ts";
import { COLD_BLOCK_ENTRIES_MAX } from "../../layout/files/cold-run.ts";
import type { ColdBatch, MediumWait } from "../../structures/storage-tiers.ts";
import { type ColdCommit, type ColdRuns, beginColdCommit, coldCommitStep } from "./cold-commit.ts";
import { type ColdBlock, type ColdRun, createColdBlock, readColdBlock } from "./cold-run.ts";
import { beginColdRun, coldAppend, dropColdRun, isSyncingColdRun } from "./cold-run-stream.ts";

interface ColdBatchHost {
  readonly live: ColdRuns;
  /** Runs an action that writes; its errors get their stable codes. */
  readonly guarded: (action: () => void) => void;
  /** True when one more run may be listed; otherwise does some merging. */
  readonly hasRoom: (wait: MediumWait) => boolean;
  readonly onEnd: () => void;
}

/** Begins a batch of about `capacity` entries. */
export function beginColdBatch(host: ColdBatchHost, capacity: number): ColdBatch {
  const { live, guarded } = host;
  const serial = live.nextSerial;
  live.nextSerial += 1;
  let commit: ColdCommit | undefined;
  let isListed = false;
  guarded(() => {
    commit = beginColdCommit(beginColdRun(live, serial, 0, Math.max(1, capacity)), []);
  });
  const { writer } = commit as ColdCommit;
  const block = createColdBlock();
  const end = (): void => {
    if (commit === undefined) return;
    if (!isListed) dropColdRun(writer);
    commit = undefined;
    host.onEnd();
  };
  const whole = (action: () => void): void => {
    assert(commit !== undefined, "ColdBatch: open");
    try {
      guarded(action);
    } catch (error) {
      end();
      throw error;
    }
  };
  return {
    get bytes() {
      return isListed ? 0 : writer.fences.byteLength + writer.words.byteLength;
    },
    append(hashes, values, count) {
      whole(() => {
        coldAppend(writer, hashes, values, count);
      });
    },
    commit(wait = "here") {
      whole(() => {
        if (isListed || !host.hasRoom(wait)) return;
        isListed = coldCommitStep(live, commit as ColdCommit, wait);
      });
      return isListed;
    },
    get isSyncing() {
      return isSyncingColdRun(writer);
    },
    read(from, hashes, values) {
      const run = commit?.run;
      assert(commit !== undefined && isListed, "ColdBatch: committed");
      if (run === undefined) return 0; // nothing was appended
      return readColdEntries(live, run, from, { hashes, values, block });
    },
    end,
  };
}

interface Target {
  readonly hashes: Uint32Array;
  readonly values: Uint32Array;
  readonly block: ColdBlock;
}

/** Copies entries of a run beginning with number `from`, as many as fit; returns how many, 0 at its end. */
function readColdEntries(live: ColdRuns, run: ColdRun, from: number, target: Target): number {
  const { hashes, values, block } = target;
  const count = Math.min(run.count - from, values.length);
  for (let done = 0; done < count; ) {
    const index = Math.floor((from + done) / COLD_BLOCK_ENTRIES_MAX) + 1;
    const at = (from + done) % COLD_BLOCK_ENTRIES_MAX;
    if (block.serial !== run.serial || block.index !== index)
      readColdBlock(live, run, index, block);
    const size = Math.min(count - done, COLD_BLOCK_ENTRIES_MAX - at);
    hashes.set(block.hashes.subarray(at * 2, (at + size) * 2), done * 2);
    values.set(block.values.subarray(at, at + size), done);
    done += size;
  }
  return Math.max(0, count);
}
