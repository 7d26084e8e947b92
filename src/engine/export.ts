/**
 * exportFrontier: all that a directory knows, as lines of JSON.
 *
 *   overlay ─▶ a copy is opened ─▶ its snapshot, section by section ─▶ lines        (persistence/export-lines.ts)
 *                            └─▶ runs of its cold tier ─▶ lines, before those of the snapshot, which win
 *                            └─▶ live records in the order of their places ─▶ lines
 */
import { join } from "node:path";
import { createVirtualClock } from "../base/clock.ts";
import { coldReading, openColdWalk } from "../persistence/cold-read.ts";
import { DIGEST_BYTES } from "../persistence/digest-file.ts";
import { coldWalkNext } from "../persistence/cold-walk.ts";
import {
  createExportNames,
  type ExportNames,
  type Line,
  linesOf,
  seenLine,
} from "../persistence/export-lines.ts";
import { nodeFiles } from "../persistence/files.ts";
import { lockPath } from "../persistence/lock.ts";
import { openOverlay } from "../persistence/overlay.ts";
import { frontierDirectory, lookAround, nothingThere, type Place } from "../persistence/place.ts";
import {
  addHost,
  addRecord,
  CHUNK_ROWS,
  createColumns,
  takeHosts,
  takeRecords,
} from "../persistence/snapshot-columns.ts";
import type { Section } from "../persistence/snapshot-format.ts";
import { SnapshotReader } from "../persistence/snapshot-reader.ts";
import { sortByKey } from "../persistence/sort-keys.ts";
import type { Core } from "../frontier/core.ts";
import { isFinishedValue, sequenceOf } from "../frontier/transition.ts";
import { matches, noteRecords, type RecordFilter } from "../frontier/walk.ts";
import type { RecordState } from "../frontier/record-state.ts";
import { hostNextBusy } from "../structures/host-table.ts";
import { recordState } from "../structures/record.ts";
import { MemoryFrontier } from "./frontier.ts";
import { normalizeOptions } from "./options.ts";
import { noteOfOptions, storedNote, storedOptions } from "./stored.ts";
import type { FrontierOptions } from "./types.ts";
import { coreOf } from "./verify.ts";
import { STATES } from "./view.ts";

export interface ExportOptions {
  /** Which frontier of the directory; default `default`. */
  readonly name?: string;
  /** What to open it with, where its stored options do not do. */
  readonly options?: FrontierOptions;
  /** Records alone, and only these: lines to push, no frontier any more. */
  readonly only?: { readonly state?: RecordState; readonly rule?: string; readonly host?: string };
  /** Told now and then: lines so far, and live records in all. */
  readonly onProgress?: (lines: number, records: number) => void;
}

const LIVE: ReadonlySet<RecordState> = new Set(["pending", "waiting", "leased", "failed", "done"]);
/** Lines between two words about progress, and turns for others. */
const LINES_PER_TURN = 4_096;

/**
 * All that a frontier's directory knows as lines of JSON, each without its line break: records with every field, hosts, groups,
 * epochs, what is finished, counters and the secret of its hashes. `importFrontier` makes an equal frontier of them in an empty directory. Live
 * records come in the order in which they took their places. Reads a copy: no lock is taken and nothing changes, also beside a running owner.
 * The secret is in the first line: keep the file as you keep the directory.
 *
 * ```js
 * for await (const line of exportFrontier("crawl-data")) console.log(line);
 * ```
 */
export async function* exportFrontier(
  directory: string,
  { name = "default", options, only, onProgress }: ExportOptions = {},
): AsyncGenerator<string> {
  const own = frontierDirectory(directory, name);
  const disk: Place = { files: nodeFiles, directory: own };
  const { segments, snapshots } = lookAround(disk);
  if (segments.length + snapshots.length === 0) throw nothingThere(own);
  const stored = storedOptions(directory, name)?.options;
  const overlay = openOverlay(nodeFiles, [own, join(own, "seen")], [lockPath(disk)]);
  try {
    const place: Place = { files: overlay.files, directory: own };
    const given = { ...stored, ...options, directory, name, records: "state" as const };
    // All of it in memory: what is spilled has no order that could be looked at.
    const settings = normalizeOptions({ ...given, memoryBytes: Number.MAX_SAFE_INTEGER });
    const noted = storedNote(disk) ?? noteOfOptions({ ...stored, ...options });
    // Time stands still in the copy: it does nothing by itself, such as push seeds, while its lines are read.
    const clock = createVirtualClock(settings.clock.now());
    const frontier = await MemoryFrontier.open({ ...settings, clock, noted, files: place.files });
    const core = coreOf(frontier);
    const digests = frontier.visited?.digests ?? new Uint8Array(0);
    let lines = 0;
    const source =
      only === undefined
        ? all(await snapshotOf(frontier, place), core, place, digests)
        : some(core, only);
    for (const line of source) {
      yield JSON.stringify(line);
      if (++lines % LINES_PER_TURN !== 0) continue;
      onProgress?.(lines, liveCount(core));
      await turn();
    }
    onProgress?.(lines, liveCount(core));
    await frontier.close({ discard: true });
  } finally {
    overlay.close();
  }
}

/** The sections of a snapshot of the copy. Nobody changes it: there is no journal beside it. */
async function snapshotOf(frontier: MemoryFrontier, place: Place): Promise<SnapshotReader> {
  const { path } = await frontier.snapshot();
  return new SnapshotReader(place.files, path, lookAround(place).snapshots.at(-1) as number);
}

function* all(
  reader: SnapshotReader,
  core: Core,
  place: Place,
  digests: Uint8Array,
): Generator<Line> {
  try {
    const names = createExportNames();
    let coldCount = 0;
    let isHead = true;
    for (let section = reader.next(); section !== undefined; section = reader.next()) {
      if (section.t === "end") {
        yield* digestLines(digests);
        yield* liveLines(core, names);
        for (const line of linesOf({ ...section, seen: section.seen + coldCount }, names)) {
          const sha1 = digests.length / DIGEST_BYTES;
          yield sha1 === 0 ? line : { end: { ...(line.end as object), sha1 } };
        }
      } else if (section.t !== "records") yield* linesOf(section, names);
      if (!isHead || section.t !== "head") continue;
      isHead = false;
      const secret = new Uint32Array(section.secret.slice().buffer);
      for (const line of coldLines(place, secret)) {
        coldCount++;
        yield line;
      }
    }
  } finally {
    reader.close();
  }
}

/** Finished identities of the cold tier: the newest word on each. */
function* coldLines(place: Place, secret: Uint32Array): Generator<Line> {
  const reading = coldReading(place, secret);
  if (reading === undefined) return;
  const { walk, close } = openColdWalk(reading);
  try {
    while (coldWalkNext(walk)) {
      if (isFinishedValue(walk.value)) yield seenLine(walk.lo, walk.hi, walk.value);
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

/** Live records by the sequence of their places. */
function* liveLines(core: Core, names: ExportNames, filter: RecordFilter = {}): Generator<Line> {
  const noted = noteRecords(core, LIVE);
  for (let at = 0; at < noted.count; at++) {
    noted.keys[at] = sequenceOf(core, noted.handles[at] as number);
  }
  const columns = createColumns(core);
  for (const record of sortByKey(noted)) {
    const state = STATES[recordState(core.store, record)];
    if (filter.state !== undefined && state !== filter.state) continue;
    if (!matches(core, record, filter)) continue;
    addRecord(columns, record);
    if (columns.count >= CHUNK_ROWS) yield* linesOf(takeRecords(columns), names);
  }
  if (columns.count > 0) yield* linesOf(takeRecords(columns), names);
}

/** The records that were asked for, as lines to push. */
function* some(core: Core, only: RecordFilter): Generator<Line> {
  const names = createExportNames();
  names.ruleIds = core.rules.map(({ id }) => id);
  const columns = createColumns(core);
  const { hosts } = core;
  for (let host = hostNextBusy(hosts, 0); host !== 0; host = hostNextBusy(hosts, host)) {
    addHost(columns, host);
    if (columns.count >= CHUNK_ROWS) learn(takeHosts(columns), names);
  }
  if (columns.count > 0) learn(takeHosts(columns), names);
  yield* liveLines(core, names, only);
}

/** Takes in the names that a section's lines say. */
function learn(section: Section, names: ExportNames): void {
  for (const _ of linesOf(section, names));
}

function liveCount({ counters }: Core): number {
  const { pending, waiting, failed } = counters;
  return pending + waiting + failed;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
