/**
 * The data of a URL in its frontier: all that the protocol keeps and a record does not.
 *
 *   data = createdAt                                       a plain URL without metadata
 *        | [createdAt, metadata | null, url | null, due]   the URL where its parsed form differs; due in seconds, 0: none
 */
import type { FoundUrl } from "./crawl.ts";

export interface UrlData {
  readonly createdAt: number;
  readonly metadata: Uint8Array | undefined;
  /** The URL as it was sent, where a parser would change it. */
  readonly url: string | undefined;
  /** When a client wants it again, in seconds since 1970; 0: at once. */
  readonly due: number;
}

type WholeData = [createdAt: number, metadata: Uint8Array | null, url: string | null, due: number];

const NOTHING: UrlData = { createdAt: 0, metadata: undefined, url: undefined, due: 0 };

/** Where the host of a plain URL begins. */
export function hostStartOf(url: string): number {
  return url.charCodeAt(4) === S ? 8 : 7;
}

/** Where the host of a plain URL ends, which its reader may have found; 0: it is not plain. */
export function hostEndOf({ hostEnd, url }: Pick<FoundUrl, "hostEnd" | "url">): number {
  if (hostEnd !== undefined) return hostEnd;
  const bytes = Buffer.from(url);
  return plainHostEnd(bytes, 0, bytes.length);
}

/** Whether a URL parser returns this text unchanged. May be false where it would. */
export function isPlainUrl(url: string, hostEnd?: number): boolean {
  return hostEndOf({ url, hostEnd }) > 0;
}

/** Addresses of the web of which no parser thinks otherwise. Others are parsed. */
const OF_THE_WEB = /^https?:\/\/[a-z\d.]+\.[a-z]+\//i;
/** No host has this name. */
const CARRIER = "http://x.invalid/?";

/**
 * A URL as its frontier takes it, which holds addresses of the web alone: any other one, as of `mailto:` or `file:`, is the query of an
 * address.
 */
export function carriedUrl(url: string, isPlain: boolean): string {
  if (isPlain || OF_THE_WEB.test(url)) return url;
  try {
    // Node 20's `canParse` answers otherwise once it is compiled.
    if (/^https?:$/.test(new URL(url).protocol)) return url;
  } catch {}
  return CARRIER + encodeURIComponent(url);
}

const HOST = 1;
const PATH = 2;
const QUERY = 4;
const LETTER = 8;
const [H, T, P, S, COLON, SLASH, DOT, QUESTION] = Buffer.from("htps:/.?");

/** Where each byte may stand in a plain URL. */
const CLASSES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const kinds = [/[a-z0-9.-]/, /[!$&(-;=@-Z_a-z~]/, /[!$%&(-;=?-Z_a-z~]/, /[a-z]/];
  return kinds.reduce((all, kind, bit) => all + (+kind.test(String.fromCharCode(byte)) << bit), 0);
});

/**
 * Where the host of a plain URL ends that stands in these bytes; 0: it is not plain. Plain are a scheme, a host that ends in letters, and
 * a path and a query of characters that every parser leaves alone. @hot
 */
export function plainHostEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = bytes[start + 4] === S ? start + 5 : start + 4;
  const isHttp =
    bytes[start] === H &&
    bytes[start + 1] === T &&
    bytes[start + 2] === T &&
    bytes[start + 3] === P;
  if (!isHttp || bytes[at] !== COLON || bytes[at + 1] !== SLASH || bytes[at + 2] !== SLASH)
    return 0;
  at += 3;
  let dot = at - 1; // or before the host
  let isName = false; // letters alone since the last dot
  for (; at < end; at++) {
    const kind = CLASSES[bytes[at] as number] as number;
    if ((kind & HOST) === 0) break;
    if (bytes[at] !== DOT) isName &&= (kind & LETTER) !== 0;
    else if (at === dot + 1) return 0;
    else {
      dot = at;
      isName = true;
    }
  }
  if (at >= end || bytes[at] !== SLASH || !isName || at === dot + 1) return 0;
  return isPlainRest(bytes, at, end) ? at : 0;
}

/** Whether path and query are plain. @hot */
function isPlainRest(bytes: Uint8Array, start: number, end: number): boolean {
  let kind = PATH;
  for (let at = start, before = 0; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === DOT && before === SLASH) return false;
    if (((CLASSES[byte] as number) & kind) === 0) {
      if (byte !== QUESTION) return false;
      kind = QUERY;
    }
    before = byte;
  }
  return true;
}

export function packData(url: FoundUrl, isPlain: boolean, createdAt: number, due: number): unknown {
  if (url.metadata === undefined && isPlain && due === 0) return createdAt;
  return packWhole(url, isPlain, createdAt, due);
}

/** The long form, whose shape differs from what other programs keep. */
export function packWhole(
  { metadata, url }: FoundUrl,
  isPlain: boolean,
  createdAt: number,
  due: number,
): unknown {
  return [createdAt, metadata ?? null, isPlain ? null : url, due];
}

/** Whether data are ours, in the long form. */
export function isWhole(data: unknown): data is WholeData {
  if (!Array.isArray(data) || data.length !== 4) return false;
  const [createdAt, metadata, url, due] = data as unknown[];
  return (
    typeof createdAt === "number" &&
    (metadata === null || metadata instanceof Uint8Array) &&
    (url === null || typeof url === "string") &&
    typeof due === "number"
  );
}

/** Whether data are the same in every byte. */
export function isSameData(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  if (one.length !== other.length) return false;
  return one.every((field: unknown, at) => {
    const beside: unknown = other[at];
    if (!(field instanceof Uint8Array) || !(beside instanceof Uint8Array)) return field === beside;
    return Buffer.compare(field, beside) === 0;
  });
}

/** Whether data are those of this URL as it is, finished or not due. */
export function isSameUrl(data: unknown, url: FoundUrl, isPlain: boolean): boolean {
  return isSameData(data, packData(url, isPlain, unpackData(data).createdAt, 0));
}

/** What another program pushed has no data of ours. */
export function unpackData(data: unknown): UrlData {
  if (typeof data === "number") return { ...NOTHING, createdAt: data };
  if (!isWhole(data)) return NOTHING;
  const [createdAt, metadata, url, due] = data;
  return { createdAt, metadata: metadata ?? undefined, url: url ?? undefined, due };
}
