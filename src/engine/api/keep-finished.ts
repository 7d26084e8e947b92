/**
 * The end of a URL that stays known with its data, in one step in place of what takes two and makes its record anew. For rooms that keep
 * finished URLs.
 */
import { step } from "../../frontier/leases/leases.ts";
import { hasRoom } from "../../frontier/records/memory-reserve.ts";
import { finishPut } from "../../frontier/records/transitions.ts";
import { isInMemory } from "../../frontier/scheduling/spill-control.ts";
import { RECORD_PENDING, RECORD_RESTING, recordState } from "../../structures/records/record.ts";
import { seenFind } from "../../structures/seen/seen-set.ts";
import { LeaseService, RESULT_BYTES } from "../leases/lease-service.ts";
import { RecordLease } from "../leases/record-lease.ts";
import { findIdentity } from "../queries/find-identity.ts";
import { recordData, recordExtras } from "../records/record-view.ts";
import type { Frontier, Lease, RequestInput } from "../types/frontier-types.ts";
import { lifecycleOf } from "./lifecycles.ts";

/**
 * Finishes a URL and keeps its record as it is: as `lease.done()` and then `put` of the same request with the same data. False: the lease is
 * over, or its frontier does not keep records so, and nothing has changed.
 */
export function finishKept(lease: Lease): boolean {
  if (!(lease instanceof RecordLease)) return false;
  const { leases } = lease;
  return leases instanceof LeaseService && leases.doneKept(lease);
}

/**
 * The same for a URL that is pending, or was finished so before: as `put` of the same request with the same data, which `isSame` recognizes. When
 * it was finished; undefined: it is in another state, or not the same, or its frontier does not keep records so, and nothing has changed.
 */
export function finishPending(
  frontier: Frontier,
  request: RequestInput,
  isSame: (data: unknown) => boolean,
): "now" | "before" | undefined {
  const lifecycle = lifecycleOf(frontier);
  // Full records are kept in the archive.
  if (lifecycle === undefined || lifecycle.settings.records === "full") return undefined;
  const { core, nowMs } = lifecycle.begin();
  if (core === undefined || core.seen.mode === "bloom") return undefined;
  step(core, nowMs);
  const { hasIdentity, lo, hi } = findIdentity(lifecycle.intake, request, nowMs);
  const record = hasIdentity ? seenFind(core.seen, lo, hi) : 0;
  if (!isInMemory(record)) return undefined;
  const state = recordState(core.store, record);
  if (state !== RECORD_PENDING && state !== RECORD_RESTING) return undefined;
  if (!isSame(recordData(core, record, recordExtras(core, record)))) return undefined;
  if (state === RECORD_PENDING) {
    if (!hasRoom(core)) return undefined;
    lifecycle.durable?.need(RESULT_BYTES);
    finishPut(core, record, true, nowMs);
  }
  lifecycle.end(nowMs);
  return state === RECORD_PENDING ? "now" : "before";
}
