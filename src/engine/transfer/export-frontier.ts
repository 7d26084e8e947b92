/**
 * Room `src/engine/transfer`: tools over a directory: export, import, verify. Work on a copy or under the lock; nothing
 * here runs inside an open frontier.
 */

/**
 * exportFrontier: all that a directory holds, as lines of JSON.
 *
 *   overlay ─▶ a copy is opened ─▶ its snapshot, section by section ─▶ lines        (persistence/transfer/export-lines.ts)
 *                            │         └─▶ live records ─▶ sorted by their places, on disk where they are many ─▶ lines
 *                            └─▶ runs of its cold tier ─▶ lines, before those of the snapshot, which win
 *
 *   E1  What is held does not grow with the records: the copy spills as its original does, sooner even, and so does the sorting.
 */
import { join } from "node:path";
import { createVirtualClock } from "../../base/clock.ts";
import { givenOf } from "../../base/plain-copy.ts";
import { coldReading, openColdWalk } from "../../persistence/cold/cold-read.ts";
import { DIGEST_BYTES } from "../../persistence/transfer/digest-file.ts";
import { coldWalkRows } from "../../persistence/cold/cold-walk.ts";
import {
  createExportNames,
  type ExportNames,
  type Line,
  linesOf,
  seenLine,
} from "../../persistence/transfer/export-lines.ts";
import { nodeFiles } from "../../persistence/files.ts";
import { lockPath } from "../../persistence/directory/directory-lock.ts";
import { openOverlay } from "../../persistence/directory/directory-overlay.ts";
import {
  frontierDirectory,
  listDirectory,
  noFrontierThere,
  type Place,
} from "../../persistence/directory/frontier-directory.ts";
import { doublesOf, type Section } from "../../persistence/snapshot/snapshot-format.ts";
import { SnapshotReader } from "../../persistence/snapshot/section-reader.ts";
import { LineSorter } from "../../persistence/transfer/line-sorter.ts";
import type { Core } from "../../frontier/core.ts";
import { isFinishedValue } from "../../frontier/records/finished-word.ts";
import { sequenceOfKey } from "../../frontier/records/transitions.ts";
import { hostOfUrl } from "../../url/parsing/host-of-url.ts";
import type { RecordState } from "../../frontier/records/record-state.ts";
import { LocalFrontier } from "../api/local-frontier.ts";
import { nextTurn } from "../next-turn.ts";
import { normalizeOptions } from "../options/normalize-options.ts";
import { noteOfOptions, storedNote, storedOptions } from "../options/stored-options.ts";
import type { FrontierOptions } from "../types/frontier-types.ts";
import { coreOf } from "../api/verify-frontier.ts";

/** Options of `exportFrontier`. */
export interface ExportOptions {
  /** Name of the frontier in the directory; `default` unless given. */
  readonly name?: string | undefined;
  /** Options to open it with, where the stored ones are not enough. */
  readonly options?: FrontierOptions | undefined;
  /** Exports only these records, as lines to push; the result is not a whole frontier. */
  readonly only?:
    | {
        /** Records in this state. */
        readonly state?: RecordState | undefined;
        /** Records under this rule. */
        readonly rule?: string | undefined;
        /** Records of this host. */
        readonly host?: string | undefined;
      }
    | undefined;
  /** Called now and then with the lines so far and the number of live records. */
  readonly onProgress?: ((lines: number, records: number) => void) | undefined;
}

/** Lines between two words about progress, and turns for others. */
const LINES_PER_TURN = 4_096;
/** Pending records of the copy in memory, at most (E1). */
const MEMORY_BYTES = 128 * 1024 * 1024;

/**
 * Exports a directory's frontier as lines of JSON, each without its line break: records with every field, hosts,
 * groups, epochs, finished identities, counters and the secret of its hashes. `importFrontier` makes an equal
 * frontier of them in an empty directory.
 *
 * Live records come in the order of their places. The export reads a copy: it takes no lock, changes nothing, and
 * can run beside the process that owns the directory. Memory does not grow with the number of records, since they
 * are sorted on disk, in the system's temporary folder. Costs a pass over the directory. Rejects with `DISK_GONE` where it holds no such
 * frontier. The secret is in the first line, so keep the file as you
 * keep the directory.
 *
 * @example
 * for await (const line of exportFrontier("crawl-data")) console.log(line);
 */
export async function* exportFrontier(
  directory: string,
  { name = "default", options, only, onProgress }: ExportOptions = {},
): AsyncGenerator<string> {
  const own = frontierDirectory(directory, name);
  const disk: Place = { files: nodeFiles, directory: own };
  const { segments, snapshots } = listDirectory(disk);
  if (segments.length + snapshots.length === 0) throw noFrontierThere(own);
  const stored = storedOptions(directory, name)?.options;
  const overlay = openOverlay(nodeFiles, [own, join(own, "seen")], [lockPath(disk)]);
  try {
    const place: Place = { files: overlay.files, directory: own };
    const given = {
      ...stored,
      ...givenOf(options ?? {}),
      directory,
      name,
      records: "state" as const,
    };
    const memoryBytes = Math.min(given.memoryBytes ?? MEMORY_BYTES, MEMORY_BYTES);
    const settings = normalizeOptions({ ...given, memoryBytes });
    const noted = storedNote(disk) ?? noteOfOptions({ ...stored, ...givenOf(options ?? {}) });
    // Time stands still in the copy: it does nothing by itself, such as push seeds, while its lines are read.
    const clock = createVirtualClock(settings.clock.now());
    const frontier = await LocalFrontier.open({
      ...{ ...settings, clock, noted, files: place.files, keepsClocks: true },
    });
    const core = coreOf(frontier);
    const digests = frontier.visited?.digests ?? new Uint8Array(0);
    const sorter = new LineSorter(place.files, join(own, "export.tmp"));
    let reader: SnapshotReader | undefined;
    let lines = 0;
    try {
      reader = await snapshotOf(frontier, place);
      const parts = { reader, sorter };
      for (const line of only === undefined ? all(parts, place, digests) : some(parts, only)) {
        if (line !== undefined) yield line;
        if (line !== undefined && ++lines % LINES_PER_TURN !== 0) continue;
        onProgress?.(lines, liveCount(core));
        await nextTurn();
      }
      onProgress?.(lines, liveCount(core));
    } finally {
      reader?.close();
      sorter.close();
      await frontier.close({ discard: true });
    }
  } finally {
    overlay.close();
  }
}

/** The sections of a snapshot of the copy. It does not change: there is no journal beside it. */
async function snapshotOf(frontier: LocalFrontier, place: Place): Promise<SnapshotReader> {
  const { path } = await frontier.snapshot({ whole: true });
  return new SnapshotReader(place.files, path, listDirectory(place).snapshots.at(-1) as number);
}

interface Parts {
  readonly reader: SnapshotReader;
  /** Takes live records. */
  readonly sorter: LineSorter;
}

/** undefined: others may have a turn. */
type Lines = Generator<string | undefined>;

function* all({ reader, sorter }: Parts, place: Place, digests: Uint8Array): Lines {
  const names = createExportNames();
  let coldCount = 0;
  for (let section = reader.next(); section !== undefined; section = reader.next()) {
    if (section.t === "records") {
      sortRecords(section, names, sorter);
      yield undefined;
    } else if (section.t === "end") {
      for (const line of digestLines(digests)) yield JSON.stringify(line);
      let records = 0;
      for (const line of sorter.lines()) {
        records++;
        yield line;
      }
      const sha1 = digests.length / DIGEST_BYTES;
      const end = { hosts: section.hosts, seen: section.seen + coldCount, records };
      yield JSON.stringify({ end: sha1 === 0 ? end : { ...end, sha1 } });
    } else {
      for (const line of linesOf(section, names)) yield JSON.stringify(line);
      if (section.t !== "head") continue;
      const secret = new Uint32Array(section.secret.slice().buffer);
      for (const line of coldLines(place, secret)) {
        coldCount++;
        yield JSON.stringify(line);
      }
    }
  }
}

/** The records that were asked for, as lines to push. */
function* some({ reader, sorter }: Parts, only: Only): Lines {
  const names = createExportNames();
  for (let section = reader.next(); section !== undefined; section = reader.next()) {
    if (section.t === "records") sortRecords(section, names, sorter, only);
    else if (section.t === "head" || section.t === "hosts") learn(section, names);
    yield undefined;
  }
  yield* sorter.lines();
}

type Only = NonNullable<ExportOptions["only"]>;

/** Live records go where they are sorted by the sequence of their places. */
function sortRecords(
  section: Section & { t: "records" },
  names: ExportNames,
  sorter: LineSorter,
  only: Only = {},
): void {
  const keys = doublesOf(section.doubles);
  let row = 0;
  for (const line of linesOf(section, names)) {
    const key = sequenceOfKey(keys[row++ * 3] as number);
    if (isAsked(line, only)) sorter.add(key, JSON.stringify(line));
  }
}

function isAsked(line: Line, { state, rule, host }: Only): boolean {
  if (state !== undefined && state !== (line.state === "resting" ? "done" : line.state))
    return false;
  if (rule !== undefined && rule !== line.rule) return false;
  return (
    host === undefined ||
    host === (line.text === undefined ? line.host : hostOfUrl(String(line.url)))
  );
}

/** Finished identities of the cold tier: the newest word on each. */
function* coldLines(place: Place, secret: Uint32Array): Generator<Line> {
  const reading = coldReading(place, secret);
  if (reading === undefined) return;
  const { walk, close } = openColdWalk(reading);
  try {
    const { hashes, values } = walk;
    for (;;) {
      const count = coldWalkRows(walk, Number.POSITIVE_INFINITY);
      if (count === 0) return;
      for (let row = 0; row < count; row++) {
        const value = values[row] as number;
        if (isFinishedValue(value))
          yield seenLine(hashes[row * 2] as number, hashes[row * 2 + 1] as number, value);
      }
    }
  } finally {
    close();
  }
}

/** Digests of another program's requests, a thousand a line. */
function* digestLines(digests: Uint8Array): Generator<Line> {
  const step = 1_000 * DIGEST_BYTES;
  for (let from = 0; from < digests.length; from += step) {
    const text = Buffer.from(digests.subarray(from, from + step)).toString("hex");
    yield { sha1: text.match(/.{40}/g) };
  }
}

/** Takes in the names in a section's lines. */
function learn(section: Section, names: ExportNames): void {
  for (const _ of linesOf(section, names));
}

function liveCount({ counters }: Core): number {
  const { pending, waiting, failed } = counters;
  return pending + waiting + failed;
}
