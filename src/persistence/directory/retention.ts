/** Retention: removes generations beyond those to keep, and the segments that only they need. */
import {
  listDirectory,
  partialPath,
  type Place,
  segmentPath,
  snapshotPath,
} from "./frontier-directory.ts";

export async function keepNewestGenerations(
  place: Place,
  keep: number,
  pause: () => Promise<void>,
): Promise<void> {
  const { segments, snapshots } = listDirectory(place);
  if (snapshots.length < keep) return; // the journal from its beginning counts as a generation
  const oldest = snapshots.slice(-keep)[0] ?? 0;
  const isGone = (serial: number): boolean => serial < oldest;
  const gone = [
    ...snapshots.filter(isGone).map((serial) => snapshotPath(place, serial)),
    ...segments.filter(isGone).map((serial) => segmentPath(place, serial)),
  ];
  for (const path of gone) {
    place.files.remove(path);
    await pause(); // many small removals block the thread as long as one large one
  }
}

/** Removes the partial snapshots before a newer snapshot of either kind, which takes their place. */
export function removePartialsBefore(place: Place, serial: number): void {
  for (const before of listDirectory(place).partials)
    if (before < serial) place.files.remove(partialPath(place, before));
}
