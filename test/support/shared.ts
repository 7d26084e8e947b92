/**
 * Data files that are not part of the repository: from the folder named by OUTRIDER_SHARED, else
 * from ../shared beside the repository. Tests that need one skip loudly where it is absent.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The path of a shared data file, such as `data/wpt-urltestdata.json`; undefined: not here. */
export function sharedFile(name: string): string | undefined {
  const beside = fileURLToPath(new URL("../../../shared/", import.meta.url));
  const path = `${process.env.OUTRIDER_SHARED ?? beside}/${name}`;
  if (existsSync(path)) return path;
  console.warn(`SKIPPED: ${name} is absent; set OUTRIDER_SHARED to the folder that holds it`);
  return undefined;
}
