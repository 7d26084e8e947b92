/**
 * Hostile URL text: every ASCII byte in every place, lone surrogates, NUL, odd slashes, IPv4 and
 * IPv6 in all spellings, IDNA, percent soup, dot segments, very long pieces.
 */
import type { Random } from "../../src/base/random.ts";

const SCHEMES = [
  "http:",
  "https:",
  "HTTP:",
  "hTTps:",
  "http",
  "ftp:",
  "javascript:",
  "",
  "a:",
  ":",
];
const SLASHES = ["//", "//", "//", "//", "/", "", "///", "\\\\", "/\\", "\\", "\t//", "/\n/"];
const USERS = ["", "", "", "u@", "u:p@", ":@", "@", "u:@", "a%40b@", "@@", "%7e:%7E@", "\u00e9@"];
const HOSTS = [
  "example.com",
  "EXAMPLE.COM",
  "a.b-c_d",
  "localhost",
  "x.",
  ".x",
  "..",
  "1.2.3.4",
  "0x7f.1",
  "0300.1",
  "256",
  "256.256.256.256",
  "4294967295",
  "4294967296",
  "1.2.3",
  "1.2.3.4.5",
  "0x",
  "1.2.3.08",
  "0x.0x.0",
  "a.1",
  "1.2.3.4.",
  "[::1]",
  "[::1.2.3.4]",
  "[1:2:3:4:5:6:7:8]",
  "[::",
  "[1::2::3]",
  "[g::1]",
  "[0:0:0:FFFF::ABCD]",
  "b\u00fccher.example",
  "B\u00dcCHER.example",
  "fa\u00df.de",
  "\u4f60\u597d",
  "xn--a",
  "XN--BCHER-KVA.example",
  "xn--zz--.\u00e9",
  "\uff11.\uff12.3.4",
  "\u3002",
  "a\u00adb",
  "\u00ad",
  "%61%2e%62",
  "%C3%A9",
  "%E2%98%83",
  "%00",
  "%",
  "a%zz",
  "\u05d0\u05d1.com",
  "a\u200db",
  "\ud800",
  "\u{1f600}.la",
  "a b",
  "",
];
const PORTS = [
  "",
  "",
  "",
  ":",
  ":80",
  ":443",
  ":8080",
  ":0",
  ":65535",
  ":65536",
  ":0080",
  ":a",
  ":8 0",
];
const PATHS = [
  "",
  "/",
  "/a/b/c",
  "/./",
  "/../",
  "/a/../../b",
  "/%2e/%2E%2e/.%2e",
  "/a/..;x/b",
  "/;jsessionid=1/..;sid=2",
  "//",
  "\\a\\..\\b",
  "/%7e%41%2f%2F%zz%",
  "/%%32e",
  '/^|`{}"<>',
  "/\u00e9\u{1f600}\udc00",
  "/ a ",
  "/a\tb\nc",
  "/C|/..",
];
const QUERIES = [
  "",
  "?",
  "?&&",
  "?b=2&a=1",
  "?a=2&a=1&a",
  "?a&a=",
  "?utm_source=x&UTM_Medium=y&id=1",
  "?'\"<>^`|",
  "?%7e=%c3%a9&%",
  "?\u00fc=\u00e9",
  "?a=b=c&=d&=",
  "?a;b;a",
  "??/?",
  "?a+b%20c",
];
const FRAGMENTS = ["", "", "#", "#f", "#%7e%", "#a#b?c", '# `<>"', "#\u00e9\ud83d"];

/** One hostile text. A text of about one in 500 is long, up to 64 Ki characters. */
export function fuzzUrl(random: Random): string {
  const pick = (list: readonly string[]): string => list[random.below(list.length)] as string;
  const kind = random.below(20);
  if (kind === 0) return soup(random, 1 + random.below(40));
  const start = kind < 4 ? "" : pick(SCHEMES) + pick(SLASHES) + pick(USERS) + pick(HOSTS);
  let text = start + (start === "" ? "" : pick(PORTS));
  for (let i = random.below(3); i >= 0; i--) text += pick(PATHS);
  text += pick(QUERIES) + (random.below(3) === 0 ? `&${pick(QUERIES).slice(1)}` : "");
  text += pick(FRAGMENTS);
  if (random.below(500) === 0) text = lengthened(random, text);
  const mutations = Math.max(0, random.below(6) - 2);
  for (let i = 0; i < mutations; i++) text = mutated(random, text);
  return text;
}

/** Every ASCII byte, put into every place of a text in turn: 128 × (length + 1) texts. */
export function* asciiEverywhere(text: string): Generator<string, undefined, undefined> {
  for (let byte = 0; byte < 128; byte++) {
    const character = String.fromCharCode(byte);
    for (let i = 0; i <= text.length; i++) yield text.slice(0, i) + character + text.slice(i);
  }
  return undefined;
}

function mutated(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  const kind = random.below(4);
  if (kind === 0) return text.slice(0, at) + text.slice(at + 1);
  if (kind === 1) return text.slice(0, at) + soup(random, 1) + text.slice(at);
  if (kind === 2) return text.slice(0, at) + soup(random, 1) + text.slice(at + 1);
  const end = at + random.below(8);
  return text.slice(0, end) + text.slice(at);
}

/** Characters, most of them ASCII, `%` and those at which parsers split. */
function soup(random: Random, length: number): string {
  let text = "";
  for (let i = 0; i < length; i++) {
    const kind = random.below(8);
    if (kind < 4) text += String.fromCharCode(random.below(128));
    else if (kind < 6) text += "%/\\?#@:[].;&=^".charAt(random.below(14));
    else if (kind === 6) text += String.fromCharCode(random.below(65_536));
    else text += `%${random.below(256).toString(16).padStart(2, "0")}`;
  }
  return text;
}

function lengthened(random: Random, text: string): string {
  const pieces = ["a", "/", "/..", "%", "%41", "&a=1", ";x", "\u00e9", ".", "@", ":", "\\", " "];
  const piece = pieces[random.below(pieces.length)] as string;
  const lengths = [8_100, 8_192, 9_000, 65_536];
  const target = lengths[random.below(lengths.length)] as number;
  const count = Math.max(1, Math.floor((target - text.length) / piece.length));
  const at = random.below(text.length + 1);
  return text.slice(0, at) + piece.repeat(count) + text.slice(at);
}
