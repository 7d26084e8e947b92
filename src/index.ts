export { FrontierError } from "./base/errors.ts";
export { createVirtualClock, type Clock } from "./base/clock.ts";
