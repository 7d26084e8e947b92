/** Where the last crawl of a directory wrote the log of its visits, so that a question about the directory finds it. */
import { fileBeside, openLineFile, wholePath } from "../files.ts";

interface Place {
  readonly directory?: string | undefined;
  readonly name?: string | undefined;
}

const pathOf = (place: Place): string | undefined => fileBeside(place, "log.json");

/** Keeps where the log is; nothing where the frontier is in memory. */
export function noteCrawlLog(place: Place, log: string): void {
  const path = pathOf(place);
  if (path !== undefined) openLineFile(path).rewrite([JSON.stringify({ log: wholePath(log) })]);
}

/**
 * The path of the log that the last crawl of this directory wrote (`log`, `--log`); undefined: none. Costs reading a small file.
 *
 * @example
 * const log = crawlLogOf("crawl-data"); // the absolute path of "visits.jsonl"
 */
export function crawlLogOf(directory: string, name?: string): string | undefined {
  const [line = ""] = openLineFile(pathOf({ directory, name }) as string).takeLines();
  if (line === "") return undefined;
  const { log } = JSON.parse(line) as { log?: unknown };
  return typeof log === "string" ? log : undefined;
}
