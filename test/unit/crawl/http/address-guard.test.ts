import { describe, expect, it } from "vitest";
import { BlockList, isIPv4 } from "node:net";
import { isPublicAddress } from "../../../../src/crawl/http/address-guard.ts";
import { SPECIAL_BLOCKS } from "../../../support/special-addresses.ts";

const bitsOf = (address: string): bigint =>
  isIPv4(address)
    ? address.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n)
    : v6BitsOf(address);

function v6BitsOf(address: string): bigint {
  const [head = "", tail] = address.split("::");
  const words = (half: string): string[] => (half === "" ? [] : half.split(":"));
  const back = words(tail ?? "");
  const front = words(head);
  const middle = tail === undefined ? [] : Array(8 - front.length - back.length).fill("0");
  return [...front, ...middle, ...back].reduce(
    (sum, part) => sum * 65536n + BigInt(`0x${part}`),
    0n,
  );
}

function textOf(bits: bigint, isV4: boolean): string {
  const [count, size, radix, mark] = isV4
    ? ([4, 8n, 10, "."] as const)
    : ([8, 16n, 16, ":"] as const);
  const part = (at: number): string =>
    ((bits >> (BigInt(count - 1 - at) * size)) & ((1n << size) - 1n)).toString(radix);
  return Array.from({ length: count }, (_, at) => part(at)).join(mark);
}

/** The addresses at both ends of a block, and those right outside of it. */
function endsOf(block: string): { inside: string[]; outside: string[] } {
  const [network = "", length = ""] = block.split("/");
  const isV4 = isIPv4(network);
  const width = isV4 ? 32n : 128n;
  const first = bitsOf(network);
  const last = first + (1n << (width - BigInt(length))) - 1n;
  const outside = [first - 1n, last + 1n].filter((bits) => bits >= 0n && bits < 1n << width);
  return {
    inside: [first, (first + last) >> 1n, last].map((bits) => textOf(bits, isV4)),
    outside: outside.map((bits) => textOf(bits, isV4)),
  };
}

describe("the registries of special addresses", () => {
  const all = new BlockList();
  for (const { block } of SPECIAL_BLOCKS) {
    const [network = "", length] = block.split("/");
    all.addSubnet(network, Number(length), isIPv4(network) ? "ipv4" : "ipv6");
  }
  const isListed = (address: string): boolean =>
    all.check(address, isIPv4(address) ? "ipv4" : "ipv6");

  it.each(SPECIAL_BLOCKS.filter(({ carries }) => carries === undefined))(
    "$block, $name: not public from its first address to its last, and no more than that",
    ({ block }) => {
      const { inside, outside } = endsOf(block);
      expect(inside.filter(isPublicAddress)).toEqual([]);
      // Of IPv6 only 2000::/3 is in use.
      const isInUse = (address: string): boolean => isIPv4(address) || /^[23]...:/.test(address);
      const free = outside.filter((address) => isInUse(address) && !isListed(address));
      expect(free.filter((address) => !isPublicAddress(address))).toEqual([]);
    },
  );

  it("an address that carries one of IPv4 is as public as that one", () => {
    const v4 = SPECIAL_BLOCKS.flatMap(({ block }) => (block.includes(":") ? [] : endsOf(block)));
    const addresses = v4.flatMap(({ inside, outside }) => [...inside, ...outside]);
    for (const address of addresses) {
      const hex = bitsOf(address).toString(16).padStart(8, "0");
      const [high, low] = [hex.slice(0, 4), hex.slice(4)];
      const carriers = [`::ffff:${address}`, `64:ff9b::${high}:${low}`, `2002:${high}:${low}::1`];
      for (const carrier of carriers) {
        expect([carrier, isPublicAddress(carrier)]).toEqual([carrier, isPublicAddress(address)]);
      }
    }
  });
});

describe("isPublicAddress", () => {
  it.each([
    "93.184.216.34",
    "1.1.1.1",
    "172.15.255.255",
    "172.32.0.0",
    "100.63.255.255",
    "192.0.1.1",
    "198.17.255.255",
    "223.255.255.255",
    "2606:2800:220:1:248:1893:25c8:1946",
    "2001:4860:4860::8888",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2002:0808:0808::1",
    "[2606:4700::1111]",
  ])("%s is public", (address) => expect(isPublicAddress(address)).toBe(true));

  it.each([
    "0.0.0.0",
    "10.255.255.255",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.170",
    "192.0.2.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "[::1]",
    "::ffff:127.0.0.1",
    "::ffff:a9fe:a9fe",
    "::ffff:0:127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "",
    "localhost",
    "1.2.3",
    "0x7f000001",
    "::ffff:999.0.0.1",
  ])("%j is not", (address) => expect(isPublicAddress(address)).toBe(false));
});
