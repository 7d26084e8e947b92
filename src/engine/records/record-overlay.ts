/**
 * A store of whole records as a copy sees it: what is below is read and never changed, changes stay in memory.
 *
 *   I1  A copy replays the journal into it, so it holds at most what the journal has since the last snapshot.
 */
import type { RecordChange, RecordTier } from "../../persistence/tier.ts";
import { nameOf } from "./record-archive.ts";

export function overlayRecords(below: RecordTier): RecordTier {
  const changes = new Map<string, RecordChange>();
  let isCleared = false;
  return {
    get(lo, hi) {
      const change = changes.get(nameOf(lo, hi));
      if (change !== undefined) return change.bytes;
      return isCleared ? undefined : below.get(lo, hi);
    },
    apply(list) {
      for (const change of list) changes.set(nameOf(change.lo, change.hi), change);
    },
    *each() {
      for (const { lo, hi, bytes } of [...changes.values()]) {
        if (bytes !== undefined) yield { lo, hi, bytes };
      }
      if (isCleared) return;
      for (const record of below.each()) {
        if (!changes.has(nameOf(record.lo, record.hi))) yield record;
      }
    },
    clear() {
      changes.clear();
      isCleared = true;
    },
    flushed: () => Promise.resolve(),
    close: () => below.close(),
  };
}
