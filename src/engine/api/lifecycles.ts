/** The lifecycles of the open frontiers of this thread, for rooms that need what their public surface does not show. */
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
