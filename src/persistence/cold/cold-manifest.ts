/**
 * The cold tier's manifest: the list of live runs, replaced whole (layout/files/cold-run.ts draws it).
 *
 *   I1  At any time the file is the old list or the new one; anything else is SNAPSHOT_CORRUPT.
 */
import { join } from "node:path";
import {
  COLD_ALGORITHM_WORD,
  COLD_MAGIC_WORD,
  COLD_MANIFEST_MAGIC,
  COLD_MANIFEST_RUNS_WORD,
  COLD_MANIFEST_RUN_WORDS,
  COLD_MANIFEST_SERIAL_WORD,
  COLD_MANIFEST_WORDS,
  COLD_SECRET_WORD,
  COLD_VERSION,
  COLD_VERSION_WORD,
} from "../../layout/files/cold-run.ts";
import {
  type ColdPlace,
  type ColdReading,
  type ColdRunFacts,
  checkColdFile,
  corrupt,
  sealColdBlock,
} from "./cold-run.ts";
import { readFile, replaceFile } from "../files.ts";

export const COLD_MANIFEST_NAME = "cold.manifest";

export interface ColdManifest {
  readonly nextSerial: number;
  /** Oldest first. */
  readonly runs: readonly ColdRunFacts[];
}

/** Replaces the manifest; it is durable on return. `onRenamed`: from here on the new list may survive a crash. */
export function writeColdManifest(
  place: ColdPlace,
  runs: readonly ColdRunFacts[],
  nextSerial: number,
  onRenamed?: () => void,
): void {
  const words = new Uint32Array(COLD_MANIFEST_WORDS + runs.length * COLD_MANIFEST_RUN_WORDS);
  words[COLD_MAGIC_WORD] = COLD_MANIFEST_MAGIC;
  words[COLD_VERSION_WORD] = COLD_VERSION;
  words[COLD_ALGORITHM_WORD] = place.identity.algorithm;
  words.set(place.identity.secretCheck, COLD_SECRET_WORD);
  words[COLD_MANIFEST_SERIAL_WORD] = nextSerial;
  words[COLD_MANIFEST_RUNS_WORD] = runs.length;
  runs.forEach((run, at) => {
    const high = Math.floor(run.count / 2 ** 32);
    const start = COLD_MANIFEST_WORDS + at * COLD_MANIFEST_RUN_WORDS;
    words.set([run.serial, run.level, run.count >>> 0, high], start);
  });
  sealColdBlock(words);
  const path = join(place.directory, COLD_MANIFEST_NAME);
  replaceFile(place.files, path, new Uint8Array(words.buffer), onRenamed);
}

/** The manifest, or undefined when there is none. */
export function readColdManifest(place: ColdReading): ColdManifest | undefined {
  const path = join(place.directory, COLD_MANIFEST_NAME);
  const bytes = readFile(place.files, path);
  if (bytes === undefined) return undefined;
  if (bytes.length < COLD_MANIFEST_WORDS * 4 || bytes.length % 4 !== 0)
    throw corrupt(path, 0, "impossible size");
  const words = new Uint32Array(bytes.buffer);
  checkColdFile(place.identity, path, words, COLD_MANIFEST_MAGIC);
  const count = words[COLD_MANIFEST_RUNS_WORD] as number;
  if (words.length !== COLD_MANIFEST_WORDS + count * COLD_MANIFEST_RUN_WORDS)
    throw corrupt(path, 0, "size and number of runs differ");
  const runs: ColdRunFacts[] = [];
  for (let at = COLD_MANIFEST_WORDS; at < words.length; at += COLD_MANIFEST_RUN_WORDS) {
    const [serial, level, low, high] = words.subarray(at, at + COLD_MANIFEST_RUN_WORDS);
    runs.push({
      serial: serial as number,
      level: level as number,
      count: (low as number) + (high as number) * 2 ** 32,
    });
  }
  const nextSerial = words[COLD_MANIFEST_SERIAL_WORD] as number;
  checkRuns(path, runs, nextSerial);
  return { nextSerial, runs };
}

/** Checks that no future run takes the name of an existing one, and that no run is listed twice or empty. */
function checkRuns(path: string, runs: readonly ColdRunFacts[], nextSerial: number): void {
  const serials = new Set<number>();
  for (const { serial, count } of runs) {
    if (serial === 0 || serial >= nextSerial || serials.has(serial))
      throw corrupt(path, 0, `impossible serial ${serial}`);
    if (count === 0 || !Number.isSafeInteger(count))
      throw corrupt(path, 0, `impossible number of entries in run ${serial}`);
    serials.add(serial);
  }
}
