/** What lies below an open frontier, for tests and for rooms that its surface is too slow for; and the slow, complete check of it. */
import type { Core } from "../../frontier/core.ts";
import { verifyCore } from "../../frontier/verify-core.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { Frontier } from "../types/frontier-types.ts";

const lifecycles = new WeakMap<object, Lifecycle>();

/** Names the lifecycle of a frontier; called by its maker. */
export function registerLifecycle(frontier: Frontier, lifecycle: Lifecycle): void {
  lifecycles.set(frontier, lifecycle);
}

/** The lifecycle of a frontier of this thread; undefined: it is elsewhere. */
export function lifecycleOf(frontier: object): Lifecycle | undefined {
  return lifecycles.get(frontier);
}

/** Throws InvariantError at the first thing that is not as it must be. */
export function verifyFrontier(frontier: Frontier): void {
  const core = lifecycles.get(frontier)?.coreAsLeft;
  if (core === undefined) return;
  verifyCore(core);
}

/** For tests: the core of an open frontier. */
export function coreOf(frontier: Frontier): Core {
  return (lifecycles.get(frontier) as Lifecycle).coreAsLeft;
}
