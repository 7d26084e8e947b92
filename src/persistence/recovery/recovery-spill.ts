/**
 * Recovery spill: a recovery keeps to the bound on memory while it reads, whatever the directory holds.
 *
 *   memory over its bound ─▶ pending records that stand nowhere: sorted, placed ─▶ lanes to disk, down to half of the bound
 *                                         an entry names one of them ─▶ back, out of its lane (restore-records.ts, I3)
 *
 *   I1  Only what is pending goes: leases, waiting and failed ones stay in memory.
 *   I2  Memory is over its bound by no more than what one section or frame makes, and by what may not go.
 *
 * Rows of a snapshot come in the order of hashes, so each spill leaves blocks that overlap with those of the spills before: a
 * lane is merged from as many runs, a block of each in memory, when it is worked off.
 */
import { spillDownTo } from "../../frontier/scheduling/spill-control.ts";
import { placeRecords } from "../../frontier/records/place-records.ts";
import { RECORD_PENDING, recordPlace, recordState } from "../../structures/records/record.ts";
import { spillUsedBytes } from "../../structures/spill/lane-spill.ts";
import { createRecordList, appendRecord } from "../../frontier/records/record-list.ts";
import { eachLiveRecord } from "./live-records.ts";
import type { Restoration } from "./restore-records.ts";
import { sortByKey } from "./sort-by-key.ts";

/** After each section or frame. */
export function spillDuringRecovery(restoration: Restoration): void {
  const { core, names } = restoration;
  const { spilling, store } = core;
  if (spilling === undefined) return;
  const { budgetBytes, spill } = spilling;
  const used = spillUsedBytes(spill);
  if (used <= budgetBytes || used < restoration.spillAt) return;
  const pending = createRecordList();
  eachLiveRecord(core, names, (record) => {
    if (recordState(store, record) !== RECORD_PENDING || recordPlace(store, record) !== 0) return;
    appendRecord(store, pending, record);
  });
  placeRecords(core, sortByKey(pending));
  spillDownTo(core, budgetBytes / 2);
  // Where hosts, or what may not go, are most of it, looking again soon would be in vain.
  restoration.spillAt = spillUsedBytes(spill) + budgetBytes / 4;
}
