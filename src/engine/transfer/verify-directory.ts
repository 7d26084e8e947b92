/**
 * verifyDirectory: is what stands in a directory whole, file by file, and does a frontier come out of it?
 *
 *   every file, every checksum ─▶ a copy is opened ─▶ every structure held against every other ─▶ closed, nothing changed
 */
import { FrontierError, InvariantError } from "../../base/errors.ts";
import { givenOf } from "../../base/plain-copy.ts";
import { nodeFiles } from "../../persistence/files.ts";
import { type FileCheck, inspectPlace } from "../../persistence/inspection/inspect-directory.ts";
import { lockOwner } from "../../persistence/directory/directory-lock.ts";
import { openOverlay } from "../../persistence/directory/directory-overlay.ts";
import {
  frontierDirectory,
  listDirectory,
  noFrontierThere,
} from "../../persistence/directory/frontier-directory.ts";
import { systemProcesses } from "../../persistence/directory/process-table.ts";
import { join } from "node:path";
import { openFrontier } from "../api/open-frontier.ts";
import { nextTurn } from "../next-turn.ts";
import { storedOptions } from "../options/stored-options.ts";
import type { FrontierOptions, Resumed } from "../types/frontier-types.ts";
import { verifyFrontier } from "../api/verify-frontier.ts";

export type { FileCheck };

/** What `verifyDirectory` found. */
export interface DirectoryCheck {
  /** Whether nothing is damaged. What a crash cut off at the very end is no damage. */
  readonly isWhole: boolean;
  /** Every file that was read. */
  readonly files: readonly FileCheck[];
  /** What is damaged, by file and place. */
  readonly damage: readonly string[];
  /** Live and finished records in it; undefined: it cannot be opened. */
  readonly records: number | undefined;
  /** Id of the process that has it open now. */
  readonly owner: number | undefined;
}

/** Options of `verifyDirectory`. */
export interface VerifyOptions {
  /** Name of the frontier in the directory; `default` unless given. */
  readonly name?: string | undefined;
  /** Options to open it with, where the stored ones are not enough. */
  readonly options?: FrontierOptions | undefined;
  /** Called after each file. */
  readonly onFile?: ((file: FileCheck) => void) | undefined;
}

/**
 * Reads and checks everything in a directory: all generations, segments and runs, then the frontier that a copy of
 * it in memory is. Changes nothing and takes no lock; beside a running owner it checks what was there at the
 * beginning. Damage is a result. Costs about as much as opening the directory. Rejects with `DISK_GONE` where there is no such frontier.
 *
 * @example
 * const { isWhole, damage } = await verifyDirectory("crawl-data");
 */
export async function verifyDirectory(
  directory: string,
  { name = "default", options, onFile }: VerifyOptions = {},
): Promise<DirectoryCheck> {
  const own = frontierDirectory(directory, name);
  const place = { files: nodeFiles, directory: own };
  const { segments, snapshots } = listDirectory(place);
  if (segments.length + snapshots.length === 0) throw noFrontierThere(own);
  const owner = lockOwner(place, systemProcesses())?.pid;
  const overlay = openOverlay(nodeFiles, [own, join(own, "seen")], []);
  const files: FileCheck[] = [];
  try {
    for await (const file of inspectPlace({ files: overlay.files, directory: own }, nextTurn)) {
      files.push(file);
      onFile?.(file);
    }
  } finally {
    overlay.close();
  }
  const damage = files.filter(({ state }) => state === "damaged").map(({ what }) => String(what));
  const opened = await openCopy(
    { ...storedOptions(directory, name)?.options, ...givenOf(options ?? {}) },
    {
      directory,
      name,
    },
  );
  const all = [...new Set([...damage, ...opened.damage])];
  const { records } = opened;
  return { isWhole: all.length === 0, files, damage: all, records, owner };
}

/** Opens a copy and holds its structures against each other. */
async function openCopy(
  options: FrontierOptions,
  { directory, name }: { directory: string; name: string },
): Promise<{ damage: readonly string[]; records: number | undefined }> {
  try {
    const frontier = await openFrontier({
      ...options,
      ...{ directory, name, readOnly: true, records: "state" },
    });
    try {
      const resumed = await new Promise<Resumed | undefined>((resolve) => {
        frontier.on("resumed", resolve);
        setImmediate(() => resolve(undefined));
      });
      verifyFrontier(frontier);
      const { pending, waiting, leased, done, failed } = frontier.report();
      return { damage: resumed?.damage ?? [], records: pending + waiting + leased + done + failed };
    } finally {
      await frontier.close();
    }
  } catch (error) {
    const isKnown = error instanceof FrontierError || error instanceof InvariantError;
    if (!isKnown) throw error;
    return { damage: [error.message], records: undefined };
  }
}
