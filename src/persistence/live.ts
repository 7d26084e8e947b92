/** Live: every live record of a core, found by its identity or by its name. */
import { SPILL_VALUE } from "../layout/spill.ts";
import type { Core } from "../frontier/core.ts";

import { closeWalk, openWalk, walkNext, walkValue } from "../structures/table-walk.ts";
import type { Names } from "./names.ts";

/** Handles and keys of records. */
export interface Live {
  handles: Uint32Array;
  keys: Float64Array;
  count: number;
}

/** Calls `visit` with every live record; it must not change the tables. */
export function eachLive(core: Core, names: Names, visit: (record: number) => void): void {
  for (const table of [core.seen.table, names.table]) {
    if (table === undefined) continue;
    const walk = openWalk(table);
    while (walkNext(walk)) {
      const { count } = walk;
      for (let index = 0; index < count; index++) {
        const value = core.store.region.views.u32[walkValue(walk, index)] as number;
        if (value !== 0 && value < SPILL_VALUE) visit(value);
      }
    }
    closeWalk(walk);
  }
}

/** Handles with their keys, outside the objects of the heap. */
export function createKept(): Live {
  return { handles: new Uint32Array(1024), keys: new Float64Array(1024), count: 0 };
}

/** Notes one more. */
export function keep(kept: Live, record: number, key: number): void {
  if (kept.count === kept.handles.length) {
    const handles = new Uint32Array(kept.count * 2);
    const keys = new Float64Array(kept.count * 2);
    handles.set(kept.handles);
    keys.set(kept.keys);
    kept.handles = handles;
    kept.keys = keys;
  }
  kept.handles[kept.count] = record;
  kept.keys[kept.count] = key;
  kept.count++;
}
