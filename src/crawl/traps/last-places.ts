/** LastPlaces: puts a URL that is about to be visited behind all others of the frontier, once. */
import type { Frontier } from "../../index.ts";
import { BoundedMap } from "./bounded-map.ts";

/** Of URLs of which nothing is expected. */
export const LAST_PRIORITY = -1_000_000;
const URLS_MAX = 50_000;

/** `release` gives its lease back; false: it stands there already, and the lease is as it was. */
export type LastPlaces = (url: string, release: () => unknown) => boolean;

export function createLastPlaces(frontier: Pick<Frontier, "record" | "update">): LastPlaces {
  const placed = new BoundedMap<string, true>(URLS_MAX);
  return (url, release) => {
    const priority = frontier.record(url)?.priority;
    if (priority === undefined || priority <= LAST_PRIORITY || placed.get(url) === true)
      return false;
    placed.set(url, true);
    release();
    frontier.update(url, { priority: LAST_PRIORITY });
    return true;
  };
}
