/** Worker threads over a frontier, the owner's side: re-exports only. */
export { FrontierError } from "./base/errors.ts";
export type {
  ResourceLimits,
  SharedFrontier,
  WorkerPoolOptions,
} from "./workers/pool/pool-options.ts";
export { type PoolEvents, WorkerPool } from "./workers/pool/worker-pool.ts";
export type { PoolMessage } from "./workers/pool/hub/worker-seat.ts";
export type { ListenOptions } from "./base/listen-options.ts";
export type { PoolReport, WorkerReport } from "./workers/pool/pool-report.ts";
