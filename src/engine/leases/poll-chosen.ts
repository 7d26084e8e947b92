/** A poll with options: leases of one host alone, or for a time of their own. */
import { argument, bare } from "../../base/argument-checks.ts";
import { kind, TEXT } from "../../base/fields.ts";
import { step } from "../../frontier/leases/leases.ts";
import { hostNamed } from "../../structures/hosts/host-table.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import { unitKeyOf } from "../queries/host-view.ts";
import type { Lease, PollOptions } from "../types/frontier-types.ts";
import type { LeaseService } from "./lease-service.ts";

/** Reads the options of a poll. */
export const readPoll = argument<{ host?: string; leaseMs?: number }>("options", {
  host: bare("host", TEXT),
  leaseMs: bare(
    "leaseMs",
    kind<number>(
      "a whole number of milliseconds, at least 1",
      (value) => Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) < 2 ** 45,
    ),
  ),
});

export function pollChosen(
  lifecycle: Lifecycle,
  service: LeaseService,
  max: number,
  options: PollOptions | undefined,
): Lease[] {
  if (options === undefined) return lifecycle.poll(max);
  const { host: key, leaseMs } = readPoll(options);
  const { core, nowMs } = lifecycle.begin();
  if (core === undefined) return [];
  let leases: Lease[] = [];
  if (lifecycle.status === "running") {
    const steppedMs = step(core, nowMs);
    const host = key === undefined ? 0 : hostNamed(core.hosts, unitKeyOf(core, key));
    const chosen = { host, leaseMs: leaseMs ?? core.limits.leaseMs };
    if (key === undefined || host !== 0) {
      leases = service.takeChosen(core, max, chosen, steppedMs);
    }
    if (key === undefined) lifecycle.noteTaken(leases.length > 0 || max === 0, nowMs);
  }
  lifecycle.endGiven(leases.length > 0, nowMs);
  return leases;
}
