/** Data files of others: those in the repository, and those beside it where they exist. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** URL cases of web-platform-tests. */
export const WPT_URLS: string = fileURLToPath(
  new URL("../data/wpt-urltestdata.json", import.meta.url),
);

/** The path of a file in the folder that OUTRIDER_SHARED names, else in ../shared beside the repository; undefined: not there. */
export function sharedFile(name: string): string | undefined {
  const beside = fileURLToPath(new URL("../../../shared/", import.meta.url));
  const path = `${process.env.OUTRIDER_SHARED ?? beside}/${name}`;
  return existsSync(path) ? path : undefined;
}
