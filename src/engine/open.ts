/** openFrontier: checks all options, then builds. A failed open leaves nothing behind. */
import { FrontierError } from "../base/errors.ts";
import { MemoryFrontier } from "./frontier.ts";
import { normalizeOptions, type Settings } from "./options.ts";
import type { Frontier, FrontierOptions } from "./types.ts";

export async function openFrontier(options?: FrontierOptions): Promise<Frontier> {
  return MemoryFrontier.open(settingsOf(options));
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
