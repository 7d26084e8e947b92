/** Golden directories of a frontier: kept in a folder of `test/golden`, read as files in memory. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createMemoryFiles, type MemoryFiles } from "./memory-files.ts";

/** Where the frontiers of tests have their files (durable-rig.ts). */
const DIRECTORY = "/dir/default/";

export function readGolden(folder: string): MemoryFiles {
  const files = createMemoryFiles();
  for (const name of readdirSync(folder)) {
    const path = `${DIRECTORY}${name}`;
    files.close(files.open(path, "w"));
    files.setBytes(path, new Uint8Array(readFileSync(`${folder}${name}`)));
  }
  return files;
}

/** Writes the files whose names match. */
export function writeGolden(folder: string, files: MemoryFiles, names: RegExp): void {
  mkdirSync(folder, { recursive: true });
  for (const name of files.names()) {
    if (!names.test(name)) continue;
    writeFileSync(`${folder}${name.slice(DIRECTORY.length)}`, files.bytesOf(name));
  }
}
