/**
 * Room `src/persistence/cold`: the cold tier of the seen-set: sorted runs on disk, merged in slices. Decides which runs
 * are live (the manifest) and when they merge.
 */

/**
 * The cold tier on disk: sorted runs, a manifest that lists the live ones, merges in slices.
 *
 *   add ─▶ new run, level 0 ──┐
 *                             ▼   four or more runs of one level
 *   oldest [ L2 ][ L2 ][ L1 ][ L0 ]×4 newest  ── step ─▶  [ L2 ][ L2 ][ L1 ][ L1 ]
 *
 * A lookup asks the runs from the newest to the oldest: the newest value of a hash wins. Levels never rise from the oldest
 * to the newest run, so the runs of a level are neighbours and their merge takes their place. Merges of the newest runs go
 * first, so that small merges never wait for large ones.
 *
 * Cost: a lookup reads one block per run at most, and there are never more than 12 runs; filters make it nearly always one
 * read. With n entries added b at a time an entry is rewritten about log₄(n / b) times. Memory: bitsPerEntry bits (fewer
 * when `bound` leaves fewer) and 8 bytes per 340 entries.
 *
 *   I1  The manifest lists exactly the live runs, oldest first; what it does not list does not exist.
 *   I2  A run is durable before the manifest lists it, and is removed only after no manifest lists it.
 *   I3  Levels do not rise from the oldest to the newest run, once the merges under way have ended.
 *   I5  A passing value (structures/storage-tiers.ts) counts only in a run of this process: earlier runs are recognized by
 *       their serials, and a merge turns such values of theirs into removals.
 *   I4  A failed write leaves runs and manifest as they were.
 *
 * Crash: the manifest is the old or the new one, whole. Files it does not list are removed on the next start.
 */
import { join } from "node:path";
import { assert } from "../../base/assert.ts";
import { FrontierError } from "../../base/errors.ts";
import { COLD_BLOCK_BYTES } from "../../layout/files/cold-run.ts";
import type { BloomKernel } from "../../structures/bloom/bloom.ts";
import {
  createHashSorter,
  type HashSorter,
  sortHashes,
} from "../../structures/seen/sort-hashes.ts";
import {
  COLD_REMOVED,
  type ColdBatch,
  type ColdStats,
  type ColdTier,
  isPassing,
  type MediumWait,
} from "../../structures/storage-tiers.ts";
import { beginColdBatch } from "./cold-batch.ts";
import { type ColdRuns, coldCommitStep } from "./cold-commit.ts";
import { isKept, loadColdRuns, sweepColdDirectory } from "./cold-load.ts";
import { writeColdManifest } from "./cold-manifest.ts";
import { type ColdMerge, beginColdMerge, coldMergeStep, endColdMerge } from "./cold-merge.ts";
import {
  type ColdIdentity,
  type ColdRun,
  type ColdRunFacts,
  coldRunFind,
  coldRunName,
  createColdBlock,
} from "./cold-run.ts";
import { beginColdRun, isSyncingColdRun, releaseColdRun } from "./cold-run-stream.ts";
import { coldFilterBytes } from "./cold-filter.ts";
import { scanColdRuns } from "./cold-scan.ts";
import { coldWalkBytes } from "./cold-walk.ts";
import { type Files, diskError, nodeFiles, attempt } from "../files.ts";

/** Runs of one level that make a merge. */
const FAN_IN = 4;
/** Most runs that a merge of one level takes: it must end before many new ones come. */
const MERGE_RUNS_MAX = 8;
/** Most runs in all: the commit of a batch waits until merges have made room. */
const RUNS_MAX = 12;
/** From this many runs on, runs are merged even when no level has enough of them. */
const RUNS_MANY = 9;
/** Merge work that a waiting commit does per call. */
const WAIT_ENTRIES = 8192;
/** A run must have this many entries times 4^level to rise above `level`: tiny batches stay on level 0. */
const LEVEL_ENTRIES = 8192;
/** Fewer hashes than this are seldom in one block. */
const SORTED_MIN = 16;

interface ColdTierOptions {
  readonly kernel: BloomKernel;
  readonly directory: string;
  readonly identity: ColdIdentity;
  readonly files?: Files;
  /** Filter bits per entry and run; default 10: about one needless read in 75 lookups of a run. */
  readonly bitsPerEntry?: number;
  /** Begins empty, in place of a tier with this next serial; `clear` does the same on disk. */
  readonly after?: number | undefined;
}

interface State extends ColdRuns {
  readonly merges: ColdMerge[];
  /** The open batch; its run, once listed, is the newest. */
  batch: ColdBatch | undefined;
  /** Runs listed by the manifest and not loaded yet. */
  listed: readonly ColdRunFacts[] | undefined;
  readonly reads: { count: number };
  /** The hash being looked up. */
  readonly hash: { lo: number; hi: number };
  /** Buffers to sort the hashes of one call. */
  sort: HashSorter;
  /** The manifest on the medium may list runs that no longer exist, and their files may be left. */
  isStale: boolean;
}

/**
 * Opens the tier in `directory`, or begins one. Synchronous; reads the manifest only, `load` opens the runs. Throws SNAPSHOT_CORRUPT,
 * FORMAT_UNSUPPORTED, PROFILE_MISMATCH, DISK_FULL.
 */
export function createColdTier(options: ColdTierOptions): ColdTier {
  const { kernel, directory, identity, files = nodeFiles, bitsPerEntry = 10 } = options;
  const filters = { bytes: 0, bytesMax: Number.POSITIVE_INFINITY };
  const state: State = {
    ...{ kernel, directory, identity, files, bitsPerEntry, filters, firstOwn: 1, batch: undefined },
    ...{ runs: [], merges: [], nextSerial: 1, listed: [], reads: { count: 0 }, isStale: false },
    ...{ hash: { lo: 0, hi: 0 }, sort: createHashSorter(0) },
  };
  const { after } = options;
  const manifest = after === undefined ? sweepColdDirectory(state) : undefined;
  if (after !== undefined) {
    Object.assign(state, { nextSerial: after, firstOwn: after, isStale: true });
  } else if (manifest === undefined)
    guarded(state, () => writeColdManifest(state, [], state.nextSerial));
  else {
    const { runs: listed, nextSerial } = manifest;
    Object.assign(state, { listed, nextSerial, firstOwn: nextSerial });
  }
  return {
    load: () => load(state),
    has: (hashes, count, values, isOwnOnly = false) =>
      marked(state, () => has(state, { hashes, count, values }, isOwnOnly)),
    scan: (from, entries, visit) =>
      marked(state, () => scanColdRuns(state, { from, entries }, createColdBlock(), visit)),
    add: (hashes, values, count) => add(state, hashes, values, count),
    begin: (capacity) => begin(state, capacity),
    step: (budget, wait = "here") => step(state, budget, wait),
    isCommitting: () => state.merges.some(isEnded),
    bound(bytes) {
      filters.bytesMax = bytes;
    },
    clear: () => clear(state),
    settle: () => settle(state),
    stats: () => statsOf(state),
    close() {
      dropUnderWay(state);
      for (const run of state.runs) releaseColdRun(state, run, false);
      state.runs = [];
    },
  };
}

/** Opens every listed run; returns how many entries they have. */
function load(state: State): number {
  const { listed } = state;
  assert(listed !== undefined, "ColdTier: load comes once");
  state.runs = loadColdRuns(state, listed);
  state.listed = undefined;
  return state.runs.reduce((sum, { count }) => sum + count, 0);
}

interface Asked {
  readonly hashes: Uint32Array;
  readonly count: number;
  readonly values: Uint32Array;
}

/** Looks up hashes in their order, run by run: a block that several of them need is read once. */
function has(state: State, { hashes, count, values }: Asked, isOwnOnly: boolean): void {
  assert(state.listed === undefined, "ColdTier: load comes first");
  const { runs, firstOwn } = state;
  const order = count < SORTED_MIN ? undefined : orderOf(state, hashes, count);
  values.fill(0, 0, count);
  // The newest run that holds a hash has the value that counts.
  for (let at = runs.length - 1; at >= 0; at--) {
    const run = runs[at] as ColdRun;
    if (isOwnOnly && run.serial < firstOwn) continue;
    for (let i = 0; i < count; i++) {
      const row = order === undefined ? i : (order[i] as number);
      if (values[row] === 0) values[row] = valueIn(state, run, hashes, row);
    }
  }
}

/** Runs an action that reads; a run that it finds damaged is marked. */
function marked<Result>(state: State, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    markDamage(state, error);
    throw error;
  }
}

function markDamage({ runs }: State, error: unknown): void {
  const path = error instanceof FrontierError && (error.details as { path?: string })?.path;
  for (const run of runs) if (run.path === path) run.isDamaged = true;
}

/** Indices of the hashes in their order, valid until the next call. */
function orderOf(state: State, hashes: Uint32Array, count: number): Uint32Array {
  if (state.sort.order.length < count) state.sort = createHashSorter(count);
  sortHashes(hashes, 0, count, state.sort);
  return state.sort.order;
}

/** The value of hash number `row` in one run, or 0. */
function valueIn(state: State, run: ColdRun, hashes: Uint32Array, row: number): number {
  const { hash, reads, firstOwn } = state;
  hash.lo = hashes[row * 2] as number;
  hash.hi = hashes[row * 2 + 1] as number;
  const value = coldRunFind(state, run, reads, hash);
  return run.serial < firstOwn && isPassing(value) ? COLD_REMOVED : value; // I5
}

function begin(state: State, capacity: number): ColdBatch {
  assert(state.listed === undefined, "ColdTier: load comes first");
  assert(state.batch === undefined, "ColdTier: one batch at a time");
  const host = {
    live: state,
    guarded: (action: () => void) => guarded(state, action),
    hasRoom(wait: MediumWait) {
      if (state.runs.length >= RUNS_MAX) step(state, WAIT_ENTRIES, wait);
      return state.runs.length < RUNS_MAX;
    },
    onEnd() {
      state.batch = undefined;
    },
  };
  const batch = beginColdBatch(host, capacity);
  state.batch = batch;
  return batch;
}

function add(state: State, hashes: Uint32Array, values: Uint32Array, count: number): void {
  const sort = createHashSorter(count);
  sortHashes(hashes, 0, count, sort);
  const { order } = sort;
  const sorted = new Uint32Array(count * 2);
  for (let i = 0; i < count; i++) {
    const row = order[i] as number;
    sorted[i * 2] = hashes[row * 2] as number;
    sorted[i * 2 + 1] = hashes[row * 2 + 1] as number;
  }
  const batch = begin(state, count);
  batch.append(
    sorted,
    order.map((row) => values[row] as number),
    count,
  );
  while (!batch.commit());
  batch.end();
}

/** Continues the merge of the newest runs that has work left, and begins one where it is due. */
function step(state: State, budget: number, wait: MediumWait): number {
  const { merges } = state;
  assert(state.listed === undefined, "ColdTier: load comes first");
  let left = budget;
  while (left > 0) {
    const merge = nextMerge(state, wait);
    if (merge === undefined) break;
    guarded(state, () => {
      try {
        const { commit } = merge;
        if (commit === undefined) left -= coldMergeStep(merge, left);
        else if (coldCommitStep(state, commit, wait)) merges.splice(merges.indexOf(merge), 1);
      } catch (error) {
        merges.splice(merges.indexOf(merge), 1);
        endColdMerge(merge);
        markDamage(state, error);
        throw error;
      }
    });
    if (merge.commit !== undefined && wait !== "never") return Math.max(1, budget - left);
  }
  return budget - left;
}

function isEnded({ commit }: ColdMerge): boolean {
  return commit !== undefined;
}

/**
 * A merge that only has to be committed, where that may be and the medium has its bytes: until then its inputs count. Else, from the newest run to the oldest, the first merge
 * in progress, or the first level with enough runs for one.
 */
function nextMerge(state: State, wait: MediumWait): ColdMerge | undefined {
  const { runs, merges } = state;
  const ended = merges.find((merge) => mayCommit(merge, wait));
  if (ended !== undefined) return ended;
  const newest = newestFree(state);
  for (let end = newest; end > 0; ) {
    const run = runs[end - 1] as ColdRun;
    const merge = merges.find(({ inputs }) => inputs.includes(run));
    if (merge !== undefined) {
      if (merge.commit === undefined) return merge;
      end -= merge.inputs.length;
      continue;
    }
    let start = end;
    while (start > 0 && isFreeAt(state, start - 1, run.level)) start -= 1;
    if (end - start >= FAN_IN)
      return beginMerge(state, start, Math.min(end - start, MERGE_RUNS_MAX));
    end = Math.min(start, end - 1); // a damaged run stands alone
  }
  if (runs.length < RUNS_MANY || merges.length > 0) return undefined;
  const isWhole = runs.slice(newest - FAN_IN, newest).every(({ isDamaged }) => !isDamaged);
  return isWhole ? beginMerge(state, newest - FAN_IN, FAN_IN) : undefined;
}

function mayCommit({ commit }: ColdMerge, wait: MediumWait): boolean {
  if (commit === undefined || wait === "never") return false;
  return wait === "here" || !isSyncingColdRun(commit.writer);
}

/** Number of runs before the one that an open batch still reads back. */
function newestFree(state: State): number {
  const { batch, runs } = state;
  return runs.length - Number(batch !== undefined && batch.bytes === 0);
}

function isFreeAt(state: State, at: number, level: number): boolean {
  const run = state.runs[at] as ColdRun;
  if (run.level !== level || run.isDamaged) return false;
  return !state.merges.some(({ inputs }) => inputs.includes(run));
}

function beginMerge(state: State, start: number, size: number): ColdMerge {
  const inputs = state.runs.slice(start, start + size);
  const count = inputs.reduce((sum, run) => sum + run.count, 0);
  const { level } = inputs[0] as ColdRun;
  const before = levelBefore(state, start);
  const rises = before > level && count >= LEVEL_ENTRIES * FAN_IN ** level;
  const serial = state.nextSerial;
  state.nextSerial += 1;
  let merge: ColdMerge | undefined;
  guarded(state, () => {
    const writer = beginColdRun(state, serial, rises ? level + 1 : level, count);
    merge = beginColdMerge(writer, inputs, start === 0);
  });
  state.merges.push(merge as ColdMerge);
  return merge as ColdMerge;
}

/** The level of the run before one, or of what a merge under way makes of it: nothing rises above it (I3). */
function levelBefore({ merges, runs }: State, start: number): number {
  const run = runs[start - 1];
  if (run === undefined) return Number.POSITIVE_INFINITY;
  return merges.find(({ inputs }) => inputs.includes(run))?.writer.level ?? run.level;
}

/** The caller has already made durable that everything is forgotten: a start that finds the old manifest learns it from there. */
function clear(state: State): void {
  dropUnderWay(state);
  for (const run of state.runs) releaseColdRun(state, run, false);
  state.runs = [];
  if (state.listed !== undefined) state.listed = [];
  state.isStale = true;
  attempt(() => settle(state)); // `settle` repeats it; a manifest of later runs serves as well.
}

function settle(state: State): void {
  if (!state.isStale) return;
  guarded(state, () => writeColdManifest(state, state.runs, state.nextSerial));
  state.isStale = false;
  const open = state.merges.map(({ writer }) => writer);
  const kept = new Set([...state.runs, ...open].map(({ serial }) => coldRunName(serial)));
  for (const name of state.files.list(state.directory)) {
    if (name.endsWith(".tmp") || isKept(name, kept) || state.batch !== undefined) continue;
    attempt(() => state.files.remove(join(state.directory, name)));
  }
}

function dropUnderWay(state: State): void {
  state.batch?.end();
  for (const merge of state.merges) endColdMerge(merge);
  state.merges.length = 0;
}

function statsOf(state: State): ColdStats {
  let count = 0;
  let fileBytes = 0;
  let bytes = state.filters.bytes;
  for (const run of state.runs) {
    count += run.count;
    bytes += run.fences.byteLength + COLD_BLOCK_BYTES;
    fileBytes += (run.blockCount + 1) * COLD_BLOCK_BYTES + coldFilterBytes(run.fences, run.bloom);
  }
  for (const { writer, walk } of state.merges)
    bytes += writer.fences.byteLength + writer.words.byteLength + coldWalkBytes(walk);
  bytes += state.batch?.bytes ?? 0;
  const { runs, reads, nextSerial } = state;
  return { count, runs: runs.length, bytes, fileBytes, reads: reads.count, nextSerial };
}

/** Runs an action that writes; a full disk becomes DISK_FULL. The action itself ensures I4. */
function guarded(state: State, action: () => void): void {
  try {
    action();
  } catch (error) {
    throw error instanceof FrontierError && error.code !== "DISK_FULL"
      ? error
      : diskError(error, state.directory);
  }
}
