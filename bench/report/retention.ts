/**
 * Which result files something still needs. The others are superseded: git keeps them, the folder does not.
 *
 *   cited     a number of TARGETS.md or of README is taken from it
 *   newest    no later file has all of its cases; of suites: no later suite
 *
 * Results of a tree with changes never supersede those of a clean one.
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { largeReadings } from "./large.ts";
import {
  isCalm,
  keptRuns,
  readingOf,
  readTargets,
  RESULT_FILE,
  type ResultFileObject,
} from "./targets.ts";

interface Stored {
  readonly name: string;
  readonly at: string;
  readonly dirty: boolean;
  readonly isSuite: boolean;
  readonly cases: readonly string[];
}

/** Names of the files in a folder of results that nothing needs, the oldest first. */
export function supersededFiles(folder: string): string[] {
  const stored = storedFiles(folder);
  const cited = citedFiles(folder);
  return stored
    .filter((file) => !cited.has(file.name) && stored.some((other) => supersedes(other, file)))
    .sort((a, b) => a.at.localeCompare(b.at))
    .map(({ name }) => name);
}

/** Deletes them and returns their paths. */
export function removeSuperseded(folder: string): string[] {
  const paths = supersededFiles(folder).map((name) => join(folder, name));
  for (const path of paths) rmSync(path);
  return paths;
}

function supersedes(newer: Stored, older: Stored): boolean {
  if (newer.at <= older.at || (newer.dirty && !older.dirty)) return false;
  if (older.isSuite) return newer.isSuite;
  return older.cases.every((name) => newer.cases.includes(name));
}

function storedFiles(folder: string): Stored[] {
  const names = readdirSync(folder).filter((name) => RESULT_FILE.test(name));
  return names.map((name) => {
    const file = JSON.parse(readFileSync(join(folder, name), "utf8")) as ResultFileObject;
    const isSuite = "cases" in file;
    const cases = isSuite ? file.cases.map((each) => each.case) : [file.case];
    return { name, at: file.at, dirty: file.dirty, isSuite, cases };
  });
}

function citedFiles(folder: string): Set<string> {
  const runs = keptRuns(folder);
  const rows = readTargets(folder).sections.flatMap((section) => section.rows);
  const readings = [
    ...rows.flatMap(({ of = [] }) => of.map((source) => readingOf(source, runs))),
    ...largeReadings(runs.filter(isCalm)).flatMap(({ found }) => found),
  ];
  return new Set(readings.flatMap((reading) => (reading === undefined ? [] : [reading.kept.file])));
}
