/**
 * LastPlaces: puts URLs that are about to be visited behind others of the frontier.
 *
 *   priority  … others │ by doubt, in steps │ set aside
 *                    0 ▼            −10¹⁵ ▼     −2·10¹⁵ ▼
 */
import type { Frontier } from "../../index.ts";
import { BoundedMap } from "./bounded-map.ts";

/** Of URLs of which nothing is expected: far below any that a user may take, such as a time in milliseconds with a minus. */
const LAST_PRIORITY = -1e15;
/** Of URLs of families that are traps: behind those. */
const ASIDE_PRIORITY = 2 * LAST_PRIORITY;
const DEPTH_MAX = 1_000;
const URLS_MAX = 50_000;

/** The priority of URLs that are set aside: the deepest go first, so that it shows soon whether they lead on without an end. */
export function asidePriority(depth: number): number {
  return ASIDE_PRIORITY - DEPTH_MAX + Math.min(depth, DEPTH_MAX);
}

/** The priority of URLs that others go before; `doubt` from 0 to 1. */
export function laterPriority(doubt: number): number {
  return Math.round(LAST_PRIORITY * doubt);
}

/** `release` returns the lease of the URL. */
export interface LastPlaces {
  /** Once for each URL; false: it stands there already, and the lease is as it was. */
  postpone(url: string, doubt: number, release: () => unknown): boolean;
  isAside(url: string): boolean;
  /** false: the lease is of a request that is not found by its URL, as one of an epoch of its own, and is as it was. */
  setAside(url: string, release: () => unknown): boolean;
}

export function createLastPlaces(frontier: Pick<Frontier, "record" | "update">): LastPlaces {
  const postponed = new BoundedMap<string, true>(URLS_MAX);
  const priorityOf = (url: string): number | undefined => frontier.record(url)?.priority;
  const place = (url: string, priority: number, release: () => unknown): void => {
    release();
    frontier.update(url, { priority });
  };
  return {
    postpone(url, doubt, release) {
      const later = laterPriority(doubt);
      if ((priorityOf(url) ?? later) <= later || postponed.get(url) === true) return false;
      postponed.set(url, true);
      place(url, later, release);
      return true;
    },
    isAside: (url) => (priorityOf(url) ?? 0) <= ASIDE_PRIORITY,
    setAside(url, release) {
      const { state, depth = 0 } = frontier.record(url) ?? {};
      if (state !== "leased") return false;
      place(url, asidePriority(depth), release);
      return true;
    },
  };
}
