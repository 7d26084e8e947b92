/**
 * What an earlier process left of a WARC file: whole records, and a torn one at its end.
 *
 *   index ─▶ end of the last indexed record ─▶ members from there on: whole ─▶ indexed where the line is missing
 *                                                                     torn  ─▶ cut off, with all that follows
 *
 *   I1  Only what no index line covers is read again: reopening costs the last moments of a file, not the file.
 *   I2  A file that is no WARC file of ours is refused, never cut.
 */
import { crc32, inflateRawSync } from "node:zlib";
import { misuse } from "../../base/errors.ts";
import type { BlockFile } from "../files.ts";
import { type IndexEntry, REVISIT_MIME } from "./cdxj-index.ts";
import { blockOf, readFields } from "./warc-records.ts";

export interface Recovered {
  /** Of records without an index line. */
  readonly entries: readonly IndexEntry[];
  readonly cutBytes: number;
}

/** A gzip member as zlib writes it: no name, no comment, no time. */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0]);
const HEAD_BYTES = 10;
const TAIL_BYTES = 8;
const WINDOW_BYTES = 1024 * 1024;
/** As much as a kill can leave of a file that has no whole record. */
const TORN_BYTES_MAX = 64 * 1024;

/** Reads on from `from`, the end of what is known to be whole, and cuts what is torn. Throws for a file of another kind. */
export function recoverTail(file: BlockFile, from: number, path: string): Recovered {
  const entries: IndexEntry[] = [];
  let at = from;
  for (;;) {
    const member = readMember(file, at);
    if (member === undefined) break;
    const entry = entryOf(member.record, { offset: at, length: member.bytes });
    if (entry !== undefined) entries.push(entry);
    at += member.bytes;
  }
  const cutBytes = file.size - at;
  if (at === 0 && !isTorn(file.read(0, TORN_BYTES_MAX + 1))) {
    throw misuse("ARGUMENT_INVALID", "path", path, "a WARC file that outrider wrote, or none");
  }
  if (cutBytes > 0) file.truncate(at);
  return { entries, cutBytes };
}

/** Whether this can be left of a first record: a few bytes, zeros after a power loss, or a member that has no end. */
function isTorn(bytes: Buffer): boolean {
  if (bytes.length > TORN_BYTES_MAX) return false;
  if (bytes.length < HEAD_BYTES || bytes.every((byte) => byte === 0)) return true;
  return bytes.subarray(0, HEAD.length).equals(HEAD) && inflated(bytes) === undefined;
}

interface Member {
  readonly record: Buffer;
  readonly bytes: number;
}

/** The member that begins there; undefined: the file ends, or it is not whole. */
function readMember(file: BlockFile, at: number): Member | undefined {
  for (let window = WINDOW_BYTES; ; window *= 4) {
    const bytes = file.read(at, window);
    if (bytes.length <= HEAD_BYTES || !bytes.subarray(0, HEAD.length).equals(HEAD))
      return undefined;
    const member = inflated(bytes);
    const isWhole = member !== undefined && readFields(member.record) !== undefined;
    if (isWhole) return member;
    if (bytes.length < window) return undefined;
  }
}

function inflated(bytes: Buffer): Member | undefined {
  try {
    const { buffer, engine } = inflateRawSync(bytes.subarray(HEAD_BYTES), {
      info: true,
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    const end = HEAD_BYTES + engine.bytesWritten;
    if (end + TAIL_BYTES > bytes.length || bytes.readUInt32LE(end) !== crc32(buffer))
      return undefined;
    return { record: buffer, bytes: end + TAIL_BYTES };
  } catch {
    return undefined;
  }
}

function entryOf(
  record: Buffer,
  place: { readonly offset: number; readonly length: number },
): IndexEntry | undefined {
  const fields = readFields(record);
  const type = fields?.get("warc-type");
  if (fields === undefined || (type !== "response" && type !== "revisit")) return undefined;
  const block = blockOf(record);
  const head = block.subarray(0, Math.max(block.indexOf("\r\n\r\n"), 0)).toString("latin1");
  const [, mime = ""] = /\r\ncontent-type:\s*([^;\r\n]*)/i.exec(head) ?? [];
  return {
    url: fields.get("warc-target-uri") ?? "",
    date: fields.get("warc-date") ?? "",
    mime: type === "revisit" ? REVISIT_MIME : mime.trim().toLowerCase(),
    status: Number(head.split(" ", 2)[1]),
    digest: fields.get("warc-payload-digest"),
    isTruncated: fields.has("warc-truncated"),
    ...place,
  };
}
