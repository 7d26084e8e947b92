/**
 * The cold tier on disk: sorted runs, a manifest that lists the live ones, merges in slices.
 *
 *   add ─▶ new run, level 0 ──┐
 *                             ▼   four or more runs of one level
 *   oldest [ L2 ][ L2 ][ L1 ][ L0 ]×4 newest  ── step ─▶  [ L2 ][ L2 ][ L1 ][ L1 ]
 *
 * A lookup asks the runs from the newest to the oldest: the newest value of a hash wins. Levels never rise from the oldest
 * to the newest, so that the runs of a level are neighbours and their merge takes their place. One merge per level
 * may be under way, the lowest level's work goes first: small merges never wait for great ones.
 *
 * Cost: with n entries added b at a time a lookup meets about 2 · log₄(n / b) runs, nearly always reading from one; an entry
 * is rewritten log₄(n / b) times. Memory: bitsPerEntry bits and 8 bytes per 340 entries.
 *
 *   I1  The manifest lists exactly the live runs, oldest first; what it does not list does not exist.
 *   I2  A run is durable before the manifest lists it, and is removed only after no manifest lists it.
 *   I3  Levels do not rise from the oldest to the newest run.
 *   I4  A failed write leaves runs and manifest as they were.
 *
 * Crash: the manifest is the old or the new one, whole. Files it does not list are removed on the next start.
 */
import { join } from "node:path";
import { assert } from "../base/assert.ts";
import { FrontierError } from "../base/errors.ts";
import { COLD_BLOCK_BYTES, COLD_BLOCK_ENTRIES_MAX } from "../layout/cold-run.ts";
import { type BloomKernel, bloomGive, bloomInsertWords } from "../structures/bloom.ts";
import type { ColdStats, ColdTier } from "../structures/tier.ts";
import { readColdManifest, writeColdManifest } from "./cold-manifest.ts";
import { type ColdMerge, beginColdMerge, coldMergeStep, endColdMerge } from "./cold-merge.ts";
import {
  type ColdIdentity,
  type ColdPlace,
  type ColdRun,
  type ColdRunFacts,
  checkColdHeader,
  coldRunFind,
  coldRunName,
  coldRunPath,
  corrupt,
  createColdBlock,
} from "./cold-run.ts";
import { sortedOrder } from "./cold-sort.ts";
import {
  beginColdRun,
  coldAppend,
  createColdBloom,
  dropColdRun,
  finishColdRun,
  openColdCursor,
  coldAdvance,
  releaseColdRun,
} from "./cold-stream.ts";
import { type Files, diskError, nodeFiles } from "./files.ts";

/** Runs of one level that make a merge. */
const FAN_IN = 4;
/** A merge of one level takes so many runs at most: it must end while few new ones come. */
const MERGE_RUNS_MAX = 8;
/** More runs than these are merged at once, whatever it takes: the caller did not call `step`. */
const RUNS_MAX = 32;
/** A run must have this many entries times 4^level to rise above `level`: tiny batches stay on the ground floor. */
const LEVEL_ENTRIES = 8192;

export interface ColdTierOptions {
  readonly kernel: BloomKernel;
  readonly directory: string;
  readonly identity: ColdIdentity;
  readonly files?: Files;
  /** Filter bits per entry and run; default 10: about one needless read in 75 lookups of a run. */
  readonly bitsPerEntry?: number;
}

interface State extends ColdPlace {
  /** Oldest first. */
  runs: ColdRun[];
  readonly merges: ColdMerge[];
  nextSerial: number;
  /** Listed by the manifest and not loaded yet. */
  listed: readonly ColdRunFacts[] | undefined;
  readonly reads: { count: number };
}

/**
 * Opens the tier in `directory`, or begins one. Synchronous; reads the manifest alone, `load` reads the runs.
 * Throws SNAPSHOT_CORRUPT, FORMAT_UNSUPPORTED, PROFILE_MISMATCH, DISK_FULL.
 */
export function createColdTier(options: ColdTierOptions): ColdTier {
  const { kernel, directory, identity, files = nodeFiles, bitsPerEntry = 10 } = options;
  const state: State = {
    ...{ kernel, directory, identity, files, bitsPerEntry },
    ...{ runs: [], merges: [], nextSerial: 1, listed: [], reads: { count: 0 } },
  };
  openManifest(state);
  const hash = { lo: 0, hi: 0 };
  return {
    load: (visit) => load(state, visit),
    has(hashes, count, values) {
      assert(state.listed === undefined, "ColdTier: load comes first");
      for (let row = 0; row < count; row++) {
        hash.lo = hashes[row * 2] as number;
        hash.hi = hashes[row * 2 + 1] as number;
        let value = 0;
        for (let at = state.runs.length - 1; at >= 0 && value === 0; at--)
          value = coldRunFind(state, state.runs[at] as ColdRun, state.reads, hash);
        values[row] = value;
      }
    },
    add: (hashes, values, count) => add(state, hashes, values, count),
    step: (budget) => step(state, budget),
    clear: () => clear(state),
    stats: () => statsOf(state),
    close() {
      dropMerges(state);
      for (const run of state.runs) releaseColdRun(state, run, false);
      state.runs = [];
    },
  };
}

function openManifest(state: State): void {
  const { files, directory } = state;
  files.makeDirectory(directory);
  const manifest = readColdManifest(state);
  const names = files.list(directory).filter((name) => /^(run-|cold\.manifest)/.test(name));
  if (manifest === undefined) {
    const run = names.find((name) => name.endsWith(".cold"));
    if (run !== undefined) throw corrupt(join(directory, run), 0, "a run without a manifest");
    guarded(state, () => writeColdManifest(state, [], state.nextSerial));
    return;
  }
  state.listed = manifest.runs;
  state.nextSerial = manifest.nextSerial;
  const kept = new Set(manifest.runs.map((run) => coldRunName(run.serial)));
  for (const name of names) {
    // I1: left by a crash, or by a removal that failed.
    const isOrphan = name.endsWith(".tmp") || (name.endsWith(".cold") && !kept.has(name));
    if (isOrphan) files.remove(join(directory, name));
  }
}

/** Reads every listed run: checks all of it, builds filter and fences, shows its hashes. */
function load(state: State, visit: (hashes: Uint32Array, count: number) => void): void {
  const { listed } = state;
  assert(listed !== undefined, "ColdTier: load comes once");
  for (const facts of listed) state.runs.push(loadRun(state, facts, visit));
  state.listed = undefined;
}

function loadRun(
  state: State,
  facts: ColdRunFacts,
  visit: (hashes: Uint32Array, count: number) => void,
): ColdRun {
  const { files } = state;
  const path = coldRunPath(state, facts.serial);
  const blockCount = Math.ceil(facts.count / COLD_BLOCK_ENTRIES_MAX);
  const file = openRun(files, path);
  const bloom = createColdBloom(state, facts.count);
  const fences = new Uint32Array(blockCount * 2);
  try {
    checkColdHeader(state, { ...facts, path, file }, createColdBlock());
    const cursor = openColdCursor(state, { serial: facts.serial, path, file, blockCount });
    for (let index = 0, left = facts.count; index < blockCount; index++) {
      const { hashes } = cursor.block;
      const entries = Math.min(left, COLD_BLOCK_ENTRIES_MAX);
      if (cursor.entries !== entries) throw corrupt(path, index + 1, "entries are missing");
      fences.set(hashes.subarray(0, 2), index * 2);
      bloomInsertWords(bloom, hashes, entries);
      visit(hashes, entries);
      left -= entries;
      for (let i = 0; i < entries; i++) coldAdvance(cursor);
    }
  } catch (error) {
    files.close(file);
    bloomGive(bloom);
    throw error;
  }
  return { ...facts, path, file, blockCount, fences, bloom, block: createColdBlock() };
}

function openRun(files: Files, path: string): number {
  try {
    return files.open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw corrupt(path, 0, "the manifest lists it, the file is missing");
  }
}

function add(state: State, hashes: Uint32Array, values: Uint32Array, count: number): void {
  assert(state.listed === undefined, "ColdTier: load comes first");
  if (count === 0) return;
  while (state.runs.length >= RUNS_MAX && step(state, Number.POSITIVE_INFINITY) > 0);
  const order = sortedOrder(hashes, count);
  guarded(state, () => {
    const writer = beginColdRun(state, state.nextSerial, 0, count);
    state.nextSerial += 1;
    try {
      for (let i = 0; i < count; i++) {
        const row = order[i] as number;
        const lo = hashes[row * 2] as number;
        coldAppend(writer, lo, hashes[row * 2 + 1] as number, values[row] as number);
      }
      const run = finishColdRun(writer);
      writeColdManifest(state, [...state.runs, run], state.nextSerial, () => {
        writer.isListed = true;
      });
      state.runs.push(run);
    } catch (error) {
      dropColdRun(writer);
      throw error;
    }
  });
}

/** Goes on with the merge of the lowest level, beginning one where a level has enough runs. */
function step(state: State, budget: number): number {
  assert(state.listed === undefined, "ColdTier: load comes first");
  let left = budget;
  while (left > 0) {
    const merge = lowestMerge(state);
    if (merge === undefined) break;
    guarded(state, () => {
      try {
        left -= coldMergeStep(merge, left);
        if (merge.isRead) finishMerge(state, merge);
      } catch (error) {
        state.merges.splice(state.merges.indexOf(merge), 1);
        endColdMerge(merge);
        throw error;
      }
    });
    if (budget === Number.POSITIVE_INFINITY) return 1; // one whole merge
  }
  return budget - left;
}

function lowestMerge(state: State): ColdMerge | undefined {
  const { runs, merges } = state;
  for (let end = runs.length; end > 0; ) {
    const level = (runs[end - 1] as ColdRun).level;
    let start = end;
    while (start > 0 && (runs[start - 1] as ColdRun).level === level) start -= 1;
    const merge = merges.find((one) => one.level === level);
    if (merge !== undefined) return merge;
    if (end - start >= FAN_IN)
      return beginMerge(state, start, Math.min(end - start, MERGE_RUNS_MAX));
    end = start;
  }
  return undefined;
}

function beginMerge(state: State, start: number, size: number): ColdMerge {
  const inputs = state.runs.slice(start, start + size);
  const count = inputs.reduce((sum, run) => sum + run.count, 0);
  const level = (inputs[0] as ColdRun).level;
  const rises = count >= LEVEL_ENTRIES * FAN_IN ** level;
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

/** The merged run takes the place of its inputs, in the manifest first (I2). */
function finishMerge(state: State, merge: ColdMerge): void {
  const { inputs, writer } = merge;
  const start = state.runs.indexOf(inputs[0] as ColdRun);
  const made = writer.count === 0 ? [] : [finishColdRun(writer)];
  const runs = [...state.runs];
  runs.splice(start, inputs.length, ...made);
  writeColdManifest(state, runs, state.nextSerial, () => {
    writer.isListed = true;
  });
  state.runs = runs;
  state.merges.splice(state.merges.indexOf(merge), 1);
  if (made.length === 0) {
    writer.isListed = false; // an empty result is in no manifest
    dropColdRun(writer);
  }
  for (const run of inputs) releaseColdRun(state, run, true);
}

function clear(state: State): void {
  dropMerges(state);
  guarded(state, () => writeColdManifest(state, [], state.nextSerial));
  for (const run of state.runs) releaseColdRun(state, run, true);
  state.runs = [];
}

function dropMerges(state: State): void {
  for (const merge of state.merges) endColdMerge(merge);
  state.merges.length = 0;
}

function statsOf(state: State): ColdStats {
  let count = 0;
  let bytes = 0;
  let fileBytes = 0;
  for (const run of state.runs) {
    count += run.count;
    bytes += run.bloom.bytes + run.fences.byteLength;
    fileBytes += (run.blockCount + 1) * COLD_BLOCK_BYTES;
  }
  return { count, runs: state.runs.length, bytes, fileBytes, reads: state.reads.count };
}

/** Runs what writes; a full disk becomes DISK_FULL (I4 is the action's own duty). */
function guarded(state: State, action: () => void): void {
  try {
    action();
  } catch (error) {
    throw error instanceof FrontierError && error.code !== "DISK_FULL"
      ? error
      : diskError(error, state.directory);
  }
}
