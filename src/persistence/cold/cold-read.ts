/** Reads a cold tier without opening it: its runs as the manifest lists them, oldest first, every entry checked. */
import { join } from "node:path";
import { COLD_BLOCK_ENTRIES_MAX } from "../../layout/files/cold-run.ts";
import { COLD_MANIFEST_NAME, readColdManifest } from "./cold-manifest.ts";
import {
  type ColdReading,
  type ColdRunFacts,
  checkColdHeader,
  coldRunPath,
  createColdBlock,
  openListedRun,
} from "./cold-run.ts";
import { type ColdWalk, createColdWalk, eachRow } from "./cold-walk.ts";
import { HASH_ALGORITHM, type Place, secretCheck } from "../directory/frontier-directory.ts";

/** The tier of a frontier; undefined when there is none. */
export function coldReading(place: Place, secret: Uint32Array): ColdReading | undefined {
  const { files } = place;
  const directory = join(place.directory, "seen");
  if (!files.exists(join(directory, COLD_MANIFEST_NAME))) return undefined;
  const identity = { algorithm: HASH_ALGORITHM, secretCheck: secretCheck(secret) };
  return { files, directory, identity };
}

/** Its runs, oldest first. Throws what `readColdManifest` throws. */
export function coldRunsOf(reading: ColdReading): readonly ColdRunFacts[] {
  return readColdManifest(reading)?.runs ?? [];
}

/** Calls `visit` with every entry of a run, in the order of the hashes. Throws SNAPSHOT_CORRUPT, which names file and block. */
export function eachColdEntry(
  reading: ColdReading,
  facts: ColdRunFacts,
  visit: (lo: number, hi: number, value: number) => void,
): void {
  const { files } = reading;
  const path = coldRunPath(reading, facts.serial);
  const file = openListedRun(files, path);
  try {
    checkColdHeader(reading, { ...facts, path, file }, createColdBlock());
    const blockCount = Math.ceil(facts.count / COLD_BLOCK_ENTRIES_MAX);
    eachRow(createColdWalk(reading, [{ serial: facts.serial, path, file, blockCount }]), visit);
  } finally {
    files.close(file);
  }
}

/** Walks over all runs: every hash once, with its newest value. `close` closes the files. */
export function openColdWalk(reading: ColdReading): { walk: ColdWalk; close: () => void } {
  const { files } = reading;
  const opened: number[] = [];
  const close = (): void => {
    for (const file of opened.splice(0)) files.close(file);
  };
  try {
    const runs = coldRunsOf(reading).map((facts) => {
      const path = coldRunPath(reading, facts.serial);
      const file = openListedRun(files, path);
      opened.push(file);
      checkColdHeader(reading, { ...facts, path, file }, createColdBlock());
      const blockCount = Math.ceil(facts.count / COLD_BLOCK_ENTRIES_MAX);
      return { serial: facts.serial, path, file, blockCount };
    });
    return { walk: createColdWalk(reading, runs), close };
  } catch (error) {
    close();
    throw error;
  }
}
