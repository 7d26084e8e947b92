/**
 * How a finished run joins the live ones: in steps, each of which may wait for the medium, so that a caller chooses when
 * to wait. The sync, the longest wait, can run off the thread.
 *
 *   written ── sync ─▶ synced ── its filter, in slices ─▶ filtered ── rename, sync directory ─▶ named ── manifest ─▶ listed
 *
 *   I1  The manifest lists a run only when all of it is durable under its name.
 *   I2  Until it is listed the runs it replaces are live; after that they are removed.
 *   I3  A failed step leaves runs and manifest as they were, and ends the commit.
 *
 * Crash: the manifest is the old or the new one, whole; the next start removes what it does not list.
 */
import type { MediumWait } from "../../structures/storage-tiers.ts";
import { writeColdManifest } from "./cold-manifest.ts";
import type { ColdPlace, ColdRun } from "./cold-run.ts";
import {
  type ColdWriter,
  dropColdRun,
  filterColdRun,
  nameColdRun,
  releaseColdRun,
  syncColdRun,
} from "./cold-run-stream.ts";

/** The live runs of a tier. */
export interface ColdRuns extends ColdPlace {
  /** Oldest first. */
  runs: ColdRun[];
  nextSerial: number;
}

export interface ColdCommit {
  readonly writer: ColdWriter;
  /** Neighbours that the run replaces; with none it becomes the newest run. */
  readonly inputs: readonly ColdRun[];
  isSynced: boolean;
  isFiltered: boolean;
  run: ColdRun | undefined;
}

export function beginColdCommit(writer: ColdWriter, inputs: readonly ColdRun[]): ColdCommit {
  return { writer, inputs, isSynced: false, isFiltered: false, run: undefined };
}

/** Takes the next step; returns true when the run is listed. On an error the caller drops the writer. */
export function coldCommitStep(live: ColdRuns, commit: ColdCommit, wait: MediumWait): boolean {
  const { writer, inputs } = commit;
  if (writer.count > 0 && !commit.isSynced) {
    commit.isSynced = syncColdRun(writer, wait);
    return false;
  }
  if (writer.count > 0 && !commit.isFiltered) {
    commit.isFiltered = filterColdRun(writer);
    return false;
  }
  if (writer.count > 0 && commit.run === undefined) {
    commit.run = nameColdRun(writer);
    return false;
  }
  const runs = [...live.runs];
  const made = commit.run === undefined ? [] : [commit.run];
  const start = inputs.length === 0 ? runs.length : runs.indexOf(inputs[0] as ColdRun);
  runs.splice(start, inputs.length, ...made);
  writeColdManifest(live, runs, live.nextSerial, () => {
    writer.isListed = true;
  });
  live.runs = runs;
  if (made.length === 0) {
    writer.isListed = false; // an empty result is in no manifest
    dropColdRun(writer);
  }
  for (const run of inputs) releaseColdRun(live, run, true);
  return true;
}
