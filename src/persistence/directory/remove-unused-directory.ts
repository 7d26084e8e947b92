/**
 * Removes a directory that was created for a refused import.
 *
 *   lock ─▶ no generation in it? ─▶ rename ─▶ remove ─▶ gone      with the folder above it, if that was created too and is empty
 *
 * Crash: the rest contains no frontier, or has a name that no frontier has.
 */
import { dirname } from "node:path";
import { removeEmptyFolder, removeFolder, attempt } from "../files.ts";
import { giveLock, type ProcessTable, takeLock } from "./directory-lock.ts";
import { listDirectory, type Place } from "./frontier-directory.ts";

/**
 * Removes a frontier's directory if no process has it open and it holds no generation. `isAboveMade`: also the folder above it, when
 * empty.
 */
export function removeUnusedDirectory(
  place: Place,
  table: ProcessTable,
  isAboveMade: boolean,
): void {
  const { files, directory } = place;
  // Another process uses it, or the disk refuses. The rest is harmless, and the error to report is why the import was refused.
  attempt(() => {
    if (files.exists(directory)) removeIfUnused(place, table);
    if (isAboveMade) removeEmptyFolder(dirname(directory));
  });
}

function removeIfUnused(place: Place, table: ProcessTable): void {
  const { files, directory } = place;
  const lock = takeLock(place, table);
  try {
    const { segments, snapshots } = listDirectory(place);
    if (segments.length + snapshots.length > 0) return;
    files.rename(directory, `${directory}.refused`);
    removeFolder(`${directory}.refused`);
  } finally {
    giveLock(place, lock);
  }
}
