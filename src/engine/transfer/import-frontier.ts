/**
 * importFrontier: lines into a directory.
 *
 *   first line is an export's ─┬─ the directory is empty ─▶ sections ─▶ a file that stands alone ─▶ opened from it: an equal frontier
 *                              └─ it is not ─▶ records alone ─▶ pushed
 *   40 hex digits each: Scrapy's requests.seen ─▶ digests that count as seen under profile w3lib (scrapy-digests.ts)
 *   anything else: URLs, or requests as JSON ─▶ pushed
 */
import { join } from "node:path";
import { FrontierError, misuse } from "../../base/errors.ts";
import { givenOf } from "../../base/plain-copy.ts";
import {
  createSectionMaker,
  isExportHead,
  REDIS_EXPORT_NAME,
} from "../../persistence/transfer/import-sections.ts";
import type { Line } from "../../persistence/transfer/export-lines.ts";
import { chained, isDigest, parsedLines } from "./import-lines.ts";
import { diskFault, nodeFiles, writeAll } from "../../persistence/files.ts";
import {
  frontierDirectory,
  listDirectory,
  type Place,
} from "../../persistence/directory/frontier-directory.ts";
import { systemProcesses } from "../../persistence/directory/process-table.ts";
import { STANDALONE_SERIAL } from "../../persistence/snapshot/standalone-snapshot.ts";
import {
  addBytes,
  addSection,
  createSectionBuffer,
} from "../../persistence/snapshot/section-buffer.ts";
import { preamble, type Section } from "../../persistence/snapshot/snapshot-format.ts";
import { removeUnusedDirectory } from "../../persistence/directory/remove-unused-directory.ts";
import { LocalFrontier } from "../api/local-frontier.ts";
import { pushLines } from "./import-requests.ts";
import { nextTurn } from "../next-turn.ts";
import { normalizeOptions, type Settings } from "../options/normalize-options.ts";
import { optionsOfNotes, storedOptions } from "../options/stored-options.ts";
import type { FrontierOptions } from "../types/frontier-types.ts";

/** Options of `importFrontier`. */
export interface ImportOptions {
  /** Name of the frontier in the directory; `default` unless given. */
  readonly name?: string | undefined;
  /** Options to open it with, in place of those in the directory or in the export. */
  readonly options?: FrontierOptions | undefined;
  /** Called now and then with the lines read so far. */
  readonly onProgress?: ((lines: number) => void) | undefined;
  /**
   * How many of the first lines were visited elsewhere: they are seen and not pending. For an empty directory; 0
   * unless given.
   */
  readonly visited?: number | undefined;
}

/** What an import did. */
export interface ImportResult {
  /** `frontier`: a whole export was restored. `requests`: they were pushed. `digests`: they count as seen. */
  readonly kind: "frontier" | "requests" | "digests";
  /**
   * Lines that were skipped, since they are no requests: of an export into a directory with a frontier, or a last
   * line that is cut short.
   */
  readonly passed: number;
  /** Records of the frontier, requests that were pushed, or digests. */
  readonly size: number;
  /** Requests that are pending now. */
  readonly accepted: number;
  /** Requests that wait for their `notBefore`. */
  readonly deferred: number;
  /** Requests that were known already. */
  readonly duplicate: number;
  /** Requests that no rule takes or that are invalid. */
  readonly rejected: number;
  /** Requests for which `capacity` left no room. */
  readonly full: number;
  /** Why requests were rejected or found no room, with counts: `{ "too-long": 2 }`. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** Bytes that are written at once. */
const WRITE_BYTES = 256 * 1024;

/**
 * Imports lines into a directory. Lines of `exportFrontier` make an equal frontier in an empty directory. Into a
 * directory that holds a frontier, they are pushed, and so are other lines: URLs, or requests as JSON. Costs what
 * pushing the lines costs.
 *
 * Rejects a whole export with `SNAPSHOT_CORRUPT` and the line's number when a line is wrong or missing, and other
 * lines into an empty directory with `REQUEST_INVALID`; the directory is empty then. After a disk error the same
 * call can be repeated. Lines of 40 hex digits are fingerprints of Scrapy's `requests.seen`: what has one of them
 * is a duplicate from then on, under key profile `w3lib` (`PROFILE_MISMATCH` under another).
 *
 * @example
 * await importFrontier("copy", exportFrontier("crawl-data"));
 */
export async function importFrontier(
  directory: string,
  lines: AsyncIterable<string> | Iterable<string>,
  { name = "default", options = {}, visited = 0, onProgress }: ImportOptions = {},
): Promise<ImportResult> {
  if (!(Number.isSafeInteger(visited) && visited >= 0)) {
    throw misuse("OPTION_INVALID", "options.visited", visited, "a whole number from 0");
  }
  const parsed = parsedLines(lines, { visited, onProgress });
  const first = await parsed.next();
  const isExport = first.done !== true && typeof first.value !== "string";
  const isWhole = isExport && isExportHead(first.value as Line);
  if (isExport) refuseOtherStore(first.value as Line);
  const own = frontierDirectory(directory, name);
  const place: Place = { files: nodeFiles, directory: own };
  const { segments, snapshots } = listDirectory(place);
  const isEmpty = segments.length + snapshots.length === 0;
  if (visited > 0 && !isEmpty) {
    const expected = "0, because this directory holds a frontier already";
    throw misuse("OPTION_INVALID", "options.visited", visited, expected);
  }
  const all = chained(first.done === true ? [] : [first.value], parsed);
  const target = { directory, name, options };
  const isMade = !nodeFiles.exists(own);
  const isAboveMade = !nodeFiles.exists(directory);
  try {
    if (first.done !== true && isDigest(first.value)) return await importDigests(target, all);
    if (isWhole && isEmpty) return await restored(target, own, all as AsyncIterable<Line>);
    return await importRequests(target, all, { visited, isEmpty });
  } catch (error) {
    if (isMade) removeUnusedDirectory(place, systemProcesses(), isAboveMade);
    throw error;
  }
}

/** Identities of Redis have other hashes, which no directory can look up. */
function refuseOtherStore({ outrider }: Line): void {
  if (outrider !== REDIS_EXPORT_NAME) return;
  const expected = "`import --redis`, or an export of records alone: `--state pending`";
  const message = `outrider: "${REDIS_EXPORT_NAME}" (expected for a directory: ${expected})`;
  throw new FrontierError("FORMAT_UNSUPPORTED", message);
}

/** Requests into a directory. Into an empty one all of them, or none where a line is none: what the disk refuses may be gone on with. */
async function importRequests(
  { directory, name, options }: Target,
  lines: AsyncIterable<Line | string>,
  { visited, isEmpty }: { visited: number; isEmpty: boolean },
): Promise<ImportResult> {
  const stored = storedOptions(directory, name)?.options;
  const settings = normalizeOptions({ ...stored, ...givenOf(options ?? {}), directory, name });
  let isOurs = isEmpty;
  const work = async (frontier: LocalFrontier): Promise<ImportResult> => {
    frontier.on("resumed", () => {
      isOurs = false;
    });
    await nextTurn(); // it was reported by then
    return { kind: "requests", ...(await pushLines(frontier, lines, visited)) };
  };
  // Lines that were visited elsewhere are taken by an empty directory alone, also in the next call.
  const isUndone = (error: unknown): boolean => isOurs && (visited > 0 || !isOfDisk(error));
  return withFrontier(settings, work, isUndone);
}

/**
 * Opens a frontier, works on it and closes it. `isUndone`: an error after which nothing of it stays. A frontier that the disk
 * does not let close is left as by a crash, so that its lock is free for the next call.
 */
async function withFrontier(
  settings: Settings,
  work: (frontier: LocalFrontier) => Promise<ImportResult>,
  isUndone: (error: unknown) => boolean = () => false,
): Promise<ImportResult> {
  const frontier = await LocalFrontier.open(settings);
  try {
    const result = await work(frontier);
    await frontier.close();
    return result;
  } catch (error) {
    await frontier.close({ discard: isUndone(error) }).catch(() => frontier.abandon());
    throw error;
  }
}

function isOfDisk(error: unknown): boolean {
  return error instanceof FrontierError && /^(?:DISK_|FILES_)/.test(error.code);
}

/** Fingerprints into a directory: all of them, or none where a line is none. */
async function importDigests(
  { directory, name, options }: Target,
  lines: AsyncIterable<Line | string>,
): Promise<ImportResult> {
  const stored = storedOptions(directory, name)?.options;
  const settings = normalizeOptions({ ...stored, ...givenOf(options ?? {}), directory, name });
  if (settings.key.profile !== "w3lib") {
    const expected = "'w3lib', as in presets.scrapy(): fingerprints are made of its keys";
    const message = `defaults.key.profile: ${settings.key.profile} (expected: ${expected})`;
    throw new FrontierError("PROFILE_MISMATCH", message);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  let broken: number | undefined;
  for await (const line of lines) {
    if (broken !== undefined) throw noDigest(broken);
    if (isDigest(line)) {
      chunks.push(Buffer.from(line, "hex"));
      if (chunks.length >= CHUNKS_MAX) chunks.push(Buffer.concat(chunks.splice(0)));
      size++;
    } else broken = size + 1;
  }
  return withFrontier(settings, async (frontier) => {
    const accepted = await frontier.visit(Buffer.concat(chunks));
    const rest = { deferred: 0, duplicate: size - accepted, rejected: 0, full: 0, reasons: {} };
    return { kind: "digests", passed: broken === undefined ? 0 : 1, size, accepted, ...rest };
  });
}

/** Digests held one by one before they become one piece. */
const CHUNKS_MAX = 100_000;

function noDigest(line: number): FrontierError {
  const message = `line ${line}: no fingerprint (expected: 40 hex digits, as in requests.seen)`;
  return new FrontierError("REQUEST_INVALID", message, { line });
}

interface Target {
  readonly directory: string;
  readonly name: string;
  readonly options: FrontierOptions;
}

/** Makes an export's frontier in an empty directory. */
async function restored(
  { directory, name, options }: Target,
  own: string,
  lines: AsyncIterable<Line>,
): Promise<ImportResult> {
  const from = join(own, "import.tmp");
  try {
    nodeFiles.makeDirectory(own);
    const { kept, records, digests } = await writeSections(from, lines);
    const settings = normalizeOptions({
      ...kept,
      ...givenOf(options ?? {}),
      directory,
      name,
      from,
    });
    return await withFrontier(settings, async (frontier) => {
      if (digests.length > 0) await frontier.visit(digests);
      const { accepted, deferred } = frontier.report();
      const none = { duplicate: 0, rejected: 0, full: 0, reasons: {} };
      return { kind: "frontier", passed: 0, size: records, accepted, deferred, ...none };
    });
  } catch (error) {
    const isDisk = typeof (error as NodeJS.ErrnoException).syscall === "string";
    throw isDisk ? diskFault(error, own) : error;
  } finally {
    if (nodeFiles.exists(from)) nodeFiles.remove(from);
  }
}

/** The lines as a file that stands alone; the options that its frontier was opened with, its live records, and digests. */
async function writeSections(
  path: string,
  lines: AsyncIterable<Line>,
): Promise<{ kept: FrontierOptions; records: number; digests: Uint8Array }> {
  const maker = createSectionMaker();
  const file = nodeFiles.open(path, "w");
  let kept: FrontierOptions = {};
  let records = 0;
  const waiting = createSectionBuffer(WRITE_BYTES * 2);
  let offset = 0;
  const write = (): void => {
    writeAll(nodeFiles, file, waiting.bytes.subarray(0, waiting.used), offset);
    offset += waiting.used;
    waiting.used = 0;
  };
  const put = (section: Section): void => {
    if (section.t === "head") kept = optionsOfNotes(section.notes);
    if (section.t === "records") records += section.n;
    addSection(waiting, section, { serial: STANDALONE_SERIAL, offset: offset + waiting.used });
    if (waiting.used >= WRITE_BYTES) write();
  };
  try {
    addBytes(waiting, preamble(STANDALONE_SERIAL));
    for await (const line of lines) for (const section of maker.line(line)) put(section);
    for (const section of maker.end()) put(section);
    write();
    nodeFiles.sync(file);
    return { kept, records, digests: Buffer.concat(maker.digests) };
  } finally {
    nodeFiles.close(file);
  }
}
