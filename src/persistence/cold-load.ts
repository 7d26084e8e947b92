/**
 * What a start finds of the cold tier: the manifest, its runs, and what a crash left beside them.
 *
 *   manifest ─▶ listed runs ─▶ every block checked ─▶ filter, fences, and the hashes shown to the caller
 *   other run-*.cold, *.tmp ─▶ removed
 *
 *   I1  What the manifest does not list does not exist; what it lists is there whole, or SNAPSHOT_CORRUPT names it.
 *   I2  A failed load gives back what it took.
 */
import { join } from "node:path";
import { COLD_BLOCK_ENTRIES_MAX } from "../layout/cold-run.ts";
import { bloomInsertWords } from "../structures/bloom.ts";
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
} from "./cold-run.ts";
import { coldAdvance, createColdBloom, giveColdBloom, openColdCursor } from "./cold-stream.ts";
import type { Files } from "./files.ts";

/** The manifest, after the files it does not list are gone; undefined in a directory that never held a tier. */
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
    // I1: left by a crash, or by a removal that failed.
    const isOrphan = name.endsWith(".tmp") || (name.endsWith(".cold") && !kept.has(name));
    if (isOrphan) files.remove(join(directory, name));
  }
  return manifest;
}

/** Reads a listed run: checks all of it, builds filter and fences, shows its hashes. */
export function loadColdRun(
  place: ColdPlace,
  facts: ColdRunFacts,
  visit: (hashes: Uint32Array, count: number) => void,
): ColdRun {
  const { files } = place;
  const path = coldRunPath(place, facts.serial);
  const blockCount = Math.ceil(facts.count / COLD_BLOCK_ENTRIES_MAX);
  const file = openRun(files, path);
  const bloom = createColdBloom(place, facts.count);
  const fences = new Uint32Array(blockCount * 2);
  try {
    checkColdHeader(place, { ...facts, path, file }, createColdBlock());
    const cursor = openColdCursor(place, { serial: facts.serial, path, file, blockCount });
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
    giveColdBloom(place, bloom);
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
