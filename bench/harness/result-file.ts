/**
 * One JSON object per run and case: bench/results/<date>-<commit>-<case>.json.
 *
 *   { schema, at, commit, dirty, node, v8, flags, cpu, cores, memoryBytes, load,
 *     case, unit, size, seconds, verdict,
 *     runs: [ { params, rounds, ratio: [ … ], same: [ … ], observations, missing } ] }
 *
 * Every observation is kept, so that a later reader can compute another statistic. Histograms are in the HDR
 * exchange format beside their percentiles.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BenchCase } from "./case.ts";
import type { Machine } from "./machine.ts";
import type { CaseResult } from "./run-case.ts";
import { verdictOf } from "./statistics.ts";
import { doubtOf } from "./table.ts";

export const RESULT_SCHEMA = "outrider-bench-1";

export interface ResultFile {
  readonly bench: BenchCase;
  readonly size: "smoke" | "real";
  readonly startedAt: Date;
  readonly machine: Machine;
  readonly results: readonly CaseResult[];
}

export function resultOf(file: ResultFile): Record<string, unknown> {
  const { bench, machine, size, startedAt, results } = file;
  return {
    schema: RESULT_SCHEMA,
    at: startedAt.toISOString(),
    ...machine,
    case: bench.name,
    about: bench.about,
    unit: bench.unit,
    target: bench.target ?? null,
    size,
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    runs: results.map((result) => ({
      params: result.params,
      rounds: result.rounds,
      doubt: doubtOf(result) ?? null,
      ratio: result.comparisons.map((each) => ({ ...each, verdict: verdictOf(each.ratio) })),
      same: result.same,
      checksum: Object.fromEntries(
        Object.entries(result.observations).map(([side, list]) => [side, list[0]?.checksum]),
      ),
      observations: Object.fromEntries(
        Object.entries(result.observations).map(([side, list]) => [
          side,
          list.map(({ measured }) => measured),
        ]),
      ),
      missing: result.missing,
    })),
  };
}

/** Writes the object and returns the file's path. */
export function writeResult(folder: string, file: ResultFile): string {
  mkdirSync(folder, { recursive: true });
  const date = file.startedAt.toISOString().slice(0, 19).replaceAll(":", "");
  const mark = file.machine.dirty ? "-dirty" : "";
  const name = `${date}-${file.machine.commit}${mark}-${file.bench.name}.json`;
  const path = join(folder, name);
  writeFileSync(path, `${JSON.stringify(resultOf(file), undefined, 1)}\n`);
  return path;
}
