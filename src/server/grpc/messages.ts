/**
 * Messages of the protocol, as docs/urlfrontier.proto has them: requests from bytes, answers to bytes.
 *
 * The metadata of a URL are kept as the bytes in which they came (the fields 3 of `URLInfo`, tags and all), after they were
 * checked: they are stored and sent back without being read.
 */
import { plainHostEnd } from "../crawls/url-data.ts";
import {
  BYTES,
  beginFrame,
  beginMessage,
  createWriter,
  endFrame,
  endMessage,
  type Reader,
  readEnd,
  readerOf,
  readString,
  readVarint,
  skipField,
  skipString,
  take,
  VARINT,
  WireError,
  type Writer,
  writeFields,
  writeNumber,
  writeString,
  writeVarint,
} from "./wire.ts";

export const OK = 0;
export const SKIPPED = 1;
export const FAILED = 2;

/** A URL as a client sends it. */
export interface UrlInfo {
  url: string;
  key: string;
  crawlID: string;
  metadata: Uint8Array | undefined;
  hostEnd?: number | undefined;
}

/** What is put: a known one with the second from which it may be fetched again; 0: never. */
export interface PutUrl extends UrlInfo {
  refetchAt: number;
}

/** What a stream brings: URLs under one answer. */
export interface PutMessage {
  readonly id: string;
  readonly isKnown: boolean;
  /** undefined: the URLs are of several crawls, or none. */
  readonly crawlID: string | undefined;
  readonly urls: readonly PutUrl[];
}

/** A URL as the server answers it. */
export interface UrlAnswer extends UrlInfo {
  refetchAt: number;
  createdAt: number;
}

const INFO_URL = 1;
const INFO_KEY = 2;
const INFO_METADATA = 3;
const INFO_CRAWL = 4;

const writer = createWriter();

/** Reads the fields of `URLInfo` up to `end` into `info`. */
function readInfo(reader: Reader, end: number, info: UrlInfo): void {
  const outer = reader.end;
  reader.end = end;
  let from = -1;
  let to = 0;
  let pieces: Buffer[] | undefined;
  while (reader.at < end) {
    const start = reader.at;
    const tag = readVarint(reader);
    if (tag === ((INFO_URL << 3) | BYTES)) readUrl(reader, info);
    else if (tag === ((INFO_KEY << 3) | BYTES)) info.key = readString(reader);
    else if (tag === ((INFO_CRAWL << 3) | BYTES)) info.crawlID = readString(reader);
    else if (tag === ((INFO_METADATA << 3) | BYTES)) {
      checkEntry(reader);
      if (from >= 0 && to !== start) {
        pieces ??= [];
        pieces.push(reader.bytes.subarray(from, to));
        from = -1;
      }
      if (from < 0) from = start;
      to = reader.at;
    } else skipField(reader, tag & 7);
  }
  reader.end = outer;
  if (from < 0) return;
  // A copy, so that the bytes of the message can be freed.
  const { bytes } = reader;
  if (pieces === undefined) info.metadata = copyOf(bytes, from, to);
  else info.metadata = new Uint8Array(Buffer.concat([...pieces, bytes.subarray(from, to)]));
}

function copyOf(bytes: Buffer, start: number, end: number): Uint8Array {
  const copy = new Uint8Array(end - start);
  for (let at = 0; at < copy.length; at++) copy[at] = bytes[start + at] as number; // most are short
  return copy;
}

/** A plain URL is ASCII: it needs no other check. */
function readUrl(reader: Reader, info: UrlInfo): void {
  const { at: before, bytes } = reader;
  const end = readEnd(reader);
  const { at } = reader;
  const hostEnd = plainHostEnd(bytes, at, end);
  reader.at = hostEnd === 0 ? before : end;
  info.url = hostEnd === 0 ? readString(reader) : bytes.latin1Slice(at, end);
  info.hostEnd = hostEnd === 0 ? 0 : hostEnd - at;
}

/** One entry of the metadata: a text and a list of texts. */
function checkEntry(reader: Reader): void {
  const outer = reader.end;
  const end = readEnd(reader);
  reader.end = end;
  while (reader.at < end) {
    const tag = readVarint(reader);
    if (tag === ((1 << 3) | BYTES)) skipString(reader);
    else if (tag === ((2 << 3) | BYTES)) checkList(reader);
    else skipField(reader, tag & 7);
  }
  reader.end = outer;
}

function checkList(reader: Reader): void {
  const outer = reader.end;
  const end = readEnd(reader);
  reader.end = end;
  while (reader.at < end) {
    const tag = readVarint(reader);
    if (tag === ((1 << 3) | BYTES)) skipString(reader);
    else skipField(reader, tag & 7);
  }
  reader.end = outer;
}

/** The metadata as text. */
export function metadataOf(fields: Uint8Array): Map<string, string[]> {
  const reader = readerOf(Buffer.from(fields.buffer, fields.byteOffset, fields.byteLength));
  const found = new Map<string, string[]>();
  while (reader.at < reader.end) {
    readVarint(reader);
    const end = readEnd(reader);
    let key = "";
    const values: string[] = [];
    while (reader.at < end) {
      const tag = readVarint(reader);
      if (tag === ((1 << 3) | BYTES)) key = readString(reader);
      else if (tag === ((2 << 3) | BYTES)) {
        const listEnd = readEnd(reader);
        while (reader.at < listEnd) {
          const inner = readVarint(reader);
          if (inner === ((1 << 3) | BYTES)) values.push(readString(reader));
          else skipField(reader, inner & 7);
        }
      } else skipField(reader, tag & 7);
    }
    found.set(key, values);
  }
  return found;
}

/** Metadata as the fields of `URLInfo`. */
export function metadataFields(metadata: Iterable<[string, readonly string[]]>): Uint8Array {
  for (const [key, values] of metadata) {
    const entry = beginMessage(writer, INFO_METADATA);
    writeString(writer, 1, key);
    const list = beginMessage(writer, 2);
    for (const value of values) writeString(writer, 1, value, true);
    endMessage(writer, list);
    endMessage(writer, entry);
  }
  return new Uint8Array(take(writer));
}

function emptyUrl(): PutUrl {
  return { url: "", key: "", crawlID: "", metadata: undefined, hostEnd: 0, refetchAt: 0 };
}

/** A URL of a stream; its ID is the URL where it has none. */
export function readUrlItem(reader: Reader): PutMessage {
  let url = emptyUrl();
  let id = "";
  let isKnown = false;
  while (reader.at < reader.end) {
    const tag = readVarint(reader);
    // The latest of the two counts, whole.
    if (tag === ((1 << 3) | BYTES) || tag === ((2 << 3) | BYTES)) {
      isKnown = tag === ((2 << 3) | BYTES);
      url = readItem(reader, isKnown);
    } else if (tag === ((3 << 3) | BYTES)) id = readString(reader);
    else skipField(reader, tag & 7);
  }
  return { id: id === "" ? url.url : id, isKnown, crawlID: url.crawlID, urls: [url] };
}

/** A discovered or known item. */
function readItem(reader: Reader, isKnown: boolean): PutUrl {
  const url = emptyUrl();
  const outer = reader.end;
  const end = readEnd(reader);
  reader.end = end;
  while (reader.at < end) {
    const tag = readVarint(reader);
    if (tag === ((1 << 3) | BYTES)) readInfo(reader, readEnd(reader), url);
    else if (tag === ((2 << 3) | VARINT) && isKnown) url.refetchAt = readVarint(reader);
    else skipField(reader, tag & 7);
  }
  reader.end = outer;
  return url;
}

/** URLs of one batch; a message's size bounds it too. */
const BATCH_URLS_MAX = 100_000;

/** A batch of discovered URLs. Too many are refused before they are read. */
export function readBatch(reader: Reader): PutMessage {
  const urls: PutUrl[] = [];
  let id = "";
  while (reader.at < reader.end) {
    const tag = readVarint(reader);
    if (tag === ((1 << 3) | BYTES)) id = readString(reader);
    else if (tag === ((2 << 3) | BYTES)) {
      if (urls.length === BATCH_URLS_MAX)
        throw new WireError(`a batch has more than ${BATCH_URLS_MAX} URLs`);
      const url = emptyUrl();
      readInfo(reader, readEnd(reader), url);
      urls.push(url);
    } else skipField(reader, tag & 7);
  }
  const crawlID = urls[0]?.crawlID;
  const isOne = urls.every((url) => url.crawlID === crawlID);
  return { id, isKnown: false, crawlID: isOne ? crawlID : undefined, urls };
}

type Value<K> = K extends "text" ? string : K extends "number" ? number : boolean;
type Kinds = Readonly<Record<string, readonly [field: number, kind: "text" | "number" | "truth"]>>;
type Read<T extends Kinds> = { -readonly [N in keyof T]: Value<T[N][1]> };

/** A reader of a flat message: fields by name, each with its number and kind. */
function flat<const T extends Kinds>(kinds: T): (bytes: Buffer) => Read<T> {
  const names = new Map(
    Object.entries(kinds).map(([name, [field, kind]]) => [field, { name, kind }]),
  );
  const empty = Object.fromEntries(
    Object.entries(kinds).map(([name, [, kind]]) => [
      name,
      kind === "text" ? "" : kind === "number" ? 0 : false,
    ]),
  );
  return (bytes) => {
    const reader = readerOf(bytes);
    const found: Record<string, unknown> = { ...empty };
    while (reader.at < reader.end) {
      const tag = readVarint(reader);
      const known = names.get(Math.floor(tag / 8));
      const type = known?.kind === "text" ? BYTES : VARINT;
      if (known === undefined || (tag & 7) !== type) skipField(reader, tag & 7);
      else if (known.kind === "text") found[known.name] = readString(reader);
      else {
        const number = readVarint(reader);
        found[known.name] = known.kind === "truth" ? number !== 0 : number;
      }
    }
    return found as Read<T>;
  };
}

// A field that no call uses is skipped: `local` but for SetActive, since a crawl is whole on every node.
export const readActive = flat({ state: [1, "truth"], local: [2, "truth"] });
export const readDeleteCrawl = flat({ value: [1, "text"] });
export const readPagination = flat({
  start: [1, "number"],
  size: [2, "number"],
  isAll: [3, "truth"],
  crawlID: [4, "text"],
});
export const readQueue = flat({ key: [1, "text"], crawlID: [2, "text"] });
/** A delay, the end of a block, or a limit. */
export const readQueueNumber = flat({
  key: [1, "text"],
  value: [2, "number"],
  crawlID: [3, "text"],
});
/** The server has one level, so nothing of the request is used; a malformed one is refused. */
export const readLogLevel = flat({});
export const readUrlStatus = flat({ url: [1, "text"], key: [2, "text"], crawlID: [3, "text"] });
export const readListUrls = flat({
  start: [1, "number"],
  size: [2, "number"],
  key: [3, "text"],
  crawlID: [4, "text"],
  filter: [6, "text"],
  ignoreCase: [7, "truth"],
});
export const readCountUrls = flat({
  key: [1, "text"],
  crawlID: [2, "text"],
  filter: [3, "text"],
  ignoreCase: [4, "truth"],
});
export const readPurgeUrls = flat({ key: [1, "text"], crawlID: [2, "text"], days: [3, "number"] });

/** Which URLs are asked for; `crawlID` undefined: of any crawl. */
export interface GetParams {
  urlsMax: number;
  queuesMax: number;
  key: string;
  delay: number;
  crawlID: string | undefined;
}

export function readGetParams(bytes: Buffer): GetParams {
  const params: GetParams = { urlsMax: 0, queuesMax: 0, key: "", delay: 0, crawlID: undefined };
  const reader = readerOf(bytes);
  while (reader.at < reader.end) {
    const tag = readVarint(reader);
    if (tag === ((1 << 3) | VARINT)) params.urlsMax = readVarint(reader);
    else if (tag === ((2 << 3) | VARINT)) params.queuesMax = readVarint(reader);
    else if (tag === ((3 << 3) | BYTES)) params.key = readString(reader);
    else if (tag === ((4 << 3) | VARINT)) params.delay = readVarint(reader);
    else if (tag === ((6 << 3) | BYTES)) params.crawlID = readString(reader);
    else {
      // The latest member of the choice counts.
      if (tag >> 3 === 5) params.crawlID = undefined;
      skipField(reader, tag & 7);
    }
  }
  return params;
}

function writeInfo(target: Writer, { url, key, crawlID, metadata }: UrlInfo): void {
  writeString(target, INFO_URL, url);
  writeString(target, INFO_KEY, key);
  if (metadata !== undefined) writeFields(target, metadata);
  writeString(target, INFO_CRAWL, crawlID);
}

export const EMPTY = Buffer.alloc(0);

/** A message with its head. */
export function framed(message: Buffer): Buffer {
  const start = beginFrame(writer);
  writeFields(writer, message);
  endFrame(writer, start);
  return take(writer);
}

/** URLs as they are handed out, a message each. */
export function urlInfoFrames(urls: readonly Omit<UrlInfo, "crawlID">[], crawlID: string): Buffer {
  for (const { url, key, metadata } of urls) {
    const start = beginFrame(writer);
    writeInfo(writer, { url, key, crawlID, metadata });
    endFrame(writer, start);
  }
  return take(writer);
}

/** A URL with its dates, as a known item. */
export function urlItemBytes(answer: UrlAnswer): Buffer {
  const known = beginMessage(writer, 2);
  const info = beginMessage(writer, 1);
  writeInfo(writer, answer);
  endMessage(writer, info);
  writeNumber(writer, 2, answer.refetchAt);
  endMessage(writer, known);
  writeNumber(writer, 4, answer.createdAt);
  return take(writer);
}

/** The answers to messages, whose URLs' statuses stand one after the other from `start`. */
export type AckFrames = (
  messages: readonly PutMessage[],
  statuses: Uint8Array,
  start: number,
) => Buffer;

export const ackFrames: AckFrames = (messages, statuses, start) => {
  for (let index = 0; index < messages.length; index++) {
    const frame = beginFrame(writer);
    writeString(writer, 1, (messages[index] as PutMessage).id);
    writeNumber(writer, 2, statuses[start + index] as number);
    endFrame(writer, frame);
  }
  return take(writer);
};

export const batchAckFrames: AckFrames = (messages, statuses, start) => {
  let place = start;
  for (const { id, urls } of messages) {
    const frame = beginFrame(writer);
    writeString(writer, 1, id);
    if (urls.length > 0) {
      writeVarint(writer, (2 << 3) | BYTES);
      writeVarint(writer, urls.length); // each is one byte
      writeFields(writer, statuses.subarray(place, place + urls.length));
    }
    endFrame(writer, frame);
    place += urls.length;
  }
  return take(writer);
};

export function stringListBytes(values: Iterable<string>): Buffer {
  for (const value of values) writeString(writer, 1, value, true);
  return take(writer);
}

export function longBytes(value: number): Buffer {
  writeNumber(writer, 1, value);
  return take(writer);
}

export function queueListBytes(values: readonly string[], start: number, crawlID: string): Buffer {
  for (const value of values) writeString(writer, 1, value, true);
  writeNumber(writer, 3, start);
  writeNumber(writer, 4, values.length);
  writeString(writer, 5, crawlID);
  return take(writer);
}

export interface Stats {
  readonly size: number;
  readonly inProcess: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly queues: number;
  readonly crawlID: string;
}

export function statsBytes({ size, inProcess, counts, queues, crawlID }: Stats): Buffer {
  writeNumber(writer, 1, size);
  writeNumber(writer, 2, inProcess);
  for (const [name, count] of Object.entries(counts)) {
    const entry = beginMessage(writer, 3);
    writeString(writer, 1, name);
    writeNumber(writer, 2, count);
    endMessage(writer, entry);
  }
  writeNumber(writer, 4, queues);
  writeString(writer, 5, crawlID);
  return take(writer);
}
