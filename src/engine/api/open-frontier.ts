/**
 * Room `src/engine/api`: the public calls on the thread that owns the frontier. Checks arguments, opens a call, lets the
 * rooms below decide, closes the call. May touch every room of the engine.
 */

/** openFrontier: checks all options, then builds. A failed open leaves nothing behind. */
import { unescape as decode } from "node:querystring";
import { FrontierError } from "../../base/errors.ts";
import { LocalFrontier } from "./local-frontier.ts";
import { normalizeOptions, type Settings } from "../options/normalize-options.ts";
import type { Frontier, FrontierOptions } from "../types/frontier-types.ts";
import { nodeFiles } from "../../persistence/files.ts";

/**
 * Opens a frontier, in memory or in a directory. The thread that calls this owns it.
 *
 * Costs about 10 ms the first time in a process (the WebAssembly kernel is compiled), then 5 ms. With a directory it also
 * reads the last snapshot and the journal since then, at about two million records a second.
 *
 * Rejects with `OPTION_INVALID` or `RULE_INVALID` for a wrong option or rule, `FRONTIER_LOCKED` while another
 * process has the directory, `PROFILE_MISMATCH` for another key policy than the stored one, `FORMAT_UNSUPPORTED`,
 * `SNAPSHOT_CORRUPT`, and `DISK_FULL` or a related code for a disk that fails. A failed opening leaves nothing
 * behind.
 *
 * @example
 * const frontier = await openFrontier({ directory: "crawl", defaults: { politeness: { delayMs: 1000 } } });
 * frontier.push("https://example.org/");
 * for await (const lease of frontier) lease.done({ found: await visit(lease.url) });
 * await frontier.close();
 */
export async function openFrontier<Data = unknown>(
  options?: FrontierOptions,
): Promise<Frontier<Data>> {
  // The caller chooses the type of data; no code here reads it.
  return LocalFrontier.open(settingsOf(options)) as Promise<unknown> as Promise<Frontier<Data>>;
}

/**
 * The same with a memory that begins small and grows, for rooms that open a frontier for each of many queues. V8 collects all garbage when
 * a memory of full size is made: the larger the program's heap, the longer that takes.
 */
export async function openSmallFrontier(options: FrontierOptions): Promise<Frontier> {
  return LocalFrontier.open({ ...settingsOf(options), isSmall: true });
}

/** The names of the frontiers in a directory, for the same rooms. */
export function frontierNames(directory: string): string[] {
  return nodeFiles.exists(directory) ? nodeFiles.list(directory).map(decode) : [];
}

/** Getters and proxies may throw what they like: it is a wrong option all the same. */
function settingsOf(options: FrontierOptions | undefined): Settings {
  try {
    return normalizeOptions(options);
  } catch (cause) {
    if (cause instanceof FrontierError) throw cause;
    const message = "options: unreadable (expected: plain data)";
    throw new FrontierError("OPTION_INVALID", message, { cause });
  }
}
