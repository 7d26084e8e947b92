/**
 * SharedLease: a lease of a frontier that is elsewhere, as a visit works on it: its ends go there one after the other, in the order in
 * which they were called, and the visit waits for none of them.
 *
 *   I1  A redirect is admitted before its lease ends: a process that dies between them leaves the lease, and so the page.
 */
import type { AsyncLease } from "../../index.ts";
import type { VisitLease } from "../run/visit-context.ts";

/** A lease of a visit, with its calls under way. */
export interface SharedLease extends VisitLease {
  readonly deadlineMs: number;
  /** Resolves when everything that was called is done. */
  settled(): Promise<void>;
}

export interface SharedLeaseParts {
  /** Reports the failure of a call whose answer is not awaited here, and returns undefined then. */
  readonly follow: <T>(call: Promise<T>, url: string) => Promise<T | undefined>;
  /** Settings that must arrive before the host may be leased again. */
  readonly before: () => Promise<void>;
}

export function sharedLease(lease: AsyncLease, { follow, before }: SharedLeaseParts): SharedLease {
  let last: Promise<unknown> = Promise.resolve();
  const then = <T>(call: () => Promise<T>): Promise<T | undefined> => {
    const made = follow(last.then(before).then(call), lease.url);
    last = made;
    return made;
  };
  const { url, host, hostKey, method, body, headers, depth, rule, data, handler } = lease;
  const { redirects, parent, deliveries, deadlineMs } = lease;
  return {
    ...{ url, host, hostKey, method, body, headers, depth, rule, data, handler },
    ...{ redirects, parent, deliveries, deadlineMs },
    done({ policy: _, decision: __, ...result }) {
      void then(() => lease.done(result));
    },
    retry: (options) => then(() => lease.retry(options)),
    fail: (reason, outcome) => then(() => lease.fail(reason, outcome)),
    release: () => then(() => lease.release()),
    redirect: (to, change) => then(() => lease.redirect(to, change)),
    async settled() {
      await last;
    },
  };
}
