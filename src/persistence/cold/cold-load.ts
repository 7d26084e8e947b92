/**
 * Opens the cold tier: the manifest, its runs, and the files that a crash left beside them.
 *
 *   manifest ─▶ each listed run: header ─▶ its filter file ─▶ filter, fences
 *                                                       └ missing or damaged ─▶ the run read whole ─▶ filter file, anew
 *   other run-* files, *.tmp ─▶ removed
 *
 *   I1  A run that the manifest does not list does not exist. A listed one is there, with all of its blocks by its size, or
 *       SNAPSHOT_CORRUPT names it. A block in the middle is checked when it is read.
 *   I2  A failed load releases everything that it took.
 */
import { join } from "node:path";
import {
  COLD_BLOCK_BYTES,
  COLD_BLOCK_ENTRIES_MAX,
  COLD_BLOCK_ENTRIES_WORD,
  COLD_CRC_WORD,
} from "../../layout/files/cold-run.ts";
import { type Bloom, bloomInsertWords } from "../../structures/bloom/bloom.ts";
import { createColdBloom, giveColdBloom } from "./cold-bloom.ts";
import { beginColdFilter, coldFilterStep, closeColdFilter, readColdFilter } from "./cold-filter.ts";
import { type ColdManifest, readColdManifest } from "./cold-manifest.ts";
import {
  type ColdPlace,
  type ColdRun,
  type ColdRunFacts,
  checkColdHeader,
  coldRunName,
  coldRunPath,
  corrupt,
  areCold,
  createColdBlock,
  isAscending,
  readColdBlock,
  openListedRun,
} from "./cold-run.ts";
import { readAll, attempt } from "../files.ts";

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
  // I1: a crash left it, or a failed removal.
  for (const name of names) if (!isKept(name, kept)) files.remove(join(directory, name));
  return manifest;
}

/** Whether a file of the tier stays: the manifest, and each listed run with its filter. */
export function isKept(name: string, runs: ReadonlySet<string>): boolean {
  if (name.endsWith(".tmp")) return false;
  return !/\.(cold|filter)$/.test(name) || runs.has(name.replace(/filter$/, "cold"));
}

/** Opens the listed runs, oldest first. */
export function loadColdRuns(place: ColdPlace, listed: readonly ColdRunFacts[]): ColdRun[] {
  const runs: ColdRun[] = [];
  try {
    for (const facts of listed) runs.push(loadRun(place, facts));
    return runs;
  } catch (error) {
    for (const { file, bloom } of runs) {
      place.files.close(file);
      giveColdBloom(place, bloom);
    }
    throw error;
  }
}

/** Checks the header first: filter and fences get room for no more entries than the file can hold. */
function loadRun(place: ColdPlace, facts: ColdRunFacts): ColdRun {
  const path = coldRunPath(place, facts.serial);
  const blockCount = Math.ceil(facts.count / COLD_BLOCK_ENTRIES_MAX);
  const file = openListedRun(place.files, path);
  const block = createColdBlock();
  try {
    checkColdHeader(place, { ...facts, path, file }, block);
    const fences = new Uint32Array(blockCount * 2);
    const run = { ...facts, path, file, blockCount, fences, block, isDamaged: false };
    // Unchecked, as all other blocks: only its checksum is compared.
    readAll(place.files, file, block.bytes, blockCount * COLD_BLOCK_BYTES);
    const bloom = readColdFilter(place, { facts, path }, fences, block);
    if (bloom !== undefined && isAscending(fences, blockCount)) return { ...run, bloom };
    if (bloom !== undefined) giveColdBloom(place, bloom);
    return { ...run, bloom: remake(place, run) };
  } catch (error) {
    place.files.close(file);
    throw error;
  }
}

/** Makes filter and fences from the run, all of which is checked, and writes them for the next opening. */
function remake(place: ColdPlace, run: Omit<ColdRun, "bloom">): Bloom {
  const { fences, serial, level, count, path } = run;
  const bloom = createColdBloom(place, count);
  try {
    const { block } = run;
    const last = new Uint32Array(2);
    for (let index = 1; index <= run.blockCount; index++) {
      readColdBlock(place, run, index, block);
      addBlock(run, bloom, last);
    }
    const lastCrc = block.words[COLD_CRC_WORD] as number;
    writeFilter(place, { facts: { serial, level, count }, path, fences, bloom, lastCrc });
    return bloom;
  } catch (error) {
    giveColdBloom(place, bloom);
    throw error;
  }
}

/** What the disk refuses is made again by the next opening. */
function writeFilter(place: ColdPlace, source: Parameters<typeof beginColdFilter>[1]): void {
  // A file without a header does not count.
  attempt(() => {
    const writer = beginColdFilter(place.files, source);
    try {
      while (!coldFilterStep(place, writer));
    } finally {
      closeColdFilter(place.files, writer);
    }
  });
}

/** Adds the block that was read to filter and fences. `last`: the last hash before it, then its own. */
function addBlock(run: Omit<ColdRun, "bloom">, bloom: Bloom, last: Uint32Array): void {
  const { path, fences, count, block } = run;
  const entries = block.words[COLD_BLOCK_ENTRIES_WORD] as number;
  const left = count - (block.index - 1) * COLD_BLOCK_ENTRIES_MAX;
  if (entries !== Math.min(left, COLD_BLOCK_ENTRIES_MAX))
    throw corrupt(path, block.index, "entries are missing");
  const isRest = (word: number): boolean => word === 0;
  const isBlank =
    block.hashes.subarray(entries * 2).every(isRest) &&
    block.values.subarray(entries).every(isRest);
  if (!isBlank) throw corrupt(path, block.index, "places without an entry are not zero");
  if (!isAscending(block.hashes, entries, block.index === 1 ? undefined : last))
    throw corrupt(path, block.index, "entries out of order");
  if (!areCold(block.values, entries))
    throw corrupt(path, block.index, "an entry with an impossible value");
  last.set(block.hashes.subarray(entries * 2 - 2, entries * 2));
  fences.set(block.hashes.subarray(0, 2), (block.index - 1) * 2);
  bloomInsertWords(bloom, block.hashes, entries);
}
