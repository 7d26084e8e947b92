/** Every live record of a core, found by its identity or by its name. */
import { SPILL_VALUE } from "../../layout/records/spill-block.ts";
import type { Core } from "../../frontier/core.ts";
import { appendUnplaced, type RecordList } from "../../frontier/records/record-list.ts";
import { SCRATCH_ROWS, scratchUnplaced } from "../../structures/records/kernel-scratch.ts";
import { touchRecords } from "../../structures/records/record.ts";
import { closeWalk, openWalk, walkNext, walkValue } from "../../structures/table/table-walk.ts";
import type { Names } from "./nameless-records.ts";

/** Records touched before they are visited, so that the waits for their memory overlap. */
const TOUCHED = 128;

/** Calls `visit` with every live record. `visit` must not change the tables. */
export function eachLiveRecord(core: Core, names: Names, visit: (record: number) => void): void {
  const live = new Uint32Array(TOUCHED);
  for (const table of [core.seen.table, names.table]) {
    if (table === undefined) continue;
    const walk = openWalk(table);
    while (walkNext(walk)) {
      const { count } = walk;
      for (let index = 0; index < count; ) {
        const { u32 } = core.store.region.views;
        let found = 0;
        for (; index < count && found < TOUCHED; index++) {
          const value = u32[walkValue(walk, index)] as number;
          if (value !== 0 && value < SPILL_VALUE) live[found++] = value;
        }
        touchRecords(u32, live, found);
        for (let at = 0; at < found; at++) visit(live[at] as number);
      }
    }
    closeWalk(walk);
  }
}

/**
 * Lists every pending record that stands nowhere, and calls `visit` with any other record that does. `visit` must not change the tables, and may
 * add to the list.
 */
export function listUnplaced(
  core: Core,
  names: Names,
  pending: RecordList,
  visit: (record: number) => void,
): void {
  for (const table of [core.seen.table, names.table]) {
    if (table === undefined) continue;
    const walk = openWalk(table);
    while (walkNext(walk)) {
      for (let index = 0; index < walk.count; index += SCRATCH_ROWS) {
        const count = Math.min(SCRATCH_ROWS, walk.count - index);
        const unplaced = scratchUnplaced(core.scratch, walkValue(walk, index), count);
        appendUnplaced(pending, unplaced);
        for (const record of unplaced.others) visit(record);
      }
    }
    closeWalk(walk);
  }
}
