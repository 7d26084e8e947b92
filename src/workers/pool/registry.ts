/** Registry: which hub stands behind a frontier that was shared; the pool finds it by the frontier it was given. */
import type { Hub } from "./hub.ts";

const hubs = new WeakMap<object, Hub>();

export function registerHub(frontier: object, hub: Hub): void {
  hubs.set(frontier, hub);
}

export function hubOf(frontier: object): Hub | undefined {
  return hubs.get(frontier);
}
