/** Iterate: leases one by one, as `take` returns them. */

/**
 * Leases until `take` returns none. `return` ends a `next` that waits: otherwise it would queue after it, and a caller that leaves from
 * outside would hang until there is work. What was handed out before is returned by that `next`.
 */
export function iterate<L>(
  take: (signal: AbortSignal) => Promise<readonly L[]>,
): AsyncGenerator<L, void, undefined> {
  const leaving = new AbortController();
  const leases = each(take, leaving.signal);
  const leave = leases.return.bind(leases);
  leases.return = (value) => {
    leaving.abort();
    return leave(value);
  };
  return leases;
}

async function* each<L>(
  take: (signal: AbortSignal) => Promise<readonly L[]>,
  signal: AbortSignal,
): AsyncGenerator<L, void, undefined> {
  for (;;) {
    let leases: readonly L[];
    try {
      leases = await take(signal);
    } catch (cause) {
      if (signal.aborted && cause === signal.reason) return;
      throw cause;
    }
    if (leases.length === 0) return;
    yield* leases;
  }
}
