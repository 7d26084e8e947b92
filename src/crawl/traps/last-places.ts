/**
 * LastPlaces: puts URLs that are about to be visited behind others of the frontier.
 *
 *   priority  … others │ by doubt, in steps │ set aside
 *                    0 ▼             −10⁶ ▼      −2·10⁶ ▼
 */
import type { Clock } from "../../base/clock.ts";
import type { Frontier } from "../../index.ts";
import { BoundedMap } from "./bounded-map.ts";

/** Of URLs of which nothing is expected. */
const LAST_PRIORITY = -1_000_000;
/** Of URLs of families that are traps: behind those. */
export const ASIDE_PRIORITY = 2 * LAST_PRIORITY;
const WAIT_MS = 100;
const URLS_MAX = 50_000;

/** The priority of URLs that others go before; `doubt` from 0 to 1. */
export function laterPriority(doubt: number): number {
  return Math.round(LAST_PRIORITY * doubt);
}

/** `release` gives the lease of the URL back. */
export interface LastPlaces {
  /** Once for each URL; false: it stands there already, and the lease is as it was. */
  postpone(url: string, doubt: number, release: () => unknown): boolean;
  isAside(url: string): boolean;
  setAside(url: string, release: () => unknown): void;
  /** Until visits that are under way have shown more. */
  wait(url: string, release: () => unknown): void;
}

export function createLastPlaces(
  frontier: Pick<Frontier, "record" | "update">,
  clock: Pick<Clock, "now">,
): LastPlaces {
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
    setAside: (url, release) => place(url, ASIDE_PRIORITY, release),
    wait(url, release) {
      release();
      frontier.update(url, { notBefore: clock.now() + WAIT_MS });
    },
  };
}
