/** WebMagic's schedulers among the peers (WEBMAGIC_CLASSPATH). */
import { javaPeer } from "../java/peer.ts";

export const webmagicPeer = javaPeer({
  name: "webmagic",
  title: () => "WebMagic's PriorityScheduler, FileCacheQueueScheduler",
  urlsMax: 1_000_000,
  isDurable: true,
  variable: "WEBMAGIC_CLASSPATH",
  holds: "webmagic-core, webmagic-extension and the jars that they need",
});
