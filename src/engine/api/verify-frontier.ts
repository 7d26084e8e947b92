/** For tests: the core of an open frontier, and its slow, complete check. */
import type { Core } from "../../frontier/core.ts";
import { verifyCore } from "../../frontier/verify-core.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { Frontier } from "../types/frontier-types.ts";
import { lifecycleOf } from "./lifecycles.ts";

/** Throws InvariantError at the first thing that is not as it must be. */
export function verifyFrontier(frontier: Frontier): void {
  const core = lifecycleOf(frontier)?.coreAsLeft;
  if (core === undefined) return;
  verifyCore(core);
}

/** The core of an open frontier. */
export function coreOf(frontier: Frontier): Core {
  return (lifecycleOf(frontier) as Lifecycle).coreAsLeft;
}
