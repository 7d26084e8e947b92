/**
 * Where whole records are kept: `<directory>/<name>/records.mdb`, by the integration for lmdb, which is loaded here and only for
 * `records: 'full'`. Its name is put together, so that nothing of the core leads to an optional package.
 */
import { join } from "node:path";
import { FrontierError, shown } from "../../base/errors.ts";
import { packageFile } from "../../base/package-files.ts";
import { nodeFiles } from "../../persistence/files.ts";
import type { OpenRecordTier } from "../../persistence/tier.ts";
import type { Settings } from "../options/normalize-options.ts";
import { RecordArchive } from "./record-archive.ts";
import { overlayRecords } from "./record-overlay.ts";

/** Opens the archive of a directory. Throws UNSUPPORTED where lmdb is not installed, DISK_GONE where a copy has none to read. */
export async function openRecordArchive(
  { clock, readOnly }: Settings,
  directory: string,
): Promise<RecordArchive> {
  const open = await loadStore();
  const [path] = pathsOf(directory);
  const now = (): number => clock.now();
  if (readOnly) {
    if (nodeFiles.exists(path)) return new RecordArchive(overlayRecords(open(path, true)), now);
    const expected = "a frontier that was opened with records: 'full'";
    throw new FrontierError("DISK_GONE", `${path}: not there (expected: ${expected})`);
  }
  // Made here, lest the store make them for everybody to read.
  for (const each of pathsOf(directory)) nodeFiles.close(nodeFiles.open(each, "a"));
  return new RecordArchive(open(path), now);
}

/** Removes the files of an archive that is closed. */
export function removeRecordArchive(directory: string): void {
  for (const path of pathsOf(directory)) if (nodeFiles.exists(path)) nodeFiles.remove(path);
}

/** The store, and the file in which its readers stand. */
function pathsOf(directory: string): readonly [string, string] {
  const path = join(directory, "records.mdb");
  return [path, `${path}-lock`];
}

async function loadStore(): Promise<OpenRecordTier> {
  const path = packageFile("integrations/lmdb/record-tier.js").href;
  try {
    const module = (await import(/* @vite-ignore */ path)) as { openRecordTier: OpenRecordTier };
    return module.openRecordTier;
  } catch (cause) {
    const expected = "the package lmdb beside outrider: npm install lmdb";
    const message = `options.records: "full" (expected: ${expected}); ${shown(cause)}`;
    throw new FrontierError("UNSUPPORTED", message, { cause });
  }
}
