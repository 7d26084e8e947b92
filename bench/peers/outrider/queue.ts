/** Outrider behind the cases' interface: its public API, nothing else. */
import { createVirtualClock, type FrontierOptions, openFrontier } from "../../../src/index.ts";
import type { Queue, QueueOptions } from "../queue.ts";

export async function openOutrider(
  { delayMs }: QueueOptions,
  options: FrontierOptions = {},
): Promise<Queue> {
  const clock = createVirtualClock(1_700_000_000_000);
  const frontier = await openFrontier({
    clock,
    keepOpen: true,
    ...options,
    ...(delayMs === 0 ? {} : { defaults: { politeness: { delayMs, perHost: 1 } } }),
  });
  return {
    push: (urls) => frontier.pushMany(urls).accepted,
    pushOne: (url) => (frontier.push(url).admitted ? 1 : 0),
    drain(max) {
      const leases = frontier.pollMany(max);
      if (frontier.done(leases) !== leases.length) throw new Error("outrider: a lease was late");
      return leases.map(({ url }) => url);
    },
    drainOne() {
      const lease = frontier.poll();
      if (lease?.done().late) throw new Error("outrider: a lease was late");
      return lease?.url;
    },
    advance: (ms) => clock.advance(ms),
    facts() {
      const { memory, seenSet } = frontier.report();
      return {
        "reported bytes/URL": memory.bytesPerUrl,
        "seen-set bits/URL": seenSet.bitsPerUrl,
      };
    },
    close: () => frontier.close(),
  };
}
