/**
 * Loads the cold tier at a start: the manifest, its runs, and the files that a crash left beside them.
 *
 *   manifest ─▶ listed runs, side by side ─▶ every block checked ─▶ filters, fences, and the hashes shown to the caller
 *   other run-*.cold, *.tmp ─▶ removed
 *
 *   I1  A run that the manifest does not list does not exist. A listed one is there whole, or SNAPSHOT_CORRUPT names it.
 *   I2  A failed load releases everything that it took.
 *   I3  A hash is shown once, however many runs hold it. It is not shown when its newest value is a removal or a passing
 *       value: the process that wrote that has ended, and the record returns from elsewhere.
 */
import { join } from "node:path";
import { COLD_BLOCK_ENTRIES_MAX, COLD_BLOCK_ENTRIES_WORD } from "../../layout/files/cold-run.ts";
import { type Bloom, bloomInsertWords } from "../../structures/bloom/bloom.ts";
import { COLD_REMOVED, isPassing } from "../../structures/storage-tiers.ts";
import { type ColdManifest, readColdManifest } from "./cold-manifest.ts";
import {
  type ColdPlace,
  type ColdRun,
  type ColdRunFacts,
  checkColdHeader,
  coldRunName,
  coldRunPath,
  corrupt,
  createColdBlock,
  openListedRun,
} from "./cold-run.ts";
import {
  type ColdCursor,
  createColdBloom,
  giveColdBloom,
  openColdCursor,
} from "./cold-run-stream.ts";
import { coldWalkNext, createColdWalk } from "./cold-walk.ts";

/** Removes the files that the manifest does not list, and returns the manifest; undefined in a directory that never held a tier. */
export function sweepColdDirectory(place: ColdPlace): ColdManifest | undefined {
  const { files, directory } = place;
  files.makeDirectory(directory);
  const manifest = readColdManifest(place);
  const names = files.list(directory).filter((name) => /^(run-|cold\.manifest)/.test(name));
  if (manifest === undefined) {
    const run = names.find((name) => name.endsWith(".cold"));
    if (run !== undefined) throw corrupt(join(directory, run), 0, "a run without a manifest");
    return undefined;
  }
  const kept = new Set(manifest.runs.map((run) => coldRunName(run.serial)));
  for (const name of names) {
    // I1: a crash left it, or a failed removal.
    const isOrphan = name.endsWith(".tmp") || (name.endsWith(".cold") && !kept.has(name));
    if (isOrphan) files.remove(join(directory, name));
  }
  return manifest;
}

/** Hashes shown in one call. */
const ENTRIES_AT_ONCE = 1024;

interface Loading {
  readonly facts: ColdRunFacts;
  readonly path: string;
  readonly file: number;
  readonly blockCount: number;
  readonly bloom: Bloom;
  readonly fences: Uint32Array;
  cursor: ColdCursor | undefined;
}

/** Reads the listed runs side by side: checks all of them, builds filters and fences, shows every hash with a value (I3). */
export function loadColdRuns(
  place: ColdPlace,
  listed: readonly ColdRunFacts[],
  visit: (hashes: Uint32Array, count: number) => void,
): ColdRun[] {
  const loads: Loading[] = [];
  try {
    for (const facts of listed) loads.push(beginLoad(place, facts));
    for (const load of loads) openLoad(place, load);
    showEach(loads, visit);
  } catch (error) {
    for (const { file, bloom } of loads) {
      place.files.close(file);
      giveColdBloom(place, bloom);
    }
    throw error;
  }
  return loads.map(({ facts, path, file, blockCount, bloom, fences }) => {
    const block = createColdBlock();
    return { ...facts, path, file, blockCount, fences, bloom, block };
  });
}

/** Checks the header first: filter and fences get room for no more entries than the file can hold. */
function beginLoad(place: ColdPlace, facts: ColdRunFacts): Loading {
  const path = coldRunPath(place, facts.serial);
  const blockCount = Math.ceil(facts.count / COLD_BLOCK_ENTRIES_MAX);
  const file = openListedRun(place.files, path);
  try {
    checkColdHeader(place, { ...facts, path, file }, createColdBlock());
    const fences = new Uint32Array(blockCount * 2);
    const bloom = createColdBloom(place, facts.count);
    return { facts, path, file, blockCount, bloom, fences, cursor: undefined };
  } catch (error) {
    place.files.close(file);
    throw error;
  }
}

function openLoad(place: ColdPlace, load: Loading): void {
  const { facts, path, file, blockCount } = load;
  load.cursor = openColdCursor(place, { serial: facts.serial, path, file, blockCount });
  addBlock(load, load.cursor);
}

function showEach(
  loads: readonly Loading[],
  visit: (hashes: Uint32Array, count: number) => void,
): void {
  const byCursor = new Map(loads.map((load) => [load.cursor as ColdCursor, load]));
  const cursors = [...byCursor.keys()];
  const walk = createColdWalk(cursors, (cursor) => addBlock(byCursor.get(cursor), cursor));
  const shown = new Uint32Array(ENTRIES_AT_ONCE * 2);
  let count = 0;
  while (coldWalkNext(walk)) {
    if (walk.value === COLD_REMOVED || isPassing(walk.value)) continue;
    shown[count * 2] = walk.lo;
    shown[count * 2 + 1] = walk.hi;
    if (++count < ENTRIES_AT_ONCE) continue;
    visit(shown, count);
    count = 0;
  }
  if (count > 0) visit(shown, count);
}

/** Adds the cursor's current block to filter and fences. */
function addBlock(load: Loading | undefined, { block }: ColdCursor): void {
  const { path, fences, facts, bloom } = load as Loading;
  const entries = block.words[COLD_BLOCK_ENTRIES_WORD] as number;
  const left = facts.count - (block.index - 1) * COLD_BLOCK_ENTRIES_MAX;
  if (entries !== Math.min(left, COLD_BLOCK_ENTRIES_MAX))
    throw corrupt(path, block.index, "entries are missing");
  const isRest = (word: number): boolean => word === 0;
  const isBlank =
    block.hashes.subarray(entries * 2).every(isRest) &&
    block.values.subarray(entries).every(isRest);
  if (!isBlank) throw corrupt(path, block.index, "places without an entry are not zero");
  fences.set(block.hashes.subarray(0, 2), (block.index - 1) * 2);
  bloomInsertWords(bloom, block.hashes, entries);
}
