/**
 * Removes a directory that was made for an import that was refused.
 *
 *   lock ─▶ no generation in it? ─▶ another name ─▶ all of it ─▶ gone      with the folder above it, where that was made too and is empty
 *
 * Crash: what stays has no frontier in it, or a name that no frontier has.
 */
import { dirname } from "node:path";
import { removeEmptyFolder, removeFolder } from "../files.ts";
import { giveLock, type ProcessTable, takeLock } from "./directory-lock.ts";
import { listDirectory, type Place } from "./frontier-directory.ts";

/** Takes a frontier's directory away if nobody has it open and nothing is in it. `isAboveMade`: the folder above it too, when it is empty. */
export function removeUnusedDirectory(
  place: Place,
  table: ProcessTable,
  isAboveMade: boolean,
): void {
  const { files, directory } = place;
  try {
    if (files.exists(directory)) removeIfUnused(place, table);
    if (isAboveMade) removeEmptyFolder(dirname(directory));
  } catch {
    // Somebody else is there, or the disk refuses: what stays harms nothing, and why the import was refused is what counts.
  }
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
