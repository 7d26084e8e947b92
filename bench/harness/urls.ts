/**
 * URLs for benchmarks: each is a pure function of its index, so that 10⁷ of them need no list.
 *
 *   urlChunk(start, count)     canonical already, distinct, shaped like the web's: 71 bytes on average
 *   linkChunk(start, count)    the same URLs in spellings that must be transformed
 *
 * Strings come out flat and one-byte, as a parser of pages hands them over: neither ropes, whose flattening
 * would be charged to the first reader, nor slices that keep a whole chunk alive.
 *
 *   I1  Different indexes have different URLs.
 *   I2  Every spelling of an index has the URL of that index as its canonical form, by the kernel and by
 *       `new URL` with the hash dropped and the parameters sorted by name.
 */

export interface UrlShape {
  /** Hosts in all. */
  readonly hosts: number;
  /** True: every host equally often, whatever the index; false: by Zipf's law. */
  readonly isUniform?: boolean;
}

const WORDS = [
  ...["archive", "article", "blog", "book", "catalog", "category", "comment", "content", "course"],
  ...["detail", "docs", "download", "event", "forum", "gallery", "guide", "help", "history"],
  ...["image", "index", "item", "job", "language", "library", "list", "map", "market", "media"],
  ...["message", "movie", "music", "news", "page", "people", "photo", "post", "product", "profile"],
  ...["project", "question", "recipe", "report", "review", "search", "section", "shop", "story"],
  ...[
    "street",
    "tag",
    "team",
    "thread",
    "topic",
    "travel",
    "user",
    "video",
    "view",
    "wiki",
    "year",
  ],
];
const SUFFIXES = ["com", "com", "com", "org", "net", "de", "co.uk", "io", "fr", "com.br", "edu"];
const PREFIXES = ["www.", "www.", "", "m.", "shop.", "blog."];
const EXTENSIONS = ["", "", "", ".html", ".php", ".htm", "/"];
/** In rising order: a canonical URL has its parameters sorted. */
const NAMES = ["cat", "date", "id", "lang", "page", "q", "ref", "sort", "view"];

/** `count` canonical URLs from index `start` on. */
export function urlChunk(start: number, count: number, shape: UrlShape): string[] {
  return Array.from({ length: count }, (_, i) => flat(urlOf(start + i, shape)));
}

/** The same URLs as `urlChunk`, as pages spell them. */
export function linkChunk(start: number, count: number, shape: UrlShape): string[] {
  return Array.from({ length: count }, (_, i) => flat(linkOf(start + i, shape)));
}

interface Parts {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: readonly string[];
}

function urlOf(index: number, shape: UrlShape): string {
  return textOf(partsOf(index, shape));
}

function textOf({ scheme, host, path, query }: Parts): string {
  return `${scheme}://${host}${path}${query.length === 0 ? "" : `?${query.join("&")}`}`;
}

/** One of five faults that a canonical form mends, and a fragment on every third. */
function linkOf(index: number, shape: UrlShape): string {
  const parts = partsOf(index, shape);
  let { scheme, host, path } = parts;
  const query = [...parts.query];
  const fault = mix(index ^ 0x3c6ef372) % 5;
  if (fault === 0) host = host.toUpperCase();
  if (fault === 1) host += scheme === "http" ? ":80" : ":443";
  if (fault === 2) path = `/x/..${path}`;
  if (fault === 3) query.reverse();
  if (fault === 4) scheme = scheme.toUpperCase();
  const fragment = index % 3 === 0 ? "#top" : "";
  return `${scheme}://${host}${path}${query.length === 0 ? "" : `?${query.join("&")}`}${fragment}`;
}

/** The URL of an index on the host of a rank. */
export function urlOnHost(index: number, rank: number): string {
  return flat(textOf(partsAt(index, rank)));
}

function partsOf(index: number, { hosts, isUniform }: UrlShape): Parts {
  const draw = mix(mix(mix(index) ^ 0x5bd1e995) ^ 0x1b873593) / 4_294_967_296;
  return partsAt(index, isUniform === true ? index % hosts : Math.floor(hosts ** draw));
}

function partsAt(index: number, rank: number): Parts {
  const a = mix(index);
  const b = mix(a ^ 0x5bd1e995);
  const c = mix(b ^ 0x1b873593);
  let path = "";
  for (let depth = a & 3, bits = b; depth > 0; depth--, bits >>>= 8) {
    path += `/${word(bits)}${(bits & 64) === 0 ? "" : `-${bits % 9973}`}`;
  }
  path += `/${word(c)}-${index.toString(36)}${pick(EXTENSIONS, a >>> 4)}`;
  const query: string[] = [];
  for (let i = Math.max(0, ((a >>> 8) & 7) - 3), at = (b >>> 3) % 5; i > 0; i--, at++) {
    query.push(`${NAMES[at]}=${(c & (1 << i)) === 0 ? c % 100_003 : word(c >>> i)}`);
  }
  return { scheme: a % 5 === 0 ? "http" : "https", host: hostOf(rank), path, query };
}

/** The host of a rank: always the same one. */
function hostOf(rank: number): string {
  const bits = mix(rank ^ 0x27d4eb2f);
  const name = `${word(bits)}-${rank.toString(36)}`;
  return `${pick(PREFIXES, bits >>> 7)}${name}.${pick(SUFFIXES, bits >>> 13)}`;
}

function word(bits: number): string {
  return pick(WORDS, bits);
}

function pick(list: readonly string[], bits: number): string {
  return list[(bits >>> 0) % list.length] as string;
}

/** 32 well mixed bits of an index. */
export function mix(index: number): number {
  let z = (index + 0x9e3779b9) | 0;
  z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
  z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
  return (z ^ (z >>> 16)) >>> 0;
}

const room = Buffer.alloc(4096);

function flat(text: string): string {
  return room.latin1Slice(0, room.latin1Write(text, 0));
}

/** A running checksum over texts, the same for the same texts in the same order. */
export interface TextSum {
  add(text: string | undefined): void;
  value(): string;
}

export function createTextSum(): TextSum {
  let count = 0;
  let sum = 0;
  return {
    add(text) {
      count++;
      if (text === undefined) return;
      for (let i = 0; i < text.length; i++) sum = (Math.imul(sum, 31) + text.charCodeAt(i)) | 0;
    },
    value: () => `${count}:${(sum >>> 0).toString(16)}`,
  };
}
