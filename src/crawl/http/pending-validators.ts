/**
 * PendingValidators: holds the validators of pages whose visits are about to end, and learns them only once the frontier reports
 * the page as done.
 *
 *   visit ─▶ offer { URL, delivery, page } ─▶ kept ─▶ frontier: done, the same delivery ─▶ learn
 *
 *   I1  Nothing is learned from a visit that ends too late: its links were not admitted, and a later visit that was answered
 *       304 would not find them.
 *   I2  An offer is made before the visit ends and is there when the frontier reports its end: it never comes after a next visit.
 *   I3  Bounded: offers of visits that are never done are dropped, the oldest first.
 *   I4  The listener to done pages begins with the first offer: a crawl without conditional requests pays nothing for it.
 */
import type { Frontier, RequestView } from "../../index.ts";
import type { PageState, Validators } from "./conditional-requests.ts";

export type PendingValidators = ReturnType<typeof createPendingValidators>;

/** Identifies a visit: a URL has several, one after another. */
export interface Visited {
  readonly url: string;
  readonly rule: string;
  readonly deliveries: number;
}

interface PendingValidator extends Visited {
  readonly page: PageState;
}

const PENDING_COUNT_MAX = 10_000;

export function createPendingValidators(
  { learn }: Pick<Validators, "learn">,
  frontier: Pick<Frontier, "on">,
) {
  const pendingValidators = new Map<string, PendingValidator>();
  let leave: (() => void) | undefined;
  const done = (views: readonly RequestView[]): void => {
    if (pendingValidators.size === 0) return;
    for (const { url, deliveries } of views) {
      const offer = pendingValidators.get(url);
      if (offer === undefined) continue;
      pendingValidators.delete(url);
      if (offer.deliveries === deliveries) learn(url, offer.rule, offer.page);
    }
  };
  return {
    offer({ url, rule, deliveries }: Visited, page: PageState): void {
      leave ??= frontier.on("done", done);
      pendingValidators.delete(url);
      if (pendingValidators.size >= PENDING_COUNT_MAX)
        pendingValidators.delete(pendingValidators.keys().next().value as string);
      pendingValidators.set(url, { url, rule, deliveries, page });
    },
    /** Ends the listener. */
    close: (): void => leave?.(),
  };
}
