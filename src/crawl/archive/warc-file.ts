/**
 * Room `src/crawl/archive`: requests and answers, kept in files as archives read them (WARC 1.1, CDXJ). Decides what a record holds;
 * touches files through crawl/files.ts alone.
 */

/**
 * A pipeline that appends every exchange of a crawl to a WARC file.
 *
 *   exchange ─▶ SHA-1 of the body ─ known ─▶ revisit ──┐
 *                                └─ new ──▶ response ─┴▶ waits ─ end of this turn, or TOGETHER_MAX ─▶ a gzip member for each
 *                                                        record ─▶ all appended in one write ─▶ index lines
 *
 *   crawl.warc.gz, crawl.cdxj ─ rotateBytes ─▶ crawl-0001.warc.gz, crawl-0001.cdxj ─▶ …      the last one is being written
 *
 *   I1  The records of an exchange are handed to the system, one behind the other, before its page is analyzed: a killed process loses
 *       none of a page that is done. Exchanges of one turn are written together: a call of the system costs as much as a small page.
 *   I2  A body is held once: it is compressed from where it was received. Only its compressed bytes are held in addition, until they are
 *       written.
 *   I3  A write that fails leaves the file as it was, and fails every exchange that it holds.
 *   I4  A revisit refers to a record that was written before it, in this file or an earlier one; bodies of KNOWN_COUNT_MAX answers are
 *       remembered, the newest.
 *   I5  The index of a file is whole before the next file is made: what a crash leaves is of the last one. A file is closed once.
 *
 * Crash: a torn record at the end of the last file is cut at the next opening, and missing index lines are rewritten.
 */
import { gzipSync } from "node:zlib";
import { type Clock, createSystemClock } from "../../base/clock.ts";
import { loadSha1 } from "./body-digest.ts";
import { misuse } from "../../base/errors.ts";
import { readObject, shape, whole } from "../../base/fields.ts";
import { isObject } from "../../base/type-guards.ts";
import { CLOCK } from "../http/downloader-options.ts";
import {
  type BlockFile,
  type LineFile,
  nameOf,
  openBlockFile,
  openLineFile,
  pathsLike,
} from "../files.ts";
import type { Exchange, Pipeline } from "../module-registry.ts";
import {
  answerOf,
  type IndexEntry,
  indexLine,
  readIndexLine,
  REVISIT_MIME,
  sortedLines,
} from "./cdxj-index.ts";
import { createGzipMembers, isLong, longMembers } from "./gzip-member.ts";
import { recoverTail } from "./warc-recovery.ts";
import {
  dateOf,
  digestText,
  exchangeRecords,
  fieldOf,
  isRevisit,
  type KnownAnswer,
  piecesOf,
  recordId,
  recordOf,
  type WarcRecord,
} from "./warc-records.ts";

/**
 * Options of `createWarcFile`.
 *
 * @example
 * createWarcFile("crawl.warc.gz", { rotateBytes: 256 * 1024 * 1024, info: { operator: "me@example.org" } });
 */
export interface WarcFileOptions {
  /**
   * A file that has grown beyond this is followed by another one.
   * @defaultValue 1 GiB
   */
  rotateBytes?: number;
  /**
   * Level of compression, 1 to 9.
   * @defaultValue 6
   */
  level?: number;
  /**
   * Fields of each file's first record: who crawls, and why (`operator`, `isPartOf`, `description`).
   * @defaultValue none
   */
  info?: Record<string, string>;
  /**
   * The source of time.
   * @defaultValue the machine's clock
   */
  clock?: Clock;
}

/** A WARC file as a pipeline of a crawl. */
export interface WarcFile extends Pipeline {
  /** Bytes of a torn record that opening it cut off. */
  readonly cutBytes: number;
  /** Paths of the WARC files, the last one is being written. */
  readonly paths: readonly string[];
  /** Appends an exchange. */
  archive(exchange: Exchange): Promise<void>;
  /** Makes the files durable and sorts the index. */
  close(): void;
}

const readOptions = shape<WarcFileOptions>({
  rotateBytes: whole(1),
  level: whole(1, 9),
  info: fieldsOfInfo,
  clock: CLOCK,
});

const ROTATE_BYTES = 1024 * 1024 * 1024;
const LEVEL = 6;
const KNOWN_COUNT_MAX = 200_000;
/** Exchanges that are written together at most. */
const TOGETHER_MAX = 32;
const ENDING = ".warc.gz";
/** Index lines that are written together; until then a crash loses them, and recovery makes them anew. */
const LINES_MAX = 64;
/** Of names and values in the first record: what would begin another line. */
const LINE_END = /[\r\n]/;

/**
 * Makes a pipeline that appends every request and response to a WARC 1.1 file, whose name ends in `.warc.gz`, with a CDXJ index
 * beside it. Opens the file, and cuts a record that a crash tore. One process at a time writes to it. Throws `ARGUMENT_INVALID` for
 * another name, or for a file of another kind.
 *
 * @example
 * const archive = createWarcFile("crawl.warc.gz");
 * await crawl({ seeds: "https://example.org/", types: "any", pipelines: [archive] }).finished;
 */
export function createWarcFile(path: string, options: WarcFileOptions = {}): WarcFile {
  const isPath = typeof path === "string" && /[^/]\.warc\.gz$/.test(path);
  if (!isPath) throw misuse("ARGUMENT_INVALID", "path", path, "a name that ends in .warc.gz");
  const read = readObject(readOptions, options, "options", "OPTION_INVALID");
  const { rotateBytes = ROTATE_BYTES, level = LEVEL, clock = createSystemClock() } = read;
  const known = new Map<string, KnownAnswer>();
  let waiting: Waiting[] = [];
  let sha1: Awaited<ReturnType<typeof loadSha1>> | undefined;
  const remember = (entry: IndexEntry): void => {
    const answer = answerOf(entry);
    if (answer === undefined) return;
    const { digest = "" } = entry;
    if (known.has(digest)) return;
    if (known.size >= KNOWN_COUNT_MAX) known.delete(known.keys().next().value as string);
    known.set(digest, answer);
  };
  const { info } = read;
  const { paths, cutBytes, write, end } = createVolumes(path, {
    ...{ rotateBytes, level, clock, info, remember },
  });
  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    try {
      write(batch);
      for (const { resolve } of batch) resolve();
    } catch (cause) {
      for (const { entry, reject } of batch) {
        known.delete(entry.digest ?? "");
        reject(cause);
      }
    }
  };
  const archive = async (exchange: Exchange): Promise<void> => {
    sha1 ??= await loadSha1();
    const digest = digestOf(exchange, sha1);
    const isWhole = exchange.truncated === undefined;
    const earlier = isWhole && digest !== undefined ? known.get(digest) : undefined;
    const date = dateOf(exchange);
    const records = exchangeRecords(exchange, { digest, date, known: earlier });
    const long = records.some(isLong) ? await longMembers(records, level) : [];
    const entry: IndexEntry = {
      url: exchange.url,
      date,
      mime: isRevisit(exchange, earlier) ? REVISIT_MIME : mimeOf(exchange),
      status: exchange.status,
      digest,
      isTruncated: !isWhole,
      ...{ offset: 0, length: 0 },
    };
    remember(entry);
    await new Promise<void>((resolve, reject) => {
      const count = waiting.push({ records, long, entry, resolve, reject });
      if (count === TOGETHER_MAX) flush();
      else if (count === 1) setImmediate(flush);
    });
  };
  const close = (): void => {
    flush();
    end();
  };
  return { cutBytes, paths, processors: [], archive, close };
}

interface VolumesOptions {
  readonly info: WarcFileOptions["info"] | undefined;
  readonly rotateBytes: number;
  readonly level: number;
  readonly clock: Clock;
  readonly remember: (entry: IndexEntry) => void;
}

/** The files of an archive, of which the last one is written. */
function createVolumes(path: string, options: VolumesOptions) {
  const { rotateBytes, level, clock, info, remember } = options;
  const members = createGzipMembers(level, 3 * TOGETHER_MAX);
  const paths = pathsOf(path);
  for (const before of paths.slice(0, -1)) entriesOf(indexPath(before)).forEach(remember);
  let volume = openVolume(paths.at(-1) as string, remember);
  const { cutBytes } = volume;
  const begin = (): void => {
    const fields = { ...describe(nameOf(volume.path)), ...info };
    volume.file.append([gzipSync(Buffer.concat(piecesOf(infoRecord(fields, clock))), { level })]);
    volume.isBegun = true;
  };
  const write = (batch: readonly Waiting[]): void => {
    let parts: Uint8Array[] = [];
    let entries: IndexEntry[] = [];
    let offset = volume.file.size;
    const append = (): void => {
      volume.file.append(parts);
      const name = nameOf(volume.path);
      for (const entry of entries) volume.lines.push(indexLine(entry, name));
      [parts, entries] = [[], []];
      if (volume.lines.length >= LINES_MAX) writeLines(volume);
    };
    members.clear();
    for (const { records, long, entry } of batch) {
      if (offset > rotateBytes) {
        append();
        finishIndex(volume);
        const before = volume;
        volume = openVolume(serialPath(path, serialOf(path, before.path) + 1), remember);
        paths.push(volume.path);
        before.file.close();
      }
      if (!volume.isBegun) begin();
      if (parts.length === 0) offset = volume.file.size;
      for (const [at, record] of records.entries()) {
        const member = long[at] ?? [members.short(record)];
        const length = member.reduce((sum, part) => sum + part.length, 0);
        if (at === 0) entries.push({ ...entry, offset, length });
        parts.push(...member);
        offset += length;
      }
    }
    append();
  };
  return { paths, cutBytes, write, end: () => closeVolume(volume) };
}

/** An exchange whose records are not written yet. */
interface Waiting {
  readonly records: readonly WarcRecord[];
  readonly long: ReadonlyArray<Uint8Array[] | undefined>;
  /** Without its place. */
  readonly entry: IndexEntry;
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
}

/** A WARC file and its index. */
interface Volume {
  readonly path: string;
  readonly file: BlockFile;
  readonly index: LineFile;
  /** Index lines that are not written yet. */
  lines: string[];
  /** Whether this process has written its warcinfo record. */
  isBegun: boolean;
  readonly cutBytes: number;
}

function openVolume(path: string, remember: (entry: IndexEntry) => void): Volume {
  const file = openBlockFile(path);
  const index = openLineFile(indexPath(path));
  const lines = index.takeLines();
  const whole: string[] = [];
  let end = 0;
  for (const line of lines) {
    const entry = readIndexLine(line);
    if (entry === undefined || entry.offset + entry.length > file.size) continue;
    whole.push(line);
    remember(entry);
    end = Math.max(end, entry.offset + entry.length);
  }
  const { entries, cutBytes } = recoverTail(file, end, path);
  for (const entry of entries) {
    whole.push(indexLine(entry, nameOf(path)));
    remember(entry);
  }
  if (index.isCut || entries.length > 0 || whole.length < lines.length) index.rewrite(whole);
  return { path, file, index, lines: [], isBegun: false, cutBytes };
}

function writeLines(volume: Volume): void {
  if (volume.lines.length > 0) volume.index.append(volume.lines);
  volume.lines = [];
}

function closeVolume(volume: Volume): void {
  try {
    finishIndex(volume);
  } finally {
    volume.file.close();
  }
}

/** Sorts the index. Lines may be added to it all the same. */
function finishIndex(volume: Volume): void {
  const { path, file, index } = volume;
  if (file.size === 0) return;
  writeLines(volume);
  index.rewrite(sortedLines(openLineFile(indexPath(path)).takeLines()));
}

function entriesOf(path: string): IndexEntry[] {
  const entries = openLineFile(path).takeLines().map(readIndexLine);
  return entries.filter((entry) => entry !== undefined);
}

/** Files of an earlier process, in the order of writing; the plain name if there are none. */
function pathsOf(path: string): string[] {
  const later = pathsLike(path.slice(0, -ENDING.length))
    .filter((each) => each.endsWith(ENDING) && serialOf(path, each) > 0)
    .sort((a, b) => serialOf(path, a) - serialOf(path, b));
  return [path, ...later];
}

/** The number in a file's name, 0: it has none. */
function serialOf(path: string, each: string): number {
  const name = each.slice(path.length - ENDING.length, -ENDING.length);
  return Number(/^-(\d{4,})$/.exec(name)?.[1] ?? 0);
}

function serialPath(path: string, serial: number): string {
  return `${path.slice(0, -ENDING.length)}-${String(serial).padStart(4, "0")}${ENDING}`;
}

function indexPath(path: string): string {
  return `${path.slice(0, -ENDING.length)}.cdxj`;
}

function describe(filename: string): Record<string, string> {
  const conformsTo =
    "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1";
  return { software: "outrider", format: "WARC File Format 1.1", conformsTo, filename };
}

function infoRecord({ filename, ...fields }: Record<string, string>, clock: Clock): WarcRecord {
  const lines = Object.entries(fields).map(([name, value]) => fieldOf(name, value));
  const named = [
    fieldOf("WARC-Record-ID", recordId()),
    fieldOf("WARC-Date", dateOf({ atMs: clock.now() })),
    fieldOf("WARC-Filename", filename),
    fieldOf("Content-Type", "application/warc-fields"),
  ];
  return recordOf("warcinfo", named.join(""), { body: Buffer.from(lines.join("")) });
}

function digestOf(
  { body, truncated }: Exchange,
  sha1: (bytes: Uint8Array) => string,
): string | undefined {
  if (body.length === 0 || truncated === "unspecified") return undefined;
  return digestText(sha1(body));
}

function mimeOf({ responseHeaders }: Exchange): string {
  const [, value = ""] = responseHeaders.find(([name]) => /^content-type$/i.test(name)) ?? [];
  const [type = ""] = value.split(";");
  return type.trim().toLowerCase();
}

function fieldsOfInfo(value: unknown, name: string): Record<string, string> {
  if (!isObject(value)) throw misuse("OPTION_INVALID", name, value, "an object of texts");
  for (const [field, text] of Object.entries(value)) {
    if (typeof text === "string" && !LINE_END.test(field + text) && /^[^:]+$/.test(field)) continue;
    throw misuse("OPTION_INVALID", `${name}.${field}`, text, "a text of one line");
  }
  return value as Record<string, string>;
}
