/** The worker's side, for threads of one's own and for the types of a handler: re-exports only. */
export { FrontierError } from "./base/errors.ts";
export type { Outcome, RetryOptions } from "./base/argument-checks.ts";
export type {
  LeaseFields,
  LeaseResult,
  RedirectChange,
  RequestInput,
  RequestLike,
} from "./base/request-types.ts";
export type { CrewHandle, NormalPolicy } from "./workers/protocol/shared-memory.ts";
export type { Handler, HandlerContext } from "./workers/remote/handler-visit.ts";
export { attach, type WorkerPort } from "./workers/remote/worker-port.ts";
export type { PushAnswer, SendAnswer, WorkerLease } from "./workers/remote/worker-lease.ts";
