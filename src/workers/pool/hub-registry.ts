/** Hub registry: which hub stands behind a frontier that was shared; the pool finds it by the frontier it was given. */
import type { WorkerHub } from "./hub/worker-hub.ts";

const hubs = new WeakMap<object, WorkerHub>();

export function registerHub(frontier: object, hub: WorkerHub): void {
  hubs.set(frontier, hub);
}

export function hubOf(frontier: object): WorkerHub | undefined {
  return hubs.get(frontier);
}
