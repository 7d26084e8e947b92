/**
 * Named rows: plain rows that have an epoch and an optional part each, as far as the kernel makes their records.
 *
 *   new row ─▶ blob ─▶ member of its epoch ─▶ record by the kernel ─▶ logged
 *     └ no room: the owner makes it    └ left by the kernel: the owner makes it, with what is prepared
 *
 *   I1  What is prepared for a row becomes its record's, or is taken back by the owner.
 */
import { blobFree } from "../../structures/records/record.ts";
import { setWordAt, wordAt } from "../../structures/store.ts";
import { TABLE_NEW } from "../../structures/table/fingerprint-table.ts";
import { hashesOffset, valuesOffset } from "../../url/batch/row-fields.ts";
import type { Core } from "../core.ts";
import {
  type JoinedEpoch,
  joinEpoch,
  leaveEpoch,
  logJoined,
  type RowEpochs,
} from "../epochs/row-epochs.ts";
import type { BatchAdmission, NamedRows } from "./admission-input.ts";
import { namedBlob } from "./admit-rows.ts";
import { VERDICT_ACCEPTED } from "./verdicts.ts";

/** Makes the blobs of all new rows, and their identities members, in the order of the rows: so epochs open in their order. @hot */
export function prepareNamed(core: Core, intake: BatchAdmission, epochs: RowEpochs): void {
  const { scratch, store } = core;
  const { codesStart, count, rows } = intake;
  const { blobs } = intake.named as NamedRows;
  const hashes = hashesOffset(rows) >> 2;
  const values = valuesOffset(rows) >> 2;
  const prepared = scratch.parents >> 2;
  for (let row = 0; row < count; row++) {
    setWordAt(store, prepared + row, 0);
    if (wordAt(store, values + row) !== TABLE_NEW) continue;
    const blob = namedBlob(core, blobs[codesStart + row] as Uint8Array, 0);
    const at = hashes + row * 2;
    const epoch = epochs?.[row] as string;
    const isIn =
      blob > 0 && joinEpoch(core, epoch, wordAt(store, at), wordAt(store, at + 1)) !== undefined;
    if (isIn) setWordAt(store, prepared + row, blob);
    else setWordAt(store, (scratch.sizes >> 2) + row, 0); // the owner makes it
    if (!isIn && blob > 0) blobFree(store, blob);
  }
}

/** The blob that was prepared for a row; 0: none was. @hot */
export function preparedBlob({ scratch, store }: Core, row: number): number {
  return wordAt(store, (scratch.parents >> 2) + row);
}

/** The owner makes all of a row whose host is on disk: only its blob is still there. */
export function unprepare(core: Core, row: number, epoch: JoinedEpoch): void {
  const { draft, scratch, store } = core;
  setWordAt(store, (scratch.parents >> 2) + row, 0);
  leaveEpoch(core, epoch, draft.lo, draft.hi);
}

/** Logs the members among the rows that were prepared and admitted. @hot */
export function logNamed(core: Core, intake: BatchAdmission, epochs: RowEpochs): void {
  if (core.log === undefined) return;
  const { codes, codesStart, count, rows } = intake;
  const hashes = hashesOffset(rows) >> 2;
  for (let row = 0; row < count; row++) {
    if (preparedBlob(core, row) === 0 || codes[codesStart + row] !== VERDICT_ACCEPTED) continue;
    const at = hashes + row * 2;
    const epoch = epochs?.[row] as JoinedEpoch;
    logJoined(core, epoch, wordAt(core.store, at), wordAt(core.store, at + 1));
  }
}
