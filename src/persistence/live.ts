/** Live: every live record of a core, found by its identity or by its name. */
import { SPILL_VALUE } from "../layout/spill.ts";
import type { Core } from "../frontier/core.ts";

import { closeWalk, openWalk, walkNext, walkValue } from "../structures/table-walk.ts";
import type { Names } from "./names.ts";

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
