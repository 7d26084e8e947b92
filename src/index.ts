/** The public API: re-exports only. */
export { type Clock, createSystemClock, createVirtualClock } from "./base/clock.ts";
export { FrontierError, type FrontierErrorCode } from "./base/errors.ts";
export { openFrontier } from "./engine/open.ts";
export {
  type GopcpOptions,
  type NeocrawlerOptions,
  type Presets,
  presets,
} from "./engine/presets.ts";
export { openFrontierThread } from "./engine/open-thread.ts";
export type { AsyncFrontier, AsyncHost, AsyncLease } from "./engine/async-frontier.ts";
export type {
  DoneResult,
  EpochPolicy,
  Explanation,
  Frontier,
  FrontierEvents,
  FrontierFault,
  FrontierHandle,
  FrontierOptions,
  FrontierStatus,
  HostView,
  KeyPolicy,
  Lease,
  LeaseFields,
  LeaseResult,
  ListenOptions,
  Outcome,
  Politeness,
  PushResult,
  RecordState,
  EpochView,
  RecordView,
  RecoveryProgress,
  RedirectChange,
  Report,
  RequestInput,
  RequestLike,
  RequestView,
  Resumed,
  RetryOptions,
  Rule,
  RulePolicy,
  SnapshotInfo,
  Verdict,
} from "./engine/types.ts";
export {
  canonicalize,
  canonicalizeMany,
  fingerprint,
  resolveLinks,
} from "./engine/url-functions.ts";
export { type IdentityRequest, TRACKING_PARAMS } from "./url/policy.ts";
export { expandSeed } from "./url/seed.ts";
