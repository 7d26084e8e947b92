/**
 * SharedSeen: what threads that do not own a seen-set may ask it, while its owner inserts, moves and forgets.
 *
 *   hot table ── there ─▶ its value, exact
 *       └ not ─▶ bloom ── surely new ─▶ 0
 *                   └ maybe ─▶ SEEN_UNKNOWN: (tiered) the cold tier knows, which the owner asks; (bloom) counts as seen
 *
 * The kernel must be the shared one. Readers bring hashes, values and results of their own.
 *
 * Ordering: the hot table first, then the bloom. An entry leaves the table after the bloom has it (I1 of seen-move.ts), so that who
 * does not find it in the table any more finds it in the bloom; asked the other way round it could slip through between the two.
 *
 *   I1  0 is never said of what was admitted before the call and neither removed nor forgotten since.
 *   I2  A value is never said of what was not admitted: SEEN_UNKNOWN alone may err, at the bloom's rate.
 */
import type { Kernel } from "../kernel/kernel.ts";
import { attachBloom, type BloomReader, bloomProbeBatch } from "./bloom.ts";
import { attachTable, sharedTableFindBatch, type SharedTable } from "./fingerprint-table.ts";
import { bloomOf } from "./seen-move.ts";
import { SEEN_REMOVED, SEEN_UNKNOWN, type SeenSet } from "./seen-set.ts";

/** Where a seen-set stands in its memory; goes to other threads as it is. */
export interface SeenPlace {
  readonly table: number;
  /** 0: mode exact has none. */
  readonly bloom: number;
}

export interface SharedSeen {
  readonly table: SharedTable;
  readonly bloom: BloomReader | undefined;
}

/** Owner: what others attach to. In mode tiered the bloom is made now, so that it stays where it is. */
export function seenPlace({ bloom, table, tiered }: SeenSet): SeenPlace {
  const filter = tiered === undefined ? bloom : bloomOf(tiered);
  return { table: table.offset, bloom: filter?.offset ?? 0 };
}

/** The seen-set at `place`, for a thread that does not own it. */
export function attachSeen(kernel: Kernel, place: SeenPlace): SharedSeen {
  return {
    table: attachTable(kernel, place.table),
    bloom: place.bloom === 0 ? undefined : attachBloom(kernel, place.bloom),
  };
}

/**
 * Looks `count` hashes up: each value becomes what the hot table holds, SEEN_UNKNOWN where the bloom says maybe, or 0: surely
 * new. Behind the values there are as many words of scratch. Returns how many are not surely new.
 */
export function sharedSeenFind(
  { bloom, table }: SharedSeen,
  hashesOffset: number,
  count: number,
  valuesOffset: number,
): number {
  const words = new Uint32Array(table.kernel.memory.buffer);
  const values = valuesOffset / 4;
  words.fill(0, values, values + count);
  let seen = sharedTableFindBatch(table, hashesOffset, count, valuesOffset);
  if (bloom === undefined) return seen;
  const resultsOffset = valuesOffset + count * 4;
  bloomProbeBatch(bloom, hashesOffset, count, resultsOffset);
  for (let row = 0; row < count; row++) {
    const value = words[values + row];
    if (value === SEEN_REMOVED) {
      words[values + row] = 0;
      seen--;
    } else if (value === 0 && words[resultsOffset / 4 + row] === 1) {
      words[values + row] = SEEN_UNKNOWN;
      seen++;
    }
  }
  return seen;
}
