/**
 * The address guard: which addresses a crawler may dial. A page, a redirect or a name server can name any address; so the check is made
 * on the address that is dialled, at that moment.
 *
 *   IPv4   everything but the blocks of IANA's special-purpose registry (private, loopback, link-local, where clouds keep their
 *          metadata, and all others, also those that are reached globally: no site is there), and multicast
 *   IPv6   global unicast (2000::/3) alone, and of that no block of the registry for IPv6; an address that carries an IPv4
 *          address (mapped, 6to4, NAT64) is as public as the one it carries
 *
 * test/support/special-addresses.ts is a dated copy of both registries, which a test holds this table to.
 *
 *   I1  Total: whatever is no address is not public.
 */
import { isIPv4, isIPv6 } from "node:net";
import { TEXT } from "../../base/fields.ts";

/** [network, bits] that no public server has. */
const SPECIAL_V4: ReadonlyArray<readonly [number, number]> = [
  [0x00000000, 8], // this network
  [0x0a000000, 8], // private
  [0x64400000, 10], // shared by carriers
  [0x7f000000, 8], // loopback
  [0xa9fe0000, 16], // link-local, 169.254.169.254 among them
  [0xac100000, 12], // private
  [0xc0000000, 24], // protocol assignments
  [0xc0000200, 24], // documentation
  [0xc01fc400, 24], // AS112
  [0xc034c100, 24], // AMT
  [0xc0586300, 24], // 6to4 relays
  [0xc0a80000, 16], // private
  [0xc0af3000, 24], // AS112
  [0xc6120000, 15], // benchmarks
  [0xc6336400, 24], // documentation
  [0xcb007100, 24], // documentation
  [0xe0000000, 4], // multicast
  [0xf0000000, 4], // reserved and broadcast
];

/**
 * Whether an IP address is public, so that it may be dialled without `allowPrivate`. Returns false for text
 * that is no address.
 *
 * @example
 * isPublicAddress("192.168.1.1"); // false
 * isPublicAddress("2606:4700::1111"); // true
 */
export function isPublicAddress(address: string): boolean {
  TEXT(address, "address", "ARGUMENT_INVALID");
  const bare = address.startsWith("[") ? address.slice(1, -1) : address;
  if (isIPv4(bare)) return isPublicV4(wordOfV4(bare));
  // An address with a zone ("%eth0") is of a link.
  if (!isIPv6(bare) || bare.includes("%")) return false;
  return isPublicV6(partsOfV6(bare));
}

function isPublicV4(word: number): boolean {
  return !SPECIAL_V4.some(([network, bits]) => word >>> (32 - bits) === network >>> (32 - bits));
}

function isPublicV6(parts: number[]): boolean {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = parts;
  const last = ((g << 16) | h) >>> 0;
  const isEmpty = (a | b | c | d | e) === 0;
  if (isEmpty && f === 0xffff) return isPublicV4(last); // ::ffff:0:0/96, mapped
  if (a === 0x64 && b === 0xff9b && (c | d | e | f) === 0) return isPublicV4(last); // NAT64
  if (a === 0x2002) return isPublicV4(((b << 16) | c) >>> 0); // 6to4
  if (a === 0x2001 && (b < 0x200 || b === 0xdb8)) return false; // assignments, documentation
  if (a === 0x2620 && b === 0x4f && c === 0x8000) return false; // AS112
  if (a === 0x3fff && b < 0x1000) return false; // documentation
  return a >= 0x2000 && a <= 0x3fff;
}

function wordOfV4(address: string): number {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}

/** The eight words of an address that is known to be one. */
function partsOfV6(address: string): number[] {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  const word = tail === null ? 0 : wordOfV4(tail[2] as string);
  const hex = (part: number): string => (part & 0xffff).toString(16);
  const text = tail === null ? address : `${tail[1]}${hex(word >>> 16)}:${hex(word)}`;
  const [head = "", rest] = text.split("::");
  const words = (half: string): number[] =>
    half === "" ? [] : half.split(":").map((part) => Number.parseInt(part, 16));
  if (rest === undefined) return words(head);
  const front = words(head);
  const back = words(rest);
  return [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
}
