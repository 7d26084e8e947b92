/** The end of a lease whose URL stays known with its data, in one step in place of `done` and `put`. For rooms that keep finished URLs. */
import { LeaseService } from "../leases/lease-service.ts";
import { RecordLease } from "../leases/record-lease.ts";
import type { Lease } from "../types/frontier-types.ts";

/**
 * Finishes a URL and keeps its record as it is: as `lease.done()` and then `put` of the same request with the same data. False: the lease is
 * over, or its frontier does not keep records so, and nothing has changed.
 */
export function finishKept(lease: Lease): boolean {
  if (!(lease instanceof RecordLease)) return false;
  const { leases } = lease;
  return leases instanceof LeaseService && leases.doneKept(lease);
}
