/** Hub registry: the hub of each shared frontier; the pool looks it up by the frontier that it was opened with. */
import type { WorkerHub } from "./hub/worker-hub.ts";

const hubs = new WeakMap<object, WorkerHub>();

export function registerHub(frontier: object, hub: WorkerHub): void {
  hubs.set(frontier, hub);
}

export function hubOf(frontier: object): WorkerHub | undefined {
  return hubs.get(frontier);
}
