/** openFrontier: checks all options, then builds. A failed open leaves nothing behind. */
import { MemoryFrontier } from "./frontier.ts";
import { normalizeOptions } from "./options.ts";
import type { Frontier, FrontierOptions } from "./types.ts";

export async function openFrontier(options?: FrontierOptions): Promise<Frontier> {
  return MemoryFrontier.open(normalizeOptions(options));
}
