/**
 * Opening a directory: lock, recovery, a new segment of the journal. A failed open leaves everything as it was and
 * gives the lock back.
 *
 *   lock ─▶ newest good snapshot + journal ─▶ core ─▶ new segment ─▶ open
 */
import { join } from "node:path";
import { misuse } from "../base/errors.ts";
import { entropyWords } from "../base/random.ts";
import type { Core } from "../frontier/core.ts";
import { installRules } from "../frontier/rule-set.ts";
import { givenRules, normalizeRules } from "../frontier/rules.ts";
import { sharesReorder } from "../frontier/shares.ts";
import { copyFile, diskFault, type Files, nodeFiles } from "../persistence/files.ts";
import { giveLock, lockPath, takeLock } from "../persistence/lock.ts";
import { openOverlay } from "../persistence/overlay.ts";
import { packr } from "../persistence/pack.ts";
import {
  contentOf,
  frontierDirectory,
  lookAround,
  nothingThere,
  type Place,
  segmentPath,
  snapshotPath,
} from "../persistence/place.ts";
import { systemProcesses } from "../persistence/process-table.ts";
import { recover, type Recovered } from "../persistence/recover.ts";
import { ALONE_SERIAL } from "../persistence/snapshot-alone.ts";
import { policyId } from "../url/policy.ts";
import { SEED_NOTES, type SeedNotes } from "./seeds.ts";
import { Durable } from "./durable.ts";
import type { EventHub } from "./events.ts";
import type { Settings } from "./options.ts";
import type { Runtime, RuntimeOrigin } from "./runtime.ts";
import { openKeeper } from "./record-file.ts";
import type { RecordKeeper } from "./record-keeper.ts";
import { Tiers } from "./tiers.ts";
import { isSerializable } from "../base/serializable.ts";
import type { Resumed, Rule } from "./types.ts";
import { restoreVisited } from "./visited.ts";

/** Segments that a start reads behind a snapshot are this many at most, where each is a small part of `snapshots.everyBytes`. */
const SEGMENTS_MAX = 64;
const SEGMENT_BYTES_LEAST = 256 * 1024;

export interface OpenParts {
  readonly settings: Settings;
  readonly events: EventHub;
  /** An empty runtime under a secret. */
  readonly make: (origin: RuntimeOrigin, tiers: Tiers) => Runtime;
  /** The user's state, and what a file says of it. */
  readonly state: () => unknown;
  readonly setState: (state: Record<string, unknown>) => void;
}

interface OpenedDurable {
  readonly runtime: Runtime;
  readonly durable: Durable;
  readonly secret: Uint32Array;
  /** undefined: nothing was there. */
  readonly resumed: Resumed | undefined;
  readonly seeded: SeedNotes;
  readonly tiers: Tiers;
  readonly keeper: RecordKeeper | undefined;
}

/** Rules as a note keeps them; null: they hold functions, and have to be given again at the next opening. */
export function storedRules({ specs, version }: Core): unknown {
  const rules = givenRules(specs);
  return isSerializable(rules) ? { rules, version } : null;
}

export async function openDurable(parts: OpenParts): Promise<OpenedDurable> {
  const { settings } = parts;
  const files = settings.files ?? nodeFiles;
  const directory = frontierDirectory(settings.directory as string, settings.name);
  if (!settings.readOnly) return openAt(parts, { files, directory }, undefined);
  const { overlay, close } = lookInto({ files, directory });
  try {
    return await openAt(parts, { files: overlay, directory }, close);
  } catch (error) {
    close();
    throw error;
  }
}

/** A copy to work on of what a directory holds: all changes stay beside it, its lock is not asked. */
function lookInto(place: Place): { overlay: Files; close: () => void } {
  const { files, directory } = place;
  const { segments, snapshots } = lookAround(place);
  if (segments.length + snapshots.length === 0) throw nothingThere(directory);
  const opened = openOverlay(files, [directory, join(directory, "seen")], [lockPath(place)]);
  return { overlay: opened.files, close: opened.close };
}

async function openAt(
  parts: OpenParts,
  place: Place,
  onClosed: (() => void) | undefined,
): Promise<OpenedDurable> {
  const { settings } = parts;
  const { files, directory } = place;
  try {
    files.makeDirectory(directory);
    const lock = takeLock(place, systemProcesses());
    const tiers = new Tiers(place, settings.seen.mode === "tiered");
    let keeper: RecordKeeper | undefined;
    try {
      keeper = settings.records === "full" ? await openKeeper(settings, directory) : undefined;
      return await openLocked(parts, place, { lock, tiers, keeper, onClosed });
    } catch (error) {
      await undo([
        () => tiers.close(false),
        () => keeper?.close(false),
        () => giveLock(place, lock),
      ]);
      throw error;
    }
  } catch (error) {
    // What has a code of the platform is the disk's; everything else is said as it is.
    const isDisk = typeof (error as NodeJS.ErrnoException).syscall === "string";
    throw isDisk ? diskFault(error, directory) : error;
  }
}

/** Does them all: what fails now follows from what failed first, which is told. */
async function undo(steps: ReadonlyArray<() => void | Promise<void>>): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch {
      // A lock that stays is a dead owner's to the next opening once this process has ended.
    }
  }
}

interface Locked {
  readonly lock: ReturnType<typeof takeLock>;
  readonly tiers: Tiers;
  readonly keeper: RecordKeeper | undefined;
  readonly onClosed: (() => void) | undefined;
}

async function openLocked(
  parts: OpenParts,
  place: Place,
  { lock, tiers, keeper, onClosed }: Locked,
): Promise<OpenedDurable> {
  const { settings, events } = parts;
  const profile = policyId(settings.key);
  let runtime: Runtime | undefined;
  const make = (secret: Uint32Array, isCleared = false): Core => {
    runtime = parts.make({ secret, isCleared }, tiers);
    return runtime.core;
  };
  if (settings.from !== undefined) adoptFile(place, settings.from);
  const found = await recover({
    ...{ place, profile, make, nowMs: settings.clock.now(), hearer: keeper },
    pause: () => new Promise((resolve) => setImmediate(resolve)),
    onProgress: (progress) => settings.onProgress?.(progress),
  }).catch((error: unknown) => {
    if (settings.from !== undefined) dropFile(place);
    throw error;
  });
  if (found === undefined) keeper?.allForgotten(); // what stands there is nothing to a new one
  keeper?.replayed();
  const secret = found?.secret ?? settings.secret ?? entropyWords(4);
  if (found === undefined) {
    tiers.begin();
    make(secret);
  }
  const { core, gate } = runtime as Runtime;
  const seeded = contentOf(place.directory, 0, () => {
    applyFound(parts, core, found);
    gate.visited = restoreVisited(place, found?.revival.notes);
    return seededOf(found);
  });
  const durable = new Durable({
    ...{ settings, events, place, lock, tiers, core, keeper, onClosed, state: parts.state },
    identity: { secret, profile },
    names: found?.revival.names,
    serial: (found?.serial ?? 0) + 1,
    snapshotBytes: bytesOf(snapshotPath(place, found?.snapshot ?? 0), place),
    journalBytes: settings.readOnly ? 0 : journalBytes(place, found?.snapshot ?? 0, settings),
    notes: found?.revival.notes ?? new Map(),
  });
  if (settings.rulesGiven !== undefined) core.log?.note("rules", storedRules(core));
  core.log?.end();
  for (const cause of found?.damage ?? []) events.fault({ kind: "disk", stage: "open", cause });
  const resumed = found === undefined ? undefined : resumedOf(core, found);
  return { runtime: runtime as Runtime, durable, secret, resumed, seeded, tiers, keeper };
}

/** What no table holds: notes, and rules where the opening has none of its own. */
export function applyFound(
  parts: Pick<OpenParts, "settings" | "setState">,
  core: Core,
  found: Recovered | undefined,
): void {
  if (found !== undefined) applyNotes(parts, core, found);
  restoreRules(parts, core, found);
  applyPasses(core, found);
}

/** Which rules were seeded, and how far the seeds of others had come. */
export function seededOf(found: Recovered | undefined): SeedNotes {
  const notes: SeedNotes = Object.fromEntries(
    SEED_NOTES.map((name) => [name, noteOf(found, name)]),
  );
  const { seeding = [], seedingAt = [0, 0] } = notes;
  const isList = Array.isArray(seeding) && seeding.every(Array.isArray) && Array.isArray(seedingAt);
  if (!isList || !seedingAt.every((count) => Number.isSafeInteger(count) && count >= 0)) {
    throw new TypeError("what is noted of seeds is no list of rules with two counts");
  }
  return notes;
}

/** Without rules of its own the opening goes on under those that were set last. */
function restoreRules(
  { settings }: Pick<OpenParts, "settings">,
  core: Core,
  found: Recovered | undefined,
): void {
  const note = settings.rulesGiven === undefined ? noteOf(found, "rules") : undefined;
  if (note === undefined || note === null) return;
  const { rules, version } = note as { rules: Rule[]; version: number | string };
  const list = normalizeRules(rules, settings.defaults, settings.seen.mode);
  installRules(core, list, version, settings.clock.now());
}

function noteOf(found: Recovered | undefined, name: string): unknown {
  const bytes = found?.revival.notes.get(name);
  return bytes === undefined ? undefined : packr.unpack(bytes);
}

/** What no entry of a record says. */
function applyNotes(parts: Pick<OpenParts, "setState">, core: Core, { revival }: Recovered): void {
  const state = revival.notes.get("state");
  if (state !== undefined) parts.setState(packr.unpack(state) as Record<string, unknown>);
  const noted = revival.notes.get("counters");
  if (noted === undefined) return;
  const said = packr.unpack(noted) as NotedCounters;
  const { counters } = core;
  counters.pushed = Math.max(counters.pushed, said.pushed);
  counters.duplicate = Math.max(counters.duplicate, said.duplicate);
  counters.full = Math.max(counters.full, said.full);
  counters.expired = Math.max(counters.expired, said.expired);
  counters.lateResults = Math.max(counters.lateResults, said.lateResults);
  for (const [reason, count] of Object.entries(said.rejected)) counters.rejected.set(reason, count);
  // A cold tier that was not merged yet holds some identities twice: it can not count them.
  if (core.seen.mode === "tiered") counters.seen = said.seen ?? counters.seen;
  core.leaseSequence = Math.max(core.leaseSequence, said.leaseSequence);
  core.hosts.joined = Math.max(core.hosts.joined, said.joined);
}

/** Where each rule stands in the order of shares: also those that were restored, which are new. */
function applyPasses(core: Core, found: Recovered | undefined): void {
  const said = noteOf(found, "counters") as NotedCounters | undefined;
  if (said === undefined) return;
  const { rules } = core;
  const { passes } = core.shares;
  for (const { id, index } of rules) passes[index] = said.passes[id] ?? (passes[index] as number);
  core.shares.current = Math.max(core.shares.current, said.current ?? 0);
  sharesReorder(core.shares); // those with something pending stand there already
}

interface NotedCounters {
  readonly pushed: number;
  readonly duplicate: number;
  readonly full: number;
  readonly lateResults: number;
  readonly expired: number;
  readonly leaseSequence: number;
  readonly joined: number;
  readonly seen?: number;
  /** The pass of the rule that was served last. */
  readonly current?: number;
  readonly rejected: Record<string, number>;
  readonly passes: Record<string, number>;
}

export function resumedOf({ counters }: Core, { revival, lost, damage }: Recovered): Resumed {
  const { pending, waiting, failed } = counters;
  return {
    ...{ pending, waiting, failed, leases: revival.leases, lost },
    damage: damage.map(({ message }) => message),
  };
}

/**
 * What stands in the journal since a snapshot. So short runs, none of which says enough for a snapshot, leave no journal without bound; a
 * segment counts for so much at least that they leave no files without bound either.
 */
function journalBytes(place: Place, snapshot: number, { snapshots }: Settings): number {
  const least = Math.min(snapshots.everyBytes / SEGMENTS_MAX, SEGMENT_BYTES_LEAST);
  let bytes = 0;
  for (const serial of lookAround(place).segments) {
    if (serial >= snapshot) bytes += Math.max(bytesOf(segmentPath(place, serial), place), least);
  }
  return bytes;
}

function bytesOf(path: string, place: Place): number {
  if (!place.files.exists(path)) return 0;
  const file = place.files.open(path, "r");
  try {
    return place.files.size(file);
  } finally {
    place.files.close(file);
  }
}

/** Makes a file that stands alone the first generation of an empty directory. */
function adoptFile(place: Place, path: string): void {
  const { segments, snapshots } = lookAround(place);
  if (segments.length > 0 || snapshots.length > 0) {
    throw misuse("OPTION_INVALID", "options.from", path, "a directory without a frontier in it");
  }
  copyFile(place.files, path, snapshotPath(place, ALONE_SERIAL));
}

/** Takes back the copy of a file that could not be gone on from: the file itself stands. */
function dropFile(place: Place): void {
  const { directory, files } = place;
  files.remove(snapshotPath(place, ALONE_SERIAL));
  files.syncDirectory(directory);
}
