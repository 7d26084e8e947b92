/**
 * Recovery spill: keeps a recovery within the bound on memory while it reads, whatever the directory holds.
 *
 *   memory over its bound ─▶ pending records without a place: sorted, placed ─▶ lanes to disk, down to half of the bound
 *                                         an entry names one of them ─▶ back, out of its lane (restore-records.ts, I3)
 *
 *   I1  Only pending records are spilled: leased, waiting and failed ones stay in memory.
 *   I2  Memory exceeds its bound by at most one section or frame, and by the records that must stay.
 *
 * Rows of a snapshot come in the order of hashes, so the blocks of each spill overlap with those of earlier spills. When a lane is
 * worked off, it is merged from as many runs, with one block of each in memory.
 */
import { spillDownTo } from "../../frontier/scheduling/spill-control.ts";
import { placeRecords } from "../../frontier/records/place-records.ts";
import { RECORD_PENDING, recordPlace, recordState } from "../../structures/records/record.ts";
import { spillUsedBytes } from "../../structures/spill/lane-spill.ts";
import { createRecordList, appendRecord } from "../../frontier/records/record-list.ts";
import { eachLiveRecord } from "./live-records.ts";
import type { Restoration } from "./restore-records.ts";
import { sortApart } from "./sort-by-key.ts";

/** Called after each section or frame. */
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
  const { handles, areApart } = sortApart(core, pending);
  if (!areApart) restoration.isCorrected = true;
  placeRecords(core, handles);
  spillDownTo(core, budgetBytes / 2);
  // Where hosts, or records that must stay, take most of the memory, an early next check would be in vain.
  restoration.spillAt = spillUsedBytes(spill) + budgetBytes / 4;
}
