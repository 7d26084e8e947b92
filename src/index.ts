/** The frontier: open one, push URLs, take leases, finish them. Re-exports only. */
export { type Clock, createSystemClock, createVirtualClock } from "./base/clock.ts";
export { FrontierError, type FrontierErrorCode } from "./base/errors.ts";
export type { Latency } from "./base/time/latency-histogram.ts";
export { openFrontier } from "./engine/api/open-frontier.ts";
export {
  type GopcpOptions,
  type NeocrawlerOptions,
  type Presets,
  presets,
} from "./engine/options/presets.ts";
export { type Answer, type Settled, type SettledLease, settle } from "./engine/leases/settle.ts";
export type { DiagnosticsMessages } from "./engine/lifecycle/call-channels.ts";
export { openFrontierThread } from "./engine/owner-thread/open-frontier-thread.ts";
export type { AsyncFrontier, AsyncHost, AsyncLease } from "./engine/types/async-frontier.ts";
export type * from "./engine/types/frontier-types.ts";
export {
  canonicalize,
  canonicalizeMany,
  fingerprint,
  resolveLinks,
} from "./engine/api/url-functions.ts";
export { TRAVERSALS, type Traversal } from "./frontier/rules/rule-policy.ts";
export { type IdentityRequest, TRACKING_PARAMS } from "./url/keys/key-policy.ts";
export { expandSeed } from "./url/parsing/seed-templates.ts";
