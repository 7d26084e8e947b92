/** The files of digests that count as seen: each file holds those of the files before it too, and a note names the one that counts. */
import type { Place } from "../../persistence/directory/frontier-directory.ts";
import { packr } from "../../persistence/msgpack.ts";
import {
  DIGEST_BYTES,
  digestPath,
  digestPaths,
  writeDigests,
} from "../../persistence/transfer/digest-file.ts";
import type { VisitedNote } from "../intake/scrapy-digests.ts";

/** Writes the file that follows the one of `packed`, and returns the note that names it. */
export function writeVisited(
  place: Place,
  packed: Uint8Array | undefined,
  digests: Uint8Array,
): VisitedNote {
  const before = packed === undefined ? 0 : (packr.unpack(packed) as VisitedNote).serial;
  writeDigests(place, before + 1, digests);
  return { serial: before + 1, count: digests.length / DIGEST_BYTES };
}

/** Removes the files that no note names any more, once this one is durable. */
export function removeVisitedBefore(place: Place, { serial }: VisitedNote): void {
  const own = digestPath(place, serial);
  for (const path of digestPaths(place)) if (path !== own) place.files.remove(path);
}
