/**
 * The special-purpose address registries of IANA for IPv4 and IPv6, as last changed on 9 October 2025 and read again by others on 17
 * September 2026, and the blocks of multicast and of retired site-local addresses, which have registries of their own. All 26 and 25 rows of
 * https://www.iana.org/assignments/iana-ipv4-special-registry/iana-ipv4-special-registry-1.csv and
 * https://www.iana.org/assignments/iana-ipv6-special-registry/iana-ipv6-special-registry-1.csv are here; compared by published copies of both.
 */
interface SpecialBlock {
  readonly block: string;
  readonly name: string;
  /** As public as the IPv4 address that it carries. */
  readonly carries?: "IPv4";
}

export const SPECIAL_BLOCKS: readonly SpecialBlock[] = [
  { block: "0.0.0.0/8", name: "This network" },
  { block: "0.0.0.0/32", name: "This host on this network" },
  { block: "10.0.0.0/8", name: "Private-Use" },
  { block: "100.64.0.0/10", name: "Shared Address Space" },
  { block: "127.0.0.0/8", name: "Loopback" },
  { block: "169.254.0.0/16", name: "Link Local" },
  { block: "172.16.0.0/12", name: "Private-Use" },
  { block: "192.0.0.0/24", name: "IETF Protocol Assignments" },
  { block: "192.0.0.0/29", name: "IPv4 Service Continuity Prefix" },
  { block: "192.0.0.8/32", name: "IPv4 dummy address" },
  { block: "192.0.0.9/32", name: "Port Control Protocol Anycast" },
  { block: "192.0.0.10/32", name: "Traversal Using Relays around NAT Anycast" },
  { block: "192.0.0.170/32", name: "NAT64/DNS64 Discovery" },
  { block: "192.0.0.171/32", name: "NAT64/DNS64 Discovery" },
  { block: "192.0.2.0/24", name: "Documentation (TEST-NET-1)" },
  { block: "192.31.196.0/24", name: "AS112-v4" },
  { block: "192.52.193.0/24", name: "AMT" },
  { block: "192.88.99.0/24", name: "Deprecated (6to4 Relay Anycast)" },
  { block: "192.88.99.2/32", name: "6a44-relay anycast address" },
  { block: "192.168.0.0/16", name: "Private-Use" },
  { block: "192.175.48.0/24", name: "Direct Delegation AS112 Service" },
  { block: "198.18.0.0/15", name: "Benchmarking" },
  { block: "198.51.100.0/24", name: "Documentation (TEST-NET-2)" },
  { block: "203.0.113.0/24", name: "Documentation (TEST-NET-3)" },
  { block: "240.0.0.0/4", name: "Reserved" },
  { block: "255.255.255.255/32", name: "Limited Broadcast" },
  { block: "224.0.0.0/4", name: "Multicast" },
  { block: "::1/128", name: "Loopback Address" },
  { block: "::/128", name: "Unspecified Address" },
  { block: "::ffff:0:0/96", name: "IPv4-mapped Address", carries: "IPv4" },
  { block: "64:ff9b::/96", name: "IPv4-IPv6 Translat.", carries: "IPv4" },
  { block: "64:ff9b:1::/48", name: "IPv4-IPv6 Translat." },
  { block: "100::/64", name: "Discard-Only Address Block" },
  { block: "100:0:0:1::/64", name: "Dummy IPv6 Prefix" },
  { block: "2001::/23", name: "IETF Protocol Assignments" },
  { block: "2001::/32", name: "TEREDO" },
  { block: "2001:1::1/128", name: "Port Control Protocol Anycast" },
  { block: "2001:1::2/128", name: "Traversal Using Relays around NAT Anycast" },
  { block: "2001:1::3/128", name: "DNS-SD Service Registration Protocol Anycast" },
  { block: "2001:2::/48", name: "Benchmarking" },
  { block: "2001:3::/32", name: "AMT" },
  { block: "2001:4:112::/48", name: "AS112-v6" },
  { block: "2001:10::/28", name: "Deprecated (previously ORCHID)" },
  { block: "2001:20::/28", name: "ORCHIDv2" },
  { block: "2001:30::/28", name: "Drone Remote ID Protocol Entity Tags" },
  { block: "2001:db8::/32", name: "Documentation" },
  { block: "2002::/16", name: "6to4", carries: "IPv4" },
  { block: "2620:4f:8000::/48", name: "Direct Delegation AS112 Service" },
  { block: "3fff::/20", name: "Documentation" },
  { block: "5f00::/16", name: "Segment Routing (SRv6) SIDs" },
  { block: "fc00::/7", name: "Unique-Local" },
  { block: "fe80::/10", name: "Link-Local Unicast" },
  { block: "fec0::/10", name: "Deprecated (site-local)" },
  { block: "ff00::/8", name: "Multicast" },
];
