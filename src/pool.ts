/** Worker threads over a frontier, the owner's side: re-exports only. */
export { FrontierError } from "./base/errors.ts";
export type { ResourceLimits, SharedFrontier, WorkerPoolOptions } from "./workers/pool/options.ts";
export { type PoolReport, WorkerPool, type WorkerReport } from "./workers/pool/pool.ts";
