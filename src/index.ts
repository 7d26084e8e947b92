export { FrontierError } from "./base/errors.ts";
export { createVirtualClock, type Clock } from "./base/clock.ts";
export { canonicalize, canonicalizeMany, resolveLinks } from "./engine/url-functions.ts";
export type { KeyPolicy } from "./url/policy.ts";
