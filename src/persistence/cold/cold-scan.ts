/** Shows what is finished in the live runs, range by range of the hashes: a merge between two calls changes the runs, and never the hashes. */
import { COLD_BLOCK_ENTRIES_WORD } from "../../layout/files/cold-run.ts";
import {
  type ColdBlock,
  type ColdReading,
  type ColdRun,
  lastAtMost,
  readColdBlock,
} from "./cold-run.ts";

/** Values from here on are finished. Removals, and places of records on disk, hide entries; they are none. */
const FINISHED = 0x8000_0000;
/** High halves of hashes there are. */
const HIGH_END = 2 ** 32;

/**
 * Shows the finished hashes from the high half `from` on, some before it too, by whole blocks and about `entries` of them. Returns the high half
 * below which all were shown, 2³² at the end.
 */
export function scanColdRuns(
  place: Pick<ColdReading, "files"> & { readonly runs: readonly ColdRun[] },
  { from, entries }: { readonly from: number; readonly entries: number },
  block: ColdBlock,
  visit: (hashes: Uint32Array, count: number) => void,
): number {
  const { runs } = place;
  const total = runs.reduce((sum, { count }) => sum + count, 0);
  const width = Math.max(1, Math.floor((HIGH_END * entries) / Math.max(total, entries)));
  const end = Math.min(HIGH_END, from + width);
  for (const run of runs) {
    const { fences, blockCount } = run;
    let index = Math.max(0, lastAtMost(fences, blockCount, 0, from));
    for (; index < blockCount && (fences[index * 2 + 1] as number) < end; index++) {
      readColdBlock(place, run, index + 1, block);
      visit(block.hashes, pickFinished(block));
      block.serial = 0; // its hashes may have moved
    }
  }
  return end;
}

/** Brings the hashes that are finished to the front; returns how many. @hot */
function pickFinished({ words, hashes, values }: ColdBlock): number {
  const entries = words[COLD_BLOCK_ENTRIES_WORD] as number;
  let picked = 0;
  for (let at = 0; at < entries; at++) {
    if ((values[at] as number) < FINISHED) continue;
    if (picked !== at) {
      hashes[picked * 2] = hashes[at * 2] as number;
      hashes[picked * 2 + 1] = hashes[at * 2 + 1] as number;
    }
    picked += 1;
  }
  return picked;
}
