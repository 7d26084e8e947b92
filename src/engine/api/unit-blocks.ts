/** A politeness unit without its view, whose accessors take longer to make than what is asked of it. For rooms that ask at every call. */
import { blockHost, leasedOf, unitKeyOf } from "../queries/host-view.ts";
import type { Frontier } from "../types/frontier-types.ts";
import { lifecycleOf } from "./lifecycles.ts";

/** As `frontier.host(key).leased`. */
export function leasedOfUnit(frontier: Frontier, key: string): number {
  const lifecycle = lifecycleOf(frontier);
  if (lifecycle === undefined) return frontier.host(key).leased;
  return leasedOf(lifecycle, unitKeyOf(lifecycle.need().core, key));
}

/** As `frontier.host(key).blockUntil(atMs)`, and its `limit = limit` where that is given. */
export function blockUnit(frontier: Frontier, key: string, atMs: number, limit?: number): void {
  const lifecycle = lifecycleOf(frontier);
  if (lifecycle === undefined) {
    const host = frontier.host(key);
    if (limit !== undefined) host.limit = limit;
    host.blockUntil(atMs);
  } else blockHost(lifecycle, unitKeyOf(lifecycle.need().core, key), atMs, limit);
}
