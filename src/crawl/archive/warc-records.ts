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

export type WarcFields = ReadonlyArray<readonly [name: string, value: string | undefined]>;

/** An answer that was kept before, which a revisit refers to. */
export interface KnownAnswer {
  readonly url: string;
  /** As its record has it. */
  readonly date: string;
}

export interface ExchangeRecords {
  readonly response: Uint8Array[];
  readonly request: Uint8Array[];
  readonly metadata: Uint8Array[];
}

interface About {
  /** undefined: it has no body. */
  readonly digest: string | undefined;
  /** An equal body. */
  readonly known: KnownAnswer | undefined;
}

const NOT_MODIFIED = 304;
const PROFILE = "http://netpreserve.org/warc/1.1/revisit/";
const HTTP_RESPONSE = "application/http; msgtype=response";
const END = Buffer.from("\r\n\r\n");

export function dateOf({ atMs }: Pick<Exchange, "atMs">): string {
  return timeText(Math.trunc(atMs));
}

export function isRevisit({ status }: Pick<Exchange, "status">, known: unknown): boolean {
  return known !== undefined || status === NOT_MODIFIED;
}

/** A record in pieces: a body is not copied. */
export function recordOf(
  type: string,
  fields: WarcFields,
  block: readonly Uint8Array[],
): Uint8Array[] {
  const length = block.reduce((sum, part) => sum + part.length, 0);
  let head = `WARC/1.1\r\nWARC-Type: ${type}\r\n`;
  for (const [name, value] of fields) if (value !== undefined) head += `${name}: ${value}\r\n`;
  return [Buffer.from(`${head}Content-Length: ${length}\r\n\r\n`), ...block, END];
}

/** The records of one exchange; the first is a response or a revisit. */
export function exchangeRecords(exchange: Exchange, about: About): ExchangeRecords {
  const { url, address, truncated } = exchange;
  const { digest, known } = about;
  const id = recordId();
  const shared: WarcFields = [
    ["WARC-Date", dateOf(exchange)],
    ["WARC-Target-URI", url],
  ];
  const revisit = isRevisit(exchange, known);
  const profile = known === undefined ? "server-not-modified" : "identical-payload-digest";
  const head = Buffer.from(responseHead(exchange), "latin1");
  const response = recordOf(
    revisit ? "revisit" : "response",
    [
      ["WARC-Record-ID", id],
      ...shared,
      ["WARC-IP-Address", address],
      ["WARC-Payload-Digest", digest],
      ["WARC-Truncated", truncated],
      ["WARC-Profile", revisit ? PROFILE + profile : undefined],
      ["WARC-Refers-To-Target-URI", known?.url],
      ["WARC-Refers-To-Date", known?.date],
      ["Content-Type", HTTP_RESPONSE],
    ],
    revisit ? [head] : [head, exchange.body],
  );
  const beside: WarcFields = [
    ["WARC-Record-ID", recordId()],
    ...shared,
    ["WARC-Concurrent-To", id],
  ];
  return {
    response,
    request: recordOf(
      "request",
      [...beside, ["Content-Type", "application/http; msgtype=request"]],
      [
        Buffer.from(requestHead(exchange), "latin1"),
        ...(exchange.requestBody === undefined ? [] : [exchange.requestBody]),
      ],
    ),
    metadata: recordOf(
      "metadata",
      [
        ["WARC-Record-ID", recordId()],
        ...beside.slice(1),
        ["Content-Type", "application/warc-fields"],
      ],
      [Buffer.from(`fetchTimeMs: ${Math.round(exchange.latencyMs)}\r\n`)],
    ),
  };
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

/** A SHA-1 as archives write it: 32 letters of RFC 4648, 6. */
export function digestText(sha1: Uint8Array): string {
  let text = "";
  let bits = 0;
  let count = 0;
  for (const byte of sha1) {
    bits = ((bits << 8) | byte) & 0xfff;
    for (count += 8; count >= 5; count -= 5) text += BASE32[(bits >>> (count - 5)) & 31];
  }
  return `sha1:${text}`;
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
