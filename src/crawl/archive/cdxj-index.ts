/**
 * The index of a WARC file, CDXJ: a line for each response and revisit, by which a reader finds its record.
 *
 *   com,example)/path?a=1 20260102030405 {"url":…,"mime":…,"status":…,"digest":…,"length":…,"offset":…,"filename":…}
 *
 *   I1  A line is written after its records. Lines are in the order of writing until the file is whole, and then sorted by bytes.
 *
 * Crash: the lines of the last moments may be missing or cut; they are rewritten from the records (warc-recovery.ts).
 */
import type { KnownAnswer } from "./warc-records.ts";

/** A response or revisit of a WARC file. */
export interface IndexEntry {
  readonly url: string;
  /** As the record has it, RFC 3339. */
  readonly date: string;
  /** Empty: unknown. */
  readonly mime: string;
  readonly status: number;
  readonly digest: string | undefined;
  /** Its body is not whole. */
  readonly isTruncated: boolean;
  readonly offset: number;
  readonly length: number;
}

export const REVISIT_MIME = "warc/revisit";
/** Of a digest in a record; indexes leave it out. */
const ALGORITHM = "sha1:";

export function indexLine(entry: IndexEntry, filename: string): string {
  const { url, date, mime, status, digest, isTruncated, length, offset } = entry;
  const fields = {
    url,
    ...(mime === "" ? {} : { mime }),
    status: String(status),
    ...(digest === undefined ? {} : { digest: digest.slice(ALGORITHM.length) }),
    ...{ length: String(length), offset: String(offset), filename },
    date,
    ...(isTruncated ? { truncated: true } : {}),
  };
  return `${surtOf(url)} ${date.replace(/\D/g, "").slice(0, 14)} ${JSON.stringify(fields)}`;
}

/** Reads a line; undefined: it is not one of an index. The file may contain anything. */
export function readIndexLine(line: string): IndexEntry | undefined {
  let given: unknown;
  try {
    given = JSON.parse(line.slice(Math.max(line.indexOf(" {"), 0)));
  } catch {
    return undefined;
  }
  const fields = (given ?? {}) as Record<string, unknown>;
  const { url, date, mime = "", status, digest, truncated, length, offset } = fields;
  if (typeof url !== "string" || typeof date !== "string" || typeof mime !== "string")
    return undefined;
  const [start, count] = [Number(offset), Number(length)];
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(count) || start < 0 || count <= 0)
    return undefined;
  return {
    ...{ url, date, mime, status: Number(status), offset: start, length: count },
    digest: typeof digest === "string" ? ALGORITHM + digest : undefined,
    isTruncated: truncated === true,
  };
}

/** The answer that later entries with an equal body refer to; undefined: this one has no whole body. */
export function answerOf(entry: IndexEntry): KnownAnswer | undefined {
  const { url, date, mime, digest, isTruncated } = entry;
  return digest === undefined || mime === REVISIT_MIME || isTruncated ? undefined : { url, date };
}

/** By bytes, as readers of sorted indexes search them: UTF-16 order differs for letters that URLs do not have. */
export function sortedLines(lines: readonly string[]): string[] {
  return [...lines].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** A URL in the order in which archives sort: host reversed and without www, parameters in order of their names. */
export function surtOf(url: string): string {
  const parsed = new URL(url.toLowerCase());
  const { hostname, port, pathname, search } = parsed;
  const host = hostname.replace(/^www\d*\./, "");
  // Of an address too, as readers of indexes do.
  const reversed = host.split(".").reverse().join(",");
  const place = port === "" ? reversed : `${reversed}:${port}`;
  if (search === "") return `${place})${pathname}`;
  parsed.searchParams.sort();
  const query = parsed.searchParams.toString();
  return `${place})${pathname}${query === "" ? "" : `?${query}`}`;
}
