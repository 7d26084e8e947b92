/** All peers, in the order in which they are shown. */
import { collyPeer } from "./colly/adapter.ts";
import { crawleePeer } from "./crawlee/adapter.ts";
import { lmdbPeer } from "./lmdb/adapter.ts";
import { outriderPeer } from "./outrider/adapter.ts";
import type { Peer } from "./peer.ts";
import { plainPeer } from "./plain/adapter.ts";
import { scrapyHostsPeer, scrapyPeer } from "./scrapy/adapter.ts";
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

/** With a queue for each host, whose turns rotate. */
export const HOST_PEERS: readonly Peer[] = [
  outriderPeer("outrider-hosts", { defaults: { politeness: { perHost: 1_000_000 } } }, false),
  scrapyHostsPeer,
];

/** Ours as a crawler drives it: no more than a call's worth of leases is out. */
export const TURN_PEERS: readonly Peer[] = [
  { ...outriderPeer("outrider-turns", {}, false), inTurn: true },
];

export function peerOf(name: string): Peer {
  const all = [...PEERS, ...HOST_PEERS, ...TURN_PEERS];
  const peer = all.find((each) => each.name === name);
  const names = all.map((each) => each.name).join(", ");
  if (peer === undefined) throw new Error(`peer: ${name} (expected: ${names})`);
  return peer;
}
