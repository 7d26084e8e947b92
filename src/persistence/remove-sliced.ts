/**
 * Removal of a great file, a slice of it at a time: a system gives back 100 MB for some ten milliseconds in one call.
 *
 *   name ─▶ name.tmp ─▶ shorter, shorter … ─▶ gone      a crash leaves a .tmp, which the next start removes
 */
import type { Files } from "./files.ts";

/** Bytes given back between two turns: one to two milliseconds. */
const SLICE_BYTES = 4 * 1024 * 1024;

/** Removes files one after the other, each in turns of its own: many small ones together hold a thread like a great one. */
export async function removeAllSliced(
  files: Files,
  paths: readonly string[],
  pause: () => Promise<void>,
): Promise<void> {
  for (const path of paths) {
    await removeSliced(files, path, pause);
    await pause();
  }
}

/** Removes a file; `pause` lets others run between two slices. A file of one slice goes at once. */
export async function removeSliced(
  files: Files,
  path: string,
  pause: () => Promise<void>,
): Promise<void> {
  const size = sizeOf(files, path);
  if (size <= SLICE_BYTES) {
    files.remove(path);
    return;
  }
  files.rename(path, `${path}.tmp`);
  const file = files.open(`${path}.tmp`, "r+");
  try {
    for (let left = size - SLICE_BYTES; left > 0; left -= SLICE_BYTES) {
      files.truncate(file, left);
      await pause();
    }
  } finally {
    files.close(file);
  }
  files.remove(`${path}.tmp`);
}

function sizeOf(files: Files, path: string): number {
  const file = files.open(path, "r");
  try {
    return files.size(file);
  } finally {
    files.close(file);
  }
}
