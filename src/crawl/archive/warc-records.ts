/**
 * Records of WARC 1.1 (ISO 28500:2017), each a gzip member of its own.
 *
 *   "WARC/1.1" CR LF · named fields · CR LF · block · CR LF CR LF
 *
 *   record    of                  block
 *   warcinfo  each file, first    who wrote it, and how
 *   response  an answer           status line, headers and body as they came; chunks are undone
 *   revisit   an answer whose     status line and headers: the body is that of an earlier record, or (304) of an earlier crawl
 *             body is known
 *   request   the same exchange   request line, headers and body as they were sent
 *   metadata  the same exchange   times
 *
 *   I1  What is missing of a body is named: WARC-Truncated is `length` at the crawl's bound, `unspecified` where the body was not wanted.
 *   I2  A header that would no longer be true of the block, Transfer-Encoding, is kept as X-Orig-Transfer-Encoding.
 */
import { randomUuid } from "../../base/random.ts";
import { timeText } from "../../base/clock.ts";
import type { Exchange } from "../module-registry.ts";

/** A record before it is compressed. */
export interface WarcRecord {
  /** The version and the named fields, in UTF-8. */
  readonly fields: string;
  /** What the block begins with, a byte for each character. */
  readonly head: string;
  /** The rest of the block. */
  readonly body: Uint8Array;
  /** Of the whole record. */
  readonly bytes: number;
}

/** An answer that was kept before, which a revisit refers to. */
export interface KnownAnswer {
  readonly url: string;
  /** As its record has it. */
  readonly date: string;
}

interface About {
  /** As `dateOf` writes it. */
  readonly date: string;
  /** undefined: it has no body. */
  readonly digest: string | undefined;
  /** An equal body. */
  readonly known: KnownAnswer | undefined;
}

const NOT_MODIFIED = 304;
const PROFILE = "http://netpreserve.org/warc/1.1/revisit/";
const END = Buffer.from("\r\n\r\n");
const NOTHING = Buffer.alloc(0);

export function dateOf({ atMs }: Pick<Exchange, "atMs">): string {
  return timeText(Math.trunc(atMs));
}

export function isRevisit({ status }: Pick<Exchange, "status">, known: unknown): boolean {
  return known !== undefined || status === NOT_MODIFIED;
}

export function fieldOf(name: string, value: string | undefined): string {
  return value === undefined ? "" : `${name}: ${value}\r\n`;
}

/** `named`: its fields but the first and the last, a line for each. */
export function recordOf(
  type: string,
  named: string,
  { head = "", body = NOTHING }: { readonly head?: string; readonly body?: Uint8Array | undefined },
): WarcRecord {
  const length = head.length + body.length;
  const fields = `WARC/1.1\r\nWARC-Type: ${type}\r\n${named}Content-Length: ${length}\r\n\r\n`;
  return { fields, head, body, bytes: Buffer.byteLength(fields) + length + END.length };
}

/** Writes a record that fits, and returns where it ends. */
export function writeRecord({ fields, head, body }: WarcRecord, to: Buffer, from: number): number {
  let at = from + to.write(fields, from);
  at += to.write(head, at, "latin1");
  to.set(body, at);
  at += body.length;
  to.set(END, at);
  return at + END.length;
}

/** A record in pieces: its body is not copied. */
export function piecesOf({ fields, head, body }: WarcRecord): Uint8Array[] {
  return [Buffer.from(fields), Buffer.from(head, "latin1"), body, END];
}

/** The records of one exchange; the first is a response or a revisit. */
export function exchangeRecords(exchange: Exchange, about: About): readonly WarcRecord[] {
  const { url, address, truncated } = exchange;
  const { digest, date, known } = about;
  const id = recordId();
  const shared = `WARC-Date: ${date}\r\nWARC-Target-URI: ${url}\r\n`;
  const isKnown = isRevisit(exchange, known);
  const profile = known === undefined ? "server-not-modified" : "identical-payload-digest";
  const response = recordOf(
    isKnown ? "revisit" : "response",
    `WARC-Record-ID: ${id}\r\n${shared}${fieldOf("WARC-IP-Address", address)}${
      fieldOf("WARC-Payload-Digest", digest) + fieldOf("WARC-Truncated", truncated)
    }${fieldOf("WARC-Profile", isKnown ? PROFILE + profile : undefined)}${
      fieldOf("WARC-Refers-To-Target-URI", known?.url) + fieldOf("WARC-Refers-To-Date", known?.date)
    }Content-Type: application/http; msgtype=response\r\n`,
    { head: responseHead(exchange), body: isKnown ? undefined : exchange.body },
  );
  const beside = (type: string): string => {
    const own = `WARC-Record-ID: ${recordId()}\r\n${shared}WARC-Concurrent-To: ${id}\r\n`;
    return own + fieldOf("Content-Type", type);
  };
  return [
    response,
    recordOf("request", beside("application/http; msgtype=request"), {
      ...{ head: requestHead(exchange), body: exchange.requestBody },
    }),
    recordOf("metadata", beside("application/warc-fields"), {
      head: `fetchTimeMs: ${Math.round(exchange.latencyMs)}\r\n`,
    }),
  ];
}

function responseHead({ status, statusText, responseHeaders }: Exchange): string {
  const lines = responseHeaders.map(([name, value]) =>
    name.toLowerCase() === "transfer-encoding" ? `X-Orig-${name}: ${value}` : `${name}: ${value}`,
  );
  return [`HTTP/1.1 ${status} ${statusText}`, ...lines, "", ""].join("\r\n");
}

function requestHead({ url, method, requestHeaders }: Exchange): string {
  const { pathname, search } = new URL(url);
  const lines = requestHeaders.map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${pathname}${search} HTTP/1.1`, ...lines, "", ""].join("\r\n");
}

/** A name that no other record has. */
export function recordId(): string {
  return `<urn:uuid:${randomUuid()}>`;
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/** Every two letters, by their ten bits. */
const PAIRS = [...BASE32].flatMap((first) => [...BASE32].map((second) => first + second));

/** A SHA-1 in hex as archives write it: 32 letters of RFC 4648, 6. Five digits of hex are four letters. */
export function digestText(sha1: string): string {
  let text = "sha1:";
  for (let at = 0; at < sha1.length; at += 5) {
    const bits = Number.parseInt(sha1.slice(at, at + 5), 16);
    text += `${PAIRS[bits >>> 10]}${PAIRS[bits & 1023]}`;
  }
  return text;
}

/** The named fields of a record, names in lower case; undefined: it is none. Total. */
export function readFields(record: Buffer): ReadonlyMap<string, string> | undefined {
  const end = record.indexOf("\r\n\r\n");
  const [version = "", ...lines] = record.subarray(0, Math.max(end, 0)).toString().split("\r\n");
  if (!version.startsWith("WARC/1.")) return undefined;
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, Math.max(colon, 0)).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

/** A record's block. */
export function blockOf(record: Buffer): Buffer {
  return record.subarray(record.indexOf("\r\n\r\n") + END.length, record.length - END.length);
}
