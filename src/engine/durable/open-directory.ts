/**
 * Room `src/engine/durable`: the side of a frontier with a directory: opening, when entries become durable, when a
 * snapshot is due, tiers on disk. Formats are in persistence.
 */

/**
 * Opening a directory: lock, recovery, a new segment of the journal. A failed open leaves everything as it was and releases the lock.
 *
 *   lock ─▶ newest good snapshot + journal ─▶ core ─▶ new segment ─▶ open
 */
import { join } from "node:path";
import { misuse } from "../../base/errors.ts";
import { entropyWords } from "../../base/random.ts";
import type { Core } from "../../frontier/core.ts";
import { boundClocks } from "../../frontier/politeness/bound-clocks.ts";
import { installRules } from "../../frontier/rules/install-rules.ts";
import { givenRules, normalizeRules } from "../../frontier/rules/rule-specs.ts";
import { sharesReorder } from "../../frontier/scheduling/rule-shares.ts";
import { copyFile, diskFault, type Files, nodeFiles } from "../../persistence/files.ts";
import { giveLock, lockPath, takeLock } from "../../persistence/directory/directory-lock.ts";
import { openOverlay } from "../../persistence/directory/directory-overlay.ts";
import { packr } from "../../persistence/msgpack.ts";
import {
  contentOf,
  frontierDirectory,
  listDirectory,
  noFrontierThere,
  type Place,
  segmentPath,
  snapshotPath,
} from "../../persistence/directory/frontier-directory.ts";
import { systemProcesses } from "../../persistence/directory/process-table.ts";
import { TURN_BELIEVED_MAX } from "../../persistence/recovery/restore-hosts.ts";
import { recover, type Recovered } from "../../persistence/recovery/recover.ts";
import { STANDALONE_SERIAL } from "../../persistence/snapshot/standalone-snapshot.ts";
import { policyId } from "../../url/keys/key-policy.ts";
import { setVisited } from "../intake/intake-context.ts";
import { checkNote } from "./check-notes.ts";
import { SEED_NOTES, type SeedNotes } from "../intake/rule-seeds.ts";
import { Durability } from "./durability.ts";
import type { EventHub } from "../event-hub.ts";
import { nextTurn } from "../next-turn.ts";
import type { Settings } from "../options/normalize-options.ts";
import type { Runtime, RuntimeOrigin } from "../runtime.ts";
import { openRecordArchive } from "../records/load-record-store.ts";
import type { FailureNotes } from "../records/failure-notes.ts";
import type { RecordArchive } from "../records/record-archive.ts";
import { DiskTiers } from "./disk-tiers.ts";
import { isSerializable } from "../../base/serializable.ts";
import type { Resumed, Rule } from "../types/frontier-types.ts";
import { restoreScrapyDigests } from "../intake/scrapy-digests.ts";
import { raiseCounters, setRejected } from "../../frontier/records/ledger.ts";

/** Segments that a start reads behind a snapshot are this many at most, where each is a small part of `snapshots.everyBytes`. */
const SEGMENTS_MAX = 64;
const SEGMENT_BYTES_LEAST = 256 * 1024;

export interface OpenParts {
  readonly settings: Settings;
  readonly events: EventHub;
  readonly failures: FailureNotes;
  /** An empty runtime under a secret. */
  readonly make: (origin: RuntimeOrigin, tiers: DiskTiers) => Runtime;
  /** The user's state, and what a file holds of it. */
  readonly state: () => unknown;
  readonly setState: (state: Record<string, unknown>) => void;
}

/** Rules as a note keeps them; null: they hold functions, and have to be given again at the next opening. */
export function storedRules({ specs, version }: Core): unknown {
  const rules = givenRules(specs);
  return isSerializable(rules) ? { rules, version } : null;
}

export async function openDirectory(parts: OpenParts) {
  const { settings } = parts;
  const files = settings.files ?? nodeFiles;
  const directory = frontierDirectory(settings.directory as string, settings.name);
  if (!settings.readOnly) return openAt(parts, { files, directory }, undefined);
  const { overlay, close } = checkDirectory({ files, directory });
  try {
    return await openAt(parts, { files: overlay, directory }, close);
  } catch (error) {
    close();
    throw error;
  }
}

/** Opens an overlay over a directory: changes stay in the overlay, and the lock is not checked. */
function checkDirectory(place: Place): { overlay: Files; close: () => void } {
  const { files, directory } = place;
  const { segments, snapshots } = listDirectory(place);
  if (segments.length + snapshots.length === 0) throw noFrontierThere(directory);
  const opened = openOverlay(files, [directory, join(directory, "seen")], [lockPath(place)]);
  return { overlay: opened.files, close: opened.close };
}

async function openAt(parts: OpenParts, place: Place, onClosed: (() => void) | undefined) {
  const { settings } = parts;
  const { files, directory } = place;
  try {
    files.makeDirectory(directory);
    const lock = takeLock(place, systemProcesses());
    const tiers = new DiskTiers(place, settings.seen.mode === "tiered");
    let archive: RecordArchive | undefined;
    try {
      archive =
        settings.records === "full" ? await openRecordArchive(settings, directory) : undefined;
      return await openLocked(parts, place, { lock, tiers, archive, onClosed });
    } catch (error) {
      await undo([
        () => tiers.close(false),
        () => archive?.close(false),
        () => giveLock(place, lock),
      ]);
      throw error;
    }
  } catch (error) {
    // What has a code of the platform is the disk's; everything else is thrown as it is.
    const isDisk = typeof (error as NodeJS.ErrnoException).syscall === "string";
    throw isDisk ? diskFault(error, directory) : error;
  }
}

/** Runs all steps and ignores their errors: they follow from the first failure, which is thrown. */
async function undo(steps: ReadonlyArray<() => void | Promise<void>>): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch {
      // A lock that remains counts as a dead owner's once this process has ended.
    }
  }
}

interface Locked {
  readonly lock: ReturnType<typeof takeLock>;
  readonly tiers: DiskTiers;
  readonly archive: RecordArchive | undefined;
  readonly onClosed: (() => void) | undefined;
}

async function openLocked(
  parts: OpenParts,
  place: Place,
  { lock, tiers, archive, onClosed }: Locked,
) {
  const { settings, events, failures } = parts;
  const profile = policyId(settings.key);
  let runtime: Runtime | undefined;
  const make = (secret: Uint32Array, isCleared = false): Core => {
    runtime = parts.make({ secret, isCleared }, tiers);
    return runtime.core;
  };
  if (settings.from !== undefined) adoptFile(place, settings.from);
  const found = await recover({
    ...{ place, profile, make, nowMs: settings.clock.now(), listener: archive },
    checkNote: (name, value) => checkNote(name, value, settings.rulesGiven === undefined),
    pause: nextTurn,
    onProgress: (progress) => settings.onProgress?.(progress),
  }).catch((error: unknown) => {
    if (settings.from !== undefined) dropFile(place);
    throw error;
  });
  if (found === undefined) archive?.onAllForgotten(); // what stands there is nothing to a new one
  archive?.replayed();
  const secret = found?.secret ?? settings.secret ?? entropyWords(4);
  if (found === undefined) {
    tiers.begin();
    make(secret);
  }
  const { core, intake } = runtime as Runtime;
  const seeded = contentOf(place.directory, 0, () => {
    applyFound(parts, core, found);
    setVisited(intake, restoreScrapyDigests(place, found?.restoration.notes));
    return seededOf(found);
  });
  const durable = new Durability({
    ...{ settings, events, place, lock, tiers, core, archive, onClosed, failures },
    state: parts.state,
    identity: { secret, profile },
    names: found?.restoration.names,
    serial: (found?.serial ?? 0) + 1,
    base: found?.snapshot ?? 0,
    baseBytes: bytesOf(snapshotPath(place, found?.snapshot ?? 0), place),
    isDamaged: (found?.damage.length ?? 0) > 0,
    journalBytes: settings.readOnly ? 0 : journalBytes(place, found?.snapshot ?? 0, settings),
    notes: found?.restoration.notes ?? new Map(),
  });
  if (settings.rulesGiven !== undefined) core.log?.note("rules", storedRules(core));
  core.log?.end();
  for (const cause of found?.damage ?? []) events.fault({ kind: "disk", stage: "open", cause });
  const resumed = found === undefined ? undefined : resumedOf(core, found);
  return { runtime: runtime as Runtime, durable, secret, resumed, seeded, tiers, archive };
}

/** What no table holds: notes, and rules where the opening has none of its own. */
export function applyFound(
  parts: Pick<OpenParts, "settings" | "setState" | "failures">,
  core: Core,
  found: Recovered | undefined,
): void {
  if (found !== undefined) {
    applyNotes(parts, core, found);
    parts.failures.restore(core, found.restoration.notes);
  }
  restoreRules(parts, core, found);
  applyPasses(core, found);
  if (found === undefined || parts.settings.keepsClocks === true) return;
  boundClocks(core, found.restoration.latestClock, parts.settings.clock.now());
}

/** Which rules were seeded, and how many seeds of others were pushed. */
export function seededOf(found: Recovered | undefined): SeedNotes {
  const notes: SeedNotes = Object.fromEntries(
    SEED_NOTES.map((name) => [name, noteOf(found, name)]),
  );
  const { seeding = [], seedingAt = [0, 0] } = notes;
  const isList = Array.isArray(seeding) && seeding.every(Array.isArray) && Array.isArray(seedingAt);
  if (!isList || !seedingAt.every((count) => Number.isSafeInteger(count) && count >= 0)) {
    throw new TypeError("seeds: not a list of rules with two counts");
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
  const bytes = found?.restoration.notes.get(name);
  return bytes === undefined ? undefined : packr.unpack(bytes);
}

/** What no entry of a record holds. */
function applyNotes(
  parts: Pick<OpenParts, "setState">,
  core: Core,
  { restoration }: Recovered,
): void {
  const state = restoration.notes.get("state");
  if (state !== undefined) parts.setState(packr.unpack(state) as Record<string, unknown>);
  const noted = restoration.notes.get("counters");
  if (noted === undefined) return;
  const stored = packr.unpack(noted) as StoredCounters;
  const { duplicate, expired, full, lateResults, pushed } = stored;
  raiseCounters(core, { duplicate, expired, full, lateResults, pushed });
  setRejected(core, stored.rejected);
  core.leaseSequence = Math.max(
    core.leaseSequence,
    Math.min(stored.leaseSequence, TURN_BELIEVED_MAX),
  );
  core.hosts.joined = Math.max(core.hosts.joined, stored.joined);
}

/** Where each rule stands in the order of shares: also those that were restored, which are new. */
function applyPasses(core: Core, found: Recovered | undefined): void {
  const stored = noteOf(found, "counters") as StoredCounters | undefined;
  if (stored === undefined) return;
  const { rules } = core;
  const { passes } = core.shares;
  for (const { id, index } of rules) passes[index] = stored.passes[id] ?? (passes[index] as number);
  core.shares.current = Math.max(core.shares.current, stored.current ?? 0);
  sharesReorder(core.shares); // those with something pending stand there already
}

interface StoredCounters {
  readonly pushed: number;
  readonly duplicate: number;
  readonly full: number;
  readonly lateResults: number;
  readonly expired: number;
  readonly leaseSequence: number;
  readonly joined: number;
  /** The pass of the rule that was served last. */
  readonly current?: number;
  readonly rejected: Record<string, number>;
  readonly passes: Record<string, number>;
}

export function resumedOf({ counters }: Core, { restoration, lost, damage }: Recovered): Resumed {
  const { pending, waiting, failed } = counters;
  return {
    ...{ pending, waiting, failed, leases: restoration.leases, lost },
    damage: damage.map(({ message }) => message),
  };
}

/**
 * Bytes of the journal since a snapshot, of all processes: otherwise many short runs would let it grow without bound. Each segment counts
 * for a minimum, so that the number of files is bounded too.
 */
function journalBytes(place: Place, snapshot: number, { snapshots }: Settings): number {
  const least = Math.min(snapshots.everyBytes / SEGMENTS_MAX, SEGMENT_BYTES_LEAST);
  let bytes = 0;
  for (const serial of listDirectory(place).segments) {
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

/** Makes a standalone snapshot the first generation of an empty directory. */
function adoptFile(place: Place, path: string): void {
  const { segments, snapshots } = listDirectory(place);
  if (segments.length > 0 || snapshots.length > 0) {
    throw misuse(
      "OPTION_INVALID",
      "options.from",
      path,
      "a directory that holds no frontier yet; without `from` the one in it continues",
    );
  }
  copyFile(place.files, path, snapshotPath(place, STANDALONE_SERIAL));
}

/** Removes the copy of a file that could not be opened; the file itself stays. */
function dropFile(place: Place): void {
  const { directory, files } = place;
  files.remove(snapshotPath(place, STANDALONE_SERIAL));
  files.syncDirectory(directory);
}
