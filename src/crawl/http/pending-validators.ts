/**
 * PendingValidators: validators of pages whose visits are about to end, learned only once the frontier says that a page is done.
 *
 *   visit ─▶ offer { URL, delivery, headers } ─▶ kept ─▶ frontier: done, the same delivery ─▶ learn
 *
 *   I1  A visit that ends too late is never learned of: its links were not admitted, and a later visit that was answered
 *       304 would not find them.
 *   I2  An offer is made before the end is said, and stands when the frontier tells of it: it never comes after a next visit.
 *   I3  Bounded: what nobody was done with is dropped, the oldest first.
 *   I4  The frontier tells of what is done from the first offer on: a crawl that asks nothing conditionally costs it nothing.
 */
import type { Frontier, RequestView } from "../../index.ts";
import type { ValidatorHeaders, Validators } from "./conditional-requests.ts";

export interface PendingValidators {
  offer(visited: Visited, headers: ValidatorHeaders | undefined): void;
  /** Hears no more. */
  close(): void;
}

/** Which visit it was: of a URL there are several, one after another. */
export interface Visited {
  readonly url: string;
  readonly rule: string;
  readonly deliveries: number;
}

interface PendingValidator extends Visited {
  readonly headers: ValidatorHeaders | undefined;
}

const PENDING_COUNT_MAX = 10_000;

export function createPendingValidators(
  { learn }: Pick<Validators, "learn">,
  frontier: Pick<Frontier, "on">,
): PendingValidators {
  const pendingValidators = new Map<string, PendingValidator>();
  let leave: (() => void) | undefined;
  const done = (views: readonly RequestView[]): void => {
    if (pendingValidators.size === 0) return;
    for (const { url, deliveries } of views) {
      const offer = pendingValidators.get(url);
      if (offer === undefined) continue;
      pendingValidators.delete(url);
      if (offer.deliveries === deliveries) learn(url, offer.rule, offer.headers);
    }
  };
  return {
    offer({ url, rule, deliveries }, headers) {
      leave ??= frontier.on("done", done);
      pendingValidators.delete(url);
      if (pendingValidators.size >= PENDING_COUNT_MAX)
        pendingValidators.delete(pendingValidators.keys().next().value as string);
      pendingValidators.set(url, { url, rule, deliveries, headers });
    },
    close: () => leave?.(),
  };
}
