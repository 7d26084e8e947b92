/** URLFrontier's memory service among the peers (URLFRONTIER_CLASSPATH). */
import { javaPeer } from "../java/peer.ts";

export const urlfrontierPeer = javaPeer({
  name: "urlfrontier",
  title: () => "URLFrontier's memory service, in process",
  urlsMax: 1_000_000,
  isDurable: false,
  variable: "URLFRONTIER_CLASSPATH",
  holds: "URLFrontier's service and API 2.4 and the jars that they need",
});
