/**
 * Hosts in the URL Standard's form. The IDNA table is pinned to npm tr46 instead of the platform's, so that a host has the same spelling on
 * every Node version.
 *
 *   raw host ─▶ percent-decode ─▶ ASCII ─────▶ lower case ──┐
 *                      └────────▶ non-ASCII ─▶ tr46 6.0.0 ──┴▶ forbidden? ─▶ ASCII host
 *
 * I1  The result is ASCII, lower-case, not empty, and free of forbidden domain code points.
 * I2  The time per host is bounded for every input.
 * I3  A host that ends in a number is an IPv4 address or invalid. The platform's parser, which is the same on every version, reads the
 *     address.
 */
import tr46 from "tr46";

/** The pinned version; part of the profile id, because another table produces other bytes. */
export const TR46_VERSION = "6.0.0";

const TR46_OPTIONS = {
  checkBidi: true,
  checkHyphens: false,
  checkJoiners: true,
  ignoreInvalidPunycode: false,
  transitionalProcessing: false,
  useSTD3ASCIIRules: false,
  verifyDNSLength: false,
};

/**
 * Longest non-ASCII host, in UTF-16 units. DNS names have at most 253 bytes, and tr46's time grows with the square of a label's length: 40
 * ms for 8 KiB, which would allow an attack.
 */
const IDNA_HOST_LENGTH_MAX = 1024;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the Standard forbids them by number.
const FORBIDDEN = /[\x00-\x20#%/:<>?@[\\\]^|\x7f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range starts at NUL.
const ASCII_ONLY = /^[\x00-\x7f]*$/;
const IDNA_LABEL = /(?:^|\.)xn--/i;
const IPV4_LAST_LABEL = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)\.?$/;

/**
 * Code points newer than Unicode 15.0 (Node 20.0) that take part in normalisation. tr46 uses the platform's NFC, the only step in which two
 * Node versions could differ. Hosts that contain one are refused.
 */
const YOUNG_MARKS = new RegExp(
  [
    "[\\u0897\\u1acf-\\u1aeb\\u{105c9}\\u{105d2}\\u{105da}\\u{105e4}\\u{10d69}-\\u{10d6d}",
    "\\u{10efa}\\u{10efb}\\u{11382}-\\u{11391}\\u{113b8}-\\u{113d0}\\u{1611e}-\\u{1612f}",
    "\\u{16d63}-\\u{16d6a}\\u{1e5ee}\\u{1e5ef}\\u{1e6e3}-\\u{1e6f5}]",
  ].join(""),
  "u",
);

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The ASCII form of a host that is not in brackets; undefined: not a host. */
export function hostToAscii(rawHost: string): string | undefined {
  const domain = rawHost.includes("%") ? percentDecoded(rawHost) : rawHost;
  // Since June 2026 the Standard no longer checks ASCII domains, not even xn-- labels; the
  // platforms still do, each with its own table.
  const ascii = ASCII_ONLY.test(domain) ? domain.toLowerCase() : idnaToAscii(domain);
  if (ascii === undefined || ascii === "" || FORBIDDEN.test(ascii)) return undefined;
  if (endsInNumber(ascii) && IDNA_LABEL.test(ascii)) return undefined;
  return ascii;
}

/** Whether a host has a label that a platform would check with its own IDNA table. */
export function holdsIdnaLabel(host: string): boolean {
  return IDNA_LABEL.test(host);
}

/** The Standard's ends-in-a-number checker: such a host is an IPv4 address or invalid. */
export function endsInNumber(host: string): boolean {
  return IPV4_LAST_LABEL.test(host);
}

function idnaToAscii(domain: string): string | undefined {
  if (domain.length > IDNA_HOST_LENGTH_MAX || YOUNG_MARKS.test(domain)) return undefined;
  const unicode = tr46.toUnicode(domain, TR46_OPTIONS);
  if (unicode.error || YOUNG_MARKS.test(unicode.domain)) return undefined;
  return tr46.toASCII(domain, TR46_OPTIONS) ?? undefined;
}

function percentDecoded(text: string): string {
  const source = Buffer.from(text, "utf8");
  const target = Buffer.alloc(source.length);
  let size = 0;
  for (let i = 0; i < source.length; i++, size++) {
    const high = source[i] === 0x25 ? hexValue(source[i + 1]) : -1;
    const low = high < 0 ? -1 : hexValue(source[i + 2]);
    if (low < 0) {
      target[size] = source[i] as number;
    } else {
      target[size] = high * 16 + low;
      i += 2;
    }
  }
  return decoder.decode(target.subarray(0, size));
}

/** The value of a byte that is a hex digit, else −1. */
export function hexValue(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
