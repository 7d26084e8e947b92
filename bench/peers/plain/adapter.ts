/** Plain JavaScript among the peers. */
import type { Peer, PeerQueue } from "../peer.ts";
import { openPlain, type PlainRecord } from "./queue.ts";

export const plainPeer: Peer = {
  name: "plain",
  title: () => "plain JavaScript: URL, Set, arrays",
  missing: () => undefined,
  urlsMax: 10_000_000,
  isDurable: false,
  open() {
    const { push, poll, done } = openPlain({ delayMs: 0 });
    const queue: PeerQueue<PlainRecord> = {
      push,
      poll,
      urlOf: ({ url }) => url,
      done,
      close: () => {},
    };
    return queue as PeerQueue;
  },
};
