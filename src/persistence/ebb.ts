/**
 * Ebb: a recovery keeps to the bound on memory while it reads, whatever the directory holds.
 *
 *   memory over its bound ─▶ pending records that stand nowhere: sorted, planted ─▶ lanes to disk, down to half of the bound
 *                                         an entry names one of them ─▶ back, out of its lane (revive.ts, I3)
 *
 *   I1  Only what is pending goes: leases, waiting and failed ones stay in memory.
 *   I2  Memory is over its bound by no more than what one section or frame makes, and by what may not go.
 *
 * Rows of a snapshot come in the order of hashes, so each ebb leaves blocks that overlap with those of the ebbs before: a
 * lane is merged from as many runs, a block of each in memory, when it is worked off.
 */
import { ebb } from "../frontier/spilling.ts";
import { plantRecords } from "../frontier/plant.ts";
import { RECORD_PENDING, recordPlace, recordState } from "../structures/record.ts";
import { spillUsedBytes } from "../structures/spill.ts";
import { createNoted, note } from "../frontier/noted.ts";
import { eachLive } from "./live.ts";
import type { Revival } from "./revive.ts";
import { sortByKey } from "./sort-keys.ts";

/** After each section or frame. */
export function ebbRevival(revival: Revival): void {
  const { core, names } = revival;
  const { spilling, store } = core;
  if (spilling === undefined) return;
  const { budgetBytes, spill } = spilling;
  const used = spillUsedBytes(spill);
  if (used <= budgetBytes || used < revival.ebbAt) return;
  const pending = createNoted();
  eachLive(core, names, (record) => {
    if (recordState(store, record) !== RECORD_PENDING || recordPlace(store, record) !== 0) return;
    note(store, pending, record);
  });
  plantRecords(core, sortByKey(pending));
  ebb(core, budgetBytes / 2);
  // Where hosts, or what may not go, are most of it, looking again soon would be in vain.
  revival.ebbAt = spillUsedBytes(spill) + budgetBytes / 4;
}
