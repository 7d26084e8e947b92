/** LastPlaces: puts a URL that is about to be visited behind all others of the frontier, once. */
import type { Frontier } from "../../index.ts";
import { BoundedMap } from "./bounded-map.ts";

/** Of URLs of which nothing is expected. */
export const LAST_PRIORITY = -1_000_000;
const URLS_MAX = 50_000;

/** The priority of URLs that others go before; `doubt` from 0 to 1. */
export function laterPriority(doubt: number): number {
  return Math.round(LAST_PRIORITY * doubt);
}

/** `release` gives its lease back; false: it stands there already, and the lease is as it was. */
export type LastPlaces = (url: string, doubt: number, release: () => unknown) => boolean;

export function createLastPlaces(frontier: Pick<Frontier, "record" | "update">): LastPlaces {
  const placed = new BoundedMap<string, true>(URLS_MAX);
  return (url, doubt, release) => {
    const later = laterPriority(doubt);
    const priority = frontier.record(url)?.priority;
    if (priority === undefined || priority <= later || placed.get(url) === true) return false;
    placed.set(url, true);
    release();
    frontier.update(url, { priority: later });
    return true;
  };
}
