/** All peers, in the order in which they are shown. */
import { collyPeer } from "./colly/adapter.ts";
import { crawleePeer } from "./crawlee/adapter.ts";
import { lmdbPeer } from "./lmdb/adapter.ts";
import { outriderPeer } from "./outrider/adapter.ts";
import type { Peer } from "./peer.ts";
import { plainPeer } from "./plain/adapter.ts";
import { scrapyPeer } from "./scrapy/adapter.ts";
import { urlfrontierPeer } from "./urlfrontier/adapter.ts";
import { webmagicPeer } from "./webmagic/adapter.ts";

export const PEERS: readonly Peer[] = [
  outriderPeer("outrider", { durability: { everyMs: 100 } }, true),
  outriderPeer("outrider-sync", { durability: "sync" }, true),
  plainPeer,
  lmdbPeer,
  crawleePeer,
  scrapyPeer,
  collyPeer,
  webmagicPeer,
  urlfrontierPeer,
];

export function peerOf(name: string): Peer {
  const peer = PEERS.find((each) => each.name === name);
  const names = PEERS.map((each) => each.name).join(", ");
  if (peer === undefined) throw new Error(`peer: ${name} (expected: ${names})`);
  return peer;
}
