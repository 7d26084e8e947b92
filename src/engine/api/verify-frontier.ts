/** For tests: the slow, complete check of an open frontier. */
import type { Core } from "../../frontier/core.ts";
import { verifyCore } from "../../frontier/verify-core.ts";
import type { Frontier } from "../types/frontier-types.ts";

const cores = new WeakMap<Frontier, () => Core>();

/** Names the core of a frontier; called by its maker. */
export function registerCore(frontier: Frontier, core: () => Core): void {
  cores.set(frontier, core);
}

/** Throws InvariantError at the first thing that is not as it must be. */
export function verifyFrontier(frontier: Frontier): void {
  const core = cores.get(frontier)?.();
  if (core === undefined) return;
  verifyCore(core);
}

/** For tests: the core of an open frontier. */
export function coreOf(frontier: Frontier): Core {
  return (cores.get(frontier) as () => Core)();
}
