/**
 * Corpora of URLs and links, all from a seed: the same seed makes the same texts everywhere.
 *
 *   urlCorpus    canonical URLs shaped like the web's, distinct, hosts by Zipf's law
 *   linkCorpus   { base, href } of link text that needs transforming before it is canonical
 *   fuzzUrl      hostile text: see fuzz.ts
 */
import { createRandom, type Random } from "../../src/base/random.ts";

export interface Link {
  readonly base: string;
  readonly href: string;
}

const WORDS =
  "about account archive article articles blog book browse cart catalog category city comment \
company contact content course data default detail docs download edit event events faq file \
forum gallery game group guide help history home image images index info item items jobs \
language latest library list local login map market media member message mobile movie music \
news page people photo policy post press product products profile program project public \
question rating report research review rss sale school search section service shop sign site \
sport store story street student support tag tags team terms test thread tools topic travel \
user video view watch weather wiki world year".split(/\s+/);
const SUFFIXES = ["com", "com", "com", "org", "net", "de", "co.uk", "io", "fr", "com.br", "edu"];
const EXTENSIONS = ["", "", "", ".html", ".php", ".aspx", ".htm", "/"];
const PARAMS = ["id", "p", "page", "q", "cat", "lang", "sort", "view", "ref", "date", "limit"];
const TRACKERS = ["utm_source", "utm_medium", "utm_campaign", "gclid", "fbclid", "sid"];

/** A word of the list. */
function pick(random: Random, list: readonly string[]): string {
  return list[random.below(list.length)] as string;
}

/** The host of a rank: always the same one, `www.` before two of three. */
function hostOfRank(rank: number): string {
  const random = createRandom(rank ^ 0x5bd1e995);
  const name = pick(random, WORDS) + (random.below(3) === 0 ? `-${pick(random, WORDS)}` : "");
  const prefix = pick(random, ["www.", "www.", "", "m.", "shop.", "blog."]);
  return `${prefix}${name}${rank.toString(36)}.${pick(random, SUFFIXES)}`;
}

/** Ranks by Zipf's law with exponent 1: the logarithm of the rank is uniform. */
function zipfHost(random: Random, hostCount: number): string {
  return hostOfRank(Math.floor(hostCount ** random.unit()));
}

function segment(random: Random): string {
  const word = pick(random, WORDS);
  if (random.below(4) > 0) return word;
  return random.below(40) === 0 ? `${word}%20${random.below(100)}` : `${word}-${random.below(1e6)}`;
}

function path(random: Random, deepest: number): string {
  let text = "";
  for (let depth = random.below(deepest); depth > 0; depth--) text += `/${segment(random)}`;
  return text;
}

/** The `index`-th URL of a corpus over `hostCount` hosts; different indexes make different URLs. */
function urlOf(random: Random, index: number, hostCount: number): string {
  const scheme = random.below(5) === 0 ? "http" : "https";
  const serial = `${pick(random, WORDS)}-${index.toString(36)}`;
  let url = `${scheme}://${zipfHost(random, hostCount)}${path(random, 4)}/${serial}`;
  url += pick(random, EXTENSIONS);
  const paramCount = Math.max(0, random.below(8) - 4);
  for (let i = 0; i < paramCount; i++) {
    // Names in rising order: a canonical URL has them sorted.
    url += `${i === 0 ? "?" : "&"}${String.fromCharCode(0x61 + i * 6)}${pick(random, PARAMS)}`;
    url += `=${random.below(2) === 0 ? random.below(1e7) : pick(random, WORDS)}`;
  }
  return url;
}

/** Canonical URLs shaped like the web's, 60 to 70 bytes on average, no two alike. */
export function urlCorpus(count: number, seed: number): string[] {
  const random = createRandom(seed);
  const hostCount = Math.max(10, Math.floor(count / 20));
  return Array.from({ length: count }, (_, index) => urlOf(random, index, hostCount));
}

/** Links as pages hold them, each of which needs at least one transformation. */
export function linkCorpus(count: number, seed: number): Link[] {
  const random = createRandom(seed);
  const hostCount = Math.max(10, Math.floor(count / 20));
  return Array.from({ length: count }, (_, index) => {
    const base = urlOf(random, index, hostCount);
    const isRelative = random.below(3) > 0;
    const href = isRelative ? relativeLink(random, index) : absoluteLink(random, index, hostCount);
    return { base, href };
  });
}

function relativeLink(random: Random, index: number): string {
  const last = `${pick(random, WORDS)}-${index.toString(36)}`;
  const starts = ["/", "", "./", "../", "../../", "/a/../", "?", "//"];
  const start = pick(random, starts);
  if (start === "?") return `?${unsortedQuery(random)}${fragment(random)}`;
  if (start === "//") return `//${hostOfRank(random.below(1000))}/${last}${query(random)}`;
  return start + decorated(random, `${pick(random, WORDS)}/${last}`) + query(random);
}

function absoluteLink(random: Random, index: number, hostCount: number): string {
  let host = zipfHost(random, hostCount);
  let scheme = random.below(5) === 0 ? "http" : "https";
  const quirk = random.below(5);
  if (quirk === 0) host = host.toUpperCase();
  if (quirk === 1) host += scheme === "http" ? ":80" : ":443";
  if (quirk === 2) scheme = scheme.toUpperCase();
  const text = `${path(random, 3)}/${pick(random, WORDS)}-${index.toString(36)}`;
  const tail = quirk > 2 ? `?${unsortedQuery(random)}${fragment(random)}` : query(random);
  return `${scheme}://${host}${decorated(random, text)}${tail}`;
}

/** Path text with parts that serialiser and percent step must change, now and then. */
function decorated(random: Random, text: string): string {
  const quirks = [
    "",
    "",
    "",
    "/./x",
    "/y/../z",
    "/%7euser",
    "/%c3%a9",
    "/caf\u00e9",
    "/a b",
    "/50%",
  ];
  const session = random.below(25) === 0 ? ";jsessionid=0A1B2C" : "";
  return text + pick(random, quirks) + session;
}

function query(random: Random): string {
  return (random.below(2) === 0 ? `?${unsortedQuery(random)}` : "") + fragment(random);
}

function fragment(random: Random): string {
  return random.below(3) === 0 ? `#${pick(random, WORDS)}` : "";
}

function unsortedQuery(random: Random): string {
  const pieces: string[] = [];
  for (let i = random.below(5) + 1; i > 0; i--) {
    const name = random.below(4) === 0 ? pick(random, TRACKERS) : pick(random, PARAMS);
    const values = [String(random.below(1e5)), pick(random, WORDS), "%3d%2F", "a+b", "\u00fc", ""];
    pieces.push(random.below(20) === 0 ? name : `${name}=${pick(random, values)}`);
  }
  return pieces.join("&");
}
