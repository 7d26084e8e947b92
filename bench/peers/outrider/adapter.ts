/** Outrider among its peers: its public API, in batches, as its guide says. */
import { type FrontierOptions, type Lease, openFrontier } from "../../../src/index.ts";
import type { Peer, PeerQueue } from "../peer.ts";

export function outriderPeer(name: string, options: FrontierOptions, isDurable: boolean): Peer {
  return {
    name,
    title: () => `Outrider, ${isDurable ? JSON.stringify(options.durability) : "memory"}`,
    missing: () => undefined,
    urlsMax: 10_000_000,
    isDurable,
    async open({ directory }) {
      const { durability: _, ...always } = options;
      const place = directory === undefined ? always : { directory, ...options };
      const frontier = await openFrontier({ keepOpen: true, ...place });
      const queue: PeerQueue<Lease> = {
        push: (urls) => frontier.pushMany(urls).accepted,
        poll: (max) => frontier.pollMany(max),
        urlOf: ({ url }) => url,
        done(leases) {
          if (frontier.done(leases) !== leases.length) throw new Error("a lease was late");
        },
        flush: () => frontier.flush(),
        close: () => frontier.close(),
      };
      return queue as PeerQueue;
    },
  };
}
